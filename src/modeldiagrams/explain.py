"""What was assumed about a model, as options to paste into documentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.graph import Graph
    from modeldiagrams.options import Options

__all__ = ["explain", "found_options"]

_PLACE = re.compile(r"(?P<option>args|kwargs|config|inputs|inputs_from)(\.(?P<name>.+)|\[(?P<position>\d+)\])?")
_WIDTH = 1_000_000


def found_options(options: Options, graph: Graph) -> dict[str, Any]:
    """The options that say all that the author said, and all that was assumed.

    Args:
        options: What the author wrote.
        graph: What became of it; its assumptions are values as an author would write them.

    Returns:
        Option name → plain value, `model` first. With them nothing is left to assume, and the graph is the same.
    """
    names = ("model", "args", "kwargs", "config", "inputs", "inputs_from")
    found = {name: value for name in names if (value := getattr(options, name)) is not None}
    inside: dict[str, dict[str | int, Any]] = {}
    for item in graph.assumptions:
        place = _PLACE.fullmatch(item.subject)
        if place is None:
            continue
        option, value = place["option"], yaml.safe_load(item.value)
        if place["name"] or place["position"]:
            inside.setdefault(option, {})[place["name"] or int(place["position"])] = value
        else:
            found[option] = value
    return {**found, **{option: _by_position(values) for option, values in inside.items()}}


def _by_position(values: dict[str | int, Any]) -> dict[str | int, Any] | list[Any]:
    """A list where nothing has a name."""
    return values if any(isinstance(key, str) for key in values) else [values[key] for key in sorted(values, key=int)]


def explain(options: Options, graph: Graph, tried: Iterable[str]) -> str:
    """Rules, options to paste, and what was tried, for people.

    Args:
        options: What the author wrote.
        graph: What became of it.
        tried: What was tried to find inputs, one line each.
    """
    rules = [f"{item.value}: {item.reason}" for item in graph.assumptions if item.subject == "rule"]
    reasons = [f"{item.subject}: {item.reason}" for item in graph.assumptions if item.subject != "rule"]
    found = {name: _text(value) for name, value in found_options(options, graph).items()}
    model = found.pop("model")
    rst = [f".. model-graph:: {model}", *(f"   :{name}: {value}" for name, value in found.items())]
    markdown = ["```model-graph", f"model: {model}", *(f"{name}: {value}" for name, value in found.items()), "```"]
    parts = {
        "Rule": rules or ["1 (explicit options): nothing was assumed"],
        "Why": reasons,
        "reStructuredText": rst,
        "Markdown": markdown,
        "Tried": [*tried],
        "Note": [*graph.status.notes] if graph.status.state == "hierarchy" else [],
    }
    blocks = ("\n".join([f"{title}:", *(f"  {line}" for line in lines)]) for title, lines in parts.items() if lines)
    return "\n\n".join(blocks)


def _text(value: Any) -> str:
    """Plain data as YAML on one line, and text as it is."""
    if isinstance(value, str):
        return value
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=_WIDTH, allow_unicode=True).strip()
