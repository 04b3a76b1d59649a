"""Reports patterns of `expand`, `collapse`, `direction` and steps that match nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.common.globs import compile_globs
from modeldiagrams.errors import OptionError
from modeldiagrams.ir.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Collection

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.options import View

__all__ = ["Unmatched", "find_unmatched"]


class Unmatched(msgspec.Struct, frozen=True, kw_only=True):
    """An option whose patterns match no module or function; in a step, no node at all."""

    option: str
    patterns: tuple[str, ...]
    hidden: bool = False
    """Whether they only match nodes that the author hides."""

    def error(self, graph: Graph, more: Collection[str] = ()) -> OptionError:
        """Build the error, with the nearest name of modules and functions, and of `more`."""
        named = ", ".join(map(repr, self.patterns))
        if self.hidden:
            text = f"the picture has no {named}: the option `hide` leaves it out; show it, or name another part"
            return OptionError(self.option, text)
        if self.option == "expand" and self.patterns == ("all",):
            return OptionError(self.option, "no module matches 'all'; did you mean '*', which matches all?")
        near = nearest(self.patterns[0], [*graph.call_names, *more])
        hint = f"did you mean {near!r}?" if near else "write a path (`encoder.layers.0`), a class, or `*` in them"
        return OptionError(self.option, f"{'nothing' if more else 'no module'} matches {named}; {hint}")


def find_unmatched(graph: Graph, view: View, groups: Collection[str] = ()) -> Unmatched | None:
    """Find the first option with patterns that match no module and no function.

    Args:
        graph: Where to look.
        view: The options.
        groups: Names of the author's groups, which patterns also match.
    """
    directions = view.direction if isinstance(view.direction, dict) else {}
    asked = {
        "expand": view.expand or (),
        "collapse": view.collapse or (),
        # `*` also matches the model itself
        "direction": [pattern for pattern in directions if pattern != "*"],
    }
    for option, given in asked.items():
        patterns = tuple(
            one
            for one in given
            if not graph.module_calls(one)
            and not graph.function_calls(one)
            and not any(map(compile_globs([one]), groups))
        )
        if patterns:
            return Unmatched(option=option, patterns=patterns)
    return None
