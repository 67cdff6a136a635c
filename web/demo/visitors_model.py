"""The model that the visitor has chosen on the page: any of the four wires, at any server, with a key of the visitor's.

The page keeps the key and gives it when it is asked; here is only the name to ask for.
"""

from __future__ import annotations

from typing import Any

import langfx_web as lf
from langfx_web.errors import InvalidArgumentError

WIRES = {"anthropic": "Anthropic", "openai": "OpenAI", "openai_chat": "OpenAIChat", "gemini": "Gemini"}


def model_at(wire: str, base_url: str, *, model: str = "", key: str | None = None) -> lf.llms.HTTPLanguageModel:
    """A model of the server at `base_url`; `key` is the page's name of the key, None sends none.

    Without a key, plain http will do: only the conversation is there to be read on the way.
    """
    credential = None if key is None else lf.page_credential(key)
    made: lf.llms.HTTPLanguageModel = getattr(lf.llms, WIRES[wire])(
        model, base_url=base_url, api_key=credential, allow_insecure=key is None
    )
    return made


class VisitorsModel(lf.LanguageModel):
    """Hands each request on to what was chosen last, so that an agent which has it need not be made anew."""

    chosen: lf.llms.HTTPLanguageModel | None = None

    def _stream(self, request: lf.llms.ModelRequest) -> Any:
        if self.chosen is None:
            raise InvalidArgumentError("no model is chosen")
        return self.chosen._stream(request)


visitors_model = VisitorsModel()


def choose(wire: str, base_url: str, model: str, key: str | None) -> None:
    """From the next turn on, and in place of any other: `await langfx.call("visitors_model:choose", { … })`."""
    visitors_model.chosen = model_at(wire, base_url, model=model, key=key)


def forget() -> None:
    """No model is chosen any more, and no key is known here."""
    visitors_model.chosen = None


async def list_models(wire: str, base_url: str, key: str | None) -> list[dict[str, Any]]:
    """What the server has, for the page's list: `id`, and `name` and `context_window` where they are known."""
    found = await model_at(wire, base_url, key=key).list_models()
    return [{"id": info.id, "name": info.name, "context_window": info.context_window} for info in found]
