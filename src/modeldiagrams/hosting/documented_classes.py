"""Decides which documented classes get a diagram automatically, for every documentation tool.

autodoc imports packages and Griffe reads their sources, so each tool only passes the names of base classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.common.globs import compile_globs
from modeldiagrams.options.options import is_graph_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["get_reference_name", "is_module", "is_selected", "list_names"]

_MODULE = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module", "nn.Module"})
"""The last is for sources whose import of ``nn`` can't be followed."""
_LAYERS = "torch.nn."
_NOT_LAYERS = ("Parameter", "Buffer")
_BASES = frozenset({"LightningModule", "BaseModule"})
_PRETRAINED = "PreTrainedModel"
"""The names of transformers' base classes end with it: `BertPreTrainedModel`."""


def is_selected(setting: bool | Sequence[str], name: str) -> bool:  # noqa: FBT001  (a site's setting)
    """Whether a site wants diagrams of classes with this name.

    Args:
        setting: True or False for all classes, or patterns like ``mypkg.models.*``.
        name: The class's full name.
    """
    return setting is True or bool(setting and compile_globs(setting)(name))


def get_reference_name(diagram: Diagram) -> str:
    """Return the name that references use: the model as its author names it, or the class in a graph file."""
    call = diagram.options.call
    if call.part:
        return f"{call.model}[{call.part}]"  # not a diagram of the whole model
    return diagram.graph.model.class_ if diagram.graph and is_graph_file(call.model) else call.model


def list_names(diagram: Diagram) -> list[str]:
    """List the name that references use, and the other names of its class.

    A page that shows a class under one of these names needs no second diagram where it documents the class under
    another. Builds without torch only know the name in the module that defines a snapshot's class.
    """
    name = get_reference_name(diagram)
    if diagram.options.call.part:
        return [name]
    defined = diagram.graph.model.class_ if diagram.graph else name
    is_class = defined.rpartition(".")[2] == name.rpartition(".")[2]  # a factory makes a class of another name
    return list(dict.fromkeys([name, *diagram.own_names, *([defined] if is_class else [])]))


def is_module(known: Iterable[str], unknown: Iterable[str]) -> bool:
    """Whether a class is a `torch.nn.Module`.

    Args:
        known: Full names of all its base classes whose own bases are known.
        unknown: Full names of the base classes whose library is mocked or not read; these are judged by name.
    """
    opaque = list(unknown)
    return not _MODULE.isdisjoint([*known, *opaque]) or any(map(_looks_like_module, opaque))


def _looks_like_module(name: str) -> bool:
    if name.startswith(_LAYERS):
        return not name.endswith(_NOT_LAYERS)
    if name.startswith("torch."):
        return name.endswith("Module")  # `torch.jit.ScriptModule`
    last = name.rpartition(".")[2]
    return last in _BASES or last.endswith(_PRETRAINED)
