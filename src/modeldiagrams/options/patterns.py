"""Patterns of `expand`, `collapse` and `direction`, and of steps, that match nothing; the viewer finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.errors import OptionError
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.ir.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Collection

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.options import View

__all__ = ["Unmatched", "unmatched"]


class Unmatched(msgspec.Struct, frozen=True, kw_only=True):
    """An option with patterns that match no module and no function; in a step, also no other node."""

    option: str
    patterns: tuple[str, ...]
    hidden: bool = False
    """Whether they match what the author leaves out of the picture."""

    def error(self, graph: Graph, more: Collection[str] = ()) -> OptionError:
        """What to tell the author, with the nearest name of modules and functions, or in `more` where these count."""
        named = ", ".join(map(repr, self.patterns))
        if self.hidden:
            ways = "the option `hide`, or a comment in the code, leaves it out"
            return OptionError(self.option, f"the picture has no {named}: {ways}; show it, or name another part")
        if self.option == "expand" and self.patterns == ("all",):
            return OptionError(self.option, "no module matches 'all'; did you mean '*', which matches all?")
        near = nearest(self.patterns[0], [*_names(graph), *more])
        hint = f"did you mean {near!r}?" if near else "write a path (`encoder.layers.0`), a class, or `*` in them"
        return OptionError(self.option, f"{'nothing' if more else 'no module'} matches {named}; {hint}")


def _names(graph: Graph) -> dict[str, None]:
    names: dict[str, None] = {}
    for node in graph.nodes:
        if isinstance(node, ModuleNode):
            names |= dict.fromkeys((node.path, node.class_.rpartition(".")[2].strip("_"), node.class_))
    for call in graph.functions.values():
        names |= dict.fromkeys((call.name, call.function or call.name))
    return names


def unmatched(graph: Graph, view: View) -> Unmatched | None:
    """The first of the options `expand` and `collapse` with patterns that match no module and no function."""
    for option in ("expand", "collapse"):
        given = getattr(view, option) or ()
        patterns = tuple(one for one in given if not (graph.module_calls(one) or graph.function_calls(one)))
        if patterns:
            return Unmatched(option=option, patterns=patterns)
    return None
