"""In what the servers of Chat Completions differ, as far as a request has to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from langfx_web.errors import InvalidArgumentError


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatProfile:
    """What one kind of server wants. The defaults are what most take.

    `stream_usage` asks for token counts with `stream_options`. `effort_field` is `reasoning_effort`, or `reasoning` for
    an object that also takes a budget. `resend_reasoning_content` sends reasoning back with every message that has tool
    calls. `tool_id` is the kind of call ids, `any_tool` the word for a forced call, `seed_field` the name of the seed,
    `strict` whether schemas say that they are.
    """

    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_usage: bool = True
    system_role: Literal["system", "developer", "user"] = "system"
    effort_field: Literal["reasoning_effort", "reasoning"] = "reasoning_effort"
    resend_reasoning_content: bool = False
    tool_id: Literal["openai", "mistral"] = "openai"
    any_tool: Literal["required", "any"] = "required"
    seed_field: Literal["seed", "random_seed"] = "seed"
    strict: bool = True
    auth: Literal["bearer", "api-key"] = "bearer"


_COMPATIBLE = ChatProfile()
_REASONING_BACK = ChatProfile(resend_reasoning_content=True)

PROFILES: Mapping[str, ChatProfile] = {
    "compatible": _COMPATIBLE,
    "vllm": _COMPATIBLE,
    "lmstudio": _COMPATIBLE,
    "openai": ChatProfile(max_tokens_field="max_completion_tokens"),
    "azure": ChatProfile(max_tokens_field="max_completion_tokens", auth="api-key"),
    "openrouter": ChatProfile(effort_field="reasoning"),
    "groq": ChatProfile(stream_usage=False),
    "deepseek": _REASONING_BACK,
    "zai": _REASONING_BACK,
    "moonshot": _REASONING_BACK,
    "mistral": ChatProfile(stream_usage=False, any_tool="any", tool_id="mistral", seed_field="random_seed"),
    "ollama": ChatProfile(strict=False),
}

_OF_HOSTS = {
    "api.openai.com": "openai",
    "openai.azure.com": "azure",
    "services.ai.azure.com": "azure",
    "cognitiveservices.azure.com": "azure",
    "openrouter.ai": "openrouter",
    "api.groq.com": "groq",
    "api.deepseek.com": "deepseek",
    "api.z.ai": "zai",
    "open.bigmodel.cn": "zai",
    "api.moonshot.ai": "moonshot",
    "api.moonshot.cn": "moonshot",
    "api.mistral.ai": "mistral",
    "ollama.com": "ollama",
}
_OLLAMA_PORT = 11434


def profile_of(base_url: str) -> ChatProfile:
    """The profile of the server at an address, by its host."""
    parts = urlsplit(base_url)
    if parts.port == _OLLAMA_PORT:
        return PROFILES["ollama"]
    host = parts.hostname or ""
    name = next((name for end, name in _OF_HOSTS.items() if host == end or host.endswith("." + end)), "compatible")
    return PROFILES[name]


def checked_profile(value: object) -> ChatProfile | None:
    """A profile given as itself or by its name; `invalid_argument` otherwise. None leaves it to the host."""
    if value is None or isinstance(value, ChatProfile):
        return value
    if isinstance(value, str) and value in PROFILES:
        return PROFILES[value]
    raise InvalidArgumentError(
        f"profile is a ChatProfile or one of {', '.join(PROFILES)}, not {value!r}", details={"option": "profile"}
    )
