"""Edits of parameters and buffers: dtypes, ties, what is trained, what is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from edits.subject import Edited, InapplicableError, Line, Probe, Subject, choice, paths

if TYPE_CHECKING:
    import random


def dtype(subject: Subject, _: random.Random) -> Edited:
    model = subject.copy().to(torch.float64)

    def cast(value: Any) -> Any:
        return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    given = subject.inputs()
    inputs = {k: cast(v) for k, v in given.items()} if isinstance(given, dict) else tuple(map(cast, given))
    return Edited(model, [Line("dtype")], inputs=inputs, allowed="input-dtype")


def frozen(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, subject.of(nn.Linear, nn.Conv2d, nn.LayerNorm, nn.BatchNorm2d, inner=True))
    model = subject.copy()
    probes = [one for one in subject.like(probe) if list(one.module.parameters())]
    for one in probes:
        model.get_submodule(one.path).requires_grad_(requires_grad=False)
    return Edited(model, [Line("frozen", paths(probes), paths(probes))])


def tied(subject: Subject, random_: random.Random) -> Edited:
    found = subject.of(nn.Linear, nn.Embedding, inner=True)
    pairs = [
        (one, other)
        for one in found
        for other in found
        if one.path < other.path and one.module.weight.shape == other.module.weight.shape and _are_apart(one, other)
    ]
    one, other = choice(random_, pairs)
    model = subject.copy()
    model.get_submodule(other.path).weight = model.get_submodule(one.path).weight
    return Edited(model, [Line("tied")], untold=rf"^({one.path}|{other.path})\.weight")


def _are_apart(one: Probe, other: Probe) -> bool:
    return one.module.weight is not other.module.weight


def _with_buffers(subject: Subject) -> list[tuple[str, str]]:
    return [
        (path, name)
        for path, module in subject.original.named_modules()
        for name, value in module.named_buffers(recurse=False)
        if value is not None and path in subject.probes
    ]


def buffer_saved(subject: Subject, random_: random.Random) -> Edited:
    """A buffer that was in the state dict is not in it any more, or the reverse."""
    path, name = choice(random_, _with_buffers(subject))
    model = subject.copy()
    module = model.get_submodule(path)
    key = f"{path}.{name}".lstrip(".")
    if name in module._non_persistent_buffers_set:
        module._non_persistent_buffers_set.discard(name)
        return Edited(model, [Line("weight-added", None, frozenset({path}))])
    module._non_persistent_buffers_set.add(name)
    return Edited(model, [Line("weight-removed", frozenset({path}), None)], {key: None})


def buffer_added(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, [one for one in subject.probes.values() if one.path and list(one.module.children())])
    model = subject.copy()
    model.get_submodule(probe.path).register_buffer("steps_seen", torch.zeros(3))
    return Edited(model, [Line("weight-added", None, frozenset({probe.path}))])


def unused_parameter(subject: Subject, _: random.Random) -> Edited:
    model = subject.copy()
    if hasattr(model, "spare"):
        raise InapplicableError("has it")
    model.spare = nn.Parameter(torch.ones(5))
    return Edited(model, [Line("weight-added", None, frozenset({""}))])


KINDS = {kind.__name__: kind for kind in (dtype, frozen, tied, buffer_saved, buffer_added, unused_parameter)}
