"""Traces for OpenTelemetry: what an observer is told, as spans of its conventions for generative AI, sent over HTTP.

May import layers 0 to 3. Read `exporter.py` first; `genai.py` makes spans of events, `span.py` writes them. Loaded only
where it is used.
"""

from langfx_web.otlp.exporter import OTLPExporter

__all__ = ["OTLPExporter"]
