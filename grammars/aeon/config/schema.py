"""aeon's loader configuration: every object, its members, their types, defaults and constraints.

The checks, the defaults, the hints, the JSON Schema and the output of `exset config show` all come
from this declaration. Source: interface.hpp, loader.hpp, etl_*.hpp and augment_*.hpp of aeon.
"""

import os
from typing import Final

from exset.grammars.aeon.config.schema_types import REQUIRED, Constraint, Dialect, Member, Table

JSON_SCHEMA: Final = os.path.join(os.path.dirname(__file__), "loader_config.schema.json")
"""The path of the JSON Schema for aeon's last version; a test compares it with this module."""

OUTPUT_TYPES: Final = (
    *("int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t"),
    *("float", "double", "char"),
)

_NEW: Final[tuple[Dialect, ...]] = ("head", "between", "habana")
_SEED: Final[tuple[Dialect, ...]] = ("seed",)
_BETWEEN: Final[tuple[Dialect, ...]] = ("between",)
_HABANA: Final[tuple[Dialect, ...]] = ("habana",)
_WITH_THREADS: Final[tuple[Dialect, ...]] = ("between", "habana")
_WITH_AUDIO: Final[tuple[Dialect, ...]] = ("seed", "between")

_FRACTION: Final = Constraint(low=0, high=1)
_ORDERED: Final = Constraint(ordered=True)
_PART: Final = Constraint(low=0, high=1, ordered=True)
_EXPANSION: Final = Constraint(low=1, ordered=True)
_SCALES: Final = Constraint(above=0, high=1, ordered=True)
_RATIOS: Final = Constraint(above=0, ordered=True)
_MODES: Final = Constraint(one_of=("ONCE", "COUNT", "INFINITE"))
_FEATURES: Final = Constraint(one_of=("specgram", "mfsc", "mfcc", "samples"))


def _output(default: str) -> Member:
    allowed = Constraint(one_of=OUTPUT_TYPES)
    return Member("output_type", "string", default, "type of each number", allowed)


NAME: Final = Member("name", "string", "", "prefix of the output names, before a dot")
_CLASSES: Final = Member("class_names", "strings", REQUIRED, "names of the classes, in order")
_MOST_BOXES: Final = Member("max_gt_boxes", "size", 64, "most boxes of an image")

LOADER: Final = Table(
    "loader",
    Member("manifest_filename", "string", REQUIRED, "path of the manifest"),
    Member("manifest_root", "string", "", "folder of relative paths in the manifest"),
    Member("batch_size", "int32", REQUIRED, "number of records in a batch"),
    Member("cache_directory", "string", "", "folder of cpio blocks; empty: no cache"),
    Member("block_size", "int32", 0, "no effect; 0: twice batch_size", dialects=_SEED),
    Member("block_size", "int32", 5000, "records of a block; 0: twice batch_size", None, _NEW),
    Member("subset_fraction", "float", 1.0, "fraction of the records to use", _FRACTION),
    Member("shuffle_enable", "bool", False, "shuffle in every epoch"),
    Member("shuffle_manifest", "bool", False, "shuffle the manifest first"),
    Member("single_thread", "bool", False, "use one thread", dialects=_SEED),
    Member("pinned", "bool", False, "put buffers into pinned memory"),
    Member("random_seed", "int32", 0, "seed of random numbers", dialects=_SEED),
    Member("random_seed", "uint32", 0, "seed; 0: another one in each run", dialects=_NEW),
    Member("iteration_mode", "string", "ONCE", "one pass, some batches, or no end", _MODES),
    Member("iteration_mode_count", "int32", 0, "number of batches for COUNT"),
    Member("etl", "objects", REQUIRED, "type of each manifest column", table="etl"),
    Member(
        "augmentation",
        "objects",
        (),
        "random changes of images; aeon uses only the first object",
        table="augmentation",
    ),
    Member("batch_major", "bool", True, "the batch is the first axis", dialects=_NEW),
    Member("cpu_list", "string", "", "cores to use, such as 0-3,8", dialects=_NEW),
    Member("node_id", "uint32", 0, "id of this node, from 0", dialects=_NEW),
    Member("node_count", "uint32", 0, "nodes that share the records", dialects=_NEW),
    Member("ssd_config", "any", None, "no effect", dialects=_NEW),
    Member("decode_thread_count", "uint32", 0, "0: one for each core", dialects=_WITH_THREADS),
    Member("remote", "any", None, "address of an aeon service", dialects=_BETWEEN),
    Member("web_server_port", "uint32", 0, "0: no web server", dialects=_BETWEEN),
    Member("fread_thread_count", "uint32", 0, "threads that read files", dialects=_HABANA),
    Member("file_shuffle_seed", "uint32", 0, "seed of the file shuffle", dialects=_HABANA),
    Member("instance_id", "uint32", 0, "id of this instance", dialects=_HABANA),
    Member("num_instances", "uint32", 0, "instances that share the records", dialects=_HABANA),
)

