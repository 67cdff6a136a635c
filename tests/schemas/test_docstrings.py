"""Parameters as docstrings describe them."""

from __future__ import annotations

import inspect

import pytest

from langfx_web.schemas.docstrings import parameter_texts

GOOGLE = """Do it.

    More text.

    Args:
        a: the first
            thing
        b (str): second: with a colon
        *rest: others
        silent:

    Returns:
        a: nothing
    """
NUMPY = """Do it.

    Parameters
    ----------
    a : int
        the first
        thing
    b : str, optional
        second: with a colon
    *rest
        others

    Returns
    -------
    int
        nothing
    """
REST = """Do it.

    :param a: the first
        thing
    :param str b: second: with a colon
    :param rest: others
    :type a: int
    :returns: nothing
    """


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, REST])
def test_three_styles(docstring: str) -> None:
    """A text over several lines is one line; types, results and empty texts are left out."""
    assert parameter_texts(inspect.cleandoc(docstring)) == {
        "a": "the first thing",
        "b": "second: with a colon",
        "rest": "others",
    }


@pytest.mark.parametrize(
    "docstring", ["", "Do it.", "Do it.\n\nMore of it.", "Do it.\n\nArgs:\n    no entry", "Do it.\n\n:param: what"]
)
def test_a_docstring_in_no_style_describes_nothing(docstring: str) -> None:
    """It is the author's to write as they like."""
    assert parameter_texts(docstring) == {}
