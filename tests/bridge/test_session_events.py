"""What sessions of the page's modules show: their events and traces arrive as plain objects."""

from __future__ import annotations

from langfx_web.json_text import dumps
from tests.bridge.fake_page import FakePage

WATCHED = """
import asyncio
from dataclasses import dataclass
import langfx_web as lf

@dataclass
class Order:
    id: str

class Look(lf.Action):
    order: Order

    async def call(self, session):
        session.info("looking", order=self.order, count=2**60)
        session.progress("half", 0.5)
        return await session.query("?", int)

kept = []

async def watch():
    events = asyncio.Queue()
    async with lf.Session(lm=lf.testing.StaticResponse("7")) as session:
        kept.append(session)
        session.subscribe(events.put_nowait)
        await Look(Order("o-1")).invoke(session)
        while not events.empty():
            yield events.get_nowait()

def trace(): return kept[-1].root
def usage(): return kept[-1].usage
"""


async def test_a_live_trace_arrives_on_the_page(page: FakePage) -> None:
    """Its events as they happen, then all of it; what JSON does not have is marked, whatever it is."""
    assert (await page.setup({"watched": WATCHED}))["kind"] == "ready"
    id_ = page.command("stream", target="watched:watch", args=[])
    assert (await page.end(id_))["kind"] == "end"
    start, line, progress, asks, answered, end = page.items(id_)
    top = start["sessionId"]
    assert (start["type"], start["node"]["id"], start["node"]["status"]) == ("action_start", f"{top}/a1", "running")
    assert line["type"] == "log_added"
    assert line["entry"]["data"] == {
        "order": {"type": "watched.Order", "value": {"id": "o-1"}},
        "count": {"json": str(2**60)},
    }
    assert (progress["type"], progress["nodeId"], progress["fraction"]) == ("progress_update", f"{top}/a1", 0.5)
    assert (asks["type"], asks["node"]["parentId"]) == ("query_start", f"{top}/a1")
    assert (answered["type"], answered["node"]["result"]) == ("query_end", {"json": 7})
    assert answered["node"]["response"]["parts"] == [{"type": "text", "text": "7"}]
    assert (end["type"], end["node"]["status"]) == ("action_end", "ok")
    assert [event for event in (start, end) if "request" in event["node"] or "children" in event["node"]] == []
    got = await page.ask("call", target="watched:trace", args=[])
    assert got["kind"] == "result", got
    trace = got["value"]
    assert (trace["version"], [node["id"] for node in trace["nodes"]]) == (1, [top, f"{top}/a1", f"{top}/a1/q1"])
    assert trace["nodes"][2]["request"][-1]["role"] == "user"
    usage = (await page.ask("call", target="watched:usage", args=[]))["value"]
    assert usage == {"usage": None, "requests": 1, "cached": 0, "unknown": 1}


LARGE = """
import langfx_web as lf

async def watch():
    events = []
    huge = "x" * 2_000_000
    lm = lf.testing.StaticResponse(huge)
    async with lf.Session(lm=lm) as session:
        session.subscribe(events.append)
        async with session.branch("action", "Load", metadata={"a": huge, "b": 7, "c": [huge]}) as view:
            view.info(huge, rows=[huge])
            view.progress(huge, data=huge)
            view.add_metadata(more={"rows": [huge]})
            view.record(result={"rows": [huge]})
            await view.query(huge)
    for event in events:
        yield event
"""


async def test_no_event_carries_megabytes(page: FakePage) -> None:
    """Large values are cut to their beginning, with their class; small ones beside them are kept as they are."""
    assert (await page.setup({"large": LARGE}))["kind"] == "ready"
    id_ = page.command("stream", target="large:watch", args=[])
    assert (await page.end(id_))["kind"] == "end"
    events = page.items(id_)
    assert len(events) == 7
    assert max(len(dumps(event)) for event in events) < 100_000
    start, line, progress, more, _, answered, end = events
    metadata = start["node"]["metadata"]
    assert {name: value["type"] for name, value in metadata.items() if "type" in value} == {"a": "str", "c": "list"}
    assert metadata["b"] == {"json": 7}
    assert metadata["a"]["text"].startswith("xxx")
    assert line["entry"]["data"]["rows"]["type"] == more["metadata"]["more"]["type"].replace("dict", "list")
    assert progress["data"]["data"]["text"].startswith("xxx")
    assert answered["node"]["response"]["parts"][0]["text"].startswith("xxx")
    assert end["node"]["result"]["text"].startswith('{"rows":["xxx')