_IMAGE: Final = (
    Member("height", "uint32", REQUIRED, "size of the output in pixels"),
    Member("width", "uint32", REQUIRED, "size of the output in pixels"),
    NAME,
    Member("bgr_to_rgb", "bool", False, "put red first", dialects=_NEW),
    Member("channel_major", "bool", True, "channels are the first axis"),
    Member("channels", "uint32", 3, "1: grey, 3: colour", Constraint(one_of=(1, 3))),
    _output("uint8_t"),
)

_BOX_SIZE: Final = (
    Member("height", "size", REQUIRED, "size of the output in pixels"),
    Member("width", "size", REQUIRED, "size of the output in pixels"),
)

_ANCHORED: Final = (
    *_BOX_SIZE,
    _CLASSES,
    NAME,
    Member("rois_per_image", "size", 256, "regions of interest"),
    Member("base_size", "size", 16, "pixels of the smallest anchor"),
    Member("scaling_factor", "float", 1 / 16, "anchor positions per pixel"),
    Member("ratios", "floats", (0.5, 1.0, 2.0), "height / width of anchors"),
    Member("scales", "floats", (8.0, 16.0, 32.0), "sizes of anchors"),
    Member("negative_overlap", "float", 0.3, "below it an anchor is background", _FRACTION),
    Member("positive_overlap", "float", 0.7, "above it an anchor is an object", _FRACTION),
    Member("foreground_fraction", "float", 0.5, "most anchors with objects", _FRACTION),
    _MOST_BOXES,
)

_SOUND: Final = (
    Member("add_noise_probability", "float", 0.0, "probability of added noise"),
    Member("time_scale_fraction", "float_pair", (1.0, 1.0), "stretch of time", _ORDERED),
    Member("noise_level", "float_pair", (0.0, 0.5), "loudness of noise", _ORDERED),
)


def _by_name(*tables: Table) -> dict[str, Table]:
    return {table.name: table for table in tables}


ETL: Final = _by_name(
    Table("image", *_IMAGE),
    Table(
        "label", NAME, Member("binary", "bool", False, "four bytes, not text"), _output("uint32_t")
    ),
    Table(
        "blob",
        Member("output_count", "size", REQUIRED, "number of values"),
        NAME,
        _output("float"),
    ),
    Table(
        "char_map",
        Member("max_length", "uint32", REQUIRED, "most characters"),
        Member("alphabet", "string", REQUIRED, "each character once, in order"),
        NAME,
        Member("unknown_value", "uint32", 0, "code of other characters; 0: drop them"),
        Member("emit_length", "bool", False, "the length is an output, too"),
        _output("uint32_t"),
    ),
    Table(
        "label_map",
        NAME,
        _output("uint32_t"),
        _CLASSES,
        Member("max_classes", "int32", 100, "most labels of a record"),
    ),
    Table(
        "boundingbox",
        *_BOX_SIZE,
        Member("max_bbox_count", "size", REQUIRED, "most boxes of an image"),
        _CLASSES,
        NAME,
        _output("float"),
    ),
    Table("pixelmask", *_IMAGE),
    Table(
        "video",
        Member("max_frame_count", "uint32", REQUIRED, "most frames"),
        Member("frame", "object", REQUIRED, "the members of an image", table="frame"),
        NAME,
    ),
    Table("localization", *_ANCHORED, dialects=_SEED),
    Table("localization_rcnn", *_ANCHORED, dialects=_NEW),
    Table(
        "localization_ssd",
        *_BOX_SIZE,
        _CLASSES,
        NAME,
        _MOST_BOXES,
        Member("gt_boxes_normalized", "bool", True, "boxes from 0 to 1", dialects=_BETWEEN),
        dialects=_NEW,
    ),
    Table(
        "audio",
        Member("max_duration", "string", REQUIRED, "such as `4 seconds`"),
        Member("frame_stride", "string", REQUIRED, "such as `10 milliseconds`"),
        Member("frame_length", "string", REQUIRED, "such as `400 samples`"),
        NAME,
        Member("num_cepstra", "uint32", 40, "values of an mfcc"),
        Member("num_filters", "uint32", 64, "values of an mfsc"),
        _output("uint8_t"),
        Member("feature_type", "string", "specgram", "the output of a sound", _FEATURES),
        Member("window_type", "string", "hann", "window of a spectrogram"),
        Member("noise_index_file", "string", "", "path of the list of noises"),
        Member("noise_root", "string", "", "folder of relative paths in that list"),
        Member("sample_freq_hz", "uint32", 16000, "samples a second"),
        *_SOUND,
        Member("emit_length", "bool", False, "the length is an output, too", None, _BETWEEN),
        dialects=_WITH_AUDIO,
    ),
)

