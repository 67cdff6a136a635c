"""Ask a real provider a few small questions, to see that it and this package still understand each other.

    python -m langfx_web.live anthropic claude-sonnet-5
    python -m langfx_web.live openai_chat qwen3 --base-url http://localhost:11434/v1 --key ""

The key is read from an environment variable, named by `--key` (by default the provider's usual one), when the program
runs. Each question costs some tens of tokens. Exit code 1 if anything failed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TextIO

from langfx_web.errors import AuthenticationError, LangfxError, UnsupportedCapabilityError
from langfx_web.json_text import loads
from langfx_web.llms import Anthropic, Gemini, HTTPLanguageModel, OpenAI, OpenAIChat
from langfx_web.messages import AIMessage, Image, ToolDeclaration, ToolMessage, UserMessage
from langfx_web.queries import query

WIRES: Mapping[str, tuple[type[HTTPLanguageModel], str]] = {
    "anthropic": (Anthropic, "ANTHROPIC_API_KEY"),
    "openai": (OpenAI, "OPENAI_API_KEY"),
    "openai_chat": (OpenAIChat, "OPENAI_API_KEY"),
    "gemini": (Gemini, "GEMINI_API_KEY"),
}

Check = Callable[[HTTPLanguageModel], Awaitable[str]]

ADD = ToolDeclaration(
    name="add",
    description="Add two integers.",
    input_schema={
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
)
CITY = {
    "title": "City",
    "type": "object",
    "properties": {"name": {"type": "string"}, "country": {"type": "string"}},
    "required": ["name", "country"],
}
RED = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQAY3Y2wAAAAAElFTkSuQmCC"
"""A red pixel as PNG."""


class Wrong(Exception):
    """An answer that is none to its question."""


async def models(lm: HTTPLanguageModel) -> str:
    """The provider lists its models, this one among them."""
    found = await lm.list_models()
    known = next((info for info in found if info.id == lm.model), None)
    return f"{len(found)} models, this one {'with ' + repr(known) if known else 'not among them'}"


async def words(lm: HTTPLanguageModel) -> str:
    """Text streams, and its cost is told."""
    chunks = [chunk async for chunk in lm.stream("Say the word pong, nothing else.")]
    _expect("pong" in chunks[-1].aggregated.text.lower(), chunks[-1].aggregated.text)
    return f"{len(chunks) - 1} pieces, {chunks[-1].usage}"


async def leaving(lm: HTTPLanguageModel) -> str:
    """A stream can be left at its first piece."""
    async for _ in lm.stream("Count from 1 to 50, one number per line."):
        return "left"
    raise Wrong("no piece came")


async def tools(lm: HTTPLanguageModel) -> str:
    """A tool is called, and its result is used; what the provider wants back of its thoughts goes back."""
    asked = UserMessage("What is 1234 plus 4321? Use the tool, then say the number.")
    answer = await lm(asked, tools=[ADD])
    _expect([call.name for call in answer.tool_calls] == ["add"], answer)
    results = [ToolMessage("5555", call_id=call.id, name=call.name) for call in answer.tool_calls]
    last = await lm([asked, answer, *results], tools=[ADD])
    _expect("5555" in last.text.replace(",", ""), last)
    return f"called with {answer.tool_calls[0].args}, {len(answer.thoughts)} thoughts kept"


async def structure(lm: HTTPLanguageModel) -> str:
    """The provider's own structured output holds to a schema."""
    answer = await lm("Which city is the capital of France?", schema=CITY)
    value = loads(answer.text)
    _expect(sorted(value) == ["country", "name"], answer.text)
    return answer.text


async def typed(lm: HTTPLanguageModel) -> str:
    """A query gives a value of the type that was asked for."""
    return repr(await query("What is 6 times 7?", int, lm=lm))


async def picture(lm: HTTPLanguageModel) -> str:
    """A picture is seen."""
    answer = await lm(UserMessage("Which color is this? One word.", Image.from_base64(RED)))
    _expect("red" in answer.text.lower(), answer.text)
    return answer.text.strip()


async def wrong_key(lm: HTTPLanguageModel) -> str:
    """A key that is none is refused, and is not in the text of the error."""
    if lm.api_key is None:
        return "no key is used here"
    try:
        await lm.with_options(api_key="wrong-key-123456")("hi")
    except AuthenticationError as error:
        _expect("wrong-key-123456" not in str(error), "the key is shown")
        return f"{error.status} {error.provider_code}"
    raise Wrong("it was taken")


CHECKS: Mapping[str, Check] = {
    "models": models,
    "words": words,
    "leaving": leaving,
    "tools": tools,
    "structure": structure,
    "typed": typed,
    "picture": picture,
    "wrong_key": wrong_key,
}


async def check_all(lm: HTTPLanguageModel, names: Sequence[str], out: TextIO) -> int:
    """Run some checks, a line for each; how many failed."""
    failed = 0
    for name in names:
        try:
            verdict, detail = "good", await CHECKS[name](lm)
        except UnsupportedCapabilityError as error:
            verdict, detail = "none", str(error)
        except (LangfxError, Wrong, ValueError) as error:
            verdict, detail = "BAD ", f"{type(error).__name__}: {error}"
            failed += 1
        print(f"{verdict}  {name}: {detail[:300]}", file=out)
    return failed


def _expect(condition: bool, seen: str | AIMessage) -> None:
    if not condition:
        raise Wrong(f"answered {seen!r}")


def _model(options: argparse.Namespace, environment: Mapping[str, str]) -> HTTPLanguageModel:
    kind, usual = WIRES[options.wire]
    name = usual if options.key is None else options.key
    settings: dict[str, Any] = {"base_url": options.base_url} if options.base_url else {}
    return kind(options.model, api_key=environment[name] if name else None, max_attempts=2, timeout=120, **settings)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m langfx_web.live", description=__doc__.splitlines()[0])
    parser.add_argument("wire", choices=WIRES)
    parser.add_argument("model")
    parser.add_argument("--base-url", help="the version root of another server")
    parser.add_argument("--key", help="the environment variable with the key; empty for none")
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=list(CHECKS), help="some of the questions")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str], environment: Mapping[str, str], out: TextIO) -> int:
    """The program: 0 if all is good, 1 if something failed, 2 without a key."""
    options = _options(arguments)
    try:
        lm = _model(options, environment)
    except KeyError as missing:
        print(f"there is no key in {missing}", file=out)
        return 2
    return 1 if asyncio.run(check_all(lm, options.only, out)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ, sys.stdout))
