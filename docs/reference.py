"""Generates references from the code, so that they can't go stale. Pages name these functions in a comment."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_type_hints

import click
import griffe
import yaml

from modeldiagrams.cli import main
from modeldiagrams.options.catalogue import CatalogueOptions
from modeldiagrams.options.options import GROUPS
from modeldiagrams.options.parsing import collect_help, list_options
from modeldiagrams.options.settings import list_setting_help
from modeldiagrams.render.assets import find_asset

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SOURCES = Path(__file__).parent.parent / "src"
NAMES = SOURCES / "modeldiagrams" / "resolve" / "names" / "names.yaml"
SUBJECTS = {
    "pictures": (
        *("trace", "diagram", "notebook", "to_svg", "to_html", "to_png", "to_pdf"),
        *("api.notebook.ModelDiagram", "Options"),
    ),
    "graphs": (
        *("snapshot", "engine.snapshots.SnapshotReport", "catalogue"),
        *("load", "save", "structural_digest", "summary", "describe", "cost"),
        *("to_pandas", "to_mermaid", "to_dot", "to_networkx"),
        *("Graph", "ir.queries.Connection", "ir.queries.ModuleRow", "api.summary.ModelSummary", "api.cost.CostTable"),
    ),
    "comparing": ("diff", "Difference", "engine.compare.change_list.Change", "engine.compare.change_list.Checkpoints"),
    "trainings": (
        *("watch", "load_recording", "watching.recorder.watcher.Watcher", "Recording"),
        *(f"watching.file.records.{name}" for name in ("Anomaly", "Key", "Moment", "Row")),
        "watching.file.histogram.Histogram",
    ),
    "overlays": ("annotate", "Overlay"),
    "errors": (
        *("ModelDiagramsError", "GraphError", "OptionError", "RecordingError"),
        *("RenderError", "TargetError", "WorkerError"),
    ),
}
"""What each page of the Python API describes: public names, and paths of classes that their results have."""


def options() -> str:
    """List the options of a diagram, by group."""
    help_ = collect_help()
    return "\n\n".join(
        f"## {group.name.capitalize()}\n\n{group.type.__doc__}\n\n"
        + _format_entries({name: help_[name] for name in list_options(group.type)})
        for group in GROUPS
    )


def catalogue() -> str:
    """List the options that only catalogues have."""
    hints = get_type_hints(CatalogueOptions, include_extras=True).items()
    help_ = {name.replace("_", "-"): hint.__metadata__[0].description for name, hint in hints if name != "values"}
    return _format_entries(help_)


def settings() -> str:
    """List the settings of a site."""
    return _format_entries(list_setting_help())


def _format_entries(help_: Mapping[str, str]) -> str:
    return "\n\n".join(f"### `{name}`\n\n{text}" for name, text in help_.items())


def commands() -> str:
    """List the commands with their parameters, as in ``--help``."""
    with click.Context(main, info_name="modeldiagrams") as parent:
        return "\n\n".join(
            _describe_command(command, click.Context(command, info_name=name, parent=parent))
            for name, command in ((name, main.get_command(parent, name)) for name in main.list_commands(parent))
            if command
        )


def _describe_command(command: click.Command, context: click.Context) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    records = filter(None, (parameter.get_help_record(context) for parameter in command.get_params(context)))
    return "\n\n".join(
        [
            f"## `{context.command_path}`",
            f"```text\n{usage}\n```",
            inspect.cleandoc(command.help or ""),
            *(f"`{option}`\n:   {text}" for option, text in records if text),
        ]
    )


def hues() -> str:
    """List the custom properties of layer families with their defaults, from the built style sheet."""
    found = dict(re.findall(r"var\((--mg-hue-\w+), ?(#\w+)\)", find_asset("model-graph.css").read_text("utf-8")))
    rows = (f"| `{name}` | `{colour}` |" for name, colour in found.items())
    return "\n".join(["| Property | Default |", "|---|---|", *rows])


def names() -> str:
    """What names of parameters mean to the rules that find arguments and inputs."""
    table = yaml.safe_load(NAMES.read_text("utf-8"))
    sections = {"Parameters of `forward`": "forward_parameters", "Parameters of constructors": "constructor_parameters"}
    parts = []
    for title, key in sections.items():
        parts.append(f"## {title}")
        for row in table[key]:
            value = row.get("role", json.dumps(row.get("value")))
            parts.append(f"{value}\n:   " + ", ".join(f"`{pattern}`" for pattern in row["names"]))
    return "\n\n".join(parts)


def python(subject: str) -> str:
    """List public names of one subject with their signatures and docstrings, without importing anything."""
    package = griffe.load("modeldiagrams", search_paths=[SOURCES], docstring_parser="google", resolve_aliases=True)
    described = {name for names in SUBJECTS.values() for name in names if "." not in name}
    if described != {str(name).strip("'\"") for name in package.exports or ()} - {"__version__"}:
        raise ValueError("docs/reference.py: `SUBJECTS` needs each public name of `modeldiagrams`, and no other")
    items = [package[name] for name in SUBJECTS[subject]]
    return "\n\n".join(part for item in items for part in _describe(item, "##"))


def _describe(item: griffe.Object | griffe.Alias, heading: str) -> Iterator[str]:
    """Describe a function, or a class with its public methods."""
    yield f"{heading} `{item.path.removeprefix(f'{item.module.path}.')}`"
    if item.is_function:
        yield f"```python\n{_format_signature(item)}\n```"
    for section in item.docstring.parsed if item.docstring else ():
        if section.kind is griffe.DocstringSectionKind.text:
            yield inspect.cleandoc(section.value)
        else:
            yield f"**{section.kind.value.capitalize()}**"
            yield "\n\n".join(_format_fields(section.value))
    for method in item.all_members.values() if item.is_class else ():
        if method.is_function and method.is_public and not method.is_special:
            yield from _describe(method, "###")


def _format_signature(function: griffe.Object | griffe.Alias) -> str:
    """Format a signature with the line breaks of ruff."""
    command = [sys.executable, "-m", "ruff", "format", "--line-length", "80", "-"]
    source = f"def {function.signature()}: ..."
    formatted = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    return formatted.strip().removeprefix("def ").removesuffix(": ...")


def _format_fields(fields: Iterable[griffe.DocstringElement]) -> Iterator[str]:
    """Yield one definition for each parameter, attribute, returned value or exception."""
    for field in fields:
        head = getattr(field, "name", "") or str(field.annotation or "")
        lines = inspect.cleandoc(field.description).replace("\n", "\n    ")
        yield f"`{head}`\n:   {lines}"