AUGMENTATION: Final = _by_name(
    Table(
        "image",
        Member("scale", "float_pair", (1.0, 1.0), "fraction of the image to crop", _PART),
        Member("angle", "int_pair", (0, 0), "degrees of rotation", _ORDERED),
        Member("lighting", "float_pair", (0.0, 0.0), "mean and deviation"),
        Member("horizontal_distortion", "float_pair", (1.0, 1.0), "aspect", _ORDERED),
        Member("flip_enable", "bool", False, "mirror half of the images"),
        Member("center", "bool", True, "crop in the middle"),
        Member("do_area_scale", "bool", False, "scale is a fraction of the area"),
        Member("crop_enable", "bool", True, "crop the image"),
        Member("fixed_aspect_ratio", "bool", False, "keep the aspect"),
        Member("fixed_scaling_factor", "float", -1.0, "above 0: the scale"),
        Member("contrast", "float_pair", (1.0, 1.0), "factor", _ORDERED),
        Member("brightness", "float_pair", (1.0, 1.0), "factor", _ORDERED),
        Member("saturation", "float_pair", (1.0, 1.0), "factor", _ORDERED),
        Member("hue", "int_pair", (0, 0), "degrees", _ORDERED),
        Member("resize_short_size", "int32", 0, "pixels of the shorter side", dialects=_NEW),
        Member("interpolation_method", "string", "LINEAR", "", dialects=_NEW),
        Member("mean", "doubles", (), "subtracted from each channel", dialects=_NEW),
        Member("stddev", "doubles", (), "divisor of each channel", dialects=_NEW),
        Member("padding", "int32", 0, "pixels around the image", dialects=_NEW),
        Member("debug_output_directory", "string", "", "folder for changed images", dialects=_NEW),
        Member("expand_probability", "float", 0.0, "probability of expansion", dialects=_NEW),
        Member("expand_ratio", "float_pair", (1.0, 1.0), "expansion", _EXPANSION, _NEW),
        Member("emit_constraint_type", "string", "", "which boxes to keep", dialects=_NEW),
        Member("emit_constraint_min_overlap", "float", 0.0, "", dialects=_NEW),
        Member("batch_samplers", "objects", (), "", None, _NEW, "batch_sampler"),
        Member("frame", "object", None, "the augmentation of video", table="augmentation"),
        Member("caffe_mode", "bool", False, "", dialects=_HABANA),
        Member("pillow_mode", "bool", False, "", dialects=_HABANA),
        Member("pt_mode", "bool", False, "", dialects=_HABANA),
        Member("validation_mode", "bool", False, "", dialects=_HABANA),
        lax=True,
    ),
    Table("audio", *_SOUND, dialects=_WITH_AUDIO, lax=True),
)

_SAMPLING: Final = _by_name(
    Table(
        "batch_sampler",
        Member("max_sample", "int32", None, "", Constraint(low=0)),
        Member("max_trials", "uint32", 100, ""),
        Member("sampler", "object", None, "", table="sampler"),
        Member("sample_constraint", "object", None, "", table="sample_constraint"),
        lax=True,
    ),
    Table(
        "sampler",
        Member("scale", "float_pair", (1.0, 1.0), "", _SCALES),
        Member("aspect_ratio", "float_pair", (1.0, 1.0), "", _RATIOS),
        lax=True,
    ),
    Table(
        "sample_constraint",
        *(
            Member(f"{bound}_{measure}", "float", None, "")
            for measure in ("jaccard_overlap", "sample_coverage", "object_coverage")
            for bound in ("min", "max")
        ),
        lax=True,
    ),
)

TABLES: Final[dict[str, Table]] = {
    "loader": LOADER,
    "frame": ETL["image"],
    **{f"etl {name}": table for name, table in ETL.items()},
    **{f"augmentation {name}": table for name, table in AUGMENTATION.items()},
    **_SAMPLING,
}
"""All tables by their full names."""


def declare_etl(table: Table) -> None:
    """Declare a new type of etl objects, which aeon does not have."""
    ETL[table.name] = TABLES[f"etl {table.name}"] = table


def etl_types(dialect: Dialect) -> tuple[str, ...]:
    """Return the types of etl objects that a dialect knows."""
    return tuple(name for name, table in ETL.items() if dialect in table.dialects)


RENAMED: Final = {
    "minibatch_size": "batch_size",
    "macrobatch_size": "block_size",
    "augment": "augmentation",
    "shuffle_every_epoch": "shuffle_enable",
}
"""The names of the loader's members before 2017, and their names since then."""
