"""Report the contents of configurations, for `exset info` and `exset stats`."""

from exset.core.text import counted
from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.config.outputs import Output
from exset.grammars.aeon.config.schema_types import TITLES
from exset.runtime.reports.report import Report


def cells(config: LoaderConfig, index: int) -> list[tuple[str, object]]:
    """Return the cells for the etl object `index`: its type, and its members in the file."""
    etl = config.etl[index]
    members = ", ".join(f"{name}: {value!r}" for name, value in etl.to_dict().items())
    return [("type", etl.type), ("members", members)]


def report(model: LoaderConfig, detailed: bool = False) -> Report:
    """Report the contents of a configuration; `detailed` adds nothing."""
    etl = tuple(element.type for element in model.etl)
    changes = tuple(name for element in model.augmentation[:1] for name in element.given)
    manifest, mode = str(model["manifest_filename"]), str(model["iteration_mode"])
    made = Report()
    made.add(dialect=model.dialect, manifest_filename=manifest)
    made.add(batch_size=model.batch_size, block_size=model.block_size)
    made.add(iteration_mode=mode, etl=etl, augmentation=changes)
    made.add(outputs=[output.to_dict() for output in model.outputs])
    made.row("for", TITLES[model.dialect])
    made.row("manifest", manifest)
    batches, blocks = (
        f"batches of {model.batch_size:,}",
        f"blocks of {counted(model.block_size, 'record')}",
    )
    made.row("sizes", batches, blocks, mode)
    made.row("etl", *etl or ["none"])
    made.row("augmentation", *changes)
    both = zip(model.outputs, model.meant_outputs, strict=True)
    outputs = [_described(output, meant) for output, meant in both]
    made.texts("outputs", outputs, len(outputs))
    return made


def _described(output: Output, meant: Output) -> str:
    """Return the dtype of an array and its shape, in words.

    output: the array in aeon. meant: the array in exset; its shape is added if it differs from
    aeon's.
    """
    text = f"{output.name}: {output.dtype}, N x {_shape(output)}"
    return text if meant == output else f"{text} (exset.DataLoader: N x {_shape(meant)})"


def _shape(output: Output) -> str:
    return " x ".join(map(str, output.shape))
