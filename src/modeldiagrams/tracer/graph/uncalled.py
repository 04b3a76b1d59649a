"""Finds the registered modules that a pass left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from modeldiagrams.common.class_facts import get_full_name
from modeldiagrams.ir.ways import UncalledModule
from modeldiagrams.tracer.torch_facts.private_api import class_of, modules_of, own_modules, own_parameters
from modeldiagrams.tracer.values.pass_records import GraphInput, ModuleCall, Op

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.tracer.values.named_tensors import NamedTensors
    from modeldiagrams.tracer.values.pass_records import PassRecord

_CONTAINERS = (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)
"""Classes that hold modules or weights; one that holds nothing has nothing to run."""


def find_uncalled(root: nn.Module, recording: PassRecord, weights: NamedTensors) -> tuple[UncalledModule, ...]:
    """Find the outermost modules of which nothing was called and no weight was used, in the order of registration."""
    modules = modules_of(root)
    called = {id(call.module) for call in (recording.root, *recording.steps) if type(call) is ModuleCall}
    ran = _paths_around(path for path, module in modules if id(module) in called) | _paths_of_weights(recording)
    scripted = tuple(f"{path}." for path, module in modules if _is_script(module) and id(module) in called)
    ran_modules = {id(module) for path, module in modules if path in ran}  # some have several paths
    found: list[UncalledModule] = []
    listed: dict[int, str] = {}
    """``id`` of each uncalled module → its first path."""
    for path, module in modules:
        is_empty = isinstance(module, _CONTAINERS) and not (own_modules(module) or own_parameters(module))
        if not path or id(module) in ran_modules or id(module) in listed or path.startswith(scripted) or is_empty:
            continue
        if _paths_around([path]).isdisjoint(listed.values()):
            class_ = get_full_name(class_of(module))
            found.append(UncalledModule(path=path, class_=class_, parameters=weights.count(module)))
        listed[id(module)] = path
    return tuple(found)


def _is_script(module: Any) -> bool:
    """Whether the calls inside a module are not recorded."""
    return isinstance(module, torch.jit.ScriptModule)


def _paths_of_weights(recording: PassRecord) -> set[str]:
    """The paths of the modules whose weights ops used, and of those around them."""
    origins = {id(value.origin): value.origin for op in recording.steps if type(op) is Op for _, value, _ in op.inputs}
    names = [name for origin in origins.values() if type(origin) is GraphInput for name in origin.names]
    return _paths_around(name.rpartition(".")[0] for name in names)


def _paths_around(paths: Iterable[str]) -> set[str]:
    """Paths and those of the modules around them."""
    found: set[str] = set()
    for inner in paths:
        path = inner
        while path and path not in found:
            found.add(path)
            path = path.rpartition(".")[0]
    return found
