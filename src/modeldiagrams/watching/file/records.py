"""The records in the frames of a recording, as plain data."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import msgspec

from modeldiagrams.watching.file.histogram import Histogram

__all__ = ["KINDS", "Anomaly", "FileFrame", "Key", "Kind", "Loss", "Moment", "Row", "Run"]

Kind: TypeAlias = Literal["input", "activation", "gradient", "parameter", "parameter_gradient", "update"]
"""``gradient`` is the gradient of an activation."""
KINDS: tuple[Kind, ...] = ("input", "activation", "gradient", "parameter", "parameter_gradient", "update")


class Key(NamedTuple):
    """The tensor that a row describes."""

    node: str
    """The id of a module call in the graph of the model: ``layers.0.conv#2``; empty for the model itself. Parameters
    belong to the first call of their module."""
    kind: Kind
    tensor: str = "output"
    """``output``, or the path within the output (``logits``, ``[1]``); for inputs the argument (``x``, ``batch.mask``),
    for parameters the name (``weight``)."""


class Row(msgspec.Struct, kw_only=True, gc=False):
    """The statistics of one tensor at one moment."""

    count: int
    """The number of values, over all micro-batches, calls of backward and ranks."""
    fires: int = 1
    """The number of tensors it covers: micro-batches, calls of backward, ranks with a share of the data."""
    zeros: int = 0
    """The number of values that are exactly zero; 0 if the tensor has negative values and the sample no zero."""
    bad: int = 0
    """The number of values that are infinite or NaN."""
    min: float = 0.0
    max: float = 0.0
    mean: float = 0.0
    norm: float = 0.0
    """The root of the sum of squares."""
    dead: int = 0
    """Units (channels, features) that are zero everywhere, of an activation without negative values."""
    units: int = 0
    """The number of units; 0 if none were counted."""
    ratio: float | None = None
    """For updates of matrices: norm of the update / norm of the weight."""
    moments: int = 1
    """The number of moments that a reduced recording merged into it; `norm` is their root mean square."""
    histogram: Histogram = msgspec.field(default_factory=lambda: Histogram({}))
    """The histogram of a sample of the values."""

    @property
    def rms(self) -> float:
        """The root mean square, which unlike the norm doesn't depend on the size of the tensor."""
        return self.norm / (self.count / self.moments) ** 0.5 if self.count else 0.0

    @property
    def zero_share(self) -> float:
        """The share of values that are exactly zero."""
        return self.zeros / self.count if self.count else 0.0

    @property
    def bad_share(self) -> float:
        """The share of values that are infinite or NaN."""
        return self.bad / self.count if self.count else 0.0

    @property
    def dead_share(self) -> float | None:
        """The share of dead units; None if none were counted."""
        return self.dead / self.units if self.units else None


class Loss(NamedTuple):
    """A loss passed to `Watcher.step`."""

    step: int
    value: float


class Run(msgspec.Struct, frozen=True, kw_only=True, tag="run", tag_field="record"):
    """The start of a run; it replaces the data of earlier runs from its first step on."""

    step: int
    model: str = ""
    """Full name of the model's class."""
    every: int = 1
    log: tuple[str, ...] = ()
    version: str = "1.0"
    """The version of the format."""
    modules: dict[str, str] = {}
    """The full class name of each module by path, so that the model can be shown without its graph."""
    notes: tuple[str, ...] = ()
    """Sentences for the reader, for example that recorded steps of a compiled model run eagerly."""


class Moment(msgspec.Struct, kw_only=True, tag="moment", tag_field="record", omit_defaults=True):
    """One recorded step, or one pass of another phase."""

    step: int
    phase: str = "train"
    skipped: bool = False
    """Whether no optimizer made a step, for example because a gradient scaler skipped it."""
    scale: float | None = None
    """The factor of the gradient scaler, if any, by which gradients were divided."""
    last: int | None = None
    """In a reduced recording: the last of the steps that were merged."""
    unseen: tuple[str, ...] = ()
    """Modules whose parameters have gradients but whose call was not seen, as with ``module.forward(x)``."""
    traced: bool = False
    """Whether the model was also exported, traced or run without values, which is not recorded."""
    edges: tuple[tuple[Key, Key], ...] = ()
    """Pairs of gradients: the output of the second was computed from that of the first. Only pairs that no earlier
    moment has."""
    rows: dict[Key, Row] = {}


class Anomaly(msgspec.Struct, frozen=True, kw_only=True, tag="anomaly", tag_field="record", omit_defaults=True):
    """Something that went wrong, and where: noticed during training or found in the recorded data."""

    step: int
    kind: str
    """``nonfinite``, ``dead``, ``exploding``, ``vanishing``, ``frozen`` or ``jump``; ``failure`` of a process."""
    node: str = ""
    """The id of the module call, as in `Key`."""
    what: str = ""
    """The kind of tensor, as in `Key`, or ``loss``."""
    tensor: str = ""
    text: str = ""
    """A sentence for the reader."""

    @staticmethod
    def of(key: Key, step: int, kind: str, text: str) -> Anomaly:
        """Make an anomaly of one tensor."""
        return Anomaly(step=step, kind=kind, node=key.node, what=key.kind, tensor=key.tensor, text=text)


class FileFrame(msgspec.Struct, kw_only=True):
    """The content of one frame of the file."""

    record: Run | Moment | Anomaly | None = None
    losses: list[Loss] = []
