"""`LfQuery`: the mapping behind `query`, with what it tells a model to do."""

from __future__ import annotations

from langfx_web.queries.mapping import Mapping

_PYTHON = """
Answer the last {{input_title}} by writing its {{output_title}}: one Python value of the {{schema_title}}.
Use only literals and calls of the classes listed with that type. The text is read as data and never run.

{{input_title}}:
  A tray holds 3 rows of 4 cups. How many cups is that?

{{schema_title}}:
  Count

  ```python
  class Count:
    total: int
  ```

{{output_title}}:
  ```python
  output = Count(
    total=12
  )
  ```
"""

_JSON = """
Answer the last {{input_title}} by writing its {{output_title}}: one JSON value that is valid under {{schema_title}}, \
without a wrapper and without other text.
Use null only where {{schema_title}} allows it.

{{input_title}}:
  A tray holds 3 rows of 4 cups. How many cups is that?

{{schema_title}}:
  {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"], \
"additionalProperties": false}

{{output_title}}:
  {"total": 12}
"""


class LfQuery(Mapping):
    """A mapping that explains its task: answer the request by one value, after a worked example."""

    preamble = {"python": _PYTHON, "json": _JSON}  # noqa: RUF012  # read only
