"""The heap of a worker that has used pydantic."""

import pyodide_js

import langfx_web as lf


def heap() -> int:
    """Bytes of the heap, after a value of a type that only pydantic knows was described and read."""
    schema = lf.Schema(dict[str, list[int]])
    schema.json_schema()
    schema.validate({"a": [1]})
    return int(pyodide_js._module.HEAP8.length)
