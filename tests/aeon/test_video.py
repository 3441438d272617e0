"""The etl type `video`: frames, what aeon ignores, and errors."""

from typing import Any

import numpy as np
import pytest

from exset import Findings, FormatError, LoaderConfig
from exset.core import limits as bounds
from exset.core.errors import LimitError
from exset.core.limits import DEFAULT
from exset.runtime.aeon.provision.draws import Draws
from exset.runtime.aeon.provision.etl import Context
from exset.runtime.aeon.provision.layout import DTYPES
from exset.runtime.aeon.provision.record import Record
from exset.runtime.aeon.provision.registry import etl_class
from exset.testing.media import avi
from tests.aeon.configs import config

cv2 = pytest.importorskip("cv2", reason="OpenCV decodes frames")


def frame(value: int, height: int = 3, width: int = 4) -> bytes:
    """Return a JPEG picture of one colour."""
    return bytes(cv2.imencode(".jpg", np.full((height, width, 3), value, np.uint8))[1])


def provided(
    data: bytes, compat: bool = False, augmentation: Any = (), **members: Any
) -> np.ndarray[Any, Any]:
    """Return the array of a video with frames of 3x4 pixels."""
    image = {"height": 3, "width": 4} | members
    settings = {"type": "video", "max_frame_count": 3, "frame": image}
    given = config(settings, augmentation=list(augmentation))
    found = LoaderConfig.from_dict(given, dialect="head", findings=Findings())
    limits = DEFAULT.with_(max_array=1000)
    etl = etl_class("video")(found.etl[0], 0, Context(found, compat=compat, limits=limits))
    [output] = etl.outputs
    slot = np.zeros(output.shape, DTYPES[output.dtype])
    etl.provide(data, Record(0, 0, lambda purpose: Draws(1)), [slot])
    return slot


def test_frames_are_repeated_cut_and_filled() -> None:
    first, second = frame(200), frame(80)
    found = provided(avi([first, b"", second, first]))
    assert found.shape == (3, 3, 3, 4)
    assert found[:, :, 1, 1].tolist() == [[200, 200, 80]] * 3
    assert not provided(avi([first]))[:, 1:].any()


def test_what_aeon_ignores_has_an_effect() -> None:
    """Output type, grey frames, the order of channels, mean and stddev."""
    red = np.zeros((3, 4, 3), np.uint8)
    red[:, :, 2] = 254
    data = avi([bytes(cv2.imencode(".png", red)[1])], sound=b"abc", index=False, handler=b"mjpg")
    assert provided(data)[:, 0, 0, 0].tolist() == [0, 0, 254]
    assert provided(data, bgr_to_rgb=True)[:, 0, 0, 0].tolist() == [254, 0, 0]
    assert provided(data, channels=1)[0, 0, 0, 0] in (75, 76)
    assert provided(data, output_type="float")[:, 0, 0, 0].tolist() == [0, 0, 254]
    frames = {"type": "image", "mean": [0, 0, 0.5], "stddev": [1, 1, 0.25]}
    augmentation = {"type": "image", "frame": frames}
    found = provided(data, augmentation=[augmentation], output_type="float")
    assert found[:, 0, 0, 0].tolist() == pytest.approx([0, 0, (254 / 255 - 0.5) * 4], abs=1e-6)


def test_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FormatError, match="frame 1: OpenCV cannot decode this picture"):
        provided(avi([frame(1), b"no picture"]))
    with pytest.raises(FormatError, match="frame 0"):
        provided(avi([b""]))
    with pytest.raises(LimitError), monkeypatch.context() as patch:
        patch.setattr(bounds, "MOST_COMPRESSED", 1)
        provided(avi([frame(1, 30, 40)]))
    with pytest.raises(FormatError, match="stream 1"):
        provided(avi([frame(1)], sound=b"abc"), compat=True)
    with pytest.raises(FormatError, match="channels is 1"):
        provided(avi([frame(1)]), compat=True, channels=1)
