"""Values as the parity table writes them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from datetime import date
from enum import Enum
from typing import Any

from pydantic import BaseModel


def members(value: Any) -> dict[str, Any] | None:
    """The fields of an instance of a class, None of any other value."""
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields}
    if dataclasses.is_dataclass(value):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    return None


def written(value: Any, members: Callable[[Any], dict[str, Any] | None] = members) -> Any:
    """A value in JSON, so that 1, 1.0 and True differ; `members` knows the classes."""
    if type(value).__name__ == "Unknown":
        return {"$unknown": True}
    fields = members(value)
    if fields is not None:
        return {"$class": type(value).__name__, **{name: written(item, members) for name, item in fields.items()}}
    match value:
        case Enum():
            return {"$enum": f"{type(value).__name__}.{value.name}"}
        case date():
            return {"$date": value.isoformat()}
        case bytes():
            return {"$bytes": value.hex()}
        case set():
            return {"$set": sorted(written(item, members) for item in value)}
        case tuple():
            return {"$tuple": [written(item, members) for item in value]}
        case list():
            return [written(item, members) for item in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: written(item, members) for key, item in value.items()}
        case dict():
            return {"$dict": [[written(key, members), written(item, members)] for key, item in value.items()]}
        case float() if value.is_integer() or not math.isfinite(value):
            return {"$float": repr(value)}
        case int() if abs(value) > 2**53:
            return {"$int": str(value)}
    return value
