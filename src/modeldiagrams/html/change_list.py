"""Renders the changes between two versions of a model: the list, and links between list and picture."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from modeldiagrams.engine.compare.documentation import compare_model
from modeldiagrams.engine.compare.texts import format_checkpoint, format_head
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.templating import load_template

if TYPE_CHECKING:
    from modeldiagrams.engine.compare.difference import Difference
    from modeldiagrams.engine.compare.documentation import Check

__all__ = [
    "ChangeList",
    "ChangeRow",
    "ModelChanges",
    "link_marks",
    "list_changes",
    "list_model_changes",
    "render_changes",
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


class ModelChanges(NamedTuple):
    """The changes of one documented model."""

    name: str
    changes: ChangeList | None
    outcome: str
    """Why there are no changes."""


def list_changes(difference: Difference, *, details: bool) -> ChangeList:
    """Describe a difference, the most serious changes first.

    Args:
        difference: The difference.
        details: Whether changes of level ``detail`` have rows.
    """
    levels = ("breaking", "notable", "detail") if details else ("breaking", "notable")
    rows = [
        ChangeRow(number, change.sign, level, change.text)
        for level in levels
        for number, change in enumerate(difference.changes)
        if change.level == level
    ]
    weights = tuple(line.strip() for line in format_checkpoint(difference.checkpoints))
    return ChangeList(tuple(format_head(difference)), tuple(rows), len(difference.changes) - len(rows), weights)


def render_difference(found: ChangeList, anchor: str, svg: str) -> Markup:
    """Render the list of changes, each with a link to its mark in the picture.

    Args:
        found: The changes.
        anchor: The prefix of ids, unique on the page.
        svg: The picture, before `link_marks`; "" if there is none.
    """
    html = load_template("difference").render(found=found, anchor=anchor, places=_find_marks(svg))
    return Markup(html)  # noqa: S704  rendered with autoescape


def render_changes(found: Check) -> str:
    """Render the changes of all documented models."""
    return load_template("changes").render(models=list_model_changes(found), summary=found.summary())


def list_model_changes(found: Check) -> list[ModelChanges]:
    """List the models that changed."""
    return [
        ModelChanges(
            model.name,
            list_changes(model.difference, details=False) if model.difference else None,
            "" if model.difference else compare_model(model),
        )
        for model in found.reported()
    ]


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
