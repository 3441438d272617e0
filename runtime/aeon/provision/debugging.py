"""Write pictures and their parameters to the `debug_output_directory`."""

import os
from dataclasses import fields

from exset.core.errors import FormatError
from exset.core.text import safe
from exset.io import files
from exset.io.access import is_folder
from exset.runtime.aeon.provision.augment import Parameters
from exset.runtime.aeon.provision.decode import Pixels
from exset.runtime.aeon.provision.etl import Context
from exset.runtime.aeon.provision.opencv import opencv
from exset.runtime.aeon.provision.record import Record


class DebugFolder:
    """A folder into which an etl object writes its changed pictures and the parameters of the
    changes.

    The files are named EPOCH-RECORD-ETL.png and .txt, so that the names do not depend on threads;
    aeon numbers its files instead. The pictures are not yet converted to the output type, and blue
    is their first channel.
    """

    def __init__(self, path: str, number: int) -> None:
        """Use the folder at `path`. number: the index of the etl object.

        Raises FormatError if the folder does not exist.
        """
        if not is_folder(path):
            message = f"debug_output_directory names {safe(path)}, which is not a folder"
            raise FormatError(message, hint="create the folder", code="aeon-loader")
        self._path, self._number = path, number

    @classmethod
    def of(cls, context: Context, number: int) -> "DebugFolder | None":
        """Return the folder that the configuration's augmentation of pictures names.

        Return None if it names no folder, or if nothing is to be written. number: the index of the
        etl object whose pictures are written.
        """
        members = context.augmentation("image")
        if not context.writes_debug or "debug_output_directory" not in members.members:
            return None
        value = str(members["debug_output_directory"])
        return cls(context.path(value), number) if value else None

    def write(self, pixels: Pixels, drawn: Parameters, record: Record) -> None:
        """Write a picture, and a text with the parameters that were drawn for it, one on each line.

        Raises OSError.
        """
        name = f"{record.epoch}-{record.index}-{self._number}"
        path = os.path.join(self._path, name)
        files.write(f"{path}.png", opencv().imencode(".png", pixels)[1].tobytes())
        lines = (f"{each.name}: {getattr(drawn, each.name)}\n" for each in fields(drawn))
        files.write(f"{path}.txt", "".join(lines).encode())
