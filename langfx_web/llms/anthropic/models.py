"""The list of models that Anthropic has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langfx_web.llms.listing import ModelInfo, ModelPage, entries, moment, size, within, word

_CAPABILITIES = {
    "image_input": "images",
    "pdf_input": "pdf",
    "structured_outputs": "native_schema",
    "thinking": "thoughts",
}


def read_models(page: Mapping[str, Any]) -> ModelPage:
    """The models of a page, and where the next one begins."""
    models = [_model(entry) for entry in entries(page, "data", "id")]
    last = page.get("last_id") if page.get("has_more") else None
    return ModelPage(models=models, following={"after_id": last} if last else None)


def _model(entry: Mapping[str, Any]) -> ModelInfo:
    return ModelInfo(
        id=entry["id"],
        name=word(entry.get("display_name")),
        context_window=size([entry.get("max_input_tokens")]),
        max_output_tokens=size([entry.get("max_tokens")]),
        capabilities=_capabilities(within(entry, "capabilities")),
        created=moment(entry.get("created_at")),
        raw=entry,
    )


def _capabilities(stated: Mapping[str, Any]) -> dict[str, Any] | None:
    known: dict[str, Any] = {
        ours: bool(stated[theirs].get("supported"))
        for theirs, ours in _CAPABILITIES.items()
        if isinstance(stated.get(theirs), Mapping)
    }
    effort = stated.get("effort")
    if isinstance(effort, Mapping):
        levels = [name for name, level in effort.items() if isinstance(level, Mapping) and level.get("supported")]
        known["efforts"] = tuple(levels)
    return known or None
