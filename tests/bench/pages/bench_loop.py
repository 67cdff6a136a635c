"""What the loop bench asks of our worker: an agent that calls a tool in each step."""

import time

import langfx_web as lf


@lf.tool(idempotent=True)
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def milliseconds(steps: int) -> float:
    """What one run of so many calls takes."""
    calls = [lf.AIMessage(lf.ToolCall(f"c{number}", "add", {"a": number, "b": 1})) for number in range(steps)]
    model = lf.testing.StaticSequence([*calls, "Done."])
    limits = lf.Limits(max_steps=steps + 1, max_tool_calls=steps, timeout=600)
    agent = lf.Agent(name="bench", lm=model, tools=[add], limits=limits)
    started = time.perf_counter()
    said = await agent.invoke(prompt="Count.")
    spent = time.perf_counter() - started
    if said != "Done." or model.requests[-1].messages[-1].text != str(steps):
        raise ValueError("the run went another way")
    return 1000 * spent
