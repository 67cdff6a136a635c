"""Reading answers inside Pyodide: hostile texts on a small stack, nothing run, and long streams in linear time."""

from typing import Any

from pytest_pyodide import run_in_pyodide


@run_in_pyodide(packages=["langfx-web", "pydantic"])
def test_langfx_22_limits_hold_on_a_small_stack(selenium: Any) -> None:
    """65 brackets, 2,000,001 characters, 200,001 values, 5,000 digits and a NUL byte are errors, never the end."""
    from typing import Any

    from pydantic import BaseModel

    import langfx_web as lf
    from langfx_web.protocols import ParseLimits, protocol, read_answer
    from langfx_web.schemas import Schema

    class Note(BaseModel):
        text: str
        tags: list[str] = []

    def code(text: str, type_: Any, name: str) -> str:
        try:
            read_answer(text, type_, protocol=name)
        except lf.errors.OutputValidationError as error:
            return error.code
        return "read"

    for name in ("python", "json"):
        assert code("[" * 64 + "]" * 64, list[Any], name) == "read"
        for text in ("[" * 65 + "]" * 65, "[" * 2_000_001, f"[{'1,' * 199_999}1]"):
            assert code(text, list[Any], name) == "output_limit"
        assert code("1" * 5000, int, name) == "output_syntax"
        assert code("[1,\0 2]", list[int], name) == "output_syntax"

    # Each of these is nested by Python's own parser, which has the stack of the browser alone.
    hostile = [
        *[
            "not " * 5000 + "1",
            "-" * 100_000 + "1",
            "lambda: " * 5000 + "1",
            "1" + "**1" * 5000,
            "1" + " << 1" * 50_000,
            "a" + ".a" * 100_000,
        ],
        *["f" + "()" * 5000, "f" + "[0]" * 5000, "(" * 5000 + "1" + ")" * 5000, "Note(text=" * 5000, "{1:" * 5000],
        *[
            "if 1: pass\n" + "elif 1: pass\n" * 5000,
            "f'{" * 5000 + "1" + "}'" * 5000,
            "[" * 1_000_000,
            '{"a":' * 100_000,
        ],
        *["1 if 1 else " * 5000 + "1", "'" * 100_001, "9" * 1_000_000, '{"text": "a", "tags": ' + "[" * 100_000],
        *["async " * 5000, "@a\n" * 5000, "x = " * 5000, "a and " * 5000 + "b", "1 < " * 5000 + "1", "a := " * 5000],
    ]
    for text in hostile:
        for name in ("python", "json"):
            assert code(text, Note, name).startswith("output_"), text[:20]
            reader = protocol(name).reader(Schema(Note), limits=ParseLimits(max_depth=200))
            for start in range(0, len(text), 4096):
                reader.feed(text[start : start + 4096])
            reader.finish()


@run_in_pyodide(packages=["langfx-web", "pydantic"])
def test_langfx_22_what_is_as_deep_as_allowed_is_read(selenium: Any) -> None:
    """Sixty-four levels of objects are read by pydantic alone, by the forms, and from a stream; written and back."""
    from pydantic import BaseModel

    from langfx_web.protocols import ParseLimits, protocol
    from langfx_web.schemas import Schema

    class Node(BaseModel):
        value: int
        children: list["Node"] = []

    class Loose(BaseModel):
        value: int | str
        children: list["Loose"] = []

    limits = ParseLimits(max_depth=200)
    for type_ in (Node, Loose):
        value = type_(value=0)
        for level in range(1, 100):
            value = type_(value=level, children=[value])
        schema = Schema(type_)
        for name in ("python", "json"):
            text = protocol(name).write(value, schema)
            assert protocol(name).read(text, schema, limits=limits) == value
            reader = protocol(name).reader(schema, limits=limits)
            ends = [event for start in range(0, len(text), 100) for event in reader.feed(text[start : start + 100])]
            assert len([event for event in ends if event.type == "object_start"]) == 200


@run_in_pyodide(packages=["langfx-web", "pydantic"])
def test_langfx_21_nothing_of_an_answer_is_run(selenium: Any) -> None:
    """A canary class, a file, an import and `print` stay untouched by answers that are code, whole or streamed."""
    import contextlib
    import io
    import sys
    from pathlib import Path

    from pydantic import BaseModel

    import langfx_web as lf
    from langfx_web.protocols import protocol, read_answer
    from langfx_web.schemas import Schema

    touched: list[str] = []

    class Canary:
        def __init_subclass__(cls) -> None:
            touched.append("subclass")

        def __init__(self, *arguments: Any, **options: Any) -> None:
            touched.append("made")

    class Note(BaseModel):
        text: str
        n: int = 0

    texts = [
        "__import__('antigravity')",
        "import antigravity",
        "exec('import antigravity')",
        "open('canary', 'w')",
        "print('x')",
        "Canary()",
        "Note(text=Canary())",
        "Note(text=open('canary', 'w'))",
        "Note(text='a', **print('x'))",
        "Note(**{'text': print('x')})",
        "Note(text=f'{print(1)}')",
        "Note(text='it's {print(1)}', n=print(1))",
        "[Canary() for i in range(3)]",
        "(lambda: print(1))()",
        "(x := Canary())",
        "Note.__class__.__base__.__subclasses__()",
        "().__class__.__bases__[0].__subclasses__()",
        "class X(Canary): pass",
        "@print\ndef f(): pass",
        "Note(text='a').model_construct.__globals__",
        "'{0.__class__}'.format(Canary)",
        "assert print(1)",
        "with open('canary', 'w') as f: pass",
        '{"__class__": "Canary", "text": "a"}',
        '{"text": {"$ref": "Canary"}}',
    ]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for text in texts:
            for name in ("python", "json"):
                for answer in (text, f"```python\n{text}\n```"):
                    try:
                        read_answer(answer, Note, protocol=name)
                        raise AssertionError(answer)
                    except lf.errors.OutputValidationError as error:
                        assert error.code.startswith("output_")
                    reader = protocol(name).reader(Schema(Note))
                    for character in answer:
                        reader.feed(character)
                    reader.finish()
    assert (touched, printed.getvalue()) == ([], "")
    assert not Path("canary").exists()
    assert "antigravity" not in sys.modules


@run_in_pyodide(packages=["langfx-web", "pydantic"])
def test_bug_087_a_long_answer_in_small_pieces(selenium: Any) -> None:
    """260 kB in 32,500 pieces are shown whole; the bench tells how long it takes."""
    import json
    from typing import Any

    from langfx_web.protocols import protocol
    from langfx_web.schemas import Schema

    content = "line \u00e9\n" * 20_000
    text = json.dumps({"path": "a.txt", "content": content})
    reader = protocol("json").reader(Schema(dict[str, Any]))
    events = [event for start in range(0, len(text), 8) for event in reader.feed(text[start : start + 8])]
    deltas = [event.delta for event in events if event.type == "string_field_delta" and event.path == ("content",)]
    assert "".join(deltas) == content
    assert len(deltas) > 20_000
