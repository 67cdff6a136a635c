"""`OpenAI`: models behind the Responses API, of OpenAI or of a server compatible with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langfx_web.errors import InvalidArgumentError
from langfx_web.llms import kinds
from langfx_web.llms.exchange import Decoder
from langfx_web.llms.http import SERVICE_TIERS, HTTPLanguageModel, json_body
from langfx_web.llms.openai.decode import ResponsesDecoder
from langfx_web.llms.openai.encode import body
from langfx_web.llms.openai.items import REPLAY_TAG
from langfx_web.llms.replay import Replay
from langfx_web.llms.request import Capabilities, ModelRequest
from langfx_web.transport import Request

OWN_HOST = "api.openai.com"


class OpenAI(HTTPLanguageModel):
    """A model behind `POST {base_url}/responses`; nothing is stored there.

    `auth="api-key"` sends the key as Azure wants it. `organization` and `project` are names for OpenAI's headers.
    """

    provider = "openai"
    declared = Capabilities(audio=False, video=False, candidates=False)
    replay_tags = frozenset({REPLAY_TAG})
    lanes = SERVICE_TIERS
    media = frozenset({"image", "pdf"})
    SETTINGS = HTTPLanguageModel.SETTINGS | {"auth", "organization", "project"}

    auth: Literal["bearer", "api-key"]
    organization: str | None
    project: str | None

    def __init__(
        self,
        model: str = "",
        *,
        base_url: str = f"https://{OWN_HOST}/v1",
        auth: Literal["bearer", "api-key"] = "bearer",
        organization: str | None = None,
        project: str | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(model, base_url=base_url, **settings)
        self._set(auth=auth, organization=organization, project=project)

    def _checked(self, name: str, value: Any) -> Any:
        match name:
            case "auth" if value not in ("bearer", "api-key"):
                raise InvalidArgumentError(f"auth is 'bearer' or 'api-key', not {value!r}", details={"option": "auth"})
            case "organization" | "project" if value is not None:
                return kinds.text(name, value)
        return super()._checked(name, value)

    def cache_scope(self) -> Sequence[str]:
        """As for any wire, and whose account it is."""
        return (*super().cache_scope(), self.organization or "", self.project or "")

    def _encode(self, request: ModelRequest) -> Request:
        tags = frozenset() if request.drop_thoughts else self.replays
        wire = body(
            request,
            model=self.model,
            replay=Replay(tags=tags, host=self.host),
            stream=self.stream_wire,
            plain_stream=self.host == OWN_HOST,
        )
        headers = {"content-type": "application/json", **self._headers()}
        return Request(method="POST", url=self.url("/responses"), headers=headers, body=json_body(wire))

    def _headers(self) -> dict[str, str]:
        headers = {"openai-organization": self.organization, "openai-project": self.project}
        return {name: value for name, value in headers.items() if value}

    def _decoder(self) -> Decoder:
        return ResponsesDecoder(host=self.host, model=self.model)

    def _key_headers(self, key: str) -> Mapping[str, str]:
        return {"api-key": key} if self.auth == "api-key" else {"authorization": f"Bearer {key}"}
