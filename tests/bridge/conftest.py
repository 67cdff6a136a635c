"""A page for the tests of this room, whose modules are forgotten afterwards."""

from __future__ import annotations

import sys

import pytest

from tests.bridge.fake_page import FakePage


@pytest.fixture
def page(tmp_path):
    """A page that has not set up yet; module names and the import path are as before afterwards."""
    path, modules = list(sys.path), set(sys.modules)
    yield FakePage(tmp_path)
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if getattr(sys.modules[name], "__file__", "") and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]
