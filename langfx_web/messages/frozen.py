"""JSON values that nobody changes: objects and lists that equal and are written as ordinary ones, to any depth."""

from __future__ import annotations

from typing import Any, NoReturn

from langfx_web.json_text import check_value


def frozen(value: Any) -> Any:
    """A read-only copy of a JSON value; `NotPortableError` has the path of what has no JSON form."""
    check_value(value)
    return _frozen(value)


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return FrozenObject({key: _frozen(member) for key, member in value.items()})
    if isinstance(value, (list, tuple)):
        return FrozenList([_frozen(member) for member in value])
    return value


def _refuse(self: object, *args: object, **named: object) -> NoReturn:
    raise TypeError("this value is read-only: copy it to change it")


class FrozenObject(dict[str, Any]):
    """A JSON object that refuses every change; a copy of it is an ordinary dict."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class FrozenList(list[Any]):
    """A JSON list that refuses every change; a copy of it is an ordinary list."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> Any:
        return list, (list(self),)


NOTHING = FrozenObject()
"""The object without members."""
