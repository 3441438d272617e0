"""Find the classes of etl types by name: aeon's types, and types that other packages add."""

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Final, cast

from exset.core.plugins import loaded, points
from exset.grammars.aeon.config.outputs import declare_outputs
from exset.grammars.aeon.config.schema import ETL, NAME, declare_etl
from exset.grammars.aeon.config.schema_types import Table
from exset.runtime.aeon.provision.etl import CustomEtl, Etl

GROUP: Final = "exset.etl"
"""The group of entry points with which other packages add types; each names a class."""

_BUILT_IN: Final[Mapping[str, str]] = {
    "label": "exset.runtime.aeon.provision.numbers:Label",
    "blob": "exset.runtime.aeon.provision.numbers:Blob",
    "char_map": "exset.runtime.aeon.provision.texts:CharMap",
    "label_map": "exset.runtime.aeon.provision.texts:LabelMap",
    "audio": "exset.runtime.aeon.provision.audio:Audio",
    "image": "exset.runtime.aeon.provision.image:Image",
    "video": "exset.runtime.aeon.provision.video:Video",
    "pixelmask": "exset.runtime.aeon.provision.pixelmask:PixelMask",
    "boundingbox": "exset.runtime.aeon.provision.boundingbox:BoundingBox",
    "localization_ssd": "exset.runtime.aeon.provision.ssd:LocalizationSsd",
    "localization": "exset.runtime.aeon.provision.rcnn:LocalizationRcnn",
    "localization_rcnn": "exset.runtime.aeon.provision.rcnn:LocalizationRcnn",
}
"""The classes of aeon's types."""

_REGISTERED: Final[dict[str, type[Etl]]] = {}


def register(name: str, kind: type[CustomEtl]) -> None:
    """Add a type of etl objects. Configurations can then use the type by its name.

    A registered type of the same name is replaced. Raises ValueError for the name of one of aeon's
    types, and TypeError if `kind` is not a class derived from `CustomEtl`.
    """
    if name in ETL and name not in _REGISTERED:
        raise ValueError(f"the etl type {name!r} is aeon's own: choose another name")
    if not (isinstance(kind, type) and issubclass(kind, CustomEtl)):
        raise TypeError(f"register needs a class derived from CustomEtl, not {kind!r:.60}")
    declare_etl(Table(name, NAME, *kind.members))
    declare_outputs(name, kind.shapes)
    _REGISTERED[name] = kind


def register_plugins() -> None:
    """Register the etl types of other packages.

    Raises FormatError for an entry point that cannot be used.
    """
    for point in points(GROUP):
        if point.name not in _REGISTERED:
            register(point.name, cast("type[CustomEtl]", loaded(point, type)))


def etl_class(name: str) -> type[Etl]:
    """Return the class of a type that configurations can use."""
    if name in _REGISTERED:
        return _REGISTERED[name]
    return cast("type[Etl]", EntryPoint(name, _BUILT_IN[name], GROUP).load())
