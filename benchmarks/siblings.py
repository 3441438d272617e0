"""Time files of sibling formats against `.ex`, those of svmlight against scikit-learn."""

import io
import os
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec

import numpy as np

import exset
from benchmarks.inputs import Inputs
from benchmarks.measure import race
from benchmarks.rows import Cases, Figures

_ROWS = 20_000
_FEATURES = 50


def reads(inputs: Inputs, runs: int) -> Cases:
    """Yield reading, from bytes to all columns."""
    rows = max(int(_ROWS * inputs.part), 2)
    for name, make in _TEXTS.items():
        yield name, partial(_race, inputs, name, "".join(make(rows)).encode(), runs)
    if find_spec("kaldi_native_io"):
        yield "kaldi_ark", partial(_archive, inputs, rows, runs, is_compressed=False)
        yield "kaldi_ark, compressed", partial(_archive, inputs, rows, runs, is_compressed=True)


def _archive(inputs: Inputs, rows: int, runs: int, *, is_compressed: bool) -> Figures:
    """Time an archive of matrices of 500 rows and 40 columns against kaldi_native_io.

    is_compressed: whether the matrices have the form CM, as kaldi_native_io writes it.
    """
    native = import_module("kaldi_native_io")
    path = os.path.join(inputs.folder, "matrices.ark")
    values = np.random.default_rng(8).random((max(rows // 20, 1), 500, 40), np.float32)
    kind = "CompressedMatrixWriter" if is_compressed else "FloatMatrixWriter"
    how = [native.CompressionMethod.kAutomaticMethod] if is_compressed else []
    with getattr(native, kind)(f"ark:{path}") as out:
        for number, matrix in enumerate(values):
            out.write(f"utterance-{number}", matrix, *how)

    def peer() -> object:
        with native.SequentialFloatMatrixReader(f"ark:{path}") as entries:
            return [(key, np.array(matrix)) for key, matrix in entries]

    result = race(partial(exset.load, path), peer, runs)
    return result.against("kaldi_native_io", os.path.getsize(path) / 1e6)


def _race(inputs: Inputs, name: str, data: bytes, runs: int) -> Figures:
    with open(inputs.path("dense", ".ex"), "rb") as file:
        dense = file.read()
    peer: Callable[[], object] = partial(exset.loads, dense, format="ex")
    size = len(dense)
    peer_name = "dense .ex"
    if name == "svmlight" and find_spec("sklearn"):
        load: Callable[..., object] = import_module("sklearn.datasets").load_svmlight_file
        peer, size = (lambda: load(io.BytesIO(data))), len(data)
        peer_name = "scikit-learn"
    result = race(partial(exset.loads, data, format=name), peer, runs)
    ratio = [len(data) * theirs / size for theirs in result.peers]
    return {
        "MB/s": result.subject.rate(len(data) / 1e6),
        "peer": peer_name,
        "peer, MB/s": result.peer.rate(size / 1e6),
        "times as fast": type(result.subject).of(
            [theirs / ours for theirs, ours in zip(ratio, result.subjects, strict=True)]
        ),
    }


def _svmlight(rows: int) -> Iterator[str]:
    draw = np.random.default_rng(3)
    for row in range(rows):
        index = np.sort(draw.choice(10_000, _FEATURES, replace=False)) + 1
        features = zip(index.tolist(), draw.random(_FEATURES).tolist(), strict=True)
        yield f"{row % 2} " + " ".join(f"{unit}:{value:.6f}" for unit, value in features) + "\n"


def _snns(rows: int) -> Iterator[str]:
    draw = np.random.default_rng(4)
    yield "SNNS pattern definition file V3.2\ngenerated at x\n\n"
    yield f"No. of patterns : {rows}\nNo. of input units : 100\nNo. of output units : 10\n\n"
    for row, values in enumerate(draw.random((rows, 110)), 1):
        words = [f"{value:.6f}" for value in values.tolist()]
        lines = [" ".join(words[at : at + 10]) for at in range(0, 110, 10)]
        lines.insert(10, f"# Output pattern {row}:")
        yield "\n".join([f"# Input pattern {row}:", *lines, ""])


def _ctf(rows: int) -> Iterator[str]:
    draw = np.random.default_rng(5)
    for row, values in enumerate(draw.random((rows, 110)).tolist()):
        dense = " ".join(f"{value:.6f}" for value in values[:100])
        sparse = " ".join(f"{unit * 7}:{value:.4f}" for unit, value in enumerate(values[100:]))
        yield f"{row // 2} |features {dense} |labels {sparse}\n"


def _mikenet(rows: int) -> Iterator[str]:
    draw = np.random.default_rng(6)
    for row, values in enumerate(draw.random((rows // 2, 110)).tolist()):
        words = [f"{value:.6f}" for value in values]
        yield f"TAG word {row}\nCLAMP Input ALL FULL {' '.join(words[:100])}\n"
        yield f"TARGET Output ALL FULL {' '.join(words[100:])}\n;\n"


def _emergent(rows: int) -> Iterator[str]:
    draw = np.random.default_rng(7)
    names = [f"%Input[1:{unit}]" for unit in range(100)] + [f"%Out[1:{unit}]" for unit in range(10)]
    names[0], names[100] = f"{names[0]}<1:100>", f"{names[100]}<1:10>"
    yield "\t".join(["_H:", "$Name", *names]) + "\n"
    for row, values in enumerate(draw.random((rows, 110)).tolist()):
        yield f"_D:\tword {row}\t" + "\t".join(f"{value:.6f}" for value in values) + "\n"


_TEXTS: dict[str, Callable[[int], Iterator[str]]] = {
    "svmlight": _svmlight,
    "snns": _snns,
    "ctf": _ctf,
    "mikenet": _mikenet,
    "emergent": _emergent,
}
