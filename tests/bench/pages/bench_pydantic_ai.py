"""What the loop bench asks of a worker with pydantic-ai: an agent that calls a tool in each step."""

import time

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import UsageLimits


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def milliseconds(steps: int) -> float:
    """What one run of so many calls takes."""
    asked = 0
    last: ModelMessage | None = None

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        nonlocal asked, last
        asked, last = asked + 1, messages[-1]
        if asked > steps:
            return ModelResponse(parts=[TextPart("Done.")])
        return ModelResponse(parts=[ToolCallPart("add", {"a": asked - 1, "b": 1}, tool_call_id=f"c{asked}")])

    agent = Agent(FunctionModel(answer), tools=[add])
    started = time.perf_counter()
    result = await agent.run("Count.", usage_limits=UsageLimits(request_limit=None))
    spent = time.perf_counter() - started
    returned = last.parts[-1] if last else None
    if result.output != "Done." or not isinstance(returned, ToolReturnPart) or returned.content != steps:
        raise ValueError("the run went another way")
    return 1000 * spent
