"""Loader configurations: findings, defaults, and the choice of the version of aeon."""

import json
import pickle
from typing import Any

import pytest

import exset
from exset import Finding, Findings, FormatError, FormatWarning, LoaderConfig, Severity
from exset.core.source import Source
from exset.grammars.aeon.config import collector
from exset.grammars.aeon.config.findings import finding_at
from exset.grammars.aeon.config.schema import LOADER, RENAMED
from exset.grammars.aeon.config.schema_types import DIALECTS, Dialect
from exset.parsers.aeon.config import parse
from tests.aeon.configs import (
    AUDIO,
    BASE,
    CHAR_MAP,
    IMAGE,
    LABEL_MAP,
    VIDEO,
    augmented,
    codes,
    config,
    findings_of,
    places,
)

GREY = {**IMAGE, "channels": 1}
BOXES = {"type": "boundingbox", "height": 4, "width": 6, "max_bbox_count": 2, "class_names": ["a"]}


def test_all_errors_have_places_and_hints() -> None:
    text = b"""{
 "manifest_filename": 3,
 "batch_sise": 2,
 "etl": [{"type": "image", "height": "4", "widht": 6}, {"type": "lable"}, 7],
 "augmentation": [{"scale": [0.5, 2]}]
}"""
    with pytest.raises(FormatError, match=r"\(and 8 more errors\)") as caught:
        exset.loads(text, name="a.json")
    found = list(caught.value.findings)
    places = [(each.place.line, each.place.column) for each in found if each.place]
    assert places == [
        *((2, 23), (3, 2), (4, 38), (4, 43), (4, 10)),
        *((4, 65), (4, 75), (5, 19), (1, 1)),
    ]
    hints = [str(each.hint) for each in found]
    for number, name in ((1, "batch_size"), (3, "width"), (5, "label")):
        assert repr(name) in hints[number]
    assert {each.severity for each in found} == {Severity.ERROR}


