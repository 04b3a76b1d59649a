"""Renders the changes between two versions of a model: the list, and links between list and picture."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from modeldiagrams.engine.compare.texts import format_checkpoint, format_head
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.templating import load_template

if TYPE_CHECKING:
    from modeldiagrams.engine.compare.difference import Difference

__all__ = [
    "ChangeList",
    "ChangeRow",
    "link_marks",
    "list_changes",
    "render_difference",
]

_MARKS = re.compile(r' data-change="([\d ]+)"')


class ChangeRow(NamedTuple):
    """One change."""

    number: int
    """Its position in the list of all changes, as in the picture."""
    sign: str
    level: str
    text: str


class ChangeList(NamedTuple):
    """A difference in words."""

    head: tuple[str, ...]
    rows: tuple[ChangeRow, ...]
    hidden: int
    """The number of changes without effect on results that have no row."""
    weights: tuple[str, ...]
    """Whether saved weights load, the verdict first."""

    @property
    def rest(self) -> str:
        """The text below the rows; may be empty."""
        if not self.rows and not self.hidden:
            return "no change"
        return f"{self.hidden} change{'s'[: self.hidden != 1]} without effect on results" if self.hidden else ""


def list_changes(difference: Difference, *, details: bool, caused: bool = True) -> ChangeList:
    """Describe a difference, the most serious changes first.

    Args:
        difference: The difference.
        details: Whether changes of level ``detail`` have rows.
        caused: Whether changes that another change caused have rows.
    """
    levels = ("breaking", "notable", "detail") if details else ("breaking", "notable")
    rows = [
        ChangeRow(number, change.sign, level, change.text)
        for level in levels
        for number, change in enumerate(difference.changes)
        if change.level == level and (caused or change.caused_by is None)
    ]
    hidden = 0 if details else sum(change.level == "detail" for change in difference.changes)
    weights = tuple(line.strip() for line in format_checkpoint(difference.checkpoints))
    return ChangeList(tuple(format_head(difference)), tuple(rows), hidden, weights)


def render_difference(found: ChangeList, anchor: str, svg: str) -> Markup:
    """Render the list of changes, each with a link to its mark in the picture.

    Args:
        found: The changes.
        anchor: The prefix of ids, unique on the page.
        svg: The picture, before `link_marks`; "" if there is none.
    """
    html = load_template("difference").render(found=found, anchor=anchor, places=_find_marks(svg))
    return Markup(html)  # noqa: S704  rendered with autoescape


def link_marks(svg: str, anchor: str) -> str:
    """Link each mark in the picture to its change in the list; the list links to the first mark of each change."""
    first = {place: number for number, place in reversed(_find_marks(svg).items())}

    def attributes(match: re.Match[str]) -> str:
        place, prefix = match[1].partition(" ")[0], html_text(anchor)
        # equal changes have many marks
        name = f' id="{prefix}-place-{place}"' if first.pop(place, None) is not None else ""
        return f'{name} href="#{prefix}-change-{place}" aria-label="Show in the list"'

    return _MARKS.sub(attributes, svg)


def _find_marks(svg: str) -> dict[int, str]:
    """Map each change to its mark; a box with several changes has one mark."""
    places: dict[int, str] = {}
    for numbers in _MARKS.findall(svg):
        place = numbers.partition(" ")[0]
        for number in numbers.split():
            places.setdefault(int(number), place)
    return places
