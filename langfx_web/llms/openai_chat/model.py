"""`OpenAIChat`: models behind Chat Completions, at OpenAI or at any of the many servers that speak it too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langfx_web.errors import InvalidArgumentError
from langfx_web.llms import kinds
from langfx_web.llms.exchange import Decoder
from langfx_web.llms.http import SERVICE_TIERS, HTTPLanguageModel, json_body
from langfx_web.llms.openai_chat.choice import REPLAY_TAG
from langfx_web.llms.openai_chat.decode import ChatDecoder
from langfx_web.llms.openai_chat.encode import body
from langfx_web.llms.openai_chat.profile import ChatProfile, checked_profile, profile_of
from langfx_web.llms.replay import Replay
from langfx_web.llms.request import Capabilities, ModelRequest
from langfx_web.transport import Request


class OpenAIChat(HTTPLanguageModel):
    """A model behind `POST {base_url}/chat/completions`.

    `profile`, a `ChatProfile` or the name of one, says in what the server differs; None chooses by its host. `auth`
    sends the key as a bearer token or as `api-key`; None leaves it to the profile. `think_tags` takes a leading
    `<think>…</think>` out of the text, as a thought.
    """

    provider = "openai_chat"
    declared = Capabilities(pdf=False, audio=False, video=False)
    replay_tags = frozenset({REPLAY_TAG})
    lanes = SERVICE_TIERS
    media = frozenset({"image"})
    SETTINGS = HTTPLanguageModel.SETTINGS | {"auth", "profile", "think_tags"}

    auth: Literal["bearer", "api-key"] | None
    profile: ChatProfile | None
    think_tags: bool

    def __init__(
        self,
        model: str = "",
        *,
        base_url: str = "https://api.openai.com/v1",
        profile: ChatProfile | str | None = None,
        auth: Literal["bearer", "api-key"] | None = None,
        think_tags: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(model, base_url=base_url, **settings)
        self._set(profile=profile, auth=auth, think_tags=think_tags)

    def _checked(self, name: str, value: Any) -> Any:
        match name:
            case "auth" if value not in (None, "bearer", "api-key"):
                raise InvalidArgumentError(f"auth is 'bearer' or 'api-key', not {value!r}", details={"option": "auth"})
            case "think_tags":
                return kinds.flag(name, value)
            case "profile":
                return checked_profile(value)
        return super()._checked(name, value)

    def _profile(self) -> ChatProfile:
        return self.profile or profile_of(self.base_url)

    def _encode(self, request: ModelRequest) -> Request:
        tags = frozenset() if request.drop_thoughts else self.replays
        wire = body(
            request,
            model=self.model,
            replay=Replay(tags=tags, host=self.host, model=self.model),
            profile=self._profile(),
            stream=self.stream_wire,
        )
        headers = {"content-type": "application/json"}
        return Request(method="POST", url=self.url("/chat/completions"), headers=headers, body=json_body(wire))

    def _decoder(self) -> Decoder:
        return ChatDecoder(host=self.host, model=self.model, think_tags=self.think_tags)

    def _key_headers(self, key: str) -> Mapping[str, str]:
        if (self.auth or self._profile().auth) == "api-key":
            return {"api-key": key}
        return {"authorization": f"Bearer {key}"}
