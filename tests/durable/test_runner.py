"""Who runs what when: what is stored before what, the queue, and the fence."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing

from langfx_web.durable.fold import AMBIGUOUS, NOT_RUN
from langfx_web.stores import Batch, Fence, Unique
from langfx_web.testing import Echo, StaticSequence
from tests.durable.faults import has, settle
from tests.durable.scene import Scene, SpokenModel, answers, calls, kill_all_workers, names, said, spoken, types


async def test_an_input_is_stored_before_anything() -> None:
    """Row 15: while its append takes its time, it is not accepted and no request is made."""
    scene = Scene()
    lm = StaticSequence(["ok"])
    gate = scene.store.block(has("input"))
    turn = scene.session(lm).prompt("a")
    await gate.reached.wait()
    accepted = asyncio.ensure_future(turn.accepted)
    await settle()
    assert (accepted.done(), lm.requests) == (False, [])
    gate.open()
    await accepted
    await turn.result
    assert len(lm.requests) == 1


async def test_a_free_session_starts_with_one_append() -> None:
    """Rows 23 and 25: input, claim and start are one write; a warm session reads nothing before its request."""
    scene = Scene()
    store = scene.store
    before: list[list[str]] = []

    def answer(request: object) -> str:
        before.append([call for call in store.calls if call in ("append", "head", "load", "lines", "lookup")])
        return "ok"

    new = scene.session([answer] * 3, None)
    await new.prompt("a").result
    await settle()
    store.calls.clear()
    await new.prompt("b").result
    store.calls.clear()
    await new.prompt("c, while the end of b is being tidied up").result
    store.calls.clear()
    await scene.session([answer], "known").prompt("a").result
    assert before == [["append"], ["append"], ["append", "append"], ["load", "append"]]
    assert [len(batch.records) for batch in store.batches[:1]] == [3]
    assert await scene.kinds("known") == ["claim", "input", "turn_start", "reply", "turn_end"]


async def test_a_call_starts_after_its_record() -> None:
    """Row 19: neither one that writes nor one that looks something up runs before `call_start` is stored."""
    for name in ("pay", "find"):
        scene = Scene()
        gate = scene.store.block(has("call_start"))
        turn = scene.session([calls((name, "x")), "done"]).prompt("a")
        await gate.reached.wait()
        await settle()
        assert scene.workshop.ledger == []
        gate.open()
        await turn.result
        assert scene.workshop.ledger == [f"{name} x"]
        start = next(batch for batch in scene.store.batches if has("call_start")(batch))
        assert has("reply")(start)
        assert start.barrier is (name == "pay")


async def test_a_later_call_is_stored_when_its_turn_comes() -> None:
    """A call that writes waits for those before it, and so does its record."""
    scene = Scene()
    turn = scene.session([calls(("slow_find", "a"), ("pay", "b")), "done"]).prompt("a")
    await scene.workshop.started.wait()
    await settle()
    assert (await scene.kinds()).count("call_start") == 1
    scene.workshop.done.set()
    await turn.result
    assert scene.workshop.ledger == ["slow_find a", "pay b"]


async def test_results_are_stored_before_the_next_request() -> None:
    """Row 20: the model is not asked while a result is on its way to the store."""
    scene = Scene()
    lm = StaticSequence([calls(("pay", "x")), "done"])
    gate = scene.store.block(has("call_result"))
    turn = scene.session(lm).prompt("a")
    await gate.reached.wait()
    await settle()
    assert len(lm.requests) == 1
    gate.open()
    await turn.result
    assert answers(lm.requests[1].messages) == ["paid x"]


async def test_the_end_is_stored_before_it_is_known() -> None:
    """Row 22: no view shows an end, and there is no result, while its append takes its time."""
    scene = Scene()
    gate = scene.store.block(has("turn_end"))
    turn = scene.session(["ok"]).prompt("a")
    result = asyncio.ensure_future(turn.result)
    lines = asyncio.ensure_future(types(turn))
    await gate.reached.wait()
    await settle()
    assert (result.done(), lines.done()) == (False, False)
    gate.open()
    assert (await result).stop_reason == "end_turn"
    assert (await lines)[-1] == "turn_end"
    last = scene.store.batches[-1]
    assert (last.release, last.barrier, last.marks, [unique.key for unique in last.settle]) == (
        True,
        True,
        ("end",),
        [turn.message_id],
    )


async def test_a_slow_store_takes_few_appends() -> None:
    """Row 24: a thousand deltas need far fewer appends, one at a time, with chained fences and keys of their own."""
    scene = Scene()
    lm = StaticSequence(["x" * 1000], chunk_size=1)
    turn = scene.session(lm).prompt("a")
    assert len(await spoken(turn)) == 1000
    assert len(await types(turn)) == 1002
    fenced = [batch for batch in scene.store.batches if batch.fence is not None]
    assert len(fenced) < 50
    assert scene.store.most_in_flight == 1
    assert len({batch.key for batch in fenced}) == len(fenced)


async def test_prompts_are_answered_in_the_order_they_came() -> None:
    """Row 32: first in, first out over all workers; turns do not overlap, and make one history."""
    scene = Scene()
    lm = Echo()
    sessions = [scene.session(lm), scene.session(lm)]
    turns = []
    for n in range(6):
        turns.append(sessions[n % 2].prompt(f"p{n}", message_id=f"m{n}"))
        await turns[-1].accepted
    for turn in turns:
        assert (await turn.result).stop_reason == "end_turn"
    assert said(lm.requests[-1]) == ["p0", "p0", "p1", "p1", "p2", "p2", "p3", "p3", "p4", "p4", "p5"]
    order = [json.loads(text)["messageId"] for text in await scene.texts()]
    assert order == [f"m{n}" for n in range(6) for _ in range(3)]
    assert [json.loads(text)["epoch"] for text in await scene.texts()] == [n + 1 for n in range(6) for _ in range(3)]


async def test_prompts_of_one_object_are_stored_in_order() -> None:
    """What is handed in first is stored first, however slow the store is with it."""
    scene = Scene()
    gate = scene.store.block(names('"message_id":"first"'))
    session = scene.session(Echo())
    turns = [session.prompt(id, message_id=id) for id in ("first", "second", "third")]
    await gate.reached.wait()
    await settle()
    assert len(scene.store.batches) == 1
    gate.open()
    for turn in turns:
        await turn.result
    assert [json.loads(text)["messageId"] for text in await scene.texts()][::3] == ["first", "second", "third"]


async def test_a_prompt_runs_in_the_worker_that_stored_it() -> None:
    """Row 137: another worker that is done leaves it to the one it came from."""
    scene = Scene()
    here, there = SpokenModel(), SpokenModel()
    first = scene.session(here).prompt("a")
    await settle()
    second = scene.session(there).prompt("b")
    await second.accepted
    third = scene.session(here).prompt("c")
    await third.accepted
    here.finish()
    here.say("one")
    for lm in (here, there, here):
        lm.say("ok")
        lm.finish()
    for turn in (first, second, third):
        await turn.result
    assert [said(request)[-1] for request in there.requests] == ["b"]


async def test_a_dead_workers_prompt_is_run_by_the_next() -> None:
    """Rows 16 and 34: what was accepted is answered, in its place, though its worker is gone."""
    scene = Scene()
    dead = scene.session(SpokenModel())
    running = dead.prompt("a", message_id="m-a")
    waiting = dead.prompt("b", message_id="m-b")
    await waiting.accepted
    await settle()
    await kill_all_workers()
    lm = Echo()
    turn = scene.session(lm).prompt("c", message_id="m-c")
    assert (await turn.result).stop_reason == "end_turn"
    assert said(lm.requests[-1]) == ["a", "b", "b", "c"]
    again = scene.session(lm)
    assert (await again.prompt("a", message_id="m-a").result).stop_reason == "unknown"
    assert (await again.prompt("b", message_id="m-b").result).stop_reason == "end_turn"
    assert running.message_id == "m-a"


async def test_a_turn_that_nobody_runs_any_more() -> None:
    """It is ended before the next one starts, each of its calls with one result that says what may have happened."""
    scene = Scene()
    session = scene.session([calls(("slow_pay", "x"), ("pay", "y"))])
    session.prompt("a", message_id="m")
    await scene.workshop.started.wait()
    await kill_all_workers()
    lm = StaticSequence(["ok"])
    other = scene.session(lm)
    assert (await other.prompt("b").result).stop_reason == "end_turn"
    assert answers(lm.requests[0].messages) == [AMBIGUOUS, NOT_RUN]
    lost = other.prompt("a", message_id="m")
    assert (await lost.result).stop_reason == "unknown"
    lines = [json.loads(text) for text in await scene.texts()]
    assert [line["type"] for line in lines if line["messageId"] == "m"] == [
        "turn_start", "tool_start", "tool_end", "tool_end", "turn_end"
    ]  # fmt: skip
    assert scene.workshop.ledger == ["slow_pay x"]
    registered = json.loads(await scene.store.lookup("s", "m") or "")
    assert registered["outcome"]["lines"] == 5


async def test_an_overtaken_worker_does_nothing_more() -> None:
    """Rows 17 and 76: it stores, shows and runs nothing; its view follows what the successor makes of the turn."""
    scene = Scene()
    lm = SpokenModel()
    turn = scene.session(lm).prompt("a", message_id="m")
    lm.say("before")
    await settle()
    head = await scene.store.head("s")
    assert head is not None
    successor = Batch(
        fence=Fence(epoch=head.epoch, chain=head.chain),
        key="other:1",
        claim="other",
        records=(
            b'{"v":1,"kind":"claim","at":"","holder":"other","epoch":2,"cursor":2}',
            b'{"v":1,"kind":"turn_end","at":"","message_id":"m","stop_reason":"max_time","partial":"","results":[],'
            b'"cursor":2}',
        ),
        lines=(b'{"type":"turn_end","stopReason":"max_time","usage":null,"messageId":"m","epoch":2,"cursor":3}',),
        marks=("end",),
        settle=(
            Unique(
                "m",
                '{"type":"prompt","nonce":"n","cursor":0,"outcome":'
                '{"stop_reason":"max_time","usage":null,"error":null,"epoch":2,"lines":3}}',
            ),
        ),
        release=True,
    )
    await scene.store.inner.append("s", successor)
    lm.say("after")
    await settle()
    result = await turn.result
    assert (result.stop_reason, result.epoch, lm.aborted) == ("max_time", 2, 1)
    assert await types(turn) == ["turn_start", "text_delta", "turn_end"]
    assert await spoken(turn) == "before"
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_stolen_hold_starts_no_call() -> None:
    """Row 84: whoever lost the hold runs no tool, even before its next append is refused."""
    scene = Scene()
    gate = scene.store.block(has("call_start"))
    turn = scene.session([calls(("pay", "x")), "unused"]).prompt("a", message_id="m")
    await gate.reached.wait()
    async with scene.store.hold("s", "thief", steal=True):
        gate.open()
        await settle()
        assert scene.workshop.ledger == []
    head = await scene.store.head("s")
    assert head is not None
    assert head.open is True
    assert turn.message_id == "m"


async def test_epochs() -> None:
    """Row 79: each claim is one more, also after a release."""
    scene = Scene()
    session = scene.session(Echo())
    epochs = [(await session.prompt("a").result).epoch for _ in range(3)]
    other = scene.session(Echo())
    epochs += [(await other.prompt("a").result).epoch for _ in range(2)]
    epochs.append((await session.prompt("a").result).epoch)
    assert epochs == [1, 2, 3, 4, 5, 6]


async def test_a_claim_that_comes_too_late() -> None:
    """Rows 17 and 18: a prompt of another worker that lands first is answered first, each once."""
    scene = Scene()
    lm = Echo()
    gate = scene.store.block(names('"message_id":"slow"'))
    slow = scene.session(lm).prompt("slow", message_id="slow")
    await gate.reached.wait()
    quick = scene.session(lm).prompt("quick", message_id="quick")
    await quick.accepted
    gate.open()
    assert [(await turn.result).stop_reason for turn in (quick, slow)] == ["end_turn", "end_turn"]
    assert [said(request)[-1] for request in lm.requests] == ["quick", "slow"]


async def test_readers_get_what_is_stored_while_it_is_stored() -> None:
    """A reader that keeps up sees each batch as it was stored, from any worker."""
    scene = Scene()
    lm = SpokenModel()
    scene.session(lm).prompt("a")
    seen: list[list[str]] = []

    async def read() -> None:
        async with aclosing(scene.session([]).stream().batches()) as batches:
            while True:
                seen.append([line.type for line in await anext(batches)])

    reading = asyncio.create_task(read())
    await settle()
    lm.say("one")
    await settle()
    lm.say("two")
    lm.say("three")
    await settle()
    reading.cancel()
    await asyncio.wait([reading])
    assert [len(batch) for batch in seen[:2]] == [1, 1]
    assert [type_ for batch in seen for type_ in batch] == ["turn_start", *["text_delta"] * 3]
