"""A Hypothesis strategy for requests to samplers, in the form of the conformance kit."""

import json

from hypothesis import strategies as st

_LABELS = st.one_of(
    st.lists(st.integers(0, 3), min_size=1, max_size=14),
    st.lists(st.integers(0, 3), min_size=6, max_size=14),
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=10),
    st.lists(st.sampled_from([-5, 7, 30]), min_size=2, max_size=10),
)


@st.composite
def sampler_requests(draw: st.DrawFn) -> bytes:
    """Draw a request, which need not be valid."""
    made: dict[str, object] = {
        "sampler": draw(st.sampled_from(["planned", "exhaustive", "random"])),
        "labels": draw(_LABELS),
        "n": draw(st.sampled_from([2, 1, 2, 1, 2, 1, 3, 0])),
        "m": draw(st.sampled_from([2, 1, 2, 3, 2, 1, 2, 0])),
    }
    if draw(st.integers(0, 2)):
        made["shuffle"] = draw(st.booleans())
    if draw(st.integers(0, 2)) == 2:
        made["drop_last"] = True
    if draw(st.booleans()):
        made["replicas"] = draw(st.integers(2, 3))
    if draw(st.booleans()):
        made |= {"seed": draw(st.integers(0, 5)), "epoch": draw(st.integers(0, 2))}
    if made["sampler"] != "planned" and draw(st.integers(0, 4)) == 4:
        made["compat"] = "balr"
    if draw(st.integers(0, 19)) == 19:
        made["sampler"] = "best"
    return json.dumps(made).encode()
