"""Columns of byte strings that share their bytes."""

import pickle

import numpy as np
import pytest

from exset.grammars.columns.blobs import Blobs


def test_blobs() -> None:
    blobs = Blobs.of([b"ab", b"", b"cde"])
    assert blobs.tolist() == [b"ab", b"", b"cde"]
    assert bytes(blobs[2]) == b"cde" and len(blobs[1:]) == 2
    assert Blobs.concat([blobs, blobs[:1]]).tolist() == [b"ab", b"", b"cde", b"ab"]
    assert blobs == Blobs.of([b"ab", b"", b"cde"]) != Blobs.of([b"ab", b"", b"cdf"])
    assert blobs.take(np.array([2, 0])).tolist() == [b"cde", b"ab"]
    assert pickle.loads(pickle.dumps(blobs[2:])).data.size == 3
    assert repr(blobs) == "Blobs(3, 5 bytes)" and blobs != 1
    for start, length in ((-1, 1), (0, 6), (5, 1), (6, -1), (2**62, 2**62)):
        with pytest.raises(ValueError, match="out of bounds"):
            Blobs(blobs.data, np.array([start]), np.array([length]))
