"""Prints the assumptions about a model as options to paste into documentation."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from modeldiagrams.ir.named_shapes import say_sizes
from modeldiagrams.ir.way_words import list_lines
from modeldiagrams.options.options import Call
from modeldiagrams.options.reading import yaml_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.ir.graph import Graph

__all__ = ["collect_options", "explain"]

_SUBJECT = re.compile(rf"(?P<option>{'|'.join(Call.__struct_fields__)})(\.(?P<name>.+)|\[(?P<position>\d+)\])?")

_MOST_LINES = 30
_MOST_REASONS = 7
_FEWEST_REASONS = 3
_FEWEST_TRIES = 2
_MOST_SIDES = 4
_OTHERS = 2 + 1 + _FEWEST_TRIES
"""Lines around the reasons, and lines of tries."""


def collect_options(call: Call, graph: Graph) -> dict[str, Any]:
    """Complete the author's options with the assumptions.

    Args:
        call: The author's options.
        graph: The traced graph; the values of its assumptions are YAML.

    Returns:
        Plain values by option name, `model` first. They give the same graph without any assumption.
    """
    given = msgspec.structs.replace(call, vocabulary=None)  # its effect is among the assumptions
    found = {name: value for name, value in msgspec.structs.asdict(given).items() if value is not None}
    if isinstance(call.cases, dict):
        found["cases"] = msgspec.to_builtins(call.cases)
    inside: dict[str, dict[str | int, Any]] = {}
    for item in graph.assumptions:
        match = _SUBJECT.fullmatch(item.subject)
        if match is None:
            continue
        option, value = match["option"], yaml.safe_load(item.value)
        if match["name"] or match["position"]:
            inside.setdefault(option, {})[match["name"] or int(match["position"])] = value
        else:
            found[option] = value
    return {**found, **{option: _by_position(values) for option, values in inside.items()}}


def _by_position(values: dict[str | int, Any]) -> dict[str | int, Any] | list[Any]:
    """Turn a dict into a list if all keys are positions."""
    return values if any(isinstance(key, str) for key in values) else [values[key] for key in sorted(values, key=int)]


def explain(call: Call, graph: Graph, tried: Iterable[str]) -> str:
    """Format the rules used, options to paste, and the log of tries.

    Args:
        call: The author's options.
        graph: The traced graph.
        tried: The passes of the search for inputs, one line each.
    """
    rules = [f"{item.value}: {item.reason}" for item in graph.assumptions if item.subject == "rule"]
    found = {name: _format_value(value) for name, value in collect_options(call, graph).items()}
    model = found.pop("model")
    rst = [f".. model-graph:: {model}", *(f"   :{name}: {value}" for name, value in found.items())]
    markdown = ["```model-graph", f"model: {model}", *(f"{name}: {value}" for name, value in found.items()), "```"]
    flags = (f"--{name.replace('_', '-')} {shlex.quote(value)}" for name, value in found.items())
    parts = {
        "Rule": rules or ["1 (explicit options): nothing was assumed"],
        "Why": _list_reasons(graph),
        "reStructuredText": rst,
        "Markdown": markdown,
        "Command line": [" ".join(["modeldiagrams show", shlex.quote(model), *flags])],
        "Sizes": _list_sizes(graph),
        "Left out": list_lines(graph, _MOST_SIDES),
        "Note": [*graph.status.notes] if graph.status.state == "hierarchy" else [],
    }
    used = sum(len(lines) + 2 for title, lines in parts.items() if lines and title != "Why")
    parts["Why"] = _shorten(parts["Why"], max(_FEWEST_REASONS, min(_MOST_REASONS, _MOST_LINES - used - _OTHERS)))
    used += len(parts["Why"]) + 2 if parts["Why"] else 0
    parts["Tried"] = _shorten([*tried], max(_FEWEST_TRIES, _MOST_LINES - used - 1))
    blocks = ("\n".join([f"{title}:", *(f"  {line}" for line in lines)]) for title, lines in parts.items() if lines)
    return "\n\n".join(blocks)


def _list_sizes(graph: Graph) -> list[str]:
    """What sizes of the inputs are called, and why some have no name."""
    return [*filter(None, [say_sizes(graph)]), *(graph.sizes.notes if graph.sizes else ())]


def _list_reasons(graph: Graph) -> list[str]:
    """Return one line for each reason, with everything it applies to."""
    subjects: dict[str, list[str]] = {}
    for item in graph.assumptions:
        if item.subject != "rule":
            subjects.setdefault(item.reason, []).append(item.subject)
    return [f"{', '.join(named)}: {reason}" for reason, named in subjects.items()]


def _shorten(lines: list[str], most: int) -> list[str]:
    """Keep the first and the last lines, which are the most informative ones of a search."""
    if len(lines) <= most:
        return lines
    last = most // 2
    first = most - 1 - last
    return [*lines[:first], f"… {len(lines) - first - last} more", *lines[len(lines) - last :]]


def _format_value(value: Any) -> str:
    """Format plain data as YAML on one line; text stays unchanged."""
    return value if isinstance(value, str) else yaml_line(value)
