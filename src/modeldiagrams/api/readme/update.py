"""Draws the pictures of a README, and writes or checks them."""

from __future__ import annotations

import posixpath
import re
from html import escape
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from modeldiagrams.api.export import draw_diagram, to_svg
from modeldiagrams.api.readme.marks import fill_marks, find_marks
from modeldiagrams.common.files import write_atomically
from modeldiagrams.engine.diagram_ids import make_diagram_id
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.html.descriptions import describe_picture
from modeldiagrams.options.options import Call, Limits, View
from modeldiagrams.options.parsing import list_options, parse_options

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modeldiagrams.api.readme.marks import Mark
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.options import Options

__all__ = ["ReadmeUpdate", "update_readme"]

_OWN = ("link", "alt", "width")
"""Options of marks besides those of call, limits and view."""
_WIDTH = re.compile(r"[1-9]\d*(\.\d+)?%?")
_PICTURE = re.compile(r'(?:src|srcset)="([^"]+\.svg)"')


class ReadmeUpdate(NamedTuple):
    """What a README needs.

    Attributes:
        marks: The number of marked places.
        files: Path → content of the files that differ from those on the disk, the README last.
        outdated: Pictures of earlier marks that the README no longer shows.
    """

    marks: int
    files: dict[Path, bytes]
    outdated: list[Path]

    def write(self) -> None:
        """Write and remove the files."""
        for path, content in self.files.items():
            write_atomically(path, content)
        for path in self.outdated:
            path.unlink(missing_ok=True)


def update_readme(
    readme: Path, get_graph: Callable[[Options], Graph], folder: str = "", base: str = ""
) -> ReadmeUpdate:
    """Draw the pictures of all marked places in a Markdown file; no file is changed.

    Args:
        readme: The file, in UTF-8.
        get_graph: Traces a model or reads a graph file.
        folder: The folder for pictures, relative to the file's own.
        base: An address to put before the pictures' paths, for pages where relative ones don't work, such as PyPI.

    Raises:
        ModelDiagramsError: if a mark is wrong, a model can't be traced or a picture can't be drawn; begins with the
            file and the line.
    """
    try:
        text = readme.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ModelDiagramsError(f"{readme}: expected text in UTF-8, {error.reason} at byte {error.start}") from error
    files: dict[Path, bytes] = {}
    contents: list[str] = []
    try:
        marks = find_marks(text)
    except ModelDiagramsError as error:
        raise ModelDiagramsError(f"{readme}:{str(error).removeprefix('line ')}") from error
    for mark in marks:
        try:
            contents.append(_draw(mark, readme, get_graph, folder, base, files))
        except ModelDiagramsError as error:
            reason = str(error).removeprefix(f"{mark.model}: ")
            raise ModelDiagramsError(f"{readme}:{mark.line}: {mark.model}: {reason}") from error
    before = {_locate(readme, src, base) for mark in marks for src in _PICTURE.findall(text[mark.start : mark.stop])}
    outdated = sorted(path for path in before - files.keys() if path.is_file())
    files[readme] = fill_marks(text, marks, contents).encode()
    return ReadmeUpdate(len(marks), {path: new for path, new in files.items() if not _has(path, new)}, outdated)


def _draw(  # noqa: PLR0913, PLR0917  (what a place needs)
    mark: Mark, readme: Path, get_graph: Callable[[Options], Graph], folder: str, base: str, files: dict[Path, bytes]
) -> str:
    """Draw the pictures of a place, and return the text between its marks."""
    own = {name: mark.options[name] for name in _OWN if name in mark.options}
    given = {name: value for name, value in mark.options.items() if name not in _OWN}
    allowed = [*list_options(Call, Limits, View), *_OWN]
    for name in given:
        if name not in allowed and name in list_options():
            raise ModelDiagramsError(
                f"option `{name}`: belongs to pages; a picture in a README has {', '.join(allowed)}"
            )
    if not _WIDTH.fullmatch(own.get("width", "1")):
        raise ModelDiagramsError(
            f"option `width`: expected CSS pixels or percent, `480` or `50%`, got {own['width']!r}"
        )
    options = parse_options({**given, "model": mark.model})
    graph = get_graph(options)
    view = {name: value for name, value in given.items() if name in list_options(View)}
    name = re.sub(r"\.json(?=-|$)", "", make_diagram_id(options))
    addresses = {}
    for theme, ending in (("light", ".svg"), ("dark", ".dark.svg")):
        path = readme.parent / folder / f"{name}{ending}"
        files[path] = to_svg(graph, flat=True, theme=theme, **view).encode()  # type: ignore[arg-type]  # both are themes
        addresses[theme] = base + quote(posixpath.join(folder.replace("\\", "/"), path.name))
    alt = own.get("alt") or describe_picture(draw_diagram(graph, view))
    width = own.get("width") or re.search(r'width="([\d.]+)', files[path].decode())[1]  # type: ignore[index]  # every SVG has it
    return _write_block(addresses, alt, width, own.get("link"))


def _write_block(addresses: dict[str, str], alt: str, width: str, link: str | None) -> str:
    picture = [
        "<picture>",
        f'<source media="(prefers-color-scheme: dark)" srcset="{escape(addresses["dark"])}">',
        f'<img alt="{escape(alt)}" src="{escape(addresses["light"])}" width="{escape(width)}">',
        "</picture>",
    ]
    if link:
        picture = [f'<a href="{escape(link)}">', *picture, "</a>"]
    return "\n".join(["<p>", *picture, "</p>"])


def _locate(readme: Path, source: str, base: str) -> Path:
    return readme.parent / source.removeprefix(base)


def _has(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content
