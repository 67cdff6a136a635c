"""`Anthropic`: models that speak the Messages API, from Anthropic or from a server compatible with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from langfx_web.errors import InvalidArgumentError
from langfx_web.llms import kinds
from langfx_web.llms.anthropic.decode import AnthropicDecoder
from langfx_web.llms.anthropic.encode import OWN_REPLAYS, body
from langfx_web.llms.anthropic.models import read_models
from langfx_web.llms.exchange import Decoder
from langfx_web.llms.http import HTTPLanguageModel, json_body
from langfx_web.llms.listing import ModelPage
from langfx_web.llms.replay import Replay
from langfx_web.llms.request import Capabilities, ModelRequest
from langfx_web.transport import Request
from langfx_web.transport.platform import IN_BROWSER

OWN_HOST = "api.anthropic.com"
BINDING_BETA = "thinking-binding-controls-2026-08-01"


class Anthropic(HTTPLanguageModel):
    """A model behind `POST {base_url}/messages`.

    `auth="bearer"` sends the key as a bearer token. `betas` are names for the `anthropic-beta` header.
    `browser_access` sends the header that Anthropic wants from pages: None does so in a browser and to Anthropic only.
    `prompt_caching` asks the server to cache the prompt. `max_tokens` is 4096 unless it is set.
    """

    provider = "anthropic"
    declared = Capabilities(audio=False, video=False, candidates=False)
    replay_tags = OWN_REPLAYS
    lanes: ClassVar[Mapping[str, Mapping[str, Any]]] = {"fast": {"extras": {"speed": "fast"}}}
    media = frozenset({"image", "pdf"})
    SETTINGS = HTTPLanguageModel.SETTINGS | {"auth", "betas", "browser_access", "prompt_caching"}

    auth: Literal["x-api-key", "bearer"]
    betas: tuple[str, ...]
    browser_access: bool | None
    prompt_caching: bool

    def __init__(
        self,
        model: str = "",
        *,
        base_url: str = f"https://{OWN_HOST}/v1",
        auth: Literal["x-api-key", "bearer"] = "x-api-key",
        betas: Sequence[str] = (),
        browser_access: bool | None = None,
        prompt_caching: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(model, base_url=base_url, **settings)
        self._set(auth=auth, betas=betas, browser_access=browser_access, prompt_caching=prompt_caching)

    def _checked(self, name: str, value: Any) -> Any:
        match name:
            case "auth" if value not in ("x-api-key", "bearer"):
                raise InvalidArgumentError(
                    f"auth is 'x-api-key' or 'bearer', not {value!r}", details={"option": "auth"}
                )
            case "betas":
                return kinds.texts(name, value)
            case "prompt_caching":
                return kinds.flag(name, value)
            case "browser_access" if value is not None:
                return kinds.flag(name, value)
        return super()._checked(name, value)

    def cache_scope(self) -> Sequence[str]:
        """As for any wire, and the betas."""
        return (*super().cache_scope(), *self.betas)

    def _encode(self, request: ModelRequest) -> Request:
        wire = body(
            request,
            model=self.model,
            replay=Replay(tags=self.replays, host=self.host),
            prompt_caching=self.prompt_caching,
            stream=self.stream_wire,
        )
        unbound = "block_binding" in (wire.get("thinking") or {})
        headers = {"content-type": "application/json", **self._headers()}
        betas = [*self.betas, *([BINDING_BETA] if unbound and BINDING_BETA not in self.betas else [])]
        if betas:
            headers["anthropic-beta"] = ",".join(betas)
        return Request(method="POST", url=self.url("/messages"), headers=headers, body=json_body(wire))

    def _headers(self) -> dict[str, str]:
        headers = {"anthropic-version": "2023-06-01"}
        if self.browser_access or (self.browser_access is None and IN_BROWSER and self.host == OWN_HOST):
            headers["anthropic-dangerous-direct-browser-access"] = "true"
        return headers

    def _page_query(self) -> Mapping[str, str]:
        return {"limit": "1000"}

    def _read_page(self, page: Mapping[str, Any]) -> ModelPage:
        return read_models(page)

    def _decoder(self) -> Decoder:
        return AnthropicDecoder(host=self.host, model=self.model)

    def _key_headers(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"} if self.auth == "bearer" else {"x-api-key": key}