@pytest.mark.parametrize(
    ("given", "code", "path"),
    [
        (config(batch_size=None), "aeon-type", "batch_size"),
        (config(batch_size=True), "aeon-converted", "batch_size"),
        (config(batch_size=0), "aeon-later", "batch_size"),
        (config(subset_fraction=1.01), "aeon-range", "subset_fraction"),
        (config(subset_fraction=0), "aeon-later", "subset_fraction"),
        (config(subset_fraction=1e39), "aeon-range", "subset_fraction"),
        (config(iteration_mode="once"), "aeon-range", "iteration_mode"),
        (config(iteration_mode="COUNT"), "aeon-rule", "iteration_mode_count"),
        (config(node_id=3, node_count=2), "aeon-later", "node_id"),
        (config(etl=IMAGE), "aeon-type", "etl"),
        (config(augmentation=IMAGE), "aeon-type", "augmentation"),
        (config(3), "aeon-type", "etl[0]"),
        (config({"height": 3}), "aeon-missing", "etl[0].type"),
        (config({"type": 3}), "aeon-type", "etl[0].type"),
        (config({"type": "multicrop"}), "aeon-etl-type", "etl[0].type"),
        (config({**IMAGE, "height": 0}), "aeon-rule", "etl[0].height"),
        (config({**IMAGE, "channels": 2}), "aeon-range", "etl[0].channels"),
        (config({**IMAGE, "name": []}), "aeon-type", "etl[0].name"),
        (config({"type": "label", "output_type": "float"}), "aeon-later", "etl[0].output_type"),
        (config({"type": "label", "output_type": "char"}), "aeon-later", "etl[0].output_type"),
        (config({"type": "video", "max_frame_count": 3}), "aeon-missing", "etl[0].frame"),
        (config({**VIDEO, "frame": {"height": 1, "width": 0}}), "aeon-rule", "etl[0].frame.width"),
        (config({**CHAR_MAP, "alphabet": "ABA"}), "aeon-rule", "etl[0].alphabet"),
        (config({**CHAR_MAP, "unknown_value": 2}), "aeon-rule", "etl[0].unknown_value"),
        (config({**CHAR_MAP, "output_type": "char"}), "aeon-rule", "etl[0].output_type"),
        (config({**LABEL_MAP, "class_names": [3]}), "aeon-type", "etl[0].class_names[0]"),
        (config(LABEL_MAP), "aeon-later", "etl[0].max_classes"),
        (config(IMAGE, IMAGE), "aeon-later", "etl[1]"),
        (config(zoom=[1, 2]), "aeon-overlooked", "zoom"),
        (config(an=[1, 2]), "aeon-unknown", "an"),
        (config(**{"augmentation[1]": 3}), "aeon-unknown", "augmentation[1]"),
        (config(single_thread=True), "aeon-unknown", "single_thread"),
        (config(minibatch_size=3), "aeon-unknown", "minibatch_size"),
        (augmented({"flip": True}), "aeon-missing", "augmentation[0].type"),
        (augmented({"type": "image", "flp": 1}), "aeon-ignored", "augmentation[0].flp"),
        (augmented({"type": "image", "scale": [0.5]}), "aeon-type", "augmentation[0].scale"),
        (augmented({"type": "image", "hue": [3, 2]}), "aeon-order", "augmentation[0].hue"),
        (augmented({"type": "image", "hue": [1, 2, 3]}), "aeon-surplus", "augmentation[0].hue[2]"),
        (augmented({"type": "sound"}), "aeon-surplus", "augmentation[0]"),
        (augmented({"type": "image"}, {"type": "image"}), "aeon-unused", "augmentation[1]"),
        (augmented({"type": "image"}, etl={"type": "label"}), "aeon-unused", "augmentation[0]"),
        (augmented({"type": "image", "padding": 4}), "aeon-later", "augmentation[0].padding"),
        (
            augmented({"type": "image", "batch_samplers": [{"max_sample": 1}]}),
            "aeon-rule",
            "augmentation[0].batch_samplers",
        ),
        (config({**GREY, "bgr_to_rgb": True}), "aeon-rule", "etl[0].bgr_to_rgb"),
        (augmented({"type": "image", "mean": [1]}), "aeon-rule", "augmentation[0].mean"),
        (
            augmented({"type": "image", "stddev": [1]}, etl={**IMAGE, "output_type": "float"}),
            "aeon-rule",
            "augmentation[0].stddev",
        ),
        (
            augmented({"type": "image", "hue": [1, 1]}, etl=GREY),
            "aeon-later",
            "augmentation[0].hue",
        ),
        (
            augmented({"type": "image", "angle": [1, 1]}, etl=BOXES),
            "aeon-later",
            "augmentation[0].angle",
        ),
        (
            augmented({"type": "image", "interpolation_method": "FOO"}),
            "aeon-later",
            "augmentation[0].interpolation_method",
        ),
        (
            augmented({"type": "image", "batch_samplers": [{}], "crop_enable": False}),
            "aeon-rule",
            "augmentation[0].batch_samplers[0]",
        ),
        (
            augmented({"type": "image", "emit_constraint_type": "middle"}),
            "aeon-rule",
            "augmentation[0].emit_constraint_type",
        ),
    ],
)
def test_one_finding(given: dict[str, Any], code: str, path: str) -> None:
    assert places(given) == [(code, path)]


@pytest.mark.parametrize("alphabet", ["aA", "éÉ", "aBA"])
def test_an_alphabet_with_small_and_capital_letters_is_a_warning(alphabet: str) -> None:
    given = config({**CHAR_MAP, "alphabet": alphabet, "max_length": 3})
    for dialect in ("head", "seed"):
        findings = Findings()
        LoaderConfig.from_dict(given, dialect=dialect, findings=findings)
        assert [each.code for each in findings] == ["aeon-later"]


def test_later_versions_read_booleans_as_numbers() -> None:
    given = config({**IMAGE, "height": True}, node_count=True, subset_fraction=True)
    findings = Findings()
    read = LoaderConfig.from_dict(given, dialect="head", findings=findings)
    assert [each.code for each in findings] == ["aeon-converted"] * 3
    assert read.settings["node_count"] == 1 and read.settings["subset_fraction"] == 1.0
    assert isinstance(read.settings["subset_fraction"], float)
    with pytest.raises(FormatError, match="aeon-type"):
        LoaderConfig.from_dict(config({**IMAGE, "height": True}), dialect="seed")


@pytest.mark.parametrize(
    ("name", "number", "read"),
    [
        ("batch_size", 2.7, 2),
        ("batch_size", 1 << 32 | 5, 5),
        ("block_size", 1e12, -2147483648),
        ("random_seed", -1, 4294967295),
        ("random_seed", -2.7, 4294967294),
    ],
)
def test_numbers_are_converted_as_in_cpp(name: str, number: float, read: int) -> None:
    findings = Findings()
    made = LoaderConfig.from_dict(config(**{name: number}), dialect="head", findings=findings)
    assert made[name] == read and [each.code for each in findings] == ["aeon-converted"]


