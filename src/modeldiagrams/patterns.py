"""The patterns of `expand`, `collapse` and `direction`, checked where somebody can be told. The viewer's rule is ours.

A pattern is compared with the whole of a module's path, of its class's name and of its class's full name; ``*`` stands
for anything, dots included, and ``?`` for one character.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from modeldiagrams.errors import OptionError
from modeldiagrams.graph import ModuleNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from modeldiagrams.graph import Graph

__all__ = ["unmatched", "unmatched_in"]

_WILD = {"*": ".*", "?": "."}


def unmatched_in(
    graph: Graph, expand: list[str] | None, collapse: list[str] | None, direction: str | Mapping[str, str] | None
) -> OptionError | None:
    """What to tell the author of a view, of the first option with a pattern that no module matches."""
    turned = () if direction is None or isinstance(direction, str) else [key for key in direction if key != "*"]
    options = {"expand": expand, "collapse": collapse, "direction": turned}
    return next(filter(None, (unmatched(graph, patterns, name) for name, patterns in options.items())), None)


def unmatched(graph: Graph, patterns: Iterable[str] | None, option: str = "expand") -> OptionError | None:
    """What to tell the author of patterns that no module matches; None if each matches one."""
    names: dict[str, None] = {}
    for node in graph.nodes if patterns else ():
        if isinstance(node, ModuleNode):
            names |= dict.fromkeys((node.path, node.class_.rpartition(".")[2].strip("_"), node.class_))
    idle = [pattern for pattern in patterns or () if not any(map(_rule(pattern).fullmatch, names))]
    if not idle:
        return None
    near = difflib.get_close_matches(idle[0], names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "write a path (`encoder.layers.0`), a class, or `*` in them"
    return OptionError(option, f"no module matches {', '.join(map(repr, idle))}; {hint}")


def _rule(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(_WILD.get(character) or re.escape(character) for character in pattern))
