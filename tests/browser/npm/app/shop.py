"""The app's Python."""

from pydantic import BaseModel


class Shop(BaseModel):
    """Who greets."""

    name: str


def greeting() -> str:
    """Greet, which needs pydantic."""
    return f"Welcome to {Shop(name='the shop').name}"
