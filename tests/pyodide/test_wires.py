"""The wires inside Pyodide: each reads an answer, keeps it, and writes the next request."""

from typing import Any

from pytest_pyodide import run_in_pyodide


@run_in_pyodide(packages=["langfx-web"])
async def test_every_wire_answers(selenium: Any) -> None:
    """Streamed and called, from one script; a model is read when it is first used."""
    import json

    import langfx_web as lf

    def events(*values: Any) -> bytes:
        return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)

    message = {"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}
    answers = {
        "Anthropic": events(
            {"type": "message_start", "message": {"content": []}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hel"}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            {"type": "message_stop"},
        ),
        "OpenAI": events(
            {"type": "response.output_text.delta", "output_index": 0, "delta": "Hel"},
            {"type": "response.completed", "response": {"status": "completed", "output": [message]}},
        ),
        "OpenAIChat": events(
            {"choices": [{"delta": {"content": "Hello"}}]}, {"choices": [{"delta": {}, "finish_reason": "stop"}]}
        ),
        "Gemini": events(
            {"candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]},
        ),
    }
    for name, body in answers.items():
        cache = lf.llms.InMemoryCache()
        transport = lf.testing.MockTransport([lf.testing.MockResponse(body=body)] * 2)
        model = getattr(lf.llms, name)("m", transport=transport, cache=cache)
        texts = [chunk.delta.text async for chunk in model.stream("hi")]
        assert "".join(texts) == "Hello"
        first = await model("hi")
        assert (await model("hi")) == first
        assert (first.text, len(transport.requests), cache.stats.num_hits) == ("Hello", 2, 1)


@run_in_pyodide(packages=["langfx-web"])
def test_deep_schemas_end_no_interpreter(selenium: Any) -> None:
    """Each dialect takes a schema of a hundred levels on the small stack of a worker."""
    from langfx_web.llms.anthropic.schema import ANTHROPIC_DIALECT
    from langfx_web.llms.gemini.schema import answer_schema
    from langfx_web.llms.openai.schema import strict
    from langfx_web.llms.wire_schema import told

    schema: dict[str, Any] = {"type": "string"}
    for _ in range(100):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    assert told(schema, ANTHROPIC_DIALECT) == strict(schema) == answer_schema(schema)
