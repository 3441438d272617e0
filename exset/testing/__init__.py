"""Hypothesis strategies for the models that exset reads and writes, for its tests and for yours.

    from hypothesis import given
    from exset.testing import example_sets

    @given(example_sets(text=True))
    def test_round_trip(examples): ...

Needs the extra `test`: `pip install "exset[test]"`.
"""

try:
    import hypothesis  # noqa: F401
except ImportError as error:
    message = "exset.testing needs Hypothesis, of the extra `test`: pip install 'exset[test]'"
    raise ImportError(message) from error

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
