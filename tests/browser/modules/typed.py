"""A function that needs pydantic."""

from pydantic import BaseModel


class Furniture(BaseModel):
    """Something with legs."""

    name: str
    legs: int


def check(text: str) -> Furniture:
    """Read JSON as a `Furniture`."""
    return Furniture.model_validate_json(text)
