"""Loader configurations of the past: what becomes of them, and what cannot."""

from typing import Any

import pytest

from exset import Findings, FormatError, LoaderConfig, Severity
from tests.aeon.configs import AUDIO, BASE, config, found


def test_the_example_of_the_user_guide() -> None:
    """As its Python has it, `augment=(x)` and all."""
    image_config = dict(type="image", height=224, width=224)
    label_config = dict(type="label", binary=True)
    augmentation_config = dict(type="image", flip_enable=True)
    given = dict(
        etl=(image_config, label_config),
        augment=(augmentation_config),
        manifest_filename="train.csv",
        minibatch_size=128,
    )
    findings = Findings()
    made = LoaderConfig.from_dict(given, findings=findings)
    assert made.to_dict() == {
        "etl": [image_config, label_config],
        "augmentation": [augmentation_config],
        "manifest_filename": "train.csv",
        "batch_size": 128,
    }
    said = "\n".join(map(str, findings))
    assert "'minibatch_size' is outdated" in said and "'batch_size'" in said
    assert "'augment' is outdated, and is no list" in said and "write (x,)" in said
    assert [output.shape for output in made.outputs] == [(3, 224, 224), (1,)]
    for dialect in ("head", "seed"):
        with pytest.raises(FormatError, match=r"and \d more errors"):
            LoaderConfig.from_dict(given, dialect=dialect)
    with pytest.raises(FormatError, match="outdated"):
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
    assert made.to_dict() == {
        "manifest_filename": "a.tsv",
        "batch_size": 64,
        "block_size": 768,
        "shuffle_enable": True,
        "etl": [
            {"type": "video", "max_frame_count": 16, "frame": {"height": 112, "width": 112}},
            {"type": "label", "binary": False},
        ],
        "augmentation": [
            {
                "type": "image",
                "frame": {"type": "image", "scale": [0.875, 0.875], "center": False},
            }
        ],
    }


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"type": "video,pictures"}, "type"),
        ({"video": 3}, "type"),
        ({"batch_size": 3}, "minibatch_size"),
        ({"augmentation": []}, "type"),
    ],
)
def test_what_cannot_be_meant_stays_an_error(change: dict[str, Any], path: str) -> None:
    assert any(
        finding.code == "aeon-unknown" and finding.place and finding.place.field == path
        for finding in found({**OLD, **change}, None)
    )


def test_upgrade() -> None:
    boxes = {"type": "localization", "height": 64, "width": 64, "class_names": ["a"]}
    given = config(boxes, single_thread=False, random_seed=-1, shuffle_enable=True)
    old = LoaderConfig.from_dict(given, dialect="seed")
    findings = Findings()
    new = old.upgraded(findings=findings)
    assert new.to_dict() == config(
        {**boxes, "type": "localization_rcnn"}, random_seed=4294967295, shuffle_enable=True
    )
    assert sorted(output.name for output in new.outputs) == [each.name for each in old.outputs]
    assert findings.count("aeon-changed") == 3 == findings.count()
    assert new.upgraded() is not old and new.upgraded() == new
    assert new.translated("seed").to_dict()["etl"] == [boxes]
    random = LoaderConfig.from_dict(config(shuffle_enable=True), dialect="seed")
    random.upgraded(findings=findings)
    assert findings.count("aeon-random") == 1


def test_what_the_last_version_cannot_do() -> None:
    threaded = LoaderConfig.from_dict(config(single_thread=True), dialect="seed")
    with pytest.raises(FormatError, match="single_thread has no place"):
        threaded.upgraded()
    findings = Findings()
    assert threaded.upgraded(lossy=True, findings=findings).to_dict() == BASE
    assert [(each.code, each.severity) for each in findings] == [
        ("aeon-left-out", Severity.WARNING)
    ]
    sound = LoaderConfig.from_dict(config(AUDIO))
    for lossy in (False, True):
        with pytest.raises(FormatError, match="of type 'audio'"):
            sound.upgraded(lossy=lossy)
    with pytest.raises(ValueError, match="no dialect"):
        sound.translated("csv")
