"""What error messages say about conditions of a declaration."""

import construct as cs
import pytest
from construct import this

from exset.codecs.engine import ir
from exset.codecs.engine.declaration import Tree
from exset.codecs.engine.wording import demand_of


@pytest.mark.parametrize(
    ("check", "demand"),
    [
        (this.a == 4, "be 4"),
        ((this.a == 4) | (this.a == 8), "be 4 or 8"),
        ((this.a == 2) | (this.a == 4) | (this.a == 8), "be 2 or 4 or 8"),
        ((this.a >= 0) & (this.a < this.b), "be at least 0 and less than b"),
        ((this.a > 1) & (this.a <= 9), "be more than 1 and at most 9"),
        (this.a != this.b + 1, "be other than b + 1"),
        ((this.a == 4) | (this.b == 8), "satisfy: a == 4 or b == 8"),
        ((this.a == 1) & ((this.a > 2) | (this.a < 3)), "satisfy: a == 1 and (a > 2 or a < 3)"),
        (this.a + this.b == 4, "satisfy: (a + b) == 4"),
    ],
)
def test_demands(check: cs.core.ExprMixin, demand: str) -> None:
    layout = cs.Struct("a" / cs.Int32ub, "b" / cs.Int32ub, cs.Check(check))
    [condition] = ir.expressions_in(Tree(layout).root)
    assert demand_of(condition) == demand
