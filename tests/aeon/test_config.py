"""Loader configurations: what is found, what is guessed, what becomes of old ones."""

import json
import pickle
from typing import Any

import pytest

import exset
from exset import Findings, FormatError, FormatWarning, LoaderConfig, Severity
from exset.grammars.aeon.config.findings import RULES
from exset.grammars.aeon.config.schema import LOADER
from exset.grammars.aeon.config.schema_types import DIALECTS, Dialect
from exset.grammars.aeon.config.suggestions import RENAMED, distance, nearest
from tests.aeon.configs import AUDIO, BASE, IMAGE, codes, config, found


def test_all_errors_at_once_with_their_places() -> None:
    text = b"""{
 "manifest_filename": 3,
 "batch_sise": 2,
 "etl": [{"type": "image", "height": "4", "widht": 6}, {"type": "lable"}, 7],
 "augmentation": [{"scale": [0.5, 2]}]
}"""
    findings = exset.Findings()
    with pytest.raises(FormatError, match=r"manifest_filename .*\(and 8 more errors\)") as caught:
        exset.loads(text, findings=findings, name="a.json")
    places = [finding.place for finding in (caught.value.finding, *findings)]
    assert [(place.line, place.column) for place in places if place] == [
        (2, 23),
        (3, 2),
        (4, 38),
        (4, 43),
        (4, 10),
        (4, 65),
        (4, 75),
        (5, 19),
        (1, 1),
    ]
    hints = [finding.hint for finding in findings]
    assert hints[0] == "did you mean 'batch_size'?" and hints[2] == "did you mean 'width'?"
    assert hints[4] == "did you mean 'label'?"
    assert {finding.severity for finding in findings} == {Severity.ERROR}


@pytest.mark.parametrize(
    ("given", "code", "path", "words"),
    [
        (config(batch_size=None), "aeon-type", "batch_size", "leave it out"),
        (config(batch_size=True), "aeon-type", "batch_size", "a number, and is the boolean true"),
        (config(batch_size=2.7), "aeon-converted", "batch_size", "is 2.7: aeon takes it for 2"),
        (config(batch_size=1 << 32 | 5), "aeon-converted", "batch_size", "for 5"),
        (config(block_size=1e12), "aeon-converted", "block_size", "for -2147483648"),
        (config(random_seed=-1), "aeon-converted", "random_seed", "for 4294967295"),
        (config(random_seed=-2.7), "aeon-converted", "random_seed", "for 4294967294"),
        (config(batch_size=0), "aeon-later", "batch_size", "no such batch"),
        (config(subset_fraction=1.01), "aeon-range", "subset_fraction", "from 0 to 1"),
        (config(subset_fraction=0), "aeon-later", "subset_fraction", "refuses to select nothing"),
        (config(subset_fraction=1e39), "aeon-range", "subset_fraction", "32 bits"),
        (config(iteration_mode="once"), "aeon-range", "iteration_mode", "did you mean 'ONCE'"),
        (config(iteration_mode="COUNT"), "aeon-rule", "iteration_mode_count", "1 or more"),
        (config(node_id=3, node_count=2), "aeon-later", "node_id", "there are 2 nodes"),
        (config(etl=IMAGE), "aeon-type", "etl", "(x) is x itself"),
        (config(augmentation=IMAGE), "aeon-type", "augmentation", "(x) is x itself"),
        (config(3), "aeon-type", "etl[0]", "must be an object"),  # type: ignore[arg-type]
        (config({"height": 3}), "aeon-missing", "etl[0].type", "has no 'type'"),
        (config({"type": 3}), "aeon-type", "etl[0].type", "must be a string"),
        (config({"type": "multicrop"}), "aeon-etl-type", "etl[0].type", "there are image, label"),
        (config({**IMAGE, "height": 0}), "aeon-rule", "etl[0].height", "1 or more"),
        (config({**IMAGE, "channels": 2}), "aeon-range", "etl[0].channels", "one of 1, 3"),
        (config({**IMAGE, "name": []}), "aeon-type", "etl[0].name", "a list of 0"),
        (config({"type": "label", "output_type": "float"}), "aeon-later", "etl[0].output_type", ""),
        (config({"type": "label", "output_type": "char"}), "aeon-later", "etl[0].output_type", ""),
        (config({"type": "video", "max_frame_count": 3}), "aeon-missing", "etl[0].frame", ""),
        (
            config({"type": "video", "max_frame_count": 3, "frame": {"height": 1, "width": 0}}),
            "aeon-rule",
            "etl[0].frame.width",
            "",
        ),
        (
            config({"type": "char_map", "max_length": 3, "alphabet": "aBA"}),
            "aeon-rule",
            "etl[0].alphabet",
            "'A' is in it more than once",
        ),
        (
            config({"type": "char_map", "max_length": 3, "alphabet": "ABC", "unknown_value": 2}),
            "aeon-rule",
            "etl[0].unknown_value",
            "stands for a letter",
        ),
        (
            config({"type": "label_map", "class_names": ["a", 3]}),
            "aeon-type",
            "etl[0].class_names[1]",
            "must be a string",
        ),
        (
            config({"type": "label_map", "class_names": ["a"]}),
            "aeon-later",
            "etl[0].max_classes",
            "100 numbers where 4 fit",
        ),
        (config(IMAGE, IMAGE), "aeon-later", "etl[1]", "another is called 'image'"),
        (config(zoom=[1, 2]), "aeon-overlooked", "zoom", "does not notice"),
        (config(an=[1, 2]), "aeon-unknown", "an", "remove it"),
        (config(single_thread=True), "aeon-unknown", "single_thread", "of April 2017 knows it"),
        (config(minibatch_size=3), "aeon-unknown", "minibatch_size", "it is called 'batch_size'"),
    ],
)
def test_one_thing(given: dict[str, Any], code: str, path: str, words: str) -> None:
    [finding] = found(given)
    assert (finding.code, finding.place and finding.place.field) == (code, path)
    assert words in str(finding)


