"""Draws the pictures of a README, and writes or checks them."""

from __future__ import annotations

import os
import posixpath
import re
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from modeldiagrams.api.export import draw_diagram, to_svg
from modeldiagrams.api.readme.marks import fill_marks, find_marks
from modeldiagrams.engine.diagram_ids import make_diagram_id
from modeldiagrams.engine.problems import make_forward_problem
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.html.descriptions import describe_picture
from modeldiagrams.options.options import Call, Limits, View
from modeldiagrams.options.parsing import list_options, parse_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.api.readme.marks import Mark
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.options import Options

__all__ = ["ReadmeUpdate", "update_readme"]

_OWN = ("link", "alt", "width")
"""Options of marks besides those of call, limits and view."""
_PICTURE = re.compile(r'(?:src|srcset)="(?!/)([^"]+-[0-9a-f]{8}(?:\.dark)?\.svg)"')
"""A picture of ours, by its name."""
_ALT = re.compile(r'<img alt="([^"]*)"')
_WIDTH = re.compile(r"[1-9]\d*(\.\d+)?%?")


class ReadmeUpdate(NamedTuple):
    """What a README needs.

    Attributes:
        files: Path → content of the files that differ from those on the disk, the README last.
        shown: All pictures that it shows from now on.
        dropped: Pictures of earlier marks that it no longer shows.
        changes: What differs, one line for each mark: its place, model, and the text alternative before and after.
        problems: Models whose pass ended early or did not begin, with their places.
    """

    files: dict[Path, bytes]
    shown: set[Path]
    dropped: set[Path]
    changes: list[str]
    problems: list[str]


def update_readme(
    readme: Path, get_graph: Callable[[Options], Graph], folder: str = "", base: str = "", link: str = ""
) -> ReadmeUpdate:
    """Draw the pictures of all marked places in a Markdown file; no file is changed.

    Args:
        readme: The file, in UTF-8.
        get_graph: Traces a model or reads a graph file.
        folder: The folder for pictures, relative to the file's own.
        base: The address of the current folder, to put before the pictures' paths in it, for pages where relative ones
            don't work, such as PyPI.
        link: Where pictures lead that have no link of their own; `{model}` stands for the model.

    Raises:
        ModelDiagramsError: if a mark is wrong, a model can't be traced or a picture can't be drawn; begins with the
            file and the line.
    """
    try:
        text = readme.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ModelDiagramsError(f"{readme}: expected text in UTF-8, {error.reason} at byte {error.start}") from error
    place = _Place(readme, folder, base)
    files: dict[Path, bytes] = {}
    contents, changes, problems, before = list[str](), list[str](), list[str](), set[Path]()
    try:
        marks = find_marks(text)
    except ModelDiagramsError as error:
        raise ModelDiagramsError(f"{readme}:{str(error).removeprefix('line ')}") from error
    for mark in marks:
        at, old = f"{readme}:{mark.line}: {mark.model}", text[mark.start : mark.stop]
        try:
            drawn = _draw(mark, place, get_graph, link)
        except ModelDiagramsError as error:
            raise ModelDiagramsError(f"{at}: {str(error).removeprefix(f'{mark.model}: ')}") from error
        contents.append(drawn.text)
        files |= drawn.files
        before |= {place.locate(source) for source in _PICTURE.findall(old)}
        if drawn.problem:
            problems.append(f"{at}: {drawn.problem}")
        if drawn.text.split() != old.split() or not all(_has(path, new) for path, new in drawn.files.items()):
            changes.append(f"{at}: {_compare(old, drawn.text)}")
    shown = {*files}
    files[readme] = fill_marks(text, marks, contents).encode()
    different = {path: new for path, new in files.items() if not _has(path, new)}
    return ReadmeUpdate(different, shown, before - shown, changes, problems)


class _Place(NamedTuple):
    """Where pictures are."""

    readme: Path
    folder: str
    base: str

    def address(self, name: str) -> str:
        """Return the address of a picture in the README."""
        path = posixpath.join(self.folder.replace("\\", "/"), name)
        if not self.base:
            return quote(path)
        around = os.path.relpath(self.readme.parent).replace(os.sep, "/")
        return f"{self.base.rstrip('/')}/{quote(posixpath.normpath(posixpath.join(around, path)))}"

    def locate(self, source: str) -> Path:
        """Return the file of a picture in the README."""
        source = unquote(unescape(source))
        base = f"{self.base.rstrip('/')}/"
        found = source.removeprefix(base) if self.base and source.startswith(base) else self.readme.parent / source
        return Path(os.path.normpath(found))


class _Drawn(NamedTuple):
    """The pictures of a place, the text between its marks, and what is wrong with its model."""

    files: dict[Path, bytes]
    text: str
    problem: str


def _compare(old: str, new: str) -> str:
    """Say how the text between marks changes."""
    before, after = (unescape(found[1]) if (found := _ALT.search(text)) else "" for text in (old, new))
    if not before:
        return "has no picture yet"
    return "its picture is out of date" if before == after else f"{before} → {after}"


def _draw(mark: Mark, place: _Place, get_graph: Callable[[Options], Graph], link: str) -> _Drawn:
    own = {name: mark.options[name] for name in _OWN if name in mark.options}
    given = {name: value for name, value in mark.options.items() if name not in _OWN}
    allowed = [*list_options(Call, Limits, View), *_OWN]
    for name in given:
        if name not in allowed and name in list_options():
            raise ModelDiagramsError(
                f"option `{name}`: belongs to pages; a picture in a README has {', '.join(allowed)}"
            )
    options = parse_options({**given, "model": mark.model})
    graph = get_graph(options)
    view = {name: value for name, value in given.items() if name in list_options(View)}
    name = re.sub(r"\.json(?=-|$)", "", make_diagram_id(options))
    addresses, files = {}, {}
    for theme, ending in (("light", ".svg"), ("dark", ".dark.svg")):
        path = Path(os.path.normpath(place.readme.parent / place.folder / f"{name}{ending}"))
        files[path] = to_svg(graph, flat=True, theme=theme, **view).encode()  # type: ignore[arg-type]  # both are themes
        addresses[theme] = place.address(path.name)
    alt = own.get("alt") or describe_picture(draw_diagram(graph, view))
    width = own.get("width") or re.search(r'width="([\d.]+)', files[path].decode())[1]  # type: ignore[index]  # every SVG has it
    if not _WIDTH.fullmatch(width):
        raise ModelDiagramsError(f"option `width`: expected CSS pixels or percent, `480` or `50%`, got {width!r}")
    problem = make_forward_problem(mark.model, graph)
    address = own.get("link") or link.replace("{model}", quote(mark.model))
    text = _write_block(addresses, " ".join(alt.split()), width, address)
    return _Drawn(files, text, problem.message.partition("\n")[0] if problem else "")


def _write_block(addresses: dict[str, str], alt: str, width: str, link: str) -> str:
    picture = [
        "<picture>",
        f'<source media="(prefers-color-scheme: dark)" srcset="{escape(addresses["dark"])}">',
        f'<img alt="{escape(alt)}" src="{escape(addresses["light"])}" width="{escape(width)}">',
        "</picture>",
    ]
    if link:
        picture = [f'<a href="{escape(link)}">', *picture, "</a>"]
    return "\n".join(["<p>", *picture, "</p>"])


def _has(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content
