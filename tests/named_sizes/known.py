"""What a person knows of a model's sizes from reading its code: the oracle for names of sizes.

`MODELS` fills as the files of models are imported. They don't use the product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class KnownSize:
    """A size of a model's inputs."""

    size: int
    """In the pass that is traced with names."""
    multiple: int = 1
    plus: int = 0
    """The model takes what is so much more than a multiple, or does the same steps only then."""
    least: int = 1
    most: int | None = None
    fixed: str = ""
    """Why the model takes no other, or does other steps at any other."""
    counts: bool = False
    """Whether a loop runs so often: other sizes have other nodes."""

    def allows(self, size: int) -> bool:
        """Whether the model can run at this size."""
        if self.fixed:
            return size == self.size
        return self.least <= size <= (self.most or size) and size % self.multiple == self.plus % self.multiple


def free(size: int, multiple: int = 1, **more: Any) -> KnownSize:
    """A size that can vary."""
    return KnownSize(size, multiple, **more)


def fixed(size: int, reason: str) -> KnownSize:
    """A size that can't."""
    return KnownSize(size, fixed=reason)


def loop(size: int, **more: Any) -> KnownSize:
    """A size that is the number of turns of a loop in Python."""
    return KnownSize(size, counts=True, **more)


Inputs = Callable[..., Any]
"""Makes the arguments of one call at any sizes: a tuple of positional ones, or a dict by name."""


@dataclass(frozen=True)
class KnownModel:
    """A model, its inputs at any sizes, and what these sizes can be. The sizes have the names that a person gives."""

    name: str
    make: Callable[[], Any]
    inputs: Inputs
    sizes: dict[str, KnownSize]
    has_names: bool = True
    """False if no size can be named, for instance because no input is an ordinary tensor."""

    def made(self) -> Any:
        """The model, the same every time."""
        torch.manual_seed(0)
        model = self.make()
        return model.eval() if isinstance(model, torch.nn.Module) else model

    def call(self, **sizes: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments of one call; sizes that are left out are those of the pass that is traced with names."""
        torch.manual_seed(0)
        found = self.inputs(**{name: known.size for name, known in self.sizes.items()} | sizes)
        return (found, {}) if isinstance(found, tuple) else ((), found)


MODELS: dict[str, KnownModel] = {}


def add(name: str, make: Callable[[], Any], inputs: Inputs, *, has_names: bool = True, **sizes: KnownSize) -> None:
    """Add a model to `MODELS`."""
    assert name not in MODELS
    MODELS[name] = KnownModel(name, make, inputs, sizes, has_names)


def again(name: str, how: str, **sizes: int) -> None:
    """Add a model once more, to be traced with names at other sizes than before."""
    before = MODELS[name]
    moved = {size: replace(known, size=sizes.get(size, known.size)) for size, known in before.sizes.items()}
    MODELS[f"{name}, {how}"] = replace(before, name=f"{name}, {how}", sizes=moved)


def known(inputs: Inputs, *, has_names: bool = True, **sizes: KnownSize) -> Callable[[Any], Any]:
    """Add a class, or a function that is a model itself, to `MODELS`."""

    def adding(model: Any) -> Any:
        make = model if isinstance(model, type) else lambda: model
        add(f"own {model.__name__}", make, inputs, has_names=has_names, **sizes)
        return model

    return adding


def tokens(*shape: int, vocabulary: int = 50) -> Tensor:
    """Ids of tokens that are no special ones."""
    return torch.randint(10, vocabulary, shape)


def images(B: int, H: int, W: int) -> tuple[Tensor]:
    """Pictures in colour."""
    return (torch.randn(B, 3, H, W),)
