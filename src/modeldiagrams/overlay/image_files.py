"""Reads picture files as images of an overlay: checks format and size, and removes from SVG what could run or load."""

from __future__ import annotations

import base64
import re
import struct
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from modeldiagrams.ir.pictures import LARGEST
from modeldiagrams.overlay.overlay import Image

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_image"]

_MOST_PIXELS = 16_000_000

_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_PNG_END_SIZE = 12
_SVG = "{http://www.w3.org/2000/svg}"
_REMOVED = frozenset({"script", "foreignObject", "handler", "listener", "audio", "video", "iframe", "set"})
_EMBEDDED = re.compile(r"\s*data:image/(png|jpe?g);base64,(?P<data>[A-Za-z0-9+/=\s]*)", re.IGNORECASE)
_ELSEWHERE = re.compile(r"""@import|javascript:|url\(\s*["']?(?!\s*["']?#)|image-set\(|\\""", re.IGNORECASE)
"""In attributes and styles: references to something outside the file, and escapes, which may hide them."""
_ANIMATION = re.compile(r"(?<![.#\w-])(-\w+-)?animation", re.IGNORECASE)
"""The names of animation properties, in styles."""
_UNITS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54}


def read_image(content: bytes, alt: str) -> Image:
    """Read an image, which is assigned to no node yet.

    Args:
        content: The content of a PNG, JPEG or SVG file.
        alt: Text for readers who can't see it.

    Raises:
        ValueError: if it is another format, damaged or too large.
    """
    _check_length(content)
    size: tuple[float, float]
    if content.startswith(_PNG):
        kind, size = "png", _read_png_size(content)
    elif content.startswith(_JPEG):
        kind, size = "jpeg", _read_jpeg_size(content)
    else:
        kind, (content, size) = "svg+xml", _clean(content)
        _check_length(content, " with all its entities and namespaces")
    width, height = size
    if not (width >= 1 and height >= 1 and width * height <= _MOST_PIXELS):
        raise ValueError(f"expected a picture of up to {_MOST_PIXELS // 10**6} megapixels, got {width:g}×{height:g}")
    source = f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
    return Image(source=source, alt=alt, width=width, height=height)


def _check_length(content: bytes, how: str = "") -> None:
    if len(content) > LARGEST:
        raise ValueError(f"expected a picture of up to {LARGEST // 1000} kB, got {len(content) // 1000} kB{how}")


def _read_png_size(content: bytes) -> tuple[int, int]:
    if content[12:16] != b"IHDR" or b"IEND" not in content[-_PNG_END_SIZE:]:
        raise ValueError("expected a whole PNG file, this one is damaged")
    width, height = struct.unpack_from(">II", content, 16)
    return width, height


def _read_jpeg_size(content: bytes) -> tuple[int, int]:
    at, size = 2, (0, 0)
    while at + 9 <= len(content) and content[at] == 0xFF:  # noqa: PLR2004  (a marker)
        marker, length = content[at + 1], int.from_bytes(content[at + 2 : at + 4])
        if marker in range(0xC0, 0xD0) and marker not in (0xC4, 0xC8, 0xCC):  # a start of frame
            height, width = struct.unpack_from(">HH", content, at + 5)
            size = width, height
        if marker == 0xDA and b"\xff\xd9" in content[at:]:  # noqa: PLR2004  (pixels, up to the end of the image)
            return size
        at += 2 + length
    raise ValueError("expected a whole JPEG file, this one is damaged")


def _clean(content: bytes) -> tuple[bytes, tuple[float, float]]:
    """Remove what isn't drawn from an SVG file: scripts, HTML, metadata, external references. Also return its size."""
    try:
        root = ET.fromstring(content)  # noqa: S314  (expat loads no entities, and limits how far they expand)
        if root.tag != f"{_SVG}svg":
            raise ValueError(f"expected a PNG, JPEG or SVG file, got XML with the root {root.tag[:60]!r}")
        _strip(root)
        size = _read_svg_size(root)
        root.attrib |= {name: f"{length:g}" for name, length in zip(("width", "height"), size, strict=True)}
        return ET.tostring(root, "unicode").encode(), size
    except (ET.ParseError, UnicodeError, LookupError) as error:  # LookupError: unknown encoding
        raise ValueError(f"expected a PNG, JPEG or SVG file, got something else ({error})") from error
    except RecursionError as error:
        raise ValueError("expected an SVG file, this one is nested too deeply") from error


def _strip(root: ET.Element) -> None:
    for element in root.iter():
        if _is_local(element.tag) == "style":
            _clean_style(element)
        _remove_undrawn(element)
        for name in [name for name, value in element.items() if not _is_harmless(_is_local(name), value)]:
            del element.attrib[name]
        if style := element.get("style"):
            element.set("style", _ANIMATION.sub("no-animation", style))


def _is_drawn(element: ET.Element) -> bool:
    name = _is_local(element.tag)
    is_svg = isinstance(element.tag, str) and element.tag.startswith(_SVG)
    return is_svg and name not in _REMOVED and not name.startswith("animate")


def _clean_style(style: ET.Element) -> None:
    """Reduce a style sheet to its text, as browsers read it, without what loads or animates."""
    text = "".join(style.itertext())
    style[:] = []
    style.text = "" if _ELSEWHERE.search(text) else _ANIMATION.sub("no-animation", text)


def _remove_undrawn(element: ET.Element) -> None:
    """Remove children that aren't drawn, but keep the text after them."""
    before = None
    for child in [*element]:
        if _is_drawn(child):
            before = child
            continue
        element.remove(child)
        if before is None:
            element.text = (element.text or "") + (child.tail or "")
        else:
            before.tail = (before.tail or "") + (child.tail or "")


def _is_harmless(name: str, value: str) -> bool:
    if name == "href":
        return value.startswith("#") or _is_small_image(value)
    return name != "base" and not name.lower().startswith("on") and not _ELSEWHERE.search(value)


def _is_small_image(url: str) -> bool:
    """Whether a URL contains pixels, like the image in a plot."""
    found = _EMBEDDED.fullmatch(url)
    try:
        return bool(found) and read_image(base64.b64decode(found["data"]), "").width > 0 if found else False
    except ValueError:
        return False


def _is_local(name: Any) -> str:
    return str(name).rpartition("}")[2]


def _read_svg_size(root: ET.Element) -> tuple[float, float]:
    """Return the size in CSS pixels, from width and height, or else from the view box."""
    lengths = [*_read_lengths(root)]
    box = [_parse_number(part) for part in re.split(r"[\s,]+", root.get("viewBox", "").strip())]
    width, height = box[2:] if len(box) == 4 else (300.0, 150.0)  # noqa: PLR2004  (as browsers do)
    if not (width > 0 and height > 0):
        raise ValueError("expected an SVG file with a size, this one has none")
    if lengths[0] and lengths[1]:
        return lengths[0], lengths[1]
    scale = lengths[0] / width if lengths[0] else lengths[1] / height if lengths[1] else 1
    return width * scale, height * scale


def _read_lengths(root: ET.Element) -> Iterator[float]:
    """Yield width and height; 0 for one that depends on the page."""
    for name in ("width", "height"):
        found = re.fullmatch(r"\s*([\d.]+(?:e\d+)?)\s*([a-z]*)\s*", root.get(name, ""))
        yield _parse_number(found[1]) * _UNITS.get(found[2], 0) if found else 0


def _parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
