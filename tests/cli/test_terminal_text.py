"""No byte of a file or of its name controls a terminal, in any command."""

import os
import re
from pathlib import Path

import pytest
from click.testing import _NamedTextIOWrapper
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import exset
from exset.core.errors import FormatError
from tests.cli import command_line

EVIL = (
    *("\x1b[31m", "\x1b]0;owned\x07", "\x9b2J", "\x08", "\r", "\x7f", "\x00"),
    *("\u202e", "\u2066", "\u200f", "\u2028", "\ufeff", "\udcff", "[bold]", "[/]", ":smile:"),
)
WILD = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ud800-\udfff]"
)

TEXTS = {
    "ex": "name:{%s} proc:{%s} I:(%s) 1; I:1 %s;",
    "sample_list": "CONDUIT_HDF5_INCLUSION\n1 0 1\n/%s\n%s.h5 1 0 %s\n%s",
    "tsv": "@FILE\tSTRING\n%s\t%s\n%s\t%s\n",
    "yaml": "%s:\n  metadata: {%s: %s}\n%s: 1\n",
    "json": '{"etl": [{"type": "%s", "%s": "%s"}], "manifest_filename": "%s", "batch_size": 1}',
}
"""A file of each text format, with placeholders for text."""

VERBS = (
    *(("info",), ("validate",), ("cat",), ("stats",), ("validate", "--files"), ("info", "--json")),
    *(("convert", "--to", "bex", "-o", "-"), ("config", "show"), ("schema", "show")),
    *(("list", "order", "--ranks", "2"), ("sampler", "plan", "-n", "1", "-m", "1")),
    *(("manifest", "pick"), ("cache", "predict"), ("cache", "check"), ("split", "--trainers", "2")),
    *(("head",), ("diff", "exset::xor.ex"), ("diff", "exset::captions.tsv"), ("plot",)),
    *(
        ("diff", "exset::flowers.sample_list"),
        ("edit", "--shuffle"),
        ("list", "merge"),
    ),
    *(("list", "build"), ("manifest", "balance"), ("manifest", "build"), ("schema", "check")),
    *(("schema", "build"), ("cache", "extract"), ("cache", "repair")),
    *(
        ("explain",),
        ("stats", "--json"),
        ("head", "--json"),
        ("validate", "--json"),
        ("head", "-v"),
    ),
    *(("cat", "--limit"), ("info", "--from"), ("completion",), ("config", "schema")),
)


def shown(arguments: tuple[str, ...]) -> str:
    """Return what a command shows on a terminal, on both streams."""
    return command_line.run(*arguments).output_bytes.decode("utf-8", "surrogateescape")


@pytest.fixture(autouse=True)
def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make both streams terminals: pipes get the raw data."""
    monkeypatch.setattr(_NamedTextIOWrapper, "isatty", lambda self: True)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(st.sampled_from(sorted(TEXTS)), st.lists(st.sampled_from(EVIL), min_size=5, max_size=5))
def test_nothing_wild_is_shown(
    verb: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory, kind: str, evil: list[str]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "wild"
    folder.mkdir(exist_ok=True)
    name = os.fsencode(f"a{evil[4]}b.{kind}".replace("\0", "").replace("/", ""))
    path = Path(os.fsdecode(os.path.join(os.fsencode(folder), name)))
    path.write_bytes((TEXTS[kind] % tuple(evil[:4])).encode("utf-8", "surrogateescape"))
    try:
        output = shown((*verb, str(path)))
    finally:
        path.unlink()
    assert not WILD.search(output), output


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("".join(EVIL)), max_size=30))
def test_errors_are_safe_to_show(text: str) -> None:
    with pytest.raises(FormatError) as caught:
        exset.loads(b"I:1", name=text, format="ex")
    assert not WILD.search(str(caught.value))
