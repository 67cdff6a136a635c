"""The list of models that Gemini has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langfx_web.llms.listing import ModelInfo, ModelPage, entries, size, word


def read_models(page: Mapping[str, Any]) -> ModelPage:
    """The models of a page that generate content, and the token of the next one."""
    models = [_model(entry) for entry in entries(page, "models", "name") if _generates(entry)]
    token = page.get("nextPageToken")
    return ModelPage(models=models, following={"pageToken": token} if token else None)


def _generates(entry: Mapping[str, Any]) -> bool:
    methods = entry.get("supportedGenerationMethods")
    return isinstance(methods, list) and "generateContent" in methods


def _model(entry: Mapping[str, Any]) -> ModelInfo:
    return ModelInfo(
        id=entry["name"].removeprefix("models/"),
        name=word(entry.get("displayName")),
        context_window=size([entry.get("inputTokenLimit")]),
        max_output_tokens=size([entry.get("outputTokenLimit")]),
        capabilities={"thoughts": entry["thinking"]} if isinstance(entry.get("thinking"), bool) else None,
        raw=entry,
    )