def augmented(*augmentation: Any, etl: dict[str, Any] = IMAGE) -> dict[str, Any]:
    return config(etl, augmentation=list(augmentation))


@pytest.mark.parametrize(
    ("given", "code", "path", "words"),
    [
        (augmented({"flip": True}), "aeon-missing", "augmentation[0].type", ""),
        (augmented({"type": "image", "flp": 1}), "aeon-ignored", "augmentation[0].flp", "flp"),
        (augmented({"type": "image", "scale": [0.5]}), "aeon-type", "augmentation[0].scale", ""),
        (augmented({"type": "image", "hue": [3, 2]}), "aeon-order", "augmentation[0].hue", ""),
        (
            augmented({"type": "image", "hue": [1, 2, 3]}),
            "aeon-surplus",
            "augmentation[0].hue[2]",
            "a pair has two numbers",
        ),
        (augmented({"type": "sound"}), "aeon-surplus", "augmentation[0]", "its type is 'sound'"),
        (
            augmented({"type": "image"}, {"type": "image", "center": True}),
            "aeon-unused",
            "augmentation[1]",
            "the first object alone",
        ),
        (
            augmented({"type": "image"}, etl={"type": "label"}),
            "aeon-unused",
            "augmentation[0]",
            "no etl object",
        ),
        (
            augmented({"type": "image", "padding": 4}),
            "aeon-later",
            "augmentation[0].padding",
            "crop_enable",
        ),
        (
            augmented({"type": "image", "batch_samplers": [{"max_sample": 1}]}),
            "aeon-rule",
            "augmentation[0].batch_samplers",
            "crop_enable",
        ),
        (
            augmented({"type": "image", "emit_constraint_type": "middle"}),
            "aeon-rule",
            "augmentation[0].emit_constraint_type",
            "min_overlap",
        ),
    ],
)
def test_one_thing_in_augmentation(given: dict[str, Any], code: str, path: str, words: str) -> None:
    [finding] = found(given)
    assert (finding.code, finding.place and finding.place.field) == (code, path)
    assert words in str(finding)


def test_augmentation_of_video_is_in_its_frame() -> None:
    video = {"type": "video", "max_frame_count": 2, "frame": {"height": 3, "width": 3}}
    wrong = {"type": "image", "scale": [2, 1]}
    unused, unread = found(augmented(wrong, etl=video))
    assert (unused.code, unread.code) == ("aeon-unused", "aeon-range")
    assert unused.severity is unread.severity is Severity.WARNING
    inner = {"type": "image", "frame": wrong}
    assert codes(augmented(inner, etl=video)) == ["aeon-range"]
    assert codes(augmented(inner)) == ["aeon-range"]
    assert found(augmented(inner))[0].severity is Severity.WARNING
    assert codes(augmented({"type": "image", "frame": {}}, etl=video)) == ["aeon-missing"]


def test_what_is_not_read_is_only_doubtful() -> None:
    wrong = {"type": "image", "scale": [2, 3]}
    unused, range_ = found(augmented(wrong, etl={"type": "label"}))
    assert (unused.code, range_.code) == ("aeon-unused", "aeon-range")
    assert range_.severity is Severity.WARNING and "does not read" in str(range_.hint)
    assert codes(augmented({"type": "image"}, {})) == ["aeon-unused", "aeon-missing"]


def test_sounds() -> None:
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
    ):
        assert codes(config({**AUDIO, member: value}), "seed") == [code], member
    raw = {"feature_type": "samples", "frame_length": "1 samples", "frame_stride": "1 samples"}
    [output] = LoaderConfig.from_dict(config({**AUDIO, **raw, "output_type": "float"})).outputs
    assert output.shape == (1, 1, 16000)
    assert codes(config({**AUDIO, "feature_type": "samples"}), "seed") == ["aeon-rule"] * 2


