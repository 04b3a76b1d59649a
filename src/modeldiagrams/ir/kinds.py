"""The kinds of layers that have a colour and a line in the legend; the viewer's are made from the overlay's schema."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["Kind"]

Kind: TypeAlias = Literal[
    "embedding",
    "attention",
    "linear",
    "convolution",
    "recurrence",
    "normalisation",
    "activation",
    "pooling",
    "loss",
    "other",
]
