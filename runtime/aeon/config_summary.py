"""What a loader configuration holds, in numbers: the answer of `exset info`."""

from __future__ import annotations

from dataclasses import dataclass

from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.config.outputs import Output
from exset.grammars.aeon.config.schema_types import TITLES


@dataclass(frozen=True)
class Summary:
    """What `exset info` says of a configuration."""

    dialect: str
    manifest_filename: str
    batch_size: int
    block_size: int
    iteration_mode: str
    etl: tuple[str, ...]
    """The types of the etl objects."""
    augmentation: tuple[str, ...]
    """The members that the first augmentation object gives."""
    outputs: tuple[Output, ...]

    def to_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        outputs = [output.to_dict() for output in self.outputs]
        return {**vars(self), "outputs": outputs}

    def rows(self) -> list[tuple[str, str]]:
        """Return it as (label, text), for people."""
        sizes = f"batches of {self.batch_size:,}, blocks of {self.block_size:,} records"
        rows = [
            ("for", TITLES[self.dialect]),  # type: ignore[index]
            ("manifest", self.manifest_filename),
            ("sizes", f"{sizes}, {self.iteration_mode}"),
            ("etl", ", ".join(self.etl) or "none"),
        ]
        if self.augmentation:
            rows.append(("changes", ", ".join(self.augmentation)))
        for output in self.outputs:
            shape = " x ".join(map(str, output.shape))
            rows.append(("output", f"{output.name}: {output.dtype}, N x {shape}"))
        return rows


def summarise(config: LoaderConfig) -> Summary:
    """Return what a configuration holds."""
    return Summary(
        dialect=config.dialect,
        manifest_filename=config.manifest_filename,
        batch_size=config.batch_size,
        block_size=config.block_size,
        iteration_mode=config.iteration_mode,
        etl=tuple(element.type for element in config.etl),
        augmentation=tuple(name for element in config.augmentation[:1] for name in element.given),
        outputs=config.outputs,
    )
