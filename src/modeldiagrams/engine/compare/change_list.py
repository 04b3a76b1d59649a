"""The result of a comparison as data: the format ``modeldiagrams-diff``."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ["LEVELS", "Ambiguous", "Change", "Checkpoints", "Found", "Level", "Model", "Renaming"]

VERSION = "1.1"

Level = Literal["breaking", "notable", "detail"]
LEVELS: tuple[Level, ...] = ("breaking", "notable", "detail")
"""Levels, the most serious first."""


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two models."""

    model: str
    class_: str = msgspec.field(name="class")
    parameters: int
    flops: int | None
    flops_sign: str = ""
    """``≤`` or ``≈`` if the FLOPs depend on assumed sizes. Since format 1.1."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One change, with all its places."""

    id: str
    """The stable name of the kind of change: ``repeats``, ``replaced``, …"""
    level: Level
    """``breaking``: callers or saved weights no longer fit. ``notable``: something else is computed.
    ``detail``: the same is computed."""
    text: str
    subject: str
    before: Any
    after: Any
    where: tuple[str, ...]
    """Paths, with ``*`` for indices of lists; for ``repeats``, the lists."""
    places: tuple[tuple[str | None, str | None], ...]
    """Node ids in both graphs; None if there is no counterpart, "" for the model."""
    count: int
    parameters: int
    """The number of added parameters; negative for removed ones."""
    caused_by: int | None
    """The index of the change that caused it."""

    @property
    def is_main(self) -> bool:
        """Whether it is listed by default: it is not a detail, and not caused by another change."""
        return self.level != "detail" and self.caused_by is None

    @property
    def sign(self) -> str:
        """``+`` for an addition, ``−`` for a removal, ``~`` for a change."""
        came, went = (all(place[side] is None for place in self.places) for side in (0, 1))
        return "+" if came and self.places else "−" if went and self.places else "~"


class Renaming(msgspec.Struct, frozen=True, kw_only=True):
    """A key of a state dict, before and after."""

    before: str
    after: str


class Ambiguous(msgspec.Struct, frozen=True, kw_only=True):
    """Keys of weights that only differ in their names."""

    before: tuple[str, ...]
    after: tuple[str, ...]


class Checkpoints(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a state dict of the earlier model loads into the later one."""

    verdict: Literal["load", "load-after-renaming", "load-in-part", "ambiguous", "do-not-load"]
    buffers_known: bool
    """Whether both graphs know which buffers are saved; files before format 1.2 don't."""
    same: int
    """The number of keys that load unchanged."""
    renamed: tuple[Renaming, ...]
    """Keys with exactly one certain counterpart."""
    reshaped: tuple[Renaming, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    ambiguous: tuple[Ambiguous, ...]
    other_role: tuple[str, ...]
    """Keys of both models for weights with different roles: loading them gives wrong results without an error."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """All results of a comparison; `Difference` adds methods."""

    format: Literal["modeldiagrams-diff"] = "modeldiagrams-diff"
    version: str = VERSION
    before: Model
    after: Model
    same: bool
    same_computation: bool
    reservations: tuple[str, ...]
    inventory: dict[str, tuple[int, int]] | None
    checkpoints: Checkpoints
    changes: tuple[Change, ...]
