"""The protocol of etl types, and types of other packages."""

from collections.abc import Sequence

import numpy as np
import pytest

from exset import Findings, LoaderConfig
from exset.grammars.aeon.config.outputs import Shapes
from exset.grammars.aeon.config.schema_types import REQUIRED, Constraint, Member
from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision import registry
from exset.runtime.aeon.provision.draws import Draws
from exset.runtime.aeon.provision.etl import Context, CustomEtl, Slot
from exset.runtime.aeon.provision.record import Record
from tests.aeon.configs import codes, config


class Mine(CustomEtl):
    members = (
        Member("count", "uint32", REQUIRED, "number of values", Constraint(low=1)),
        Member("scale", "float", 2.0, "factor"),
    )

    @staticmethod
    def shapes(settings: Settings) -> Shapes:
        yield "mine", (settings.number("count"),), "float", ("value",)

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        slots[0][:] = np.frombuffer(element, np.uint8) * self.settings.real("scale")


@pytest.fixture
def mine(etl_types: None) -> None:
    """Register a type for one test."""
    registry.register("mine", Mine)


def test_a_registered_type_is_checked_as_any_other(mine: None) -> None:
    given = config({"type": "mine", "count": 3, "name": "a"})
    found = LoaderConfig.from_dict(given, findings=Findings())
    assert [output.to_dict() for output in found.outputs] == [
        {"name": "a.mine", "shape": [3], "type": "float", "axes": ["value"]}
    ]
    assert codes(config({"type": "mine", "count": 0})) == ["aeon-range"]
    assert codes(config({"type": "mine", "count": 1, "scales": 1})) == ["aeon-unknown"]
    assert codes(config({"type": "mine"})) == ["aeon-missing"]


def test_a_registered_type_provides(mine: None) -> None:
    given = config({"type": "mine", "count": 3})
    found = LoaderConfig.from_dict(given, findings=Findings())
    etl = registry.etl_class("mine")(found.etl[0], 0, Context(found))
    slot = np.zeros(3, np.float32)
    etl.provide(b"\x01\x02\x03", Record(0, 0, lambda purpose: Draws(1)), [slot])
    assert slot.tolist() == [2, 4, 6] and [each.name for each in etl.outputs] == ["mine"]
