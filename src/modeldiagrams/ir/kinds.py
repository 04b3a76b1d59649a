"""The kinds of layers that have a colour and a line in the legend. The overlay's schema passes them to the viewer."""

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
