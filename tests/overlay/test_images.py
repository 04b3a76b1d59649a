"""Images at nodes: what is taken for one, what is made harmless or refused, and what becomes of them.

Long because every kind of file, whole and damaged, is made here.
"""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pandas as pd
import pypdfium2
import pytest

from graphs import small_graph, with_repeats
from modeldiagrams import GraphError, OptionError, Overlay, annotate, to_html, to_pdf, to_png, to_svg
from modeldiagrams.ir.pictures import as_picture
from modeldiagrams.overlay.image_files import read_image
from modeldiagrams.overlay.overlay import Image
from samples import png

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><path d="M0 0h9"/></svg>'
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08\x00\x10\x00\x20\x01xxx\xff\xda\x00\x02pixels\xff\xd9"


def chunk(kind: bytes, inside: bytes) -> bytes:
    """Of a PNG file."""
    return struct.pack(">I", len(inside)) + kind + inside + struct.pack(">I", zlib.crc32(kind + inside))


def png_of(pixels: bytes) -> bytes:
    """A PNG file of 8 × 8 pixels with other content than that."""
    head = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", pixels), (b"IEND", b""))
    return png()[:8] + b"".join(chunk(kind, inside) for kind, inside in chunks)


ENTITIES = f'<!DOCTYPE svg [<!ENTITY a "{"a" * 2000}">]>' + SVG.replace("<path", f"<desc>{'&a;' * 400}</desc><path")

HOSTILE = """<?xml version="1.0"?><?xml-stylesheet href="http://x.example/a.css"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" viewBox="0 0 40 20" onload="alert(1)">
<script>alert(2)</script><foreignObject><p xmlns="http://www.w3.org/1999/xhtml" onclick="a()">HTML</p></foreignObject>
<style>@import "http://x.example/b.css"; rect { fill: red }</style>
<style>.a { fill: url(#own) } .b { fill: url('http://x.example/c.svg#d') }</style>
<a x:href="javascript:alert(3)"><rect id="own" style="fill:url(http://x.example/e)" fill="url(#own)" width="4"/></a>
<image href="http://x.example/f.png"/><use x:href="g.svg#h"/><use href="#own"/>
<image href="data:image/svg+xml;base64,PHN2Zy8+"/><image href="data:image/png;base64,{png}"/>
<set attributeName="href" to="javascript:alert(4)"/><metadata>secret</metadata>
</svg>"""


def content(image: Image) -> str:
    return base64.b64decode(image.source.partition(",")[2]).decode("latin-1")


def test_files_and_their_sizes() -> None:
    size = {name: (image.width, image.height) for name, image in images().items()}
    assert size == {"png": (24, 16), "jpeg": (32, 16), "svg+xml": (40, 20)}
    assert content(images()["png"]).encode("latin-1") == png()


def images() -> dict[str, Image]:
    found = [read_image(file, "text") for file in (png(), JPEG, SVG.encode())]
    return {image.source.removeprefix("data:image/").partition(";")[0]: image for image in found}


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('viewBox="0 0 40 20"', (40, 20)),
        ('viewBox="0,0,40,20" width="100%"', (40, 20)),
        ('width="1in" height="36pt"', (96, 48)),
        ('viewBox="0 0 40 20" width="80px"', (80, 40)),
        ("", (300, 150)),
    ],
)
def test_svg_has_the_same_size_as_in_browsers(attributes: str, size: tuple[float, float]) -> None:
    image = read_image(f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}/>'.encode(), "")
    assert (image.width, image.height) == size
    assert f'width="{size[0]}" height="{size[1]}"' in content(image)


def test_svg_neither_runs_nor_loads_anything() -> None:
    cleaned = content(read_image(HOSTILE.replace("{png}", base64.b64encode(png()).decode()).encode(), ""))
    for gone in ("script", "alert", "onload", "foreignObject", "HTML", "x.example", "javascript", "import", "g.svg"):
        assert gone not in cleaned, gone
    for kept in ('fill="url(#own)"', 'href="#own"', "data:image/png", "rect", "metadata"):
        assert kept in cleaned, kept
    assert "data:image/svg" not in cleaned


