"""The pinned versions of everything that comes from outside, read from `pins.json`."""

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One file of a registry; `digest` is lower-case hex, made with `algorithm`."""

    source: Literal["npm", "PyPI"]
    name: str
    version: str
    file: str
    size: int
    algorithm: Literal["sha256", "sha512"]
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """All pins: files by name, what wheels must run on, and the requirements of our environments.

    `wheel_target` has pip's options for another platform, without their dashes. `wheels` are those that every bundle
    has compiled in a pack; those of `on_demand` lie in it as they are, for pages that ask for them. `peers` are what a
    bench runs in a worker of ours, each behind what it needs.
    """

    wheel_target: dict[str, list[str]]
    npm: dict[str, Pin]
    wheels: dict[str, Pin]
    on_demand: dict[str, Pin]
    peers: dict[str, Pin]
    environments: dict[str, list[str]]


_PATH = Path(__file__).with_name("pins.json")


def read_pins() -> Pins:
    """Read the pins; a malformed file raises `KeyError` or `ValueError`."""
    data = json.loads(_PATH.read_text("utf-8"))
    return Pins(
        wheel_target=data["wheelTarget"],
        npm={entry["name"]: _npm_pin(entry) for entry in data["npm"]},
        wheels={entry["name"]: _wheel_pin(entry) for entry in data["wheels"]},
        on_demand={entry["name"]: _wheel_pin(entry) for entry in data["onDemand"]},
        peers={entry["name"]: _wheel_pin(entry) for entry in data["peers"]},
        environments=data["environments"],
    )


def _npm_pin(entry: dict[str, str | int]) -> Pin:
    algorithm, _, encoded = str(entry["integrity"]).partition("-")
    if algorithm != "sha512":
        raise ValueError(f"{entry['name']}: integrity is not sha512")
    return _pin(entry, source="npm", algorithm="sha512", digest=base64.b64decode(encoded).hex())


def _wheel_pin(entry: dict[str, str | int]) -> Pin:
    return _pin(entry, source="PyPI", algorithm="sha256", digest=str(entry["sha256"]))


def _pin(
    entry: dict[str, str | int],
    *,
    source: Literal["npm", "PyPI"],
    algorithm: Literal["sha256", "sha512"],
    digest: str,
) -> Pin:
    return Pin(
        source=source,
        name=str(entry["name"]),
        version=str(entry["version"]),
        file=str(entry["file"]),
        size=int(entry["size"]),
        algorithm=algorithm,
        digest=digest,
    )
