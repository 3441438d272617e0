"""A right reader of aeon's loader configurations, which shares nothing with exset's.

It knows the members of aeon's last version by a table of its own, and can have faults.
"""

import json
import math
import struct

Plain = dict[str, object]
TYPES = [
    "int8_t",
    "uint8_t",
    "int16_t",
    "uint16_t",
    "int32_t",
    "uint32_t",
    "float",
    "double",
    "char",
]
LOADER = """manifest_filename s!, manifest_root s='', batch_size i!, cache_directory s='',
 block_size i=5000, subset_fraction f=1 01, shuffle_enable b=false, shuffle_manifest b=false,
 pinned b=false, random_seed u=0, iteration_mode s='ONCE', iteration_mode_count i=0,
 batch_major b=true, cpu_list s='', node_id u=0, node_count u=0"""
IMAGE = """height u!, width u!, name s='', bgr_to_rgb b=false, channel_major b=true, channels u=3,
 output_type s='uint8_t'"""
SIZE, BOXES = "height z!, width z!, class_names l!, name s=''", "max_gt_boxes z=64"
ETL = {
    "image": IMAGE,
    "pixelmask": IMAGE,
    "label": "name s='', binary b=false, output_type s='uint32_t'",
    "blob": "output_count z!, name s='', output_type s='float'",
    "char_map": """max_length u!, alphabet s!, name s='', unknown_value u=0, emit_length b=false,
 output_type s='uint32_t'""",
    "label_map": "name s='', output_type s='uint32_t', class_names l!, max_classes i=100",
    "boundingbox": f"{SIZE}, max_bbox_count z!, output_type s='float'",
    "video": "max_frame_count u!, frame o!, name s=''",
    "localization_ssd": f"{SIZE}, {BOXES}",
    "localization_rcnn": f"""{SIZE}, {BOXES}, rois_per_image z=256, base_size z=16,
 scaling_factor f=0.0625, ratios F=[0.5,1,2], scales F=[8,16,32], negative_overlap f=0.3 01,
 positive_overlap f=0.7 01, foreground_fraction f=0.5 01""",
}
AUGMENTATION = """scale p=[1,1] 01<, angle q=[0,0] <, lighting p=[0,0], flip_enable b=false,
 horizontal_distortion p=[1,1] <, center b=true, do_area_scale b=false, crop_enable b=true,
 fixed_aspect_ratio b=false, fixed_scaling_factor f=-1, contrast p=[1,1] <, brightness p=[1,1] <,
 saturation p=[1,1] <, hue q=[0,0] <, resize_short_size i=0, interpolation_method s='LINEAR',
 mean D=[], stddev D=[], padding i=0, debug_output_directory s='', expand_probability f=0,
 expand_ratio p=[1,1] 1<, emit_constraint_type s='', emit_constraint_min_overlap f=0,
 batch_samplers x=[], frame x="""

IMAGES = ("image", "pixelmask", "boundingbox", "localization_rcnn", "localization_ssd")


class Refused(Exception):
    """The file is not valid."""


