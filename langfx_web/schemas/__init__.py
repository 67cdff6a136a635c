"""Wanted types: what a model is told of them, and how plain values are read into them.

May import layer 0 to 2. Read `schema.py` first; pydantic is loaded in `adapters.py` alone.
"""

from langfx_web.schemas.adapters import as_text, load_pydantic
from langfx_web.schemas.arrival import pydantic_arrived, wait_for_pydantic
from langfx_web.schemas.json_schema import settle
from langfx_web.schemas.schema import Arguments, DocumentSchema, Schema
from langfx_web.schemas.signature import Signature, first_paragraph
from langfx_web.schemas.unknown import UNKNOWN, Unknown

__all__ = [
    "UNKNOWN",
    "Arguments",
    "DocumentSchema",
    "Schema",
    "Signature",
    "Unknown",
    "as_text",
    "first_paragraph",
    "load_pydantic",
    "pydantic_arrived",
    "settle",
    "wait_for_pydantic",
]
