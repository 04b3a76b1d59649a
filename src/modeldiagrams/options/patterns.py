"""Patterns of `expand`, `collapse` and `direction` that match no module; for pictures, the viewer finds them."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.errors import OptionError
from modeldiagrams.ir.graph import ModuleNode

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.options import View

__all__ = ["Unmatched", "unmatched"]


class Unmatched(msgspec.Struct, frozen=True, kw_only=True):
    """An option with patterns that match no module and no function."""

    option: str
    patterns: tuple[str, ...]

    def error(self, graph: Graph) -> OptionError:
        """What to tell the author, with the nearest name in the graph."""
        names: dict[str, None] = {}
        for node in graph.nodes:
            if isinstance(node, ModuleNode):
                names |= dict.fromkeys((node.path, node.class_.rpartition(".")[2].strip("_"), node.class_))
        for call in graph.functions.values():
            names |= dict.fromkeys((call.name, call.function or call.name))
        near = difflib.get_close_matches(self.patterns[0], names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "write a path (`encoder.layers.0`), a class, or `*` in them"
        return OptionError(self.option, f"no module matches {', '.join(map(repr, self.patterns))}; {hint}")


def unmatched(graph: Graph, view: View) -> Unmatched | None:
    """The first of the options `expand` and `collapse` with patterns that match no module and no function."""
    for option in ("expand", "collapse"):
        given = getattr(view, option) or ()
        patterns = tuple(one for one in given if not (graph.module_calls(one) or graph.function_calls(one)))
        if patterns:
            return Unmatched(option=option, patterns=patterns)
    return None