class RightConfig:
    """Reads a configuration for aeon's last version from bytes; it returns None to refuse them."""

    def __init__(self, *faults: str) -> None:
        self.faults = set(faults)

    def __call__(self, data: bytes) -> Plain | None:
        try:
            return self.config(json.loads(data.decode("utf-8-sig"), parse_constant=self.refuse))
        except (Refused, ValueError, RecursionError):
            return None

    def refuse(self, *_: object) -> None:
        raise Refused

    def config(self, given: object) -> Plain:
        if not isinstance(given, dict):
            raise Refused
        rest = {each: given[each] for each in given if each not in ("augmentation", "ssd_config")}
        if not isinstance(etl := rest.pop("etl", None), list):
            raise Refused
        made = self.members(rest, LOADER)
        if made["iteration_mode"] not in ("ONCE", "COUNT", "INFINITE"):
            raise Refused
        if made["iteration_mode"] == "COUNT" and self.whole(made["iteration_mode_count"], "i") <= 0:
            raise Refused
        if "old-block-size" in self.faults:
            made = {"block_size": 0, **made} if "block_size" in given else {**made, "block_size": 0}
        made["etl"] = elements = [self.element(each) for each in etl]
        outputs = [output for each in elements for output in self.outputs(each)]
        if "outputs-sorted" in self.faults:
            outputs.sort(key=lambda each: str(each["name"]))
        augmentation = self.augmentation(given.get("augmentation", []), elements)
        if augmentation is not None:
            made["augmentation"] = augmentation
        return {"members": made, "outputs": outputs}

    def members(self, given: Plain, table: str, lax: bool = False) -> Plain:
        made: Plain = {}
        rows = [row.split(maxsplit=1) for row in split(table)]
        known = {name: rule for name, rule in rows}
        if given.keys() - known.keys() and not lax and "unknown-skipped" not in self.faults:
            raise Refused
        for name, rule in known.items():
            kind, _, rest = rule.partition("=")
            default, _, bounds = rest.partition(" ")
            if name in given:
                made[name] = self.value(kind.rstrip("!"), given[name], bounds)
            elif kind.endswith("!"):
                raise Refused
            elif default:
                made[name] = json.loads(default.replace("'", '"'))
        return made

    def value(self, kind: str, given: object, bounds: str) -> object:
        if kind in "iuz":
            return self.whole(given, kind)
        if kind == "f":
            if math.isinf(number := self.single(given)):
                raise Refused
            return self.bounded(number, bounds)
        if kind == "b":
            if not isinstance(given, bool) and not (
                "number-is-bool" in self.faults and given in (0, 1)
            ):
                raise Refused
            return bool(given)
        if kind == "s":
            if not isinstance(given, str):
                raise Refused
            return given
        if kind in "xo":
            return self.members(dict(self.items(given)), IMAGE) if kind == "o" else given
        if not isinstance(given, list):
            raise Refused
        if kind == "l":
            return [self.value("s", each, "") for each in given]
        return self.numbers(kind, given, bounds)

    def items(self, given: object) -> Plain:
        if not isinstance(given, dict):
            raise Refused
        return given

    def numbers(self, kind: str, given: list[object], bounds: str) -> list[object]:
        if kind in "FD":
            return [self.single(each) if kind == "F" else self.number(each) for each in given]
        if len(given) < 2:
            raise Refused
        make = self.single if kind == "p" else lambda each: self.whole(each, "i")
        low, high = make(given[0]), make(given[1])
        is_open = "any-order" in self.faults
        if "<" in bounds and low > high and not is_open:
            raise Refused
        return [self.bounded(low, bounds), self.bounded(high, bounds)]

    def bounded(self, number: float, bounds: str) -> float:
        low = 0 if bounds.startswith("0") else 1 if bounds.startswith("1") else -math.inf
        high = 1 if bounds.startswith("01") else math.inf
        if not low <= number <= high and "no-bounds" not in self.faults:
            raise Refused
        return number

    def number(self, given: object) -> float | int:
        if "text-is-number" in self.faults and isinstance(given, str) and given.isdigit():
            return int(given)
        if not isinstance(given, int | float):
            raise Refused
        return given

    def whole(self, given: object, kind: str) -> int:
        number = self.number(given)
        if isinstance(given, bool) and kind == "z":
            raise Refused
        number = math.floor(number + 0.5) if "rounds" in self.faults else int(number)
        bits = 64 if kind == "z" else 32
        if "keeps-sign" in self.faults or ("no-wrap" in self.faults and number >= 0):
            return number
        number &= (1 << bits) - 1
        return number - (1 << 32) if kind == "i" and number >> 31 else number

    def single(self, given: object) -> float:
        number = float(self.number(given))
        if "six-digits" in self.faults:
            return float(f"{number:.2g}")
        try:
            return float(struct.unpack("<f", struct.pack("<f", number))[0])
        except OverflowError:
            return math.copysign(math.inf, number)

    def element(self, given: object) -> Plain:
        rest = dict(self.items(given))
        kind = rest.pop("type", None)
        if not isinstance(kind, str) or kind not in ETL:
            raise Refused
        made = {"type": kind, **self.members(rest, ETL[kind])}
        for each in (made, made.get("frame")):
            inner = each if isinstance(each, dict) else {}
            if inner.get("channels", 3) not in (1, 3) and "any-channels" not in self.faults:
                raise Refused
            if inner.get("output_type", "float") not in TYPES:
                raise Refused
        if kind in ("char_map", "label_map") and made["output_type"] != "uint32_t":
            raise Refused
        if kind == "char_map" and "alphabet-unchecked" not in self.faults:
            alphabet, unknown = str(made["alphabet"]), self.whole(made["unknown_value"], "u")
            if len({*alphabet.upper()}) < len(alphabet) or 0 < unknown < len(alphabet):
                raise Refused
        return made

    def augmentation(self, given: object, etl: list[Plain]) -> Plain | None:
        if not isinstance(given, list):
            raise Refused
        made = []
        for each in given:
            rest = dict(self.items(each))
            kind = rest.pop("type", None)
            if not isinstance(kind, str):
                raise Refused
            made.append({"type": kind, **rest})
        used = made[-1:] if "last-augmentation" in self.faults else made[:1]
        if not used or used[0].pop("type") != "image":
            return None
        types = {str(each["type"]) for each in etl}
        if types.isdisjoint((*IMAGES, "video")):
            return None  # aeon does not read it
        wanted = {"frame"} if types.isdisjoint(IMAGES) else {*used[0]} - {"frame"}
        wanted |= {"frame"} if "video" in types else set()
        some = {name: value for name, value in used[0].items() if name in wanted}
        read = self.members(some, AUGMENTATION, lax="strict-augmentation" not in self.faults)
        if read["batch_samplers"] and read["crop_enable"]:
            raise Refused
        return {"type": "image", **read}

    def outputs(self, each: Plain) -> list[Plain]:
        kind, name = str(each["type"]), f"{each['name']}." if each["name"] else ""
        name = "" if "no-prefix" in self.faults else name
        shapes = self.shapes(kind, each)
        return [{"name": name + own, "shape": shape, "type": t} for own, shape, t in shapes]

    def shapes(self, kind: str, each: Plain) -> list[tuple[str, list[object], object]]:
        dtype = each.get("output_type")
        if kind in ("image", "pixelmask"):
            shape = [each["channels"], each["height"], each["width"]]
            last = not each["channel_major"] and "channels-first" not in self.faults
            return [(kind, shape[1:] + shape[:1] if last else shape, dtype)]
        if kind == "char_map":
            length: list[tuple[str, list[object], object]] = [("char_map_length", [1], "uint32_t")]
            is_there = each["emit_length"] and "no-length" not in self.faults
            return [(kind, [1, each["max_length"]], dtype), *(length if is_there else [])]
        if kind == "video":
            frame = self.items(each["frame"])
            shape = [frame["channels"], each["max_frame_count"], frame["height"], frame["width"]]
            return [(kind, shape, frame["output_type"])]
        if kind.startswith("localization"):
            most, words = each["max_gt_boxes"], "image_shape gt_boxes gt_box_count gt_class_count"
            sizes: list[list[object]] = [[2, 1], [most, 4], [1, 1], [most, 1]]
            types = ["int32_t", "float", "int32_t", "int32_t"]
            boxes = list(zip(words.split(), sizes, types, strict=True))
            difficult: tuple[str, list[object], object] = ("difficult_flag", [most, 1], "int32_t")
            if kind == "localization_ssd":
                return [*boxes, difficult]
            return [*self.anchored(each), *boxes, ("image_scale", [1, 1], "float"), difficult]
        size: dict[str, list[object]] = {
            "label": [1],
            "blob": [each.get("output_count")],
            "label_map": [each.get("max_classes") if "meant-sizes" in self.faults else 4],
            "boundingbox": [each.get("max_bbox_count"), 4 if "meant-sizes" in self.faults else 16],
        }
        return [(kind, size[kind], dtype)]

    def anchored(self, each: Plain) -> list[tuple[str, list[object], object]]:
        factor = self.single(each["scaling_factor"])
        count = 1
        for name in ("ratios", "scales"):
            values = each[name]
            assert isinstance(values, list)
            count *= len(values)
        for name in ("height", "width"):
            cells = self.single(self.single(self.whole(each[name], "z")) * factor)
            if not abs(cells) < 1 << 31:
                count *= -(1 << 31)  # what the processor makes of it
            else:
                count *= math.ceil(cells) if "cells-up" in self.faults else math.floor(cells)
        fours, twos = 4 * count % (1 << 64), 2 * count % (1 << 64)
        return [
            ("bbtargets", [fours], "float"),
            ("bbtargets_mask", [fours], "float"),
            ("labels_flat", [1, twos], "int32_t"),
            ("labels_mask", [twos, 1], "int32_t"),
        ]


def split(table: str) -> list[str]:
    """The rows of a table, which commas outside of brackets separate."""
    rows, depth = [""], 0
    for letter in table.replace("\n", " "):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and not depth:
            rows.append("")
        else:
            rows[-1] += letter
    return [row.strip() for row in rows]