def test_video_uses_the_augmentation_in_frame() -> None:
    wrong = {"type": "image", "scale": [2, 1]}
    unused, unread = findings_of(augmented(wrong, etl=VIDEO))
    assert (unused.code, unread.code) == ("aeon-unused", "aeon-range")
    assert unused.severity is unread.severity is Severity.WARNING
    inner = {"type": "image", "frame": wrong}
    [read], [unread] = findings_of(augmented(inner, etl=VIDEO)), findings_of(augmented(inner))
    assert read.code == unread.code == "aeon-range"
    assert (read.severity, unread.severity) == (Severity.ERROR, Severity.WARNING)
    assert codes(augmented({"type": "image", "frame": {}}, etl=VIDEO)) == ["aeon-missing"]


def test_an_error_in_a_part_that_aeon_does_not_read_is_a_warning() -> None:
    wrong = {"type": "image", "scale": [2, 3]}
    unused, unread = findings_of(augmented(wrong, etl={"type": "label"}))
    assert (unused.code, unread.code) == ("aeon-unused", "aeon-range")
    assert unread.severity is Severity.WARNING
    assert codes(augmented({"type": "image"}, {})) == ["aeon-unused", "aeon-missing"]


def test_audio() -> None:
    made = LoaderConfig.from_dict(config(AUDIO))
    assert made.dialect == "seed"
    assert made.outputs[0].to_dict() == {
        "name": "audio",
        "shape": [1, 201, 98],
        "type": "uint8_t",
        "axes": ["channels", "frequency", "time"],
    }
    for member, value, code in (
        ("max_duration", "4", "aeon-rule"),
        ("max_duration", "soon", "aeon-rule"),
        ("max_duration", "10 milliseconds", "aeon-later"),
        ("frame_stride", "0.01 milliseconds", "aeon-rule"),
        ("feature_type", "mfc", "aeon-range"),
        ("output_type", "float", "aeon-rule"),
        ("window_type", 3, "aeon-type"),
        ("window_type", "foo", "aeon-rule"),
    ):
        assert codes(config({**AUDIO, member: value}), "seed") == [code], member
    few = {"feature_type": "mfcc", "num_filters": 20, "num_cepstra": 30}
    assert codes(config({**AUDIO, **few}), "seed") == ["aeon-later"]
    raw = {"feature_type": "samples", "frame_length": "1 samples", "frame_stride": "1 samples"}
    [output] = LoaderConfig.from_dict(config({**AUDIO, **raw, "output_type": "float"})).outputs
    assert output.shape == (1, 1, 16000)
    assert codes(config({**AUDIO, "feature_type": "samples"}), "seed") == ["aeon-rule"] * 2


def test_defaults_are_those_of_the_version() -> None:
    sizes = {name: LoaderConfig.from_dict(BASE, dialect=name).block_size for name in DIALECTS}
    assert sizes == {"head": 5000, "seed": 4, "between": 5000, "habana": 5000}
    made = LoaderConfig.from_dict(config(IMAGE))
    assert (made.etl[0]["channels"], made.etl[0]["bgr_to_rgb"]) == (3, False)
    assert (made["subset_fraction"], made["manifest_root"], made["random_seed"]) == (1.0, "", 0)
    assert (made["manifest_filename"], made["iteration_mode"]) == ("a.tsv", "ONCE")
    with pytest.raises(KeyError):
        made["single_thread"]
    assert LoaderConfig.from_dict(config(IMAGE), dialect="seed") != made
    assert LoaderConfig.from_dict(config({**IMAGE, "channels": 3}, pinned=False)) == made
    assert LoaderConfig.from_dict(config({**IMAGE, "channels": 1})) != made
    assert pickle.loads(pickle.dumps(made)) == made and len(made) == 1


def test_findings_become_a_warning_by_default() -> None:
    with pytest.warns(FormatWarning, match="aeon-refuses") as caught:
        made = LoaderConfig.from_dict({"manifest_filename": "a", "minibatch_size": 2, "etl": []})
    assert caught[0].filename == __file__
    assert repr(made) == "LoaderConfig(no etl, batch_size 2, head)"
    made = LoaderConfig.from_dict(config(IMAGE, {"type": "label"}))
    assert repr(made) == "LoaderConfig(image label, batch_size 2, head)"


def test_the_version_is_chosen_with_a_note() -> None:
    for members, dialect in (
        ({"batch_major": True}, "head"),
        ({"single_thread": True}, "seed"),
        ({"remote": {}, "web_server_port": 3}, "between"),
        ({"num_instances": 8}, "habana"),
    ):
        findings = Findings()
        made = LoaderConfig.from_dict(config(**members), findings=findings)
        assert made.dialect == dialect
        assert findings.count("aeon-dialect") == (dialect != "head")
    with pytest.raises(ValueError, match="head, seed, between, habana"):
        LoaderConfig.from_dict(BASE, dialect="csv")


