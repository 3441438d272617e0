"""Put matplotlib's SVG pictures into HTML pages, without the styles that a strict policy forbids.

Text in a picture stays text. Black becomes the colour of the page's text, so that black lines are
visible on a dark page.
"""

import re
from typing import Final
from xml.etree import ElementTree

_SVG: Final = "http://www.w3.org/2000/svg"
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_SIZE: Final = re.compile(r"\b([\d.]+)px\b")
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")
_INK: Final = ("#000000", "#595959")
_LEFT_OUT: Final = ("metadata", "style")


ElementTree.register_namespace("", _SVG)


def inline(data: bytes, prefix: str, alternative: str) -> str:
    """Return an SVG file as an element of an HTML page.

    `prefix`: put before each id of the picture, so that ids are unique in the page. `alternative`:
    the content of the picture in words.
    """
    root = ElementTree.fromstring(data)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in _LEFT_OUT:
                parent.remove(child)
    for element in root.iter():
        _plain(element, prefix)
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    width = float(root.get("viewBox", "0 0 400 300").split()[2])
    root.set("width", f"{width * 4 / 3:.0f}")
    root.set("role", "img")
    root.set("aria-label", alternative)
    root.set("focusable", "false")
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def _plain(element: ElementTree.Element, prefix: str) -> None:
    """Replace the style of an element by attributes; put `prefix` before its ids and links."""
    for pair in element.attrib.pop("style", "").split(";"):
        name, _, value = (part.strip() for part in pair.partition(":"))
        if name == "font":
            if size := _SIZE.search(value):
                element.set("font-size", size[1])
            if re.search(r"\b(bold|700)\b", value):
                element.set("font-weight", "bold")
        elif name:
            element.set(name, value)
    if link := element.attrib.pop(_LINK, ""):  # HTML needs no namespace
        element.set("href", f"#{prefix}{link[1:]}" if link.startswith("#") else link)
    for name, value in element.attrib.items():
        if name == "href":
            continue
        if name == "id":
            element.set(name, prefix + value)
        elif name in ("fill", "stroke") and value in _INK:
            element.set(name, "currentColor")
        else:
            element.set(name, _REFERENCE.sub(rf"url(#{prefix}\1)", value))
    if element.tag.rpartition("}")[2] == "text" and "fill" not in element.attrib:
        element.set("fill", "currentColor")
