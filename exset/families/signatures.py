"""How files of each format begin: regular expressions, as `Format.first_bytes` wants them."""

import re


def _words(*words: str) -> str:
    """Return a pattern for any of the words, or for what the end of the head leaves of one."""
    cut = {word[:size] for word in words for size in range(len(word))}
    whole, parts = (
        "|".join(map(re.escape, sorted(each, key=len, reverse=True))) for each in (words, cut)
    )
    return rf"(?:{whole}|(?:{parts})\Z)"


# Lens takes whatever is not its magic for text. So may we, but for what is plainly something else:
# nothing that is possessive here is tried twice, and NULs are for binary files.
_COMMENT = r"(?:#[^\r\n\0]*+)?+"
_BLANK = rf"{_COMMENT}(?:[ \t\f\v]++|[\r\n]++{_COMMENT})*+"
_NUMBER = r"[-+]?+\d++(?![^\0]{0,15}+\0)"
LENS = (
    rf"(?:\xef\xbb\xbf)?+{_BLANK}(?:{_NUMBER}|[-+]\Z|"
    + _words(
        *(";", "[", "name:", "proc:", "freq:", "max:", "min:", "grace:"),
        *("defI:", "defT:", "actI:", "actT:", "I:", "i:", "T:", "t:", "B:", "b:"),
    )
    + ")"
)

# A name and nothing else on a line, and on the next if there is one, or `metadata:`, blanks and
# comments apart: no Lens text of use begins so, though one may begin with a name.
_LINE_END = r"[ \t]*+(?:#[^\r\n\0]*+)?+(?:\r\n|\r|\n)"
_NO_LINES = rf"(?:{_LINE_END})*+"
_KEY = rf" *+[^\s:#{{\[\0][^\r\n:#\0]*+(?::(?=[^\s\0])[^\r\n:#\0]*+)*+:{_LINE_END}{_NO_LINES}"
YAML = (
    rf"(?:\xef\xbb\xbf)?+{_NO_LINES}(?:---{_LINE_END}{_NO_LINES})?+"
    rf"(?:metadata:{_LINE_END}|{_KEY}(?:{_KEY}| *+metadata:|\Z))"
)


SAMPLE_LIST = (
    r"(?:\xef\xbb\xbf)?+[ \t\r\f\v]*+(?!\Z)(?i:"
    + _words(
        *("single-sample", "multi-sample_exclusion", "multi-sample_inclusion"),
        *("multi-sample_inclusion_v2", "conduit_hdf5_exclusion", "conduit_hdf5_inclusion"),
    )
    + r")(?:[ \t\r\n\f\v]|\Z)"
)

# A header; manifests that have none are known by their suffix.
MANIFEST = (
    r"(?:\xef\xbb\xbf)?+(?:#[^\n\0]*+\n|\n)*+@"
    + _words("FILE", "BINARY", "STRING", "ASCII_INT", "ASCII_FLOAT")
    + r"(?:[ \t\r\n]|\Z)"
)

CPIO = b"\xc7\x71"

# An entry of 64 bytes called cpiohdr, and what these begin with; who copied it does not matter.
BLOCK = r"(?s:.{20}+\x08\x00\x00\x00\x40\x00cpiohdr\x00MACR)"

# A JSON object whose first member is one of a configuration, of today or of aeon's first versions.
_CONFIG_MEMBERS = (
    *("manifest_filename", "manifest_root", "batch_size", "cache_directory", "block_size", "etl"),
    *("subset_fraction", "shuffle_enable", "shuffle_manifest", "single_thread", "pinned"),
    *("random_seed", "iteration_mode", "iteration_mode_count", "augmentation", "batch_major"),
    *("cpu_list", "node_id", "node_count", "ssd_config", "decode_thread_count", "web_server_port"),
    *("fread_thread_count", "file_shuffle_seed", "num_instances", "minibatch_size"),
    *("macrobatch_size", "augment", "shuffle_every_epoch"),
)
CONFIG = r"(?:\xef\xbb\xbf)?+[ \t\r\n]*+\{[ \t\r\n]*+" + _words(
    *(f'"{name}"' for name in _CONFIG_MEMBERS)
)
