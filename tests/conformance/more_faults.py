"""Faults of readers of the other formats: what each does, and a declared case that finds it.

Like the faults in `faults.py`, they were listed before any file was drawn. Each fault changes a
value or a verdict of some files, and nothing else.
"""

from collections.abc import Callable
from typing import Final

from exset.testing.conformance.nodes import Document
from tests.conformance.right_block import RightBlock
from tests.conformance.right_config import RightConfig
from tests.conformance.right_list import RightList
from tests.conformance.right_manifest import RightManifest
from tests.conformance.right_sampler import RightSampler
from tests.conformance.right_schema import RightPair, RightSchema

READERS: Final[dict[str, Callable[..., Callable[..., Document | dict[str, object] | None]]]] = {
    "sample_list": RightList,
    "schema": RightSchema,
    "schema_pair": RightPair,
    "manifest": RightManifest,
    "loader_config": RightConfig,
    "block": RightBlock,
    "sampler": RightSampler,
}
"""The right reader of each format; its arguments are names of faults."""

MORE_FAULTS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "sample_list": {
        "type-in-capitals": ("the type must be in capitals", "list-type-lower-case"),
        "type-alone": ("words after the type are an error", "list-type-more-words"),
        "totals-checked": ("the totals of samples must be right", "list-totals-wrong"),
        "directory-whole": ("the base directory is all of line 3", "list-directory-cut"),
        "no-label-line": ("no list has a label file", "list-type-multi-inclusion"),
        "blank-line-ends": ("an empty line ends the list", "list-blank-lines"),
        "no-tabs": ("only blanks separate words", "list-tabs"),
        "keeps-cr": ("the carriage return of CRLF stays", "list-crlf"),
        "last-line-lost": ("a last line without a line break is lost", "list-no-last-break"),
        "hash-comment": ("lines with # are comments", "list-file-hash"),
        "ids-sorted": ("ids are sorted", "list-ids-order"),
        "ids-once": ("a repeated id counts once", "list-ids-repeated"),
        "ids-lose-zeros": ("ids lose the zeros at their beginning", "list-ids-zeros"),
        "v2-has-excluded": ("a V2 list has numbers of excluded samples", "list-v2-number-first"),
        "extra-ids-ignored": ("more ids than the number are ignored", "list-too-many-ids"),
        "missing-ids-ignored": ("fewer ids than the number are accepted", "list-too-few-ids"),
        "files-uncounted": ("the number of files is not checked", "list-too-few-files"),
        "repeats-unchecked": ("a file may be repeated as it is", "list-file-repeated-part"),
        "range-without-end": ("a range does not contain its end", "integer-range"),
        "repeated-exclusion": ("a repeated excluded id counts twice", "list-exclusion-repeated"),
    },
    "schema": {
        "quotes-are-text": ("a number in quotes is a text", "schema-integer-quotes"),
        "null-is-empty": ("`null` is empty", "schema-text-null"),
        "underscores": ("underscores in numbers are dropped", "schema-text-underscore"),
        "octal": ("a zero at the beginning makes an octal number", "schema-integer-zeros"),
        "no-limit": ("an integer may have more than 64 bits", "schema-integer-beyond"),
        "no-hexadecimal": ("a hexadecimal number is a text", "schema-float-hexadecimal"),
        "whole-is-integer": ("2.0 is the integer 2", "schema-float"),
        "single": ("floats have single precision", "schema-float-double"),
        "empty-is-text": ("an empty text is not empty", "schema-empty-quotes"),
        "mixed-list": ("integers of a list stay so next to floats", "schema-list-mixed"),
        "list-of-one": ("a list of one number stays a list", "schema-list-of-one"),
        "last-name-wins": ("of two equal names the last wins", "schema-key-twice"),
        "no-values": ("a field with a value is refused", "schema-value-ignored"),
        "directives-anywhere": (
            "directives are read outside of `metadata`",
            "schema-directive-without-metadata",
        ),
        "unknown-dropped": ("unknown directives are dropped", "schema-directive-unknown"),
    },
    "schema_pair": {
        "no-inheritance": ("groups give no directives", "pair-inherit"),
        "parent-wins": ("the directive of the group wins", "pair-child-wins"),
        "data-wins": ("the directive of the data schema wins", "pair-experiment-wins"),
        "replaces-all": ("directives of the experiment replace all others", "pair-both"),
        "root-apart": ("the root gives no directives", "pair-inherit-from-root"),
        "all-fields": ("all fields are read", "pair-some"),
        "leaves-only": ("a leaf selects only the field of its path", "pair-below"),
        "unknown-skipped": ("unknown fields are ignored", "pair-field-unknown"),
        "empty-experiment": ("an experiment may name no field", "pair-no-field"),
        "any-case": ("names may be in any case", "pair-case"),
    },
    "manifest": {
        "header-optional": ("a header may be missing", "manifest-no-header"),
        "second-header": ("a second header is accepted", "manifest-header-twice"),
        "any-case": ("types may be in any case", "manifest-type-lower-case"),
        "trims": ("blanks around fields are dropped", "manifest-blanks"),
        "hash-anywhere": ("# begins a comment anywhere", "manifest-hash-inside"),
        "commas": ("commas separate fields, too", "manifest-comma"),
        "short-filled": ("missing fields are empty", "manifest-too-few"),
        "long-cut": ("fields without a type are dropped", "manifest-too-many"),
        "empty-end-lost": ("empty fields at the end are dropped", "manifest-empty-last"),
        "empty-record": ("an empty line is a record", "manifest-empty-lines"),
        "no-cr": ("the carriage return of CRLF is dropped", "manifest-header-crlf"),
        "int-rounds": ("a fraction is rounded, not cut off", "manifest-int-fraction"),
        "no-exponent": ("an integer ends at its exponent", "manifest-int-exponent"),
        "nothing-after": ("letters after a number are an error", "manifest-int-letters"),
        "word-is-zero": ("a word is the number 0", "manifest-element-int-word"),
        "small-accepted": ("numbers below the normal singles are read", "manifest-float-small"),
        "six-digits": ("floats are rounded to six digits", "manifest-float-halfway"),
        "url-alphabet": ("+ is no letter of base64", "manifest-base64-plus-slash"),
        "padding-kept": ("padding is data", "manifest-base64-one-pad"),
    },
    "loader_config": {
        "rounds": ("a real number is rounded, not cut", "config-batch-real"),
        "keeps-sign": ("negative numbers do not wrap around", "config-seed-negative"),
        "no-wrap": ("large integers do not wrap around", "config-batch-wraps"),
        "unknown-skipped": ("unknown members are ignored", "config-unknown"),
        "text-is-number": ("a text of digits is a number", "config-batch-text"),
        "number-is-bool": ("0 and 1 are false and true", "config-bool-number"),
        "no-bounds": ("bounds of numbers are not checked", "config-subset-above"),
        "any-order": ("a pair may decrease", "config-augmentation-order"),
        "six-digits": ("fractions have two digits", "config-augmentation-expand-digits"),
        "old-block-size": ("the default of block_size is 0", "config-required-only"),
        "outputs-sorted": ("outputs are sorted by name", "config-three-objects"),
        "no-prefix": ("a name is no prefix of the output", "config-image-name"),
        "channels-first": ("the channels are always first", "config-image-channels-last"),
        "any-channels": ("an image may have any channels", "config-image-channels"),
        "no-length": ("emit_length has no effect", "config-char-map-length"),
        "alphabet-unchecked": ("the alphabet is not checked", "config-char-map-twice"),
        "meant-sizes": ("sizes follow max_classes and boxes", "config-boundingbox"),
        "cells-up": ("places for anchors are rounded up", "config-rcnn-anchors"),
        "strict-augmentation": (
            "unknown members of an augmentation are an error",
            "config-augmentation-unknown",
        ),
        "last-augmentation": ("the last augmentation is used", "config-augmentation-second"),
    },
    "block": {
        "data-unpadded": ("no zero byte follows data of odd length", "block-odd-data"),
        "name-unpadded": ("no zero byte follows a name of odd length", "block-names-even"),
        "low-size": ("only 16 bits of the size are read", "block-size-32-bits"),
        "end-anywhere": ("TRAILER!!! in data ends the block", "block-looks-like-end"),
        "first-magic-only": ("only the first magic word is checked", "block-magic-of-element"),
        "header-any-size": ("the size of the header is not checked", "block-header-short"),
        "no-macr": ("the word MACR is not checked", "block-header-magic"),
        "other-count": ("the records are counted by the word after", "block-word-after-count"),
        "needs-end": ("the last entry must be there", "block-no-end"),
        "one-trailer": ("only cpiotlr is a trailer", "block-trailer-2017"),
        "mode-checked": ("the mode of an entry is checked", "block-modes-any"),
        "no-empty": ("empty elements are dropped", "block-empty-element"),
        "zeros-cut": ("zero bytes at the end of data are dropped", "block-odd-data-zero"),
        "line-ends": ("CRLF in data becomes LF", "block-line-ends"),
    },
    "sampler": {
        "epoch-ignored": ("the epoch has no effect", "stream-planned-shuffled-1"),
        "seed-ignored": ("the seed has no effect", "stream-planned-seed-0"),
        "last-batch-kept": ("drop_last has no effect", "stream-planned-drop-ranks"),
        "always-shuffles": ("shuffle has no effect", "stream-planned-even"),
        "one-rank": ("there is one rank only", "stream-planned-even-ranks"),
        "no-compat": ("compat has no effect", "stream-random-uneven-balr"),
        "classes-sorted": ("classes are sorted", "stream-planned-order"),
        "swaps-sizes": ("N and M are swapped", "stream-planned-even-drop"),
        "zero-is-one": ("0 classes or samples are 1", "stream-no-classes"),
        "unknown-is-planned": ("an unknown sampler is the planned one", "stream-unknown"),
        "fewer-classes": ("N is at most the number of classes", "stream-too-many-classes"),
        "ranks-back": ("the last rank comes first", "stream-planned-even-ranks"),
        "from-one": ("indices begin with 1", "stream-planned-even"),
        "each-once": ("no index comes twice", "stream-exhaustive-singles"),
        "in-order": ("indices are in ascending order", "stream-planned-even"),
    },
}
