"""What a session may switch of its agent's model, as plain values that can be stored with a prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self, TypeAlias

from langfx_web.errors import InvalidArgumentError, UnsupportedSettingError
from langfx_web.llms.base import LanguageModel
from langfx_web.llms.request import Capabilities

MAX_ID = 1024
"""UTF-8 bytes of a model's id."""

MODEL_DEFAULT = "default"
"""The effort that leaves it to the model."""

_EFFORT = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Another model of the same provider, another effort, a faster lane; what is left out stays as the agent has it.

    `effort` is a word of the provider's, such as "low"; "default" leaves it to the model. `fast` asks for the
    provider's fast lane, `ultrafast` for the costlier one, which some models have: then `fast` does not count.
    `invalid_argument` where a value cannot be sent.
    """

    id: str | None = None
    _: KW_ONLY
    effort: str | None = None
    fast: bool = False
    ultrafast: bool = False

    def __post_init__(self) -> None:
        if self.id is not None and not _is_id(self.id):
            raise _invalid(f"its id must be a str of 1 to {MAX_ID} bytes, not {self.id!r:.60}")
        if self.effort is not None and not (isinstance(self.effort, str) and _EFFORT.fullmatch(self.effort)):
            raise _invalid(f"its effort must be 1 to 64 of A-Z a-z 0-9 . _ -, not {self.effort!r:.60}")
        for name in ("fast", "ultrafast"):
            if not isinstance(value := getattr(self, name), bool):
                raise _invalid(f"{name} is True or False, not {value!r:.60}")

    @classmethod
    def of(cls, given: ModelChoice | None) -> Self | None:
        """Settings from any form in which they may be given; None stays None."""
        if given is None or isinstance(given, cls):
            return given
        if isinstance(given, str):
            return cls(given)
        if not isinstance(given, Mapping):
            raise _invalid(f"it is an id, a mapping or ModelSettings, not {type(given).__name__}")
        unknown = sorted(str(name) for name in given.keys() - _FIELDS)
        if unknown:
            raise _invalid(f"there is no setting {unknown[0]!r}; the settings are {', '.join(_FIELDS)}")
        return cls(**{name: value for name, value in given.items() if value is not None})

    def to_plain(self) -> str | dict[str, Any]:
        """The JSON form, which `of` reads: the id where there is nothing else."""
        values = {name: getattr(self, name) for name in _FIELDS}
        given = {name: value for name, value in values.items() if value not in (None, False)}
        return self.id if self.id is not None and len(given) == 1 else given

    def changes(self, lm: LanguageModel, models: Models) -> dict[str, Any]:
        """What `lm.with_options` takes for these; `models` says what is known of other ids.

        `UnsupportedSettingError` where the wire has no such setting, or the model is known to lack it.
        """
        id = self.id or lm.model
        known = lm.capabilities if id == lm.model else replace(lm.capabilities, efforts=None, fast=None, ultrafast=None)
        capabilities = known.updated(models.get(id))
        changed: dict[str, Any] = {"model": id, "capabilities": capabilities}
        if self.effort not in (None, MODEL_DEFAULT):
            if capabilities.efforts is not None and self.effort not in capabilities.efforts:
                raise UnsupportedSettingError(model=id, capability="effort", supported=tuple(capabilities.efforts))
            changed["reasoning_effort"] = self.effort
        lane = "ultrafast" if self.ultrafast else "fast" if self.fast else None
        if lane is not None:
            changed |= _lane(lm, lane, id, capabilities)
        return changed


ModelChoice: TypeAlias = str | Mapping[str, Any] | ModelSettings
"""An id, settings by name, or `ModelSettings`."""

Models: TypeAlias = Mapping[str, Capabilities | Mapping[str, Any]]
"""What models can do, by id; a mapping changes what the provider's models can do as a rule."""

_FIELDS = ("id", "effort", "fast", "ultrafast")


def _lane(lm: LanguageModel, lane: str, id: str, capabilities: Capabilities) -> Mapping[str, Any]:
    """The options of a lane; the costly one only where the model is known to have it."""
    is_there = getattr(capabilities, lane)
    if lane not in lm.lanes or is_there is False or (lane == "ultrafast" and is_there is None):
        others = (name for name in lm.lanes if name != lane and getattr(capabilities, name))
        raise UnsupportedSettingError(model=id, capability=lane, supported=tuple(others))
    return lm.lanes[lane]


def _is_id(id: object) -> bool:
    return isinstance(id, str) and 0 < len(id.encode("utf-8", "replace")) <= MAX_ID


def _invalid(what: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"model: {what}", details={"option": "model"})
