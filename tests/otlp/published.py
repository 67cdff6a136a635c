"""What OpenTelemetry itself makes of a request's body; runs in an environment that has its packages.

Reads the body on stdin and writes JSON: the spans as the messages of `opentelemetry-proto` have them, and the names and
values that `opentelemetry-semantic-conventions` publishes for generative AI.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from enum import Enum
from importlib.metadata import version
from pathlib import Path
from typing import Any

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.attributes import error_attributes


def main() -> None:
    """Read, and write what was read."""
    body = json.load(sys.stdin)
    for resource in body["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                # OTLP has ids in hex where the JSON of protocol buffers has base64.
                for name in ("traceId", "spanId", "parentSpanId"):
                    if name in span:
                        span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    message = ParseDict(body, ExportTraceServiceRequest())
    (resource,) = message.resource_spans
    (scope,) = resource.scope_spans
    json.dump(
        {
            "resource": attributes(resource.resource.attributes),
            "scope": scope.scope.name,
            "spans": [plain(span) for span in scope.spans],
            "conventions": conventions(),
        },
        sys.stdout,
    )


def plain(span: Any) -> dict[str, Any]:
    """A span in the words of its message."""
    return {
        "trace": span.trace_id.hex(),
        "id": span.span_id.hex(),
        "parent": span.parent_span_id.hex(),
        "name": span.name,
        "kind": span.SpanKind.Name(span.kind),
        "start": span.start_time_unix_nano,
        "end": span.end_time_unix_nano,
        "attributes": attributes(span.attributes),
        "events": [[event.name, event.time_unix_nano, attributes(event.attributes)] for event in span.events],
        "status": [span.status.StatusCode.Name(span.status.code), span.status.message],
    }


def attributes(pairs: Any) -> dict[str, Any]:
    """Attributes with the values they stand for."""
    return {pair.key: value(pair.value) for pair in pairs}


def value(any_value: Any) -> Any:
    """What a value holds."""
    kind = any_value.WhichOneof("value")
    held = getattr(any_value, kind)
    return [value(item) for item in held.values] if kind == "array_value" else held


def conventions() -> dict[str, Any]:
    """Names of attributes that have no successor, and the known values of two of them."""
    source = Path(gen_ai_attributes.__file__).read_text("utf-8")
    declared = re.findall(r'^GEN_AI_\w+: Final = "([^"]+)"\n"""\n(.*)', source, re.MULTILINE)
    names = {name for name, said in declared if not said.startswith(("Deprecated: Removed", "Deprecated: Replaced"))}
    return {
        "version": version("opentelemetry-semantic-conventions"),
        "attributes": sorted({*names, error_attributes.ERROR_TYPE}),
        "operations": _values(gen_ai_attributes.GenAiOperationNameValues),
        "providers": _values(gen_ai_attributes.GenAiProviderNameValues),
    }


def _values(words: type[Enum]) -> list[str]:
    return sorted(word.value for word in words)


main()