@pytest.mark.parametrize(
    ("inside", "cleaned"),
    [
        ('<style><g/>@import "https://x.example/a.css";</style>', "<style />"),
        ("<style>.a<g/>{fill:red}</style>", "<style>.a{fill:red}</style>"),
        ("<animateTransform/><animateMotion/><g/>", "<g />"),
        ('<g xml:base="https://x.example/"/>', "<g />"),
        (
            "<style>.animation{-webkit-animation:a 1s;fill:red}</style>",
            "<style>.animation{no-animation:a 1s;fill:red}</style>",
        ),
        ('<g style="animation: a 1s; fill: red"/>', '<g style="no-animation: a 1s; fill: red" />'),
        (
            '<text>Hello <i:x xmlns:i="urn:i"/>world<tspan/> and <i:x xmlns:i="urn:i"/>ü</text>',
            "<text>Hello world<tspan /> and ü</text>",
        ),
    ],
)
def test_svg_keeps_drawn_elements(inside: str, cleaned: str) -> None:
    svg = base64.b64decode(read_image(SVG.replace("<path", f"{inside}<path").encode(), "").source.partition(",")[2])
    assert f">{cleaned}<path" in svg.decode().replace("ns0:", "")


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"", "expected a PNG, JPEG or SVG file, got something else"),
        (b"GIF89a...", "expected a PNG, JPEG or SVG file, got something else"),
        (b"<html/>", "got XML with the root 'html'"),
        (png()[:-20], "expected a whole PNG file, this one is damaged"),
        (b'<?xml version="1.0" encoding="utf8mb4"?>' + SVG.encode(), "got something else .unknown encoding: utf8mb4"),
        (ENTITIES.encode(), "expected a picture of up to 500 kB, got 800 kB with all its entities"),
        (JPEG[:-2], "expected a whole JPEG file, this one is damaged"),
        (b"\xff\xd8\xff\xe0", "expected a whole JPEG file, this one is damaged"),
        (b"x" * 500_001, "expected a picture of up to 500 kB, got 500 kB"),
        (png(9000, 2000), "expected a picture of up to 16 megapixels, got 9000×2000"),
        (SVG.replace("40", "1e9").encode(), "expected a picture of up to 16 megapixels"),
        (b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 0 0"/>', "expected an SVG file with a size"),
        (
            b'<svg xmlns="http://www.w3.org/2000/svg">' + b"<g>" * 20000 + b"</g>" * 20000 + b"</svg>",
            "nested too deeply",
        ),
        (
            b'<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa">'
            + b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 20) for i in range(8))
            + b']><svg xmlns="http://www.w3.org/2000/svg"><text>&i;</text></svg>',
            "expected a PNG, JPEG or SVG file, got something else",
        ),
    ],
)
def test_other_files_are_refused(file: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_image(file, "")


class Figure:
    """What Matplotlib's figure and PIL's image have of what is called."""

    def savefig(self, file, *, format, dpi, metadata):  # noqa: A002  (Matplotlib's name)
        assert (format, metadata) == ("png", {"Software": None})
        file.write(png(dpi, 10))


class Photo:
    def getbands(self):
        return ("R", "G", "B")

    def save(self, file, *, format):  # noqa: A002  (PIL's name)
        assert format == "PNG"
        file.write(png(7, 7))


def test_figures_and_photos_are_png_files() -> None:
    assert read_image(as_picture(Figure()), "").width == 150
    assert read_image(as_picture(SimpleNamespace(figure=Figure())), "").width == 150
    assert read_image(as_picture(Photo()), "").width == 7


@pytest.mark.parametrize(
    "table",
    [
        {"heads": 0.123456, "wide & long": "x" * 99},
        [["heads", 0.123456], ["wide & long", "x" * 99]],
        [{"heads": 0.123456, "wide & long": "x" * 99}],
        pd.DataFrame({"heads": [0.123456], "wide & long": ["x" * 99]}),
    ],
)
def test_tables_are_svg_text(table) -> None:
    svg = content(read_image(as_picture(table), ""))
    for cell in ("heads", "0.1235", "wide &amp; long", "x" * 39):
        assert f">{cell}" in svg
    assert "x" * 40 not in svg


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "expected a Matplotlib figure, a PIL image, .* or a table .*, got int"),
        ("plain text", r"expected a Matplotlib figure.*, got str"),
        ([1, 2], "got list"),
        (object(), "got object"),
    ],
)
def test_other_values_are_refused(value, message) -> None:
    with pytest.raises(TypeError, match=message):
        as_picture(value)


def test_file_without_content_is_refused() -> None:
    with pytest.raises(ValueError, match="got no bytes; was the file read from its end"):
        as_picture(b"")


def test_too_large_tables_are_refused_when_they_are_made() -> None:
    with pytest.raises(ValueError, match="expected a picture of up to 500 kB, got 500 kB"):
        as_picture(b"x" * 500_001)


@pytest.mark.parametrize("table", [[], {}, [[]], [[1]] * 51, [[1] * 13]])
def test_tables_have_a_legible_size(table) -> None:
    with pytest.raises(ValueError, match=r"expected a table of up to 50 rows and 12 columns, got \d+ rows and \d+"):
        as_picture(table)


