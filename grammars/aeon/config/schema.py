"""aeon's loader configuration: every object, its members, their types, defaults and rules.

One declaration, from which the checks, the defaults, the hints, the JSON Schema and what `exset
config show` says are made. Source: interface.hpp, loader.hpp, etl_*.hpp, augment_*.hpp of aeon.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from exset.grammars.aeon.config.schema_types import REQUIRED, Dialect, Member, Rule, Table

OUTPUT_TYPES: Final = (
    *("int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t"),
    *("float", "double", "char"),
)

_NEW: Final[tuple[Dialect, ...]] = ("head", "between", "habana")
_SEED: Final[tuple[Dialect, ...]] = ("seed",)
_BETWEEN: Final[tuple[Dialect, ...]] = ("between",)
_OLD_AND_FORK: Final[tuple[Dialect, ...]] = ("between", "habana")
_HABANA: Final[tuple[Dialect, ...]] = ("habana",)
_SPOKEN: Final[tuple[Dialect, ...]] = ("seed", "between")

_FRACTION: Final = Rule(low=0, high=1)
_ORDERED: Final = Rule(ordered=True)
_A_TYPE: Final = Rule(one_of=OUTPUT_TYPES)


def _output(default: str) -> Member:
    return Member("output_type", "string", default, "the type of each number", _A_TYPE)


_NAME: Final = Member("name", "string", "", "goes before the names of the outputs, with a dot")
_CLASSES: Final = Member("class_names", "strings", REQUIRED, "the names of the classes, in order")
_BOXES: Final = Member("max_gt_boxes", "size", 64, "the most boxes of an image")
_HEIGHT, _WIDTH = (
    Member(name, "uint32", REQUIRED, "pixels of the output") for name in ("height", "width")
)
_BOX_HEIGHT, _BOX_WIDTH = (
    Member(name, "size", REQUIRED, "pixels of the output") for name in ("height", "width")
)

LOADER: Final = Table(
    "loader",
    (
        Member("manifest_filename", "string", REQUIRED, "the path of the manifest"),
        Member("manifest_root", "string", "", "goes before relative paths in the manifest"),
        Member("batch_size", "int32", REQUIRED, "records of a batch"),
        Member("cache_directory", "string", "", "where cpio blocks are kept; empty for no cache"),
        Member(
            "block_size", "int32", 0, "has no effect; 0 is twice the batch_size", dialects=_SEED
        ),
        Member(
            "block_size", "int32", 5000, "records of a block; 0 is twice batch_size", dialects=_NEW
        ),
        Member("subset_fraction", "float", 1.0, "the part of the records to use", _FRACTION),
        Member("shuffle_enable", "bool", False, "whether the order changes every epoch"),
        Member("shuffle_manifest", "bool", False, "whether the manifest is shuffled first"),
        Member("single_thread", "bool", False, "whether one thread does it all", dialects=_SEED),
        Member("pinned", "bool", False, "whether buffers are in pinned memory"),
        Member("random_seed", "int32", 0, "where random numbers begin", dialects=_SEED),
        Member(
            "random_seed",
            "uint32",
            0,
            "where random numbers begin; 0: another place each time",
            dialects=_NEW,
        ),
        Member(
            "iteration_mode",
            "string",
            "ONCE",
            "one pass, a number of batches, or no end",
            Rule(one_of=("ONCE", "COUNT", "INFINITE")),
        ),
        Member("iteration_mode_count", "int32", 0, "how many batches COUNT gives"),
        Member("etl", "objects", REQUIRED, "what each column of the manifest is", table="etl"),
        Member(
            "augmentation",
            "objects",
            (),
            "what happens to images at random: the first object alone is used",
            table="augmentation",
        ),
        Member("batch_major", "bool", True, "whether the batch is the first axis", dialects=_NEW),
        Member("cpu_list", "string", "", "which cores to use, as in 0-3,8", dialects=_NEW),
        Member("node_id", "uint32", 0, "which node of several this is", dialects=_NEW),
        Member("node_count", "uint32", 0, "how many nodes share the records", dialects=_NEW),
        Member("ssd_config", "any", None, "ignored", dialects=_NEW),
        Member(
            "decode_thread_count", "uint32", 0, "0: as many as there are", dialects=_OLD_AND_FORK
        ),
        Member("remote", "any", None, "where the service of aeon is", dialects=_BETWEEN),
        Member("web_server_port", "uint32", 0, "0 for no server", dialects=_BETWEEN),
        Member("fread_thread_count", "uint32", 0, "threads that read files", dialects=_HABANA),
        Member("file_shuffle_seed", "uint32", 0, "where its numbers begin", dialects=_HABANA),
        Member("instance_id", "uint32", 0, "which instance of several", dialects=_HABANA),
        Member("num_instances", "uint32", 0, "how many share the records", dialects=_HABANA),
    ),
)

_IMAGE: Final = (
    _HEIGHT,
    _WIDTH,
    _NAME,
    Member("bgr_to_rgb", "bool", False, "whether red comes first", dialects=_NEW),
    Member("channel_major", "bool", True, "whether channels are the first axis"),
    Member("channels", "uint32", 3, "1 for grey, 3 for colour", Rule(one_of=(1, 3))),
    _output("uint8_t"),
)

_ANCHORED: Final = (
    _BOX_HEIGHT,
    _BOX_WIDTH,
    _CLASSES,
    _NAME,
    Member("rois_per_image", "size", 256, "regions of interest"),
    Member("base_size", "size", 16, "pixels of the smallest anchor"),
    Member("scaling_factor", "float", 1 / 16, "from pixels to anchors"),
    Member("ratios", "floats", (0.5, 1.0, 2.0), "heights of anchors to their widths"),
    Member("scales", "floats", (8.0, 16.0, 32.0), "sizes of anchors"),
    Member("negative_overlap", "float", 0.3, "below it an anchor is background", _FRACTION),
    Member("positive_overlap", "float", 0.7, "above it an anchor is an object", _FRACTION),
    Member("foreground_fraction", "float", 0.5, "the most anchors with objects", _FRACTION),
    _BOXES,
)

_SOUND: Final = (
    Member("add_noise_probability", "float", 0.0, "how often noise is added"),
    Member("time_scale_fraction", "float_pair", (1.0, 1.0), "how time is stretched", _ORDERED),
    Member("noise_level", "float_pair", (0.0, 0.5), "how loud noise is", _ORDERED),
)

ETL: Final[Mapping[str, Table]] = MappingProxyType(
    {
        table.name: table
        for table in (
            Table("image", _IMAGE),
            Table(
                "label",
                (
                    _NAME,
                    Member("binary", "bool", False, "whether it is four bytes, or text"),
                    _output("uint32_t"),
                ),
            ),
            Table(
                "blob",
                (
                    Member("output_count", "size", REQUIRED, "how many numbers"),
                    _NAME,
                    _output("float"),
                ),
            ),
            Table(
                "char_map",
                (
                    Member("max_length", "uint32", REQUIRED, "the most characters"),
                    Member("alphabet", "string", REQUIRED, "each character once, in order"),
                    _NAME,
                    Member("unknown_value", "uint32", 0, "for other characters; 0 drops them"),
                    Member("emit_length", "bool", False, "whether the length is an output"),
                    _output("uint32_t"),
                ),
            ),
            Table(
                "label_map",
                (
                    _NAME,
                    _output("uint32_t"),
                    _CLASSES,
                    Member("max_classes", "int32", 100, "the most labels of a record"),
                ),
            ),
            Table(
                "boundingbox",
                (
                    _BOX_HEIGHT,
                    _BOX_WIDTH,
                    Member("max_bbox_count", "size", REQUIRED, "the most boxes of an image"),
                    _CLASSES,
                    _NAME,
                    _output("float"),
                ),
            ),
            Table("pixelmask", _IMAGE),
            Table(
                "video",
                (
                    Member("max_frame_count", "uint32", REQUIRED, "the most frames"),
                    Member("frame", "object", REQUIRED, "what each frame is", table="frame"),
                    _NAME,
                ),
            ),
            Table("localization", _ANCHORED, _SEED),
            Table("localization_rcnn", _ANCHORED, _NEW),
            Table(
                "localization_ssd",
                (
                    _BOX_HEIGHT,
                    _BOX_WIDTH,
                    _CLASSES,
                    _NAME,
                    _BOXES,
                    Member(
                        "gt_boxes_normalized",
                        "bool",
                        True,
                        "whether boxes are parts of the image",
                        dialects=_BETWEEN,
                    ),
                ),
                _NEW,
            ),
            Table(
                "audio",
                (
                    Member("max_duration", "string", REQUIRED, "such as `4 seconds`"),
                    Member("frame_stride", "string", REQUIRED, "such as `10 milliseconds`"),
                    Member("frame_length", "string", REQUIRED, "such as `400 samples`"),
                    _NAME,
                    Member("num_cepstra", "uint32", 40, "numbers of an mfcc"),
                    Member("num_filters", "uint32", 64, "numbers of an mfsc"),
                    _output("uint8_t"),
                    Member(
                        "feature_type",
                        "string",
                        "specgram",
                        "what is made of the sound",
                        Rule(one_of=("specgram", "mfsc", "mfcc", "samples")),
                    ),
                    Member("window_type", "string", "hann", "the window of a spectrogram"),
                    Member("noise_index_file", "string", "", "the list of noises"),
                    Member("noise_root", "string", "", "goes before their paths"),
                    Member("sample_freq_hz", "uint32", 16000, "samples a second"),
                    *_SOUND,
                    Member(
                        "emit_length",
                        "bool",
                        False,
                        "whether the length is an output",
                        dialects=_BETWEEN,
                    ),
                ),
                _SPOKEN,
            ),
        )
    }
)

AUGMENTATION: Final[Mapping[str, Table]] = MappingProxyType(
    {
        table.name: table
        for table in (
            Table(
                "image",
                (
                    Member(
                        "scale",
                        "float_pair",
                        (1.0, 1.0),
                        "the part of the image that is cut out",
                        Rule(low=0, high=1, ordered=True),
                    ),
                    Member("angle", "int_pair", (0, 0), "degrees to turn", _ORDERED),
                    Member("lighting", "float_pair", (0.0, 0.0), "mean and deviation"),
                    Member("horizontal_distortion", "float_pair", (1.0, 1.0), "aspect", _ORDERED),
                    Member("flip_enable", "bool", False, "whether half of the images are mirrored"),
                    Member("center", "bool", True, "whether the middle is cut out"),
                    Member("do_area_scale", "bool", False, "whether scale is of the area"),
                    Member("crop_enable", "bool", True, "whether a part is cut out"),
                    Member("fixed_aspect_ratio", "bool", False, "whether the aspect is kept"),
                    Member("fixed_scaling_factor", "float", -1.0, "above 0: the scale"),
                    Member("contrast", "float_pair", (1.0, 1.0), "how it changes", _ORDERED),
                    Member("brightness", "float_pair", (1.0, 1.0), "how it changes", _ORDERED),
                    Member("saturation", "float_pair", (1.0, 1.0), "how it changes", _ORDERED),
                    Member("hue", "int_pair", (0, 0), "degrees to turn", _ORDERED),
                    Member("resize_short_size", "int32", 0, "of the shorter side", dialects=_NEW),
                    Member("interpolation_method", "string", "LINEAR", "", dialects=_NEW),
                    Member("mean", "doubles", (), "to take from each channel", dialects=_NEW),
                    Member("stddev", "doubles", (), "to divide each channel by", dialects=_NEW),
                    Member("padding", "int32", 0, "pixels around; no crop_enable", dialects=_NEW),
                    Member("debug_output_directory", "string", "", "", dialects=_NEW),
                    Member("expand_probability", "float", 0.0, "how often", dialects=_NEW),
                    Member(
                        "expand_ratio",
                        "float_pair",
                        (1.0, 1.0),
                        "how far the canvas grows",
                        Rule(low=1, ordered=True),
                        _NEW,
                    ),
                    Member("emit_constraint_type", "string", "", "which boxes", dialects=_NEW),
                    Member("emit_constraint_min_overlap", "float", 0.0, "", dialects=_NEW),
                    Member("batch_samplers", "objects", (), "", None, _NEW, "batch_sampler"),
                    Member("frame", "object", None, "for video alone", table="augmentation"),
                    Member("caffe_mode", "bool", False, "", dialects=_HABANA),
                    Member("pillow_mode", "bool", False, "", dialects=_HABANA),
                    Member("pt_mode", "bool", False, "", dialects=_HABANA),
                    Member("validation_mode", "bool", False, "", dialects=_HABANA),
                ),
                lax=True,
            ),
            Table("audio", _SOUND, _SPOKEN, lax=True),
        )
    }
)

_OVERLAPS: Final = tuple(
    Member(f"{end}_{what}", "float", None, "")
    for what in ("jaccard_overlap", "sample_coverage", "object_coverage")
    for end in ("min", "max")
)
_PARTS: Final = (
    Table(
        "batch_sampler",
        (
            Member("max_sample", "int32", None, "", Rule(low=0)),
            Member("max_trials", "uint32", 100, ""),
            Member("sampler", "object", None, "", table="sampler"),
            Member("sample_constraint", "object", None, "", table="sample_constraint"),
        ),
        lax=True,
    ),
    Table(
        "sampler",
        (
            Member("scale", "float_pair", (1.0, 1.0), "", Rule(above=0, high=1, ordered=True)),
            Member("aspect_ratio", "float_pair", (1.0, 1.0), "", Rule(above=0, ordered=True)),
        ),
        lax=True,
    ),
    Table("sample_constraint", _OVERLAPS, lax=True),
)

TABLES: Final[Mapping[str, Table]] = MappingProxyType(
    {
        "loader": LOADER,
        "frame": ETL["image"],
        **{f"etl {name}": table for name, table in ETL.items()},
        **{f"augmentation {name}": table for name, table in AUGMENTATION.items()},
        **{table.name: table for table in _PARTS},
    }
)
"""All tables by their full names."""


def etl_types(dialect: Dialect) -> tuple[str, ...]:
    """The types of etl objects that a dialect knows."""
    return tuple(name for name, table in ETL.items() if dialect in table.dialects)
