"""What changed between two versions of a model, for pages: the list, and links between it and the picture."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from modeldiagrams.engine.compare.check import outcome_of
from modeldiagrams.engine.compare.texts import checkpoint_lines, head_lines
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.templating import template

if TYPE_CHECKING:
    from modeldiagrams.engine.compare.check import Check
    from modeldiagrams.engine.compare.difference import Difference

__all__ = [
    "ChangeList",
    "ChangeRow",
    "ModelChanges",
    "change_list",
    "changes_html",
    "difference_html",
    "linked",
    "model_changes",
]

_MARKS = re.compile(r' data-change="([\d ]+)"')


class ChangeRow(NamedTuple):
    """One change."""

    number: int
    """In the list of all changes, as the picture has it."""
    sign: str
    level: str
    text: str


class ChangeList(NamedTuple):
    """A difference in words."""

    head: tuple[str, ...]
    rows: tuple[ChangeRow, ...]
    hidden: int
    """How many changes without effect on results are not in the rows."""
    weights: tuple[str, ...]
    """Whether saved weights load; the verdict first."""

    @property
    def rest(self) -> str:
        """What is said below the rows; "" if nothing."""
        if not self.rows and not self.hidden:
            return "no change"
        return f"{self.hidden} change{'s'[: self.hidden != 1]} without effect on results" if self.hidden else ""


class ModelChanges(NamedTuple):
    """One model of a documentation."""

    name: str
    changes: ChangeList | None
    outcome: str
    """Why there are no changes."""


def change_list(difference: Difference, *, details: bool) -> ChangeList:
    """A difference in words, the most serious changes first.

    Args:
        difference: What changed.
        details: Whether changes of level ``detail`` have rows.
    """
    levels = ("breaking", "notable", "detail") if details else ("breaking", "notable")
    rows = [
        ChangeRow(number, change.sign, level, change.text)
        for level in levels
        for number, change in enumerate(difference.changes)
        if change.level == level
    ]
    weights = tuple(line.strip() for line in checkpoint_lines(difference.checkpoints))
    return ChangeList(tuple(head_lines(difference)), tuple(rows), len(difference.changes) - len(rows), weights)


def difference_html(found: ChangeList, anchor: str, svg: str) -> Markup:
    """The list of changes, each with a link to its place in the picture.

    Args:
        found: What to list.
        anchor: What ids begin with, which is unique on the page.
        svg: The picture, before it is `linked`; "" if there is none.
    """
    html = template("difference").render(found=found, anchor=anchor, places=_places(svg))
    return Markup(html)  # noqa: S704  rendered with autoescape


def changes_html(found: Check) -> str:
    """What changed in all models of a documentation."""
    return template("changes").render(models=model_changes(found), summary=found.summary())


def model_changes(found: Check) -> list[ModelChanges]:
    """Each model that is not as before."""
    return [
        ModelChanges(
            model.name,
            change_list(model.difference, details=False) if model.difference else None,
            "" if model.difference else outcome_of(model),
        )
        for model in found.reported()
    ]


def linked(svg: str, anchor: str) -> str:
    """The picture with a link from each mark to its change in the list; the first of each is what the list links to."""
    first = {place: number for number, place in reversed(_places(svg).items())}

    def attributes(match: re.Match[str]) -> str:
        place, prefix = match[1].partition(" ")[0], html_text(anchor)
        # equal changes are at many places
        name = f' id="{prefix}-place-{place}"' if first.pop(place, None) is not None else ""
        return f'{name} href="#{prefix}-change-{place}" aria-label="Show in the list"'

    return _MARKS.sub(attributes, svg)


def _places(svg: str) -> dict[int, str]:
    """Change → the mark that stands for it; a box with several changes has one mark."""
    places: dict[int, str] = {}
    for numbers in _MARKS.findall(svg):
        place = numbers.partition(" ")[0]
        for number in numbers.split():
            places.setdefault(int(number), place)
    return places
