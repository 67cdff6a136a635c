"""`Gemini`: models behind generateContent, of Google's Gemini API or of a server compatible with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import quote

from langfx_web.errors import InvalidArgumentError
from langfx_web.llms.exchange import Decoder
from langfx_web.llms.gemini.decode import GeminiDecoder
from langfx_web.llms.gemini.encode import body
from langfx_web.llms.gemini.models import read_models
from langfx_web.llms.gemini.parts import REPLAY_TAG
from langfx_web.llms.http import HTTPLanguageModel, json_body
from langfx_web.llms.listing import ModelPage
from langfx_web.llms.replay import Replay
from langfx_web.llms.request import Capabilities, ModelRequest
from langfx_web.transport import Request


class Gemini(HTTPLanguageModel):
    """A model behind `POST {base_url}/models/{model}:streamGenerateContent`.

    A `models/` before the name is accepted. `auth="bearer"` sends the key as a bearer token, as Vertex wants it.
    """

    provider = "gemini"
    declared = Capabilities(candidates=False)
    replay_tags = frozenset({REPLAY_TAG})
    media = frozenset({"image", "pdf", "audio", "video", "mime"})
    schemes = ("http", "https", "gs")
    SETTINGS = HTTPLanguageModel.SETTINGS | {"auth"}

    auth: Literal["x-goog-api-key", "bearer"]

    def __init__(
        self,
        model: str = "",
        *,
        base_url: str = "https://generativelanguage.googleapis.com/v1beta",
        auth: Literal["x-goog-api-key", "bearer"] = "x-goog-api-key",
        **settings: Any,
    ) -> None:
        super().__init__(model, base_url=base_url, **settings)
        self._set(auth=auth)

    def _checked(self, name: str, value: Any) -> Any:
        if name == "auth" and value not in ("x-goog-api-key", "bearer"):
            raise InvalidArgumentError(
                f"auth is 'x-goog-api-key' or 'bearer', not {value!r}", details={"option": "auth"}
            )
        return super()._checked(name, value)

    def _encode(self, request: ModelRequest) -> Request:
        tags = frozenset() if request.drop_thoughts else self.replays
        wire = body(request, replay=Replay(tags=tags, host=self.host, model=self.model))
        headers = {"content-type": "application/json"}
        return Request(method="POST", url=self._address(), headers=headers, body=json_body(wire))

    def _address(self) -> str:
        model = quote(self.model.removeprefix("models/"), errors="replace")
        if not self.stream_wire:
            return self.url(f"/models/{model}:generateContent")
        return self.url(f"/models/{model}:streamGenerateContent", {"alt": "sse"})

    def _page_query(self) -> Mapping[str, str]:
        return {"pageSize": "1000"}

    def _read_page(self, page: Mapping[str, Any]) -> ModelPage:
        return read_models(page)

    def _decoder(self) -> Decoder:
        return GeminiDecoder(host=self.host, model=self.model)

    def _key_headers(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"} if self.auth == "bearer" else {"x-goog-api-key": key}
