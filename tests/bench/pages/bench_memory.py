"""What the memory bench asks of the worker: units of work, and how much memory there is."""

import gc
import tracemalloc
from collections.abc import AsyncIterator

import pyodide_js
from js import location

import langfx_web as lf

model = lf.llms.Anthropic("bench", base_url=f"{location.origin}/v1", api_key="none")
agent = lf.Agent(name="bench", lm=model)


def state() -> dict[str, int]:
    """Bytes of the heap and of the Python objects in it, live proxies, and JavaScript objects that Python holds."""
    gc.collect()
    module = pyodide_js._module
    return {
        "heap": int(module.HEAP8.length),
        "objects": tracemalloc.get_traced_memory()[0],
        "proxies": int(module.pyproxy_alloc_map.size),
        "references": int(module._hiwire_num_refs()),
    }


def heap() -> int:
    """Bytes of the heap."""
    return int(pyodide_js._module.HEAP8.length)


def trace() -> None:
    """Count proxies and Python's objects from now on."""
    pyodide_js._module.enable_pyproxy_allocation_tracing()
    tracemalloc.start()


def same(value: object) -> object:
    """Give back what was given."""
    return value


async def texts() -> AsyncIterator[str]:
    """The text of each delta."""
    async for chunk in model.stream("Speak."):
        if chunk.delta.text:
            yield chunk.delta.text
