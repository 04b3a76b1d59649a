"""Which documented classes get a diagram without asking for one: the same in every documentation tool.

autodoc imports packages and Griffe reads their sources, so each tool hands over names of base classes and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.common.globs import compile_globs
from modeldiagrams.options.options import is_graph_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["is_module", "is_selected", "names_of", "reference_name"]

_MODULE = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module", "nn.Module"})
"""The last is what a source says whose import of ``nn`` can't be followed."""
_LAYERS = "torch.nn."
_NOT_LAYERS = ("Parameter", "Buffer")
_BASES = frozenset({"LightningModule", "BaseModule"})
_PRETRAINED = "PreTrainedModel"
"""End of the names of transformers' base classes: `BertPreTrainedModel`."""


def is_selected(setting: bool | Sequence[str], name: str) -> bool:  # noqa: FBT001  (as a site's configuration has it)
    """Whether a site wants diagrams of classes with this name.

    Args:
        setting: Yes or no for all classes, or patterns like ``mypkg.models.*``.
        name: The class's full name.
    """
    return setting is True or bool(setting and compile_globs(setting)(name))


def reference_name(diagram: Diagram) -> str:
    """What references call a diagram: the model as its author names it, or the class in a graph file."""
    is_file = is_graph_file(diagram.options.call.model)
    return diagram.graph.model.class_ if diagram.graph and is_file else diagram.options.call.model


def names_of(diagram: Diagram) -> list[str]:
    """What references call a diagram, and other names of its class.

    A page that shows a class by one of them needs no diagram where it documents the class by another. Builds without
    torch know of a snapshot's class only the name that its module defines.
    """
    name = reference_name(diagram)
    defined = diagram.graph.model.class_ if diagram.graph else name
    is_class = defined.rpartition(".")[2] == name.rpartition(".")[2]  # a factory makes a class of another name
    return list(dict.fromkeys([name, *diagram.own_names, *([defined] if is_class else [])]))


def is_module(known: Iterable[str], unknown: Iterable[str]) -> bool:
    """Whether a class is a `torch.nn.Module`.

    Args:
        known: Full names of its direct and indirect base classes whose own bases are among these names, too.
        unknown: Full names of those whose own bases can't be seen, because their library is mocked or not read.
            These are judged by their names.
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
