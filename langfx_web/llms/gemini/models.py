"""The list of models that Gemini has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langfx_web.errors import LMProtocolError
from langfx_web.llms.listing import ModelInfo, ModelPage, size


def read_models(page: Mapping[str, Any]) -> ModelPage:
    """The models of a page that generate content, and the token of the next one."""
    entries = page.get("models")
    if not isinstance(entries, list):
        raise LMProtocolError("the answer is no list of models: it has no models")
    models = [_model(entry) for entry in entries if isinstance(entry, Mapping) and _generates(entry)]
    token = page.get("nextPageToken")
    return ModelPage(models=models, following={"pageToken": token} if token else None)


def _generates(entry: Mapping[str, Any]) -> bool:
    return "generateContent" in (entry.get("supportedGenerationMethods") or ())


def _model(entry: Mapping[str, Any]) -> ModelInfo:
    return ModelInfo(
        id=str(entry.get("name")).removeprefix("models/"),
        name=entry.get("displayName"),
        context_window=size([entry.get("inputTokenLimit")]),
        max_output_tokens=size([entry.get("outputTokenLimit")]),
        capabilities={"thoughts": entry["thinking"]} if isinstance(entry.get("thinking"), bool) else None,
        raw=entry,
    )
