"""Patterns of `expand`, `collapse` and `direction` that match no module; the viewer finds them when it draws."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.errors import OptionError
from modeldiagrams.ir.graph import ModuleNode

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Graph

__all__ = ["Unmatched"]


class Unmatched(msgspec.Struct, frozen=True, kw_only=True):
    """An option with patterns that match no module."""

    option: str
    patterns: tuple[str, ...]

    def error(self, graph: Graph) -> OptionError:
        """What to tell the author, with the nearest name in the graph."""
        names: dict[str, None] = {}
        for node in graph.nodes:
            if isinstance(node, ModuleNode):
                names |= dict.fromkeys((node.path, node.class_.rpartition(".")[2].strip("_"), node.class_))
        near = difflib.get_close_matches(self.patterns[0], names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "write a path (`encoder.layers.0`), a class, or `*` in them"
        return OptionError(self.option, f"no module matches {', '.join(map(repr, self.patterns))}; {hint}")
