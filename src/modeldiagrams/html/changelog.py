"""Describes what changed in the models of a documentation since another version, one entry per model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.html.change_list import ChangeList, list_changes
from modeldiagrams.html.templating import load_template

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modeldiagrams.engine.compare.documentation import Check, Compared

__all__ = ["Changelog", "ModelChanges", "Place", "Variant", "build_changelog", "render_changelog"]

_DIGEST = re.compile(r"-[0-9a-f]{8}$")
"""The end of a snapshot's name if the model is called with options; see `make_distinct`."""
_OUTCOMES = {"new": "new", "gone": "no longer shown"}
_ORDER = ("", *_OUTCOMES.values())


class Place(NamedTuple):
    """Where a site shows a model."""

    address: str
    title: str
    """The title of the page."""


class Variant(NamedTuple):
    """The changes of a model that pages call in one way."""

    place: Place | None
    changes: ChangeList


class ModelChanges(NamedTuple):
    """The entry of one model."""

    name: str
    place: Place | None
    outcome: str
    """Set if there is nothing to compare: the model is new, or no longer shown."""
    variants: tuple[Variant, ...]


class Changelog(NamedTuple):
    """All entries, and sentences about the other models."""

    models: tuple[ModelChanges, ...]
    remarks: tuple[str, ...]


def build_changelog(found: Check, places: Mapping[str, Place] | None = None) -> Changelog:
    """Describe the changes of all models.

    Args:
        found: The compared snapshots.
        places: Where the site shows each of them, by name; others are left out. None if that is not known.
    """
    by_model: dict[str, list[Compared]] = {}
    for one in found.models:
        if places is None or one.name in places or one.state == "gone":
            by_model.setdefault(_DIGEST.sub("", one.name), []).append(one)
    models, uncompared, same = list[ModelChanges](), list[str](), 0
    for name, snapshots in by_model.items():
        states = {one.state for one in snapshots}
        place = next((places[one.name] for one in snapshots if places and one.name in places), None)
        variants = tuple(_list_variants(snapshots, places or {}))
        if variants:
            models.append(ModelChanges(name, place, "", variants))
        elif states in ({"new"}, {"gone"}):
            models.append(ModelChanges(name, place, _OUTCOMES[snapshots[0].state], ()))
        elif "same" in states:
            same += 1
        else:  # no complete graph, or pages call it in another way than before
            uncompared.append(name)
    models.sort(key=lambda model: _ORDER.index(model.outcome))
    return Changelog(tuple(models), tuple(_list_remarks(same, uncompared)))


def render_changelog(log: Changelog) -> str:
    """Render all entries."""
    return load_template("changes").render(log=log)


def _list_variants(snapshots: list[Compared], places: Mapping[str, Place]) -> Iterator[Variant]:
    """Yield the changes of each call of a model, equal ones once."""
    seen = list[ChangeList]()
    for one in snapshots:
        if one.difference and (changes := list_changes(one.difference, details=False, caused=False)) not in seen:
            seen.append(changes)
            yield Variant(places.get(one.name), changes)


def _list_remarks(same: int, uncompared: list[str]) -> Iterator[str]:
    if same:
        yield f"{same} model{' is' if same == 1 else 's are'} as before."
    if uncompared:
        yield f"Not compared, because one version has no complete graph of the same call: {', '.join(uncompared)}."
