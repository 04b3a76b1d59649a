"""Watching from Lightning, transformers and Accelerate; what was recorded for TensorBoard and Weights & Biases."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeldiagrams.watching.integrations.accelerate import AccelerateTracker
    from modeldiagrams.watching.integrations.lightning import LightningCallback
    from modeldiagrams.watching.integrations.tensorboard import to_tensorboard
    from modeldiagrams.watching.integrations.transformers import TransformersCallback
    from modeldiagrams.watching.integrations.wandb import to_wandb

__all__ = ["AccelerateTracker", "LightningCallback", "TransformersCallback", "to_tensorboard", "to_wandb"]

_MODULES = {
    "AccelerateTracker": "accelerate",
    "LightningCallback": "lightning",
    "TransformersCallback": "transformers",
    "to_tensorboard": "tensorboard",
    "to_wandb": "wandb",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
