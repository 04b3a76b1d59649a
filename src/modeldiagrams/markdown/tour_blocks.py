"""Tours in Markdown: blocks of `pymdownx.blocks` that contain Markdown.

::

    /// model-tour | mypkg.Model
        depth: 1

    //// tour-step | The stem
        focus: stem

    What *this part* does, with [links](other.md), code and lists.
    ////

    //// model-note | stem.conv
    A note on some nodes.
    ////
    ///
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement

from markdown.util import AtomicString
from pymdownx.blocks import BlocksExtension  # type: ignore[import-untyped]
from pymdownx.blocks.block import Block  # type: ignore[import-untyped]

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.diagram_parts import number_diagram
from modeldiagrams.hosting.host import draw
from modeldiagrams.hosting.reports import report_problem, report_steps
from modeldiagrams.html.note_list import make_note_id
from modeldiagrams.html.tour_parts import BODY, PICTURE, STEP, STEPS, TITLE, list_tour_classes, render_step_image
from modeldiagrams.markdown.fence_figure import convert_markdown, render_figure
from modeldiagrams.markdown.find_fences import find_blocks
from modeldiagrams.options.steps import parse_step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markdown import Markdown

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.markdown.fence_host import FenceHost

__all__ = ["TourBlocks", "Tours"]

TOUR_BLOCK = "model-tour"
STEP_BLOCK = "tour-step"
NOTE_BLOCK = "model-note"

_UNREAD = re.compile(rf"<p>/{{3,}}\s*({TOUR_BLOCK}|{STEP_BLOCK}|{NOTE_BLOCK})(?![\w-])")


class _AllOptions(dict[str, Any]):
    """Accepts every option: our own parsers explain errors, while pymdownx would print the block as text."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, _name: str) -> tuple[None, None]:
        return None, None


class _StepElement(NamedTuple):
    element: Element
    still: Element
    """The element for its still picture."""
    title: str
    shows: dict[str, Any]
    line: int | None


class _NoteElement(NamedTuple):
    element: Element
    parent: Element
    line: int | None


class _OpenTour(NamedTuple):
    line: int | None
    steps: list[_StepElement]
    notes: dict[str, _NoteElement]
    """By pattern."""


class Tours:
    """Tracks the tours of a document; one instance serves one document after another.

    Attributes:
        host: The documentation tool.
        open: The tours that have not ended yet, the innermost last.
    """

    def __init__(self, host: FenceHost) -> None:
        self.host = host
        self.open: list[_OpenTour] = []
        self._lines: dict[str, list[int]] = {}

    def start(self, lines: list[str]) -> None:
        """Note the lines of all blocks of a document."""
        self.open.clear()
        self._lines = {name: find_blocks(lines, name) for name in (TOUR_BLOCK, STEP_BLOCK, NOTE_BLOCK)}

    def line(self, name: str) -> int | None:
        """Return the line of the next block of this name."""
        return self._lines[name].pop(0) if self._lines.get(name) else None

    def end(self, html: str) -> None:
        """Report blocks that were not closed or not recognised."""
        for tour in self.open:
            message = f"{TOUR_BLOCK}: the block is not closed; expected a line with as many slashes as its first line"
            self.host.warn(message, tour.line)
        for found in _UNREAD.finditer(html):
            message = (
                f"{found[1]}: it is shown as text; expected options as YAML below its first line, indented by four"
                " spaces (patterns that begin with `*` in quotes), and then an empty line"
            )
            self.host.warn(message, None)


class TourBlocks(BlocksExtension):  # type: ignore[misc]  # pymdownx has no types
    """Registers the blocks with Python-Markdown."""

    def __init__(self, tours: Tours) -> None:
        super().__init__()
        self.tours = tours

    def extendMarkdownBlocks(self, _md: Markdown, block_mgr: Any) -> None:  # noqa: N802  (pymdownx's name)
        """Register the blocks; called by pymdownx."""
        block_mgr.register(_TourBlock, {"tours": self.tours})
        block_mgr.register(_StepBlock, {"tours": self.tours})
        block_mgr.register(_NoteBlock, {"tours": self.tours})


class _ModelBlock(Block):  # type: ignore[misc]  # pymdownx has no types
    ARGUMENT = None

    def on_init(self) -> None:
        """Initialise the block; called by pymdownx."""
        self.option_spec = _AllOptions(vars(self)["option_spec"])  # contains attributes, which every block accepts
        self.tours: Tours = self.config["tours"]
        self.place = self.tours.line(self.NAME)

    def values(self) -> dict[str, Any]:
        """Return the author's options."""
        return {str(name): value for name, value in self.options.items() if name != "attrs"}


