"""What tests want to know of an interpreter that was restored."""

import asyncio
import random
import sys
import uuid


def drawn() -> list[str]:
    """Numbers that no two sessions may share."""
    return [str(random.random()), str(uuid.uuid4())]


def loaded(names: list[str]) -> list[str]:
    """Those of these modules that have been imported."""
    return [name for name in names if name in sys.modules]


async def tasks() -> list[str]:
    """What runs, this one included."""
    return sorted(task.get_coro().__qualname__ for task in asyncio.all_tasks())
