"""What a recording consists of: plain data, as frames of its file hold it."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import msgspec

from modeldiagrams.watching.file.histogram import Histogram

__all__ = ["KINDS", "Anomaly", "Frame", "Key", "Kind", "Loss", "Moment", "Row", "Run"]

Kind: TypeAlias = Literal["input", "activation", "gradient", "parameter", "parameter_gradient", "update"]
"""``gradient`` is that of an activation."""
KINDS: tuple[Kind, ...] = ("input", "activation", "gradient", "parameter", "parameter_gradient", "update")


class Key(NamedTuple):
    """Which tensor a row is about."""

    node: str
    """Id of a module call in the graph of the model: ``layers.0.conv#2``; empty for the model itself. Parameters are
    with the first call of the module that has them."""
    kind: Kind
    tensor: str = "output"
    """``output``, or the path in what the module returned (``logits``, ``[1]``); for inputs the argument
    (``x``, ``batch.mask``), for parameters the name (``weight``)."""


class Row(msgspec.Struct, kw_only=True, gc=False):
    """What was measured of one tensor at one moment."""

    count: int
    """Number of values; those of several micro-batches, calls of backward and ranks together."""
    fires: int = 1
    """How many tensors are in it: micro-batches, calls of backward, ranks with a share of the data."""
    zeros: int = 0
    """How many values are exactly zero; 0 where the tensor has negative ones and the sample no zero."""
    bad: int = 0
    """How many values are infinite or NaN."""
    min: float = 0.0
    max: float = 0.0
    mean: float = 0.0
    norm: float = 0.0
    """Root of the sum of the squares."""
    dead: int = 0
    """Units (channels, features) that are zero everywhere, of an activation without negative values."""
    units: int = 0
    """Number of units; 0 where none were counted."""
    ratio: float | None = None
    """Of updates of matrices: norm of the update by norm of the weight."""
    moments: int = 1
    """How many moments a reduced recording merged into it; `norm` is their quadratic mean."""
    histogram: Histogram = msgspec.field(default_factory=lambda: Histogram({}))
    """Of a sample of the values."""

    @property
    def rms(self) -> float:
        """Root of the mean square: the norm without the size of the tensor."""
        return self.norm / (self.count / self.moments) ** 0.5 if self.count else 0.0

    @property
    def zero_share(self) -> float:
        """Share of values that are exactly zero."""
        return self.zeros / self.count if self.count else 0.0

    @property
    def bad_share(self) -> float:
        """Share of values that are infinite or NaN."""
        return self.bad / self.count if self.count else 0.0

    @property
    def dead_share(self) -> float | None:
        """Share of dead units; None where none were counted."""
        return self.dead / self.units if self.units else None


class Loss(NamedTuple):
    """The loss that `Watcher.step` was given."""

    step: int
    value: float


class Run(msgspec.Struct, frozen=True, kw_only=True, tag="run", tag_field="record"):
    """The beginning of a run: what earlier runs wrote of its first step, and of later ones, counts no more."""

    step: int
    model: str = ""
    """Full name of the model's class."""
    every: int = 1
    log: tuple[str, ...] = ()
    version: str = "1.0"
    """Of the format."""
    modules: dict[str, str] = {}
    """Path → full name of the class of each module, so that the model can be shown without its graph."""
    notes: tuple[str, ...] = ()
    """Sentences for the reader, for example that recorded steps of a compiled model run eagerly."""


class Moment(msgspec.Struct, kw_only=True, tag="moment", tag_field="record", omit_defaults=True):
    """One recorded step, or one pass of another phase."""

    step: int
    phase: str = "train"
    skipped: bool = False
    """Whether no optimizer made a step, as when a gradient scaler skips one."""
    scale: float | None = None
    """What gradients were divided by, where a gradient scaler is used."""
    last: int | None = None
    """In a reduced recording: the last of the steps that were merged."""
    unseen: tuple[str, ...] = ()
    """Modules whose parameters have gradients, but whose call was not seen, as of ``module.forward(x)``."""
    traced: bool = False
    """Whether the model was also exported, traced or run without values, which isn't recorded."""
    edges: tuple[tuple[Key, Key], ...] = ()
    """Which outputs with gradients were computed from which, by their gradients: those that no moment before has."""
    rows: dict[Key, Row] = {}


class Anomaly(msgspec.Struct, frozen=True, kw_only=True, tag="anomaly", tag_field="record", omit_defaults=True):
    """Something that went wrong, and where: noticed while training or found in what was recorded."""

    step: int
    kind: str
    """``nonfinite``, ``dead``, ``exploding``, ``vanishing``, ``frozen`` or ``jump``; ``failure`` of a process."""
    node: str = ""
    """Id of the module call, as in `Key`."""
    what: str = ""
    """Kind of the tensor, as in `Key`; or ``loss``."""
    tensor: str = ""
    text: str = ""
    """A sentence for the reader."""


class Frame(msgspec.Struct, kw_only=True):
    """What one frame of the file holds."""

    record: Run | Moment | Anomaly | None = None
    losses: list[Loss] = []
