"""Hypothesis strategies for the models that exset reads and writes, for its tests and for yours.

    from hypothesis import given
    from exset.testing import example_sets

    @given(example_sets(text=True))
    def test_round_trip(examples): ...

The strategies need the extra `test`: `pip install "exset[test]"`. `exset.testing.contract` and
`exset.testing.conformance` work without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exset.testing.aeon import archives, blocks, manifests
    from exset.testing.configs import config_dicts, loader_configs
    from exset.testing.lbann import sample_lists, schema_pairs, schemas
    from exset.testing.lens import example_sets, set_headers, strings

__all__ = [
    "archives",
    "blocks",
    "config_dicts",
    "example_sets",
    "loader_configs",
    "manifests",
    "sample_lists",
    "schema_pairs",
    "schemas",
    "set_headers",
    "strings",
]

_MODULES = {
    "aeon": ("archives", "blocks", "manifests"),
    "configs": ("config_dicts", "loader_configs"),
    "lbann": ("sample_lists", "schema_pairs", "schemas"),
    "lens": ("example_sets", "set_headers", "strings"),
}


def __getattr__(name: str) -> object:
    """Import a strategy on first use. Raises ImportError without Hypothesis."""
    for module, names in _MODULES.items():
        if name in names:
            need_hypothesis()
            return getattr(import_module(f"exset.testing.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def need_hypothesis() -> None:
    """Raise ImportError, which names the extra, if Hypothesis is not installed."""
    try:
        import_module("hypothesis")
    except ImportError as error:
        message = "exset.testing needs Hypothesis, of the extra `test`: pip install 'exset[test]'"
        raise ImportError(message) from error
