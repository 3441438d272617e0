"""All that can be said of models in numbers: held against a count one by one."""

import json
import math

from click.testing import CliRunner
from hypothesis import given, settings

import exset
from exset import ExampleSet
from exset.cli import cli
from exset.grammars.aeon.block import Block
from exset.grammars.lens.views import RangeView
from exset.runtime.lens.range_statistics import RangeStatistics, by_group, by_side
from exset.testing import archives, blocks, example_sets


def counted(ranges: list[RangeView]) -> RangeStatistics:
    values = [float(value) for each in ranges for value in each.values]
    numbers = [value for value in values if not math.isnan(value)]
    return RangeStatistics(
        ranges=len(ranges),
        values=len(values),
        zeros=sum(value == 0 for value in values),
        nans=len(values) - len(numbers),
        low=min(numbers, default=math.inf),
        high=max(numbers, default=-math.inf),
        units=sum(each.units.size for each in ranges),
    )


@settings(max_examples=40)
@given(example_sets(max_examples=4))
def test_sides_and_groups(examples: ExampleSet) -> None:
    events = [event for example in examples for event in example.events]
    for side, found in by_side(examples).items():
        lists = {ranges.number: ranges for event in events if (ranges := getattr(event, side))}
        assert found == counted([each for ranges in lists.values() for each in ranges])
    both = [ranges for event in events for ranges in (event.inputs, event.targets) if ranges]
    once = {each.row: each for ranges in both for each in ranges}.values()
    for name, found in by_group(examples).items():
        assert found == counted([each for each in once if each.group == name])
    json.dumps(exset.stats(examples).to_dict(), allow_nan=False)
    assert exset.stats(examples).rows()


@settings(max_examples=40)
@given(blocks() | archives())
def test_columns_of_blocks(block: Block) -> None:
    found = exset.stats(block).to_dict()
    json.dumps(found, allow_nan=False)
    columns = found["columns"]
    assert isinstance(columns, list)
    if block.header is None or block.width:
        assert sum(column["bytes"]["count"] for column in columns) == len(block.elements)
        assert sum(sum(column["contents"].values()) for column in columns) == len(block.elements)


def test_stats_as_a_command() -> None:
    done = CliRunner().invoke(cli, ["stats", "exset::groups.ex"])
    assert "3 events, 9 ranges, 4 values from 0.1 to 0.6, 0.0% zero, 8 units" in done.stdout
    assert "              phoneme: 2 ranges, 4 values from 0 to 1, 25.0% zero" in done.stdout
    assert "0.1 to 23, mean 11.3667, 3 distinct values" in done.stdout