def test_annotate_takes_files_bytes_and_values(tmp_path: Path) -> None:
    graph, file = small_graph(), tmp_path / "map.png"
    file.write_bytes(png())
    by_file, by_name, by_bytes = (annotate(graph, "fc", image=image) for image in (file, str(file), png()))
    assert by_file == by_name == by_bytes
    (image,) = by_file.images
    assert (image.nodes, image.alt) == (("fc",), "Picture of fc")
    assert annotate(graph, "fc", image=SVG, alt="A line").images[0].alt == "A line"
    for wrong, message in [
        (tmp_path / "gone.png", r"gone\.png: No such file.*; expected the path"),
        (b"x", "expected a PNG"),
        (1, "got int"),
    ]:
        with pytest.raises(OptionError, match=f"option `image`: .*{message}"):
            annotate(graph, "fc", image=wrong)


def test_overlays_carry_images(tmp_path: Path) -> None:
    graph = small_graph()
    both = annotate(graph, "fc", image=png()) | annotate(graph, "x", image=SVG)
    assert [image.nodes for image in both.images] == [("fc",), ("input:x",)]
    both.save(tmp_path / "images.json")
    assert Overlay.load(tmp_path / "images.json") == both
    assert both.gone(with_repeats()) == ("fc",)


@pytest.mark.parametrize(
    "source",
    [
        "https://x.example/a.png",
        "a.png",
        "javascript:alert(1)",
        "data:text/html;base64,AAAA",
        'data:image/png;base64,"/>',
    ],
)
def test_overlay_files_load_nothing(tmp_path: Path, source: str) -> None:
    overlay = msgspec.json.decode(annotate(small_graph(), "fc", image=png()).to_json())
    overlay["images"][0]["source"] = source
    (tmp_path / "odd.json").write_bytes(msgspec.json.encode(overlay))
    with pytest.raises(GraphError, match=r"odd\.json: \$\.images\[0\]: expected `source` to be a data: URL"):
        Overlay.load(tmp_path / "odd.json")


def test_pictures_in_files_have_thumbnails() -> None:
    graph = small_graph()
    plain, overlay = annotate(graph, "fc", rename="fc"), annotate(graph, "fc", image=png(40, 40, colour=(255, 0, 0)))
    for flat in (True, False):
        assert "data:image/png;base64," in to_svg(graph, overlay=overlay, flat=flat)
    sizes = [struct.unpack_from(">II", to_png(graph, overlay=said), 16) for said in (plain, overlay)]
    assert sizes[1][1] > sizes[0][1] + 150
    assert b"/Subtype/Image" in to_pdf(graph, overlay=overlay).replace(b" ", b"")


def test_text_of_tables_is_in_files_for_print() -> None:
    graph = small_graph()
    blank, text = (annotate(graph, "fc", image=[[value]]) for value in (" " * 8, "m" * 8))
    assert len(to_png(graph, overlay=text)) > len(to_png(graph, overlay=blank)) + 200
    assert dark(to_pdf(graph, overlay=text)) > dark(to_pdf(graph, overlay=blank)) + 200


def test_only_images_that_a_print_library_cannot_read_are_left_out() -> None:
    graph = small_graph()
    without_palette = bytearray(png_of(zlib.compress(b"\0" * 200)))
    without_palette[25] = 3  # the kind of colours
    without_palette[29:33] = zlib.crc32(without_palette[12:29]).to_bytes(4)
    overlay = annotate(graph, "fc", image=bytes(without_palette))
    both = overlay | annotate(graph, "x", image=png(40, 40, colour=(255, 0, 0)))
    assert b"/Subtype/Image" not in to_pdf(graph, overlay=overlay).replace(b" ", b"")
    assert b"/Subtype/Image" in to_pdf(graph, overlay=both).replace(b" ", b"")
    assert to_png(graph, overlay=overlay).startswith(b"\x89PNG")
    with pypdfium2.PdfDocument(to_pdf(graph, overlay=overlay)) as document:
        assert "Linear 4 → 2" in document[0].get_textpage().get_text_range()


def dark(pdf: bytes) -> int:
    """How many values of its pixels are dark."""
    with pypdfium2.PdfDocument(pdf) as document:
        return sum(value < 100 for value in bytes(document[0].render(scale=2).buffer))


def test_hostile_text_of_images_stays_text() -> None:
    hostile = "</script></svg><img src=x onerror=alert(1)>\"'&<!--"
    graph = small_graph()
    html = to_html(graph, overlay=annotate(graph, "fc", image=png(), alt=hostile))
    assert "<img src=x" not in html
    assert 'id="mypkg.Net-image-1"' in html
    assert "<img src=x" not in to_svg(graph, overlay=annotate(graph, "fc", image=png(), alt=hostile))