@pytest.mark.parametrize("members", [{"batch_samplers": [{"max_sample": 1}]}, {"padding": "1"}])
def test_an_ignored_member_does_not_choose_the_version(members: dict[str, Any]) -> None:
    """Aeon of April 2017 ignores these members, which the last version refuses."""
    given = augmented({"type": "image", **members})
    assert LoaderConfig.from_dict(given, dialect="seed", findings=Findings()).dialect == "seed"
    with pytest.raises(FormatError, match=next(iter(members))) as caught:
        LoaderConfig.from_dict(given, findings=Findings())
    assert "aeon of April 2017 ignores this member" in (caught.value.finding.hint or "")
    made = LoaderConfig.from_dict({**given, "single_thread": True}, findings=Findings())
    assert made.dialect == "seed"
    assert LoaderConfig.from_dict(made.to_dict(), findings=Findings()) == made


def test_rules_of_unused_augmentations_are_warnings() -> None:
    """Aeon does not read the augmentation of images without images."""
    given = augmented({"type": "image", "batch_samplers": [{"max_sample": 1}]}, etl=CHAR_MAP)
    rules = [each for each in findings_of(given) if each.code == "aeon-rule"]
    assert [each.severity for each in rules] == [Severity.WARNING]
    assert LoaderConfig.from_dict(given, findings=Findings()).dialect == "head"


def test_text() -> None:
    data = exset.dumps(LoaderConfig.from_dict(config(subset_fraction=0.1)), format="loader_config")
    assert json.loads(data) == config(subset_fraction=0.1)
    loaded = exset.loads(data, model=LoaderConfig)
    assert exset.dumps(loaded, format="loader_config") == data
    compact = exset.dumps(loaded, format="loader_config", compact=True)
    assert compact.count(b"\n") == 1 and b" " not in compact


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_first_member_identifies_the_format(dialect: Dialect) -> None:
    others = {"remote", "instance_id"}  # other files may begin with them
    for name in {*LOADER.members_of(dialect), *RENAMED} - others:
        for begin in ("{", "\ufeff\n {\r\n\t", " " * 4090 + "{"):
            data = f'{begin}"{name}": 1}}'.encode()
            assert exset.formats.detect(data[: exset.formats.HEAD], "-").name == "loader_config"
    for other in (b'{"url": "http://a"}', b'{"filename": "a.jpg"}', b"{}", b"null"):
        with pytest.raises(FormatError):
            exset.formats.detect(other, "-")


def test_sizes_wrap_around_as_in_cpp() -> None:
    boxes = {"type": "localization_rcnn", "height": 1 << 60, "width": 64, "class_names": []}
    made = LoaderConfig.from_dict(config({**boxes, "scaling_factor": 3e38}))
    assert made.outputs[0].shape == (9 * 4 * (1 << 62) % (1 << 64),)


def test_the_time_for_a_hostile_configuration_is_linear() -> None:
    many = 5_000
    members = ", ".join(f'"member{number}": []' for number in range(many))
    with pytest.raises(FormatError, match=r"and 5,003 more errors") as caught:
        exset.loads("{" + members + ', "z": 1}', format="loader_config")
    findings = caught.value.findings
    assert len(findings) < 300 and findings.count("aeon-unknown") == many + 1
    numbers = ", ".join(["2.5"] * many)
    text = f'{{"batch_size": 1, "etl": [{{"type": "blob", "output_count": [{numbers}]}}]}}'
    with pytest.raises(FormatError, match="a list of 5000"):
        exset.loads(text, format="loader_config", findings=Findings())


@pytest.mark.parametrize("name", ["etl", "augmentation"])
def test_errors_that_are_only_counted_are_not_built(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []
    real = finding_at

    def make(code: str, *arguments: Any, **words: Any) -> Finding:
        built.append(code)
        return real(code, *arguments, **words)

    monkeypatch.setattr(collector, "finding_at", make)
    many = b"1," * 9_999 + b"1"
    findings = Findings()
    with pytest.raises(FormatError) as caught:
        parse(Source("x", b'{"%b": [%b]}' % (name.encode(), many)), findings=findings)
    findings.add_all(caught.value.findings)
    assert findings.count("aeon-type") >= 9_998 and len(built) < 3_000
