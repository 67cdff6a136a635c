"""Whatever happens when: workers killed at any store call, and several of them prompting and cancelling at random."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from typing import Any

import pytest

from langfx_web.durable import AgentSession, Turn
from langfx_web.durable.fold import fold
from langfx_web.errors import StoreError
from langfx_web.llms import ModelRequest
from langfx_web.messages import AIMessage, UserMessage
from langfx_web.stores import Batch
from langfx_web.testing import StaticResponse
from tests.durable.faults import Chooses, WatchedStore, settle
from tests.durable.scene import Scene, calls, kill_all_workers


def shop(request: ModelRequest) -> AIMessage | str:
    """A model that pays once for each prompt that begins with `pay`, then says what it was told last."""
    last = request.messages[-1]
    if isinstance(last, UserMessage) and last.text.startswith("pay"):
        return calls(("pay", last.text), ("find", last.text), text="Let me see.")
    return f"done: {last.text}"


async def check_everything(scene: Scene, accepted: set[str]) -> None:
    """What must hold of any conversation that has come to rest."""
    loaded = await scene.store.inner.load("s")
    conversation = fold(loaded.records)
    head = loaded.head
    assert head is not None
    assert (conversation.has_work, head.open, head.pending, head.holder) == (False, False, 0, None)
    lines = [json.loads(line.data) for after in range(0, head.cursor, 256) for line in await _page(scene, after)]
    assert [line["cursor"] for line in lines] == list(range(1, head.cursor + 1))
    assert [line["epoch"] for line in lines] == sorted(line["epoch"] for line in lines)
    ends = Counter(line["messageId"] for line in lines if line["type"] == "turn_end")
    assert accepted <= ends.keys()
    assert set(ends.values()) == {1}
    tools = Counter(line["executionId"] for line in lines if line["type"] == "tool_end")
    assert {line["executionId"] for line in lines if line["type"] == "tool_start"} <= tools.keys()
    assert set(tools.values()) <= {1}
    for message_id in ends:
        registration = json.loads(await scene.store.inner.lookup("s", message_id) or "")
        own = [line for line in lines if line["messageId"] == message_id]
        assert registration["outcome"]["lines"] == len(own)
        assert registration["cursor"] < own[0]["cursor"]
        assert registration["outcome"]["stop_reason"] == own[-1]["stopReason"]
    paid = Counter(entry for entry in scene.workshop.ledger if entry.startswith("pay"))
    assert set(paid.values()) <= {1}


async def _page(scene: Scene, after: int) -> Any:
    return await scene.store.inner.lines("s", after)


async def lived(store: WatchedStore, session: AgentSession) -> set[str]:
    """What a worker does until its store hangs: a turn with tools, one that waits, one that is cancelled.

    Gives the ids of the prompts that were accepted.
    """
    turns = [session.prompt("pay a", message_id="a"), session.prompt("pay b", message_id="b")]
    turns.append(session.prompt("pay c", message_id="c"))
    accepted = [asyncio.ensure_future(turn.accepted) for turn in turns]
    tasks: list[asyncio.Future[Any]] = [asyncio.ensure_future(turn.result) for turn in turns]
    tasks.append(asyncio.ensure_future(session.cancel("c")))
    finished = asyncio.ensure_future(asyncio.wait(tasks))
    hanging = asyncio.ensure_future(store.hanging.wait())
    await asyncio.wait([finished, hanging], return_when=asyncio.FIRST_COMPLETED)
    await settle()
    return {task.result().message_id for task in accepted if task.done()}


async def killed(at: int, when: str) -> int:
    """Kill a worker at its `at`-th store call, let another go on, check all; gives how many calls there were."""
    scene = Scene()
    doomed = WatchedStore(scene.store.inner)
    doomed.hangs_at = (at, when)
    session = scene.session(StaticResponse(shop), store=doomed)
    accepted = await lived(doomed, session)
    await kill_all_workers()
    successor = scene.session(StaticResponse(shop))
    assert (await successor.prompt("pay d", message_id="d").result).stop_reason == "end_turn"
    await settle()
    await check_everything(scene, {*accepted, "d"})
    return doomed.operations


async def test_killed_at_every_store_call() -> None:
    """Row 66: no payment twice, every accepted prompt ended once, each call with one outcome, and all of it folds."""
    operations = await killed(10_000, "before")
    assert operations > 15
    for at in range(1, operations + 1):
        for when in ("before", "after"):
            await killed(at, when)


def break_now_and_then(store: WatchedStore, dice: random.Random) -> None:
    """Let some appends fail once, half of them after they were written."""
    fates: dict[Batch, int] = {}

    def meets(fate: int) -> Chooses:
        def chooses(batch: Batch) -> bool:
            if fates.setdefault(batch, dice.randrange(12)) != fate:
                return False
            fates[batch] = -1
            return True

        return chooses

    store.fail(meets(0), StoreError("lost"), is_committed=True, times=10_000)
    store.fail(meets(1), StoreError("failed"), times=10_000)


async def turned(scene: Scene) -> None:
    """Let the clock run."""
    while True:
        await scene.clock.advance(1)


@pytest.mark.parametrize("seed", range(12))
async def test_workers_at_random(seed: int) -> None:
    """Rows 67, 85 and 138: three workers on an unsteady store, prompting, repeating and cancelling each other."""
    dice = random.Random(seed)
    scene = Scene()
    scene.store.delay = lambda: dice.randrange(6)
    if seed % 2:
        break_now_and_then(scene.store, dice)
    turning = asyncio.create_task(turned(scene))
    workers = [scene.session(StaticResponse(shop, chunk_size=5)) for _ in range(3)]
    turns: list[Turn] = []
    cancels: list[asyncio.Future[str]] = []
    for number in range(30):
        worker = dice.choice(workers)
        ids = [turn.message_id for turn in turns] or ["m0"]
        match dice.randrange(6):
            case 0:
                cancels.append(asyncio.ensure_future(worker.cancel(dice.choice([None, *ids]))))
            case 1:
                again = dice.choice(ids)
                turns.append(worker.prompt(f"pay {again}", message_id=again))
            case _:
                turns.append(worker.prompt(f"pay m{number}", message_id=f"m{number}"))
        await settle(dice.randrange(25))
    results = await asyncio.wait_for(asyncio.gather(*(turn.result for turn in turns)), 20)
    assert {await cancel for cancel in cancels} <= {"cancelled", "none"}
    await settle(200)
    assert {result.stop_reason for result in results} <= {"end_turn", "cancelled"}
    by_id: dict[str, set[str]] = {}
    for result in results:
        by_id.setdefault(result.message_id, set()).add(result.stop_reason)
    assert all(len(reasons) == 1 for reasons in by_id.values())
    assert len([result for result in results if not result.repeated]) == len(by_id)
    await check_everything(scene, set(by_id))
    turning.cancel()
    await asyncio.wait([turning])
    assert asyncio.all_tasks() == {asyncio.current_task()}
