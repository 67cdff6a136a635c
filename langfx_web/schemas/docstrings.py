"""What a docstring says of parameters, in the styles of Google, NumPy and reST."""

from __future__ import annotations


def parameter_texts(docstring: str) -> dict[str, str]:
    """The text of each parameter that is described, on one line; a docstring in none of these styles has none."""
    if "\n" not in docstring:
        return {}
    from docstring_parser import ParseError, parse

    try:
        described = parse(docstring).params
    except ParseError:
        return {}
    texts = {item.arg_name.lstrip("*"): " ".join((item.description or "").split()) for item in described}
    return {name: text for name, text in texts.items() if text}
