"""The commands `ask` and `mcp`."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import click

from modeldiagrams.api.graph_files import load_graph_file
from modeldiagrams.api.questions import find_nodes, find_path, find_uses, list_changes_since, list_costs
from modeldiagrams.api.terminal import CommandError, echo, report_errors
from modeldiagrams.cli.flags import GRAPH_FILE

__all__ = ["ask_command", "mcp_command"]

_WORDS = {
    "find": ("PATTERN",),
    "path": ("SOURCE", "TARGET"),
    "uses": ("WEIGHT",),
    "costs": ("[DEPTH]",),
    "changes": ("BEFORE",),
}


@click.command("ask")
@click.argument("graph", type=GRAPH_FILE)
@click.argument("question", type=click.Choice([*_WORDS]))
@click.argument("words", nargs=-1)
def ask_command(graph: Path, question: str, words: tuple[str, ...]) -> None:
    """Answer a question about a graph file as JSON.

    \b
    find PATTERN        nodes that a pattern matches
    path SOURCE TARGET  what lies between two nodes
    uses WEIGHT         ops and modules that use a parameter or buffer
    costs [DEPTH]       parameters, FLOPs and activations by module
    changes BEFORE      what changed since an earlier graph file

    The exit status is 1 if nothing is found, and for `changes` if there are any.
    """  # noqa: D301  (click's sign for lines to keep)
    with report_errors():
        expected = _WORDS[question]
        least = sum(not word.startswith("[") for word in expected)
        if not least <= len(words) <= len(expected):
            raise CommandError(f"expected `ask GRAPH {question} {' '.join(expected)}`, got {len(words)} words")
        found, is_positive = _answer(graph, question, words)
        echo(json.dumps(found, indent=1, ensure_ascii=False))
    sys.exit(0 if is_positive else 1)


def _answer(file: Path, question: str, words: tuple[str, ...]) -> tuple[dict[str, Any], bool]:
    """Return the answer, and whether the exit status is 0."""
    graph = load_graph_file(file)
    if question == "find":
        found = find_nodes(graph, words[0])
        return found, bool(found["nodes"])
    if question == "path":
        found = find_path(graph, *words)
        return found, bool(found["between"])
    if question == "uses":
        found = find_uses(graph, words[0])
        return found, bool(found["ops"])
    if question == "costs":
        if words and not words[0].isdecimal():
            raise CommandError(f"expected a number of module levels, got {words[0]!r}")
        return list_costs(graph, int(words[0]) if words else None), True
    found = list_changes_since(load_graph_file(Path(words[0])), graph)
    return found, bool(found["same"])


@click.command("mcp")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def mcp_command(folder: Path) -> None:
    """Serve the graphs in a folder to AI agents, by the Model Context Protocol on stdin and stdout.

    FOLDER has graph files, such as the `model-graphs` of a documentation or the `modeldiagrams` folder of a built site.
    Nothing is written, and no model runs. Needs `pip install "modeldiagrams[mcp]"`.
    """
    with report_errors():
        try:
            server = importlib.import_module("modeldiagrams.api.agent_server")
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("mcp"):
                raise
            raise CommandError('the MCP server needs the package mcp: pip install "modeldiagrams[mcp]"') from error
        server.make_server(folder).run("stdio")