class _StepBlock(_ModelBlock):
    NAME = STEP_BLOCK

    def on_create(self, parent: Element) -> Element:
        """Start the block; called by pymdownx."""
        step = SubElement(parent, "div", {"class": STEP})
        if self.argument:
            SubElement(SubElement(step, "p", {"class": TITLE}), "strong").text = self.argument
        still = SubElement(step, "div")
        if self.tours.open:
            steps = self.tours.open[-1].steps
            steps.append(_StepElement(step, still, self.argument or "", self._read(), self.place))
        else:
            self.tours.host.warn(f"{STEP_BLOCK}: expected inside a `{TOUR_BLOCK}`", self.place)
        return step

    def _read(self) -> dict[str, Any]:
        try:
            return parse_step(self.values())
        except ModelDiagramsError as error:
            self.tours.host.warn(f"{TOUR_BLOCK}: step: {error}", self.place)
            return {}


class _NoteBlock(_ModelBlock):
    NAME = NOTE_BLOCK

    def on_create(self, parent: Element) -> Element:
        """Start the block; called by pymdownx."""
        note = SubElement(parent, "div")
        notes = self.tours.open[-1].notes if self.tours.open else None
        if notes is None:
            self._warn(f"expected inside a `{TOUR_BLOCK}`; a `model-graph` fence has the option `notes`")
        elif not self.argument:
            self._warn(f"expected a pattern: `//// {NOTE_BLOCK} | encoder.*`")
        elif self.argument in notes:
            self._warn(f"two notes have the pattern {self.argument!r}; write both in one")
        else:
            notes[self.argument] = _NoteElement(note, parent, self.place)
        return note

    def _warn(self, message: str) -> None:
        self.tours.host.warn(f"{NOTE_BLOCK}: {message}", self.place)


class _TourBlock(_ModelBlock):
    NAME = TOUR_BLOCK

    def on_create(self, parent: Element) -> Element:
        """Start the block; called by pymdownx."""
        self.tours.open.append(_OpenTour(self.place, [], {}))
        tour = SubElement(parent, "div")
        body = SubElement(tour, "div", {"class": BODY})
        SubElement(body, "div", {"class": PICTURE})
        SubElement(body, "div", {"class": STEPS})
        return tour

    def on_add(self, block: Element) -> Element:
        """Return the element for the content; called by pymdownx."""
        return block[0][1]

    def on_end(self, block: Element) -> None:
        """Draw the tour when all steps are known; called by pymdownx."""
        host, (_, steps, notes) = self.tours.host, self.tours.open.pop()
        values = {**self.values(), **({"model": self.argument} if self.argument else {})}
        shows = [step.shows for step in steps]
        texts = {pattern: " ".join(note.element.itertext()) for pattern, note in notes.items()}
        diagram = number_diagram(draw(host, values, "", steps=shows, notes=texts), host.on_page)
        host.note_attempt(diagram)
        report_problem(host, diagram, self.place)
        report_steps(host, diagram, [step.line for step in steps])
        host.note_shown(diagram)
        block.set("class", " ".join(list_tour_classes(diagram)))
        self._stash(block[0][0], render_figure(diagram, host, self.md, lists_notes=False))
        self._list_notes(block[0][0], diagram, notes)
        for index, step in enumerate(steps):
            image = render_step_image(diagram, index, assets=host.assets_url(), title=re.sub(r"[*`]", "", step.title))
            step.element.set("id", f"{diagram.anchor}-step-{index + 1}")
            self._stash(step.still, image)

    def _list_notes(self, below: Element, diagram: Diagram, written: Mapping[str, _NoteElement]) -> None:
        """List the notes below the picture: move those from blocks, convert those from options."""
        for note in written.values():
            note.parent.remove(note.element)
        notes = diagram.options.author.notes or {}
        listed = SubElement(below, "ol", {"class": "mg-notes"}) if notes else below
        for number, (pattern, text) in enumerate(notes.items(), start=1):
            item = SubElement(listed, "li", {"id": make_note_id(diagram, number)})
            if pattern in written:
                item.text = written[pattern].element.text
                item.extend(written[pattern].element)
            else:
                self._stash(item, convert_markdown(text, self.md))

    def _stash(self, element: Element, html: str) -> None:
        """Put finished HTML into an element."""
        element.text = AtomicString(self.md.htmlStash.store(html))
