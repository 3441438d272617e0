"""Grammars and layouts inside other packages run unmodified, or are refused by name."""

from pathlib import Path

import pytest

import exset
from tests import packaged


def installed(name: str) -> Path:
    """Return a file of a package; skip the test if it is not installed."""
    package = name.partition("/")[0]
    if (path := packaged.file_in(name)) is None:
        pytest.skip(f"{package} is not installed")
    return path


@pytest.mark.parametrize("name", packaged.GRAMMARS)
def test_a_grammar_gives_the_trees_of_lark(name: str) -> None:
    assert packaged.compare_grammar(installed(packaged.GRAMMARS[name]), 120) > 10


@pytest.mark.parametrize("name", packaged.REFUSED_GRAMMARS)
def test_a_grammar_that_no_table_runs(name: str) -> None:
    file, message = packaged.REFUSED_GRAMMARS[name]
    with pytest.raises(ValueError, match=message):
        exset.compile_grammar(installed(file))


@pytest.mark.parametrize("name", packaged.LAYOUTS)
def test_a_layout_gives_the_values_of_construct(name: str) -> None:
    file, what = packaged.LAYOUTS[name]
    assert packaged.compare_layout(packaged.declaration(installed(file), what), 120) > 10


@pytest.mark.parametrize("name", packaged.REFUSED_LAYOUTS)
def test_a_layout_that_no_program_runs(name: str) -> None:
    file, what, message = packaged.REFUSED_LAYOUTS[name]
    with pytest.raises(TypeError, match=message):
        exset.compile_layout(packaged.declaration(installed(file), what))
