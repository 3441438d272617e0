"""Loader configurations of aeon's first versions, and translations to another version."""

from typing import Any

import pytest

from exset import Findings, FormatError, LoaderConfig, Severity
from tests.aeon.configs import AUDIO, BASE, config, places


def test_the_example_of_the_user_guide() -> None:
    """The Python of the guide has outdated members, and `augment=(x)`, which is not a tuple."""
    image = dict(type="image", height=224, width=224)
    label = dict(type="label", binary=True)
    augmentation = dict(type="image", flip_enable=True)
    given = dict(
        etl=(image, label),
        augment=(augmentation),
        manifest_filename="train.csv",
        minibatch_size=128,
    )
    findings = Findings()
    made = LoaderConfig.from_dict(given, findings=findings)
    assert made.to_dict() == {
        "etl": [image, label],
        "augmentation": [augmentation],
        "manifest_filename": "train.csv",
        "batch_size": 128,
    }
    assert [each.code for each in findings] == ["aeon-refuses"] * 2
    assert [output.shape for output in made.outputs] == [(3, 224, 224), (1,)]
    for dialect in ("head", "seed"):
        with pytest.raises(FormatError):
            LoaderConfig.from_dict(given, dialect=dialect)
    with pytest.raises(FormatError):
        LoaderConfig.from_dict(given, findings=Findings(strict=True))


OLD = {
    "manifest_filename": "a.tsv",
    "minibatch_size": 64,
    "macrobatch_size": 768,
    "shuffle_every_epoch": True,
    "type": "video,label",
    "video": {
        "max_frame_count": 16,
        "frame": {"height": 112, "width": 112, "scale": [0.875, 0.875], "center": False},
    },
    "label": {"binary": False},
}


def test_configurations_of_the_first_versions() -> None:
    findings = Findings()
    made = LoaderConfig.from_dict(OLD, findings=findings)
    assert findings.count("aeon-refuses") == 5 == findings.count()
    frame = {"type": "image", "scale": [0.875, 0.875], "center": False}
    assert made.to_dict() == {
        "manifest_filename": "a.tsv",
        "batch_size": 64,
        "block_size": 768,
        "shuffle_enable": True,
        "etl": [
            {"type": "video", "max_frame_count": 16, "frame": {"height": 112, "width": 112}},
            {"type": "label", "binary": False},
        ],
        "augmentation": [{"type": "image", "frame": frame}],
    }


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"type": "video,pictures"}, "type"),
        ({"video": 3}, "type"),
        ({"batch_size": 3}, "minibatch_size"),
        ({"augmentation": 3}, "type"),
        ({"augment": [{"type": "image", "frame": {"type": "image"}}]}, "type"),
        ({"augment": [{"type": "audio"}]}, "type"),
    ],
)
def test_ambiguous_old_configurations_are_errors(change: dict[str, Any], path: str) -> None:
    assert ("aeon-unknown", path) in places({**OLD, **change}, None)


FLIP = {"flip_enable": True}


@pytest.mark.parametrize(
    ("change", "augmentation"),
    [
        ({"augment": {"type": "image", **FLIP}}, {"type": "image", **FLIP}),
        ({"augment": [{"type": "image", **FLIP}]}, {"type": "image", **FLIP}),
        ({"augment": FLIP}, {"type": "image", **FLIP}),
        ({"augment": [FLIP]}, {"type": "image", **FLIP}),
        ({"augmentation": [], "scale": [0.5, 1.0]}, {"type": "image", "scale": [0.5, 1.0]}),
        (
            {"augment": FLIP, "scale": [0.5, 1.0]},
            {"type": "image", **FLIP, "scale": [0.5, 1.0]},
        ),
        ({"inner": {"type": "image", **FLIP}}, {"type": "image", **FLIP}),
    ],
)
def test_augment_next_to_objects_of_types(
    change: dict[str, Any], augmentation: dict[str, Any]
) -> None:
    """`augment` and the members of the oldest versions were half read: `etl` was missing."""
    image = {"height": 4, "width": 6}
    if "scale" in change:
        image["scale"] = change["scale"]
    if "inner" in change:
        image["augment"] = change["inner"]
    given = {"manifest_filename": "a.csv", "minibatch_size": 8, "type": "image,label"}
    given |= {"image": image, "label": {"binary": False}}
    given |= {name: change[name] for name in change.keys() & {"augment", "augmentation"}}
    findings = Findings()
    made = LoaderConfig.from_dict(given, findings=findings)
    assert made.to_dict() == {
        "manifest_filename": "a.csv",
        "batch_size": 8,
        "etl": [
            {"type": "image", "height": 4, "width": 6},
            {"type": "label", "binary": False},
        ],
        "augmentation": [augmentation],
    }
    assert {each.code for each in findings} == {"aeon-refuses"}


def test_augment_of_sounds() -> None:
    sound = {name: each for name, each in AUDIO.items() if name != "type"}
    given = {"manifest_filename": "a.csv", "minibatch_size": 8, "type": "audio", "audio": sound}
    made = LoaderConfig.from_dict(
        {**given, "augment": {"noise_level": [0, 1]}}, findings=Findings()
    )
    assert made.to_dict()["augmentation"] == [{"type": "audio", "noise_level": [0.0, 1.0]}]


def test_translation() -> None:
    boxes = {"type": "localization", "height": 64, "width": 64, "class_names": ["a"]}
    given = config(boxes, single_thread=False, random_seed=-1, shuffle_enable=True)
    old = LoaderConfig.from_dict(given, dialect="seed")
    findings = Findings()
    new = old.translated("head", findings=findings)
    assert new.to_dict() == config(
        {**boxes, "type": "localization_rcnn"}, random_seed=4294967295, shuffle_enable=True
    )
    assert sorted(output.name for output in new.outputs) == [each.name for each in old.outputs]
    assert findings.count("aeon-changed") == 3 == findings.count()
    assert new.translated("head") == new
    assert new.translated("seed").to_dict()["etl"] == [boxes]
    random = LoaderConfig.from_dict(config(shuffle_enable=True), dialect="seed")
    random.translated("head", findings=findings)
    assert findings.count("aeon-random") == 1


def test_losses_of_a_translation() -> None:
    threaded = LoaderConfig.from_dict(config(single_thread=True), dialect="seed")
    with pytest.raises(FormatError) as caught:
        threaded.translated("head")
    assert caught.value.code == "aeon-lost"
    findings = Findings()
    assert threaded.translated("head", lossy=True, findings=findings).to_dict() == BASE
    assert [(each.code, each.severity) for each in findings] == [
        ("aeon-left-out", Severity.WARNING)
    ]
    sound = LoaderConfig.from_dict(config(AUDIO))
    for lossy in (False, True):
        with pytest.raises(FormatError) as caught:
            sound.translated("head", lossy=lossy)
        assert caught.value.code == "aeon-lost"
    with pytest.raises(ValueError, match="csv"):
        sound.translated("csv")
