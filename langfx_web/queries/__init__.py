"""Asking one model for one thing.

May import layers 0 to 5. One verb per module; read `query.py`, then `mapping.py`, first.
"""

from langfx_web.queries.batch import BatchItem, query_batch
from langfx_web.queries.complete import complete
from langfx_web.queries.describe import describe
from langfx_web.queries.example import MappingExample
from langfx_web.queries.inquiry import Inquiry, inquiry
from langfx_web.queries.langfunc import LangFunc
from langfx_web.queries.lfquery import LfQuery
from langfx_web.queries.mapping import Mapping
from langfx_web.queries.marks import MISSING, RAISE
from langfx_web.queries.parse import parse
from langfx_web.queries.partial import Partial
from langfx_web.queries.query import query
from langfx_web.queries.stream import QueryStream, query_stream

__all__ = [
    "MISSING",
    "RAISE",
    "BatchItem",
    "Inquiry",
    "LangFunc",
    "LfQuery",
    "Mapping",
    "MappingExample",
    "Partial",
    "QueryStream",
    "complete",
    "describe",
    "inquiry",
    "parse",
    "query",
    "query_batch",
    "query_stream",
]
