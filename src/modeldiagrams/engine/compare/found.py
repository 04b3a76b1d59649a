"""What a comparison found, as data: the format ``modeldiagrams-diff``."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ["LEVELS", "Ambiguous", "Change", "Checkpoints", "Found", "Level", "Model", "Renaming"]

Level = Literal["breaking", "notable", "detail"]
LEVELS: tuple[Level, ...] = ("breaking", "notable", "detail")
"""The most serious first."""


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two."""

    model: str
    class_: str = msgspec.field(name="class")
    parameters: int
    flops: int | None
    flops_sign: str = ""
    """``≤`` or ``≈`` if the FLOPs depend on assumed sizes."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One decision, with all its places."""

    id: str
    """Stable name of the kind of change: ``repeats``, ``replaced``, …"""
    level: Level
    """``breaking``: callers or saved weights no longer fit. ``notable``: something else is computed.
    ``detail``: the same is computed."""
    text: str
    subject: str
    before: Any
    after: Any
    where: tuple[str, ...]
    """Paths, with ``*`` for numbers of list members; of ``repeats``, the lists."""
    places: tuple[tuple[str | None, str | None], ...]
    """Node ids in both graphs; None where there is no counterpart, "" for the model."""
    count: int
    parameters: int
    """How many parameters came with it; negative for those that went."""
    caused_by: int | None
    """Index of the change from which it follows."""

    @property
    def is_main(self) -> bool:
        """Whether it is told by default: it is no detail, and follows from no other change."""
        return self.level != "detail" and self.caused_by is None

    @property
    def sign(self) -> str:
        """``+`` for what came, ``−`` for what went, ``~`` for what changed."""
        came, went = (all(place[side] is None for place in self.places) for side in (0, 1))
        return "+" if came and self.places else "−" if went and self.places else "~"


class Renaming(msgspec.Struct, frozen=True, kw_only=True):
    """A key of a state dict, before and after."""

    before: str
    after: str


class Ambiguous(msgspec.Struct, frozen=True, kw_only=True):
    """Keys of weights that only their names tell apart."""

    before: tuple[str, ...]
    after: tuple[str, ...]


class Checkpoints(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a state dict of the model before loads into the one after."""

    verdict: Literal["load", "load-after-renaming", "load-in-part", "ambiguous", "do-not-load"]
    buffers_known: bool
    """Whether both graphs say which buffers are saved; files of a format before 1.2 don't."""
    same: int
    """Number of keys that load as they are."""
    renamed: tuple[Renaming, ...]
    """Those for which there is no doubt."""
    reshaped: tuple[Renaming, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    ambiguous: tuple[Ambiguous, ...]
    other_role: tuple[str, ...]
    """Keys that both models have for weights with another job: loading them gives wrong results without an error."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """All of it; `Difference` adds what can be done with it."""

    format: Literal["modeldiagrams-diff"] = "modeldiagrams-diff"
    version: str = "1.0"
    before: Model
    after: Model
    same: bool
    same_computation: bool
    reservations: tuple[str, ...]
    inventory: dict[str, tuple[int, int]] | None
    checkpoints: Checkpoints
    changes: tuple[Change, ...]
