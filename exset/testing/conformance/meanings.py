"""Make, check and compare meanings of files as JSON, for every family that defines meanings."""

import json
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Final, Protocol, cast, runtime_checkable

from exset import formats
from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.protocols import Model, OptionValue
from exset.core.source import Source
from exset.io.named import open_named
from exset.testing.conformance.cases import HOME
from exset.testing.conformance.cases import formats as with_cases
from exset.testing.conformance.nodes import BadMeaning, Document, Node

FAMILIES: Final = {
    "lens": "exset.testing.conformance.lens",
    "lbann-list": "exset.testing.conformance.lbann",
    "schema": "exset.testing.conformance.schemas",
    "schema-pairs": "exset.testing.conformance.schema_pairs",
    "aeon-manifest": "exset.testing.conformance.aeon",
    "aeon-config": "exset.testing.conformance.configs",
    "cpio": "exset.testing.conformance.blocks",
    "samplers": "exset.testing.conformance.samplers",
}
"""The module of each family that has a meaning: see `FamilyMeaning`."""

REQUESTS: Final = {"sampler": "samplers", "schema_pair": "schema-pairs"}
"""For each kind of case that is a request as JSON, not a file of a format, its family."""

_DEFAULTS: Final[Mapping[str, Mapping[str, OptionValue]]] = {
    "manifest": {"dialect": "head"},
    "loader_config": {"dialect": "head"},
    "sample_list": {"ids": "text"},
}
"""The options of readers for cases that do not set them."""


class FamilyMeaning(Protocol):
    """The functions of a family that make, check and compare meanings."""

    def meaning(self, model: Model) -> Document:
        """Return the canonical meaning of a model."""

    def normalized(self, document: Node) -> Document:
        """Return the canonical form of a meaning. Raises BadMeaning if the meaning is invalid."""

    def features(self, document: Document) -> set[str]:
        """Return the features that a reader needs to read a file with this canonical meaning."""

    def unshared(self, document: Document) -> Document:
        """Return the canonical meaning in which no two events share a list.

        This is for a reader that cannot report sharing: exset compares its meaning with this one.
        """

    def explained(self, expected: Document, found: Document) -> list[str]:
        """Return how two canonical meanings differ: one sentence for each difference."""


@runtime_checkable
class RequestMeaning(Protocol):
    """The function of a family whose cases are requests."""

    def meaning_of(self, data: bytes) -> Document:
        """Return the meaning of a request. Raises FormatError if the request is invalid."""


def family_of(format: str) -> FamilyMeaning:
    """Return the meaning functions of a format's family. Raises ValueError if it has none."""
    name = family_name(format)
    if name not in FAMILIES:
        raise ValueError(
            f"exset conformance cannot compare files of the format {format!r}: choose one of"
            f" {', '.join(with_cases())}"
        )
    module: ModuleType = import_module(FAMILIES[name])
    return cast(FamilyMeaning, module)


def family_name(format: str) -> str:
    """Return the name of a format's family."""
    return REQUESTS[format] if format in REQUESTS else formats.get(format).family.name


def meaning(
    data: bytes,
    format: str,
    engine: Engine = "auto",
    options: Mapping[str, OptionValue] = MappingProxyType({}),
    findings: Findings | None = None,
) -> Document:
    """Return the meaning of a file's contents.

    `options`: the options of the reader, such as `dialect`. `findings`: collects the reader's
    findings. Raises FormatError for an invalid file, and ValueError for a format without meanings.
    """
    family = family_of(format)
    if isinstance(family, RequestMeaning):
        return family.meaning_of(data)
    collected = Findings() if findings is None else findings
    return family.meaning(read(data, format, collected, engine, options))


def read(
    data: bytes,
    format: str,
    findings: Findings,
    engine: Engine = "auto",
    options: Mapping[str, OptionValue] = MappingProxyType({}),
) -> Model:
    """Return the model in a file's contents. Raises FormatError if the file is invalid."""
    options = {**_DEFAULTS.get(format, {}), **options}
    reader = cast(Callable[..., Model], formats.get(format).read)
    return reader(Source(f"<{format}>", data), findings=findings, engine=engine, **options)


def parsed(text: bytes, format: str) -> Document:
    """Parse the JSON of a meaning that a program wrote; return the meaning in canonical form.

    Strings may have control characters and bytes that are not UTF-8, because shell scripts write
    such strings. Raises BadMeaning if the meaning is invalid.
    """
    try:
        document = json.loads(text.decode("utf-8", "surrogateescape"), strict=False)
    except (ValueError, RecursionError) as error:
        raise BadMeaning(f"the meaning is not JSON: {error}") from None
    return checked(document, format)


def checked(document: object, format: str) -> Document:
    """Return the canonical form of a meaning that a program wrote. Raises BadMeaning if invalid."""
    try:
        return family_of(format).normalized(Node(document))
    except RecursionError:
        raise BadMeaning("the meaning has too many objects in one another") from None


def dumped(document: Mapping[str, object], indent: int | None = None) -> bytes:
    """Return a meaning as JSON, in ASCII, with a line break at the end."""
    return (json.dumps(document, indent=indent, allow_nan=False) + "\n").encode("ascii")


def schema(family: str) -> bytes:
    """Return the JSON schema of a family's meaning."""
    with open_named(os.path.join(HOME, f"{family}.schema.json"), "rb") as file:
        return file.read()