def test_defaults_are_those_of_the_version() -> None:
    sizes = {name: LoaderConfig.from_dict(BASE, dialect=name).block_size for name in DIALECTS}
    assert sizes == {"head": 5000, "seed": 4, "between": 5000, "habana": 5000}
    made = LoaderConfig.from_dict(config(IMAGE))
    assert (made.etl[0]["channels"], made.etl[0]["bgr_to_rgb"]) == (3, False)
    assert (made.subset_fraction, made.manifest_root, made.random_seed) == (1.0, "", 0)
    assert (made.cache_directory, made.manifest_filename, made.iteration_mode) == (
        *("", "a.tsv"),
        "ONCE",
    )
    with pytest.raises(KeyError):
        made["single_thread"]
    assert LoaderConfig.from_dict(config(IMAGE), dialect="seed") != made
    assert LoaderConfig.from_dict(config({**IMAGE, "channels": 3}, pinned=False)) == made
    assert LoaderConfig.from_dict(config({**IMAGE, "channels": 1})) != made
    assert pickle.loads(pickle.dumps(made)) == made and len(made) == 1


def test_what_is_odd_is_said_without_being_asked() -> None:
    with pytest.warns(FormatWarning, match="'minibatch_size' is outdated") as caught:
        made = LoaderConfig.from_dict({"manifest_filename": "a", "minibatch_size": 2, "etl": []})
    assert caught[0].filename == __file__
    assert repr(made) == "LoaderConfig(no etl, batch_size 2, head)"
    made = LoaderConfig.from_dict(config(IMAGE, {"type": "label"}))
    assert repr(made) == "LoaderConfig(image label, batch_size 2, head)"


def test_the_version_is_guessed_with_a_note() -> None:
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
    with pytest.raises(ValueError, match="there are head, seed, between, habana"):
        LoaderConfig.from_dict(BASE, dialect="csv")


def test_text() -> None:
    data = exset.dumps(LoaderConfig.from_dict(config(subset_fraction=0.1)), format="loader_config")
    assert json.loads(data) == config(subset_fraction=0.1)
    loaded = exset.loads(data, model=LoaderConfig)
    assert exset.dumps(loaded, format="loader_config") == data
    compact = exset.dumps(loaded, format="loader_config", compact=True)
    assert compact.count(b"\n") == 1 and b" " not in compact


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_configuration_is_known_by_its_first_member(dialect: Dialect) -> None:
    others = {"remote", "instance_id"}  # which other files may begin with
    for name in {*LOADER.known(dialect), *RENAMED} - others:
        for begin in ("{", "\ufeff\n {\r\n\t", " " * 4090 + "{"):
            data = f'{begin}"{name}": 1}}'.encode()
            assert exset.formats.detect(data[: exset.formats.HEAD], "-").name == "loader_config"
    for other in (b'{"url": "http://a"}', b'{"filename": "a.jpg"}', b"{}", b"null"):
        with pytest.raises(FormatError, match="not a format"):
            exset.formats.detect(other, "-")


def test_names() -> None:
    assert [distance(*pair) for pair in (("", "abc"), ("kitten", "sitting"), ("elt", "etl"))] == [
        *(3, 3),
        1,
    ]
    assert nearest("heigth", ["height", "width"]) == "height"
    assert nearest("zzzzzz", ["height"]) is None and nearest("x" * 10**6, ["x"]) is None


def test_every_trap_is_said_in_full() -> None:
    for code, trap in RULES.items():
        assert code.startswith("aeon-") and trap.message and trap.hint


def test_numbers_beyond_all() -> None:
    boxes = {"type": "localization_rcnn", "height": 1 << 60, "width": 64, "class_names": []}
    made = LoaderConfig.from_dict(config({**boxes, "scaling_factor": 3e38}))
    assert made.outputs[0].shape == (9 * 4 * (1 << 62) % (1 << 64),)


def test_a_hostile_configuration_costs_what_it_is_long() -> None:
    many = 20_000
    members = ", ".join(f'"member{number}": []' for number in range(many))
    findings = Findings()
    with pytest.raises(FormatError, match=r"and 20,003 more errors"):
        exset.loads("{" + members + ', "z": 1}', format="loader_config", findings=findings)
    assert len(findings) < 300 and findings.count("aeon-unknown") == many
    numbers = ", ".join(["2.5"] * many)
    text = f'{{"batch_size": 1, "etl": [{{"type": "blob", "output_count": [{numbers}]}}]}}'
    with pytest.raises(FormatError, match="a list of 20000"):
        exset.loads(text, format="loader_config", findings=Findings())
