"""JPEGs decoded in a smaller size: never smaller than the output, with nearly equal values."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import exset
from exset import DataLoader
from exset.core.limits import DEFAULT
from exset.runtime.aeon.provision import decode, scaling
from exset.runtime.aeon.provision.augment import Augmentation, Parameters
from exset.runtime.aeon.provision.crop import Size
from exset.runtime.aeon.provision.opencv import opencv
from exset.runtime.aeon.provision.scaling import factor_of
from exset.testing.media import avi

pytest.importorskip("cv2")
pytest.importorskip("simplejpeg")

SIZE = Size(403, 301)
WHOLE: dict[str, Any] = {"crop_enable": False}
DRAWN: dict[str, Any] = {"center": False, "scale": [0.3, 1], "flip_enable": True}


@pytest.fixture(autouse=True)
def data(folder: Path) -> bytes:
    """A smooth picture, in a manifest with a mask of it."""
    y, x = np.mgrid[: SIZE.height, : SIZE.width]
    pixels = np.stack([x * 255 // SIZE.width, y * 255 // SIZE.height, (x + y) % 256 // 2], -1)
    cv2 = opencv()
    found: bytes = cv2.imencode(".jpg", pixels.astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 95])[
        1
    ].tobytes()
    (folder / "a.jpg").write_bytes(found)
    (folder / "a.png").write_bytes(cv2.imencode(".png", pixels[:, :, 0].astype(np.uint8))[1])
    (folder / "m.tsv").write_text("@FILE\tFILE\n" + "a.jpg\ta.png\n" * 4)
    return found


def pictures(
    augmentation: dict[str, Any], size: int, *, scaled: bool, channels: int = 3
) -> list[NDArray[np.int16]]:
    """Return pictures and masks."""
    picture = {"type": "image", "height": size, "width": size + 7, "channels": channels}
    etl = [picture, picture | {"type": "pixelmask", "channels": 1}]
    given: dict[str, Any] = {"manifest_filename": "m.tsv", "batch_size": 4, "random_seed": 2}
    given |= {"etl": etl, "augmentation": [{"type": "image"} | augmentation]}
    with DataLoader(given, scaled_decoding=scaled) as loader:
        return [array.astype(np.int16) for array in dict[str, Any](next(loader)).values()]


@pytest.mark.parametrize("factor", [1, 2, 4, 8])
@pytest.mark.parametrize("channels", [1, 3])
def test_factors(data: bytes, factor: int, channels: int) -> None:
    found = decode.picture(data, channels, DEFAULT, factor)
    assert found.shape[:2] == (-(-SIZE.height // factor), -(-SIZE.width // factor))
    assert found.ndim == (3 if channels == 3 else 2)
    assert decode.jpeg_size(data) == SIZE


@pytest.mark.parametrize(
    ("augmentation", "size", "factor"),
    [
        (WHOLE, 44, 8),
        (WHOLE, 45, 4),
        (WHOLE, 94, 4),
        (WHOLE, 95, 2),
        (WHOLE, 195, 2),
        (WHOLE, 196, 1),
        (WHOLE, 500, 1),
        (WHOLE | {"fixed_aspect_ratio": True, "fixed_scaling_factor": 0.25}, 300, 4),
        ({"scale": [0.5, 0.5]}, 70, 2),
        ({"scale": [0.5, 0.5], "angle": [20, 20]}, 70, 2),
        ({"resize_short_size": 100}, 64, 2),
        ({"resize_short_size": 160}, 32, 1),
        (WHOLE | {"padding": 4}, 20, 1),
    ],
)
def test_no_resize_enlarges(
    augmentation: dict[str, Any], size: int, factor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result is close to that of the whole picture, and the mask is equal."""
    found: list[int] = []

    def kept(augmentation: Augmentation, drawn: Parameters) -> int:
        found.append(factor_of(augmentation, drawn))
        return found[-1]

    monkeypatch.setattr(scaling, "factor_of", kept)
    (whole, mask), (scaled, same) = (
        pictures(augmentation, size, scaled=scaled) for scaled in (False, True)
    )
    assert found == [factor] * 4
    assert (mask == same).all()
    assert np.abs(whole - scaled).mean() < 3
    assert (whole == scaled).all() == (factor == 1)


@pytest.mark.parametrize("channels", [1, 3])
def test_drawn_crops(channels: int) -> None:
    whole, scaled = (
        pictures(DRAWN, 32, scaled=scaled, channels=channels)[0] for scaled in (False, True)
    )
    assert 0 < np.abs(whole - scaled).mean() < 4
    assert len({each.tobytes() for each in scaled}) == 4


def test_files_that_opencv_decodes_are_whole(data: bytes, folder: Path) -> None:
    """Pictures with Exif data, and PNG files."""
    exif = (
        b"\xff\xe1\x00\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    )
    for content in (data[:2] + exif + data[2:], Path("a.png").read_bytes()):
        (folder / "a.jpg").write_bytes(content)
        whole, scaled = (pictures(WHOLE, 20, scaled=scaled)[0] for scaled in (False, True))
        assert (whole == scaled).all()


def test_videos_and_datasets(data: bytes, folder: Path) -> None:
    """Frames are decoded in a smaller size, too; and a dataset gives what the loader gives."""
    (folder / "a.avi").write_bytes(avi([data, b"", data]))
    (folder / "v.tsv").write_text("@FILE\tFILE\na.avi\ta.jpg\n")
    size = {"height": 40, "width": 40}
    video = {"type": "video", "max_frame_count": 3, "frame": size}
    given: dict[str, Any] = {"manifest_filename": "v.tsv", "batch_size": 1, "random_seed": 1}
    given |= {"etl": [video, {"type": "image"} | size]}
    config = exset.LoaderConfig.from_dict(given)
    whole, scaled = (exset.dataset(config, scaled_decoding=scaled)[0] for scaled in (False, True))
    with DataLoader(given, scaled_decoding=True) as loader:
        batch = dict[str, Any](next(loader))
    for name, array in scaled.items():
        assert (array == batch[name][0]).all()
        distance = np.abs(array.astype(np.int16) - whole[name].astype(np.int16)).mean()
        assert 0 < distance < 3
    assert (scaled["video"][:, 0] == scaled["video"][:, 1]).all()


def test_compat_refuses() -> None:
    given: dict[str, Any] = {"manifest_filename": "m.tsv", "batch_size": 1}
    given["etl"] = [{"type": "image", "height": 4, "width": 4}]
    with pytest.raises(ValueError, match="compat='aeon'"):
        DataLoader(given, compat="aeon", scaled_decoding=True)
