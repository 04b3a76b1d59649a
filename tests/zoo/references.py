"""What a person would call the models with that are kept aside, and how far what was found is like it.

``aside_reference.toml`` has two expressions for a model: how it is made, and how it is called.
"""

from __future__ import annotations

import importlib
import tomllib
from argparse import Namespace
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from inference_zoo import aside
from zoo.expected import Shape, Shown, shape_of_call

REFERENCES = {
    f"{aside.__name__}.{file}.{name}": expressions
    for file, models in tomllib.loads((Path(__file__).parent / "aside_reference.toml").read_text()).items()
    for name, expressions in models.items()
}


class Batch(Namespace):
    """What a library of graphs calls a model with: the tensors are its attributes."""


pytree.register_pytree_node(
    Batch,
    lambda batch: (list(vars(batch).values()), list(vars(batch))),
    lambda values, keys: Batch(**dict(zip(keys, values, strict=True))),
)
HELPERS = {
    "torch": torch,
    "nn": nn,
    "Namespace": Namespace,
    "Batch": Batch,
    "randn": torch.randn,
    "ids": lambda below, *sides: torch.randint(below, sides),
    "mask": lambda *sides: torch.rand(sides) > 0.5,
    "lengths": lambda most, how_many: torch.cat([torch.tensor([most]), torch.randint(1, most + 1, (how_many - 1,))]),
}


def unlike(path: str, call: Shape) -> list[str]:
    """Inputs of other ranks or kinds than a person's, or that a person would give and that are missing.

    Args:
        path: Of the model.
        call: What was found.
    """
    known = HELPERS | vars(importlib.import_module(path.rpartition(".")[0]))
    made, called = REFERENCES[path]
    forward = eval(made, dict(known)).forward  # noqa: S307
    known["model"] = lambda *args, **kwargs: shape_of_call(forward, args, kwargs, {}).inputs
    expected = eval(called, known)  # noqa: S307
    wanted = {name: _forms(value) for name, value in expected.items()}
    return [name for name, forms in wanted.items() if forms and forms != _forms(call.inputs.get(name))]


def _forms(value: Any) -> set[tuple[str, int]]:
    """Kind and rank of all tensors in a value."""
    if isinstance(value, Shown):
        return {(value.kind, len(value.shape))}
    return set().union(*map(_forms, value.values())) if isinstance(value, dict) else set()
