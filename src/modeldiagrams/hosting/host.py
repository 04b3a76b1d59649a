"""Turns an author's text into a diagram or a warning, for every documentation tool."""

from __future__ import annotations

import contextlib
import itertools
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.engine.diagram import Diagram, Problem
from modeldiagrams.engine.diagram_ids import make_distinct
from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.hosting.code_lines import find_code_lines
from modeldiagrams.hosting.mentions import find_mentions
from modeldiagrams.hosting.reports import is_left_out, list_accepted_problems
from modeldiagrams.hosting.source_links import build_url_templates
from modeldiagrams.ir.graph import Graph, ModuleNode
from modeldiagrams.ir.samples import SAMPLE
from modeldiagrams.options.options import Compare, Figure, is_graph_file
from modeldiagrams.options.parsing import collect_help, list_options, parse_option, parse_options
from modeldiagrams.options.reading import read_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.hosting.host_protocol import Host
    from modeldiagrams.options.settings import Settings

__all__ = [
    "UNKNOWN",
    "draw",
    "list_link_names",
    "list_module_classes",
    "prefetch",
]

UNKNOWN = "?"
"""Stands for the model of a diagram that names none."""

_LAYERS = "torch.nn.modules."


def draw(  # noqa: PLR0913  (an author's text has several parts)
    host: Host,
    values: Mapping[str, Any],
    body: str,
    *,
    requested: bool = True,
    compares: bool = False,
    notes: Mapping[str, str] = MappingProxyType({}),
    steps: Sequence[Mapping[str, Any]] | None = None,
) -> Diagram:
    """Build a diagram from an author's text; mistakes become its problem and are not raised.

    Args:
        host: The documentation tool.
        values: Option name → value.
        body: More options, as YAML or as one line that names the model.
        requested: False for a diagram that the site added to a documented class.
        compares: Whether it compares two versions of the model.
        notes: Pattern → text of the notes that are written outside the options.
        steps: The options of each step of a tour; None for other diagrams.

    Returns:
        The diagram; if its options are wrong, it only has a problem of kind ``option``.
    """
    merged = dict(values)
    try:
        merged |= read_body(body)
        _locate_files(merged, host)
        _check_site(merged)
        _check_versions(merged, compares=compares)
        if notes:
            merged["notes"] = {**(parse_option("notes", merged.get("notes")) or {}), **notes}
        _add_steps(merged, steps)
        merged |= {"static": True} if host.settings.static_only else {}
        options = parse_options(merged, host.settings.options)
    except ModelDiagramsError as error:
        return _build_refused(merged, error)
    diagram = host.builder.build(options, list_accepted_problems(options, host.settings, requested=requested))
    if host.builder.output:
        host.inform(f"{options.call.model} printed:\n{host.builder.output}")
    if is_left_out(diagram, requested=requested):
        host.builder.note_left_out(options)
    return _add_code(diagram, host)


def _locate_files(merged: dict[str, Any], host: Host) -> None:
    """Replace the files that options name, as the author wrote them, by their paths."""
    for name in ("model", "before", "after"):
        if is_graph_file(file := merged.get(name)) and ":" not in file:
            merged[name] = host.graph_file(parse_option(name, file))
    if "recording" in merged:
        merged["recording"] = [host.graph_file(file) for file in parse_option("recording", merged["recording"])]
    if "values" in merged:
        given = parse_option("values", merged["values"])
        merged["values"] = [host.graph_file(one) if isinstance(one, str) and one != SAMPLE else one for one in given]
    if "embed" in merged:
        merged["embed"] = {
            at: {**one, "image": host.graph_file(one["image"])}
            for at, one in parse_option("embed", merged["embed"]).items()
        }


def _add_code(diagram: Diagram, host: Host) -> Diagram:
    """Add links to the model's code and lines of it if the site names a repository."""
    link = build_url_templates(host.settings, diagram, host.builder.folder)
    if link is None:
        return diagram
    return msgspec.structs.replace(diagram, source_link=link, code=find_code_lines(diagram, link))


def _check_site(values: Mapping[str, Any]) -> None:
    """Refuse a palette: colours belong to the site's style sheet."""
    if "palette" in values:
        text = "belongs to the whole site: write it in the setting `defaults`"
        raise OptionError("palette", f"{text}; to colour some nodes differently, there is `kind`")


def _check_versions(values: Mapping[str, Any], *, compares: bool) -> None:
    """Refuse options of comparisons elsewhere, and comparisons without an earlier version."""
    given = [name for name in list_options(Compare) if name in values]
    if compares and "before" not in given:
        raise OptionError("before", f"missing. {collect_help()['before']}")
    if given and not compares:
        raise OptionError(given[0], "belongs to `model-diff`, which compares two versions of a model")


def _add_steps(values: dict[str, Any], steps: Sequence[Mapping[str, Any]] | None) -> None:
    """Add the steps of a tour; refuse them as an option."""
    if "steps" in values:
        raise OptionError("steps", "belongs to `model-tour`, which has a `tour-step` with prose for each")
    if steps is not None:
        if not steps:
            raise OptionError("steps", "missing: expected at least one `tour-step` inside the tour")
        values["steps"] = [*steps]


def prefetch(builder: DiagramBuilder, settings: Settings, pages: Iterable[str]) -> None:
    """Run the models of many pages in parallel, before the first page needs its diagram.

    Args:
        builder: Traces the models.
        settings: The site's settings.
        pages: The texts of the pages, in order.
    """
    wanted = []
    for values, body in itertools.chain.from_iterable(map(find_mentions, pages)):
        # reported when the page is converted
        with contextlib.suppress(ModelDiagramsError):
            merged = {**values, **read_body(body)}
            if not is_graph_file(merged.get("model")):
                wanted.append(parse_options(merged, settings.options))
    builder.prefetch(wanted)


def _build_refused(values: Mapping[str, Any], error: ModelDiagramsError) -> Diagram:
    """Build a diagram that only says what is wrong with its options; pages may still refer to its figure."""
    kept: dict[str, Any] = {"model": UNKNOWN}
    # `nowarn` is about models; without `no-index`, references lead to the message
    for name in {"model", *list_options(Figure)} - {"nowarn", "no-index"}:
        with contextlib.suppress(OptionError):
            kept |= {name: parse_option(name, values[name])} if name in values else {}
    options = parse_options(kept)
    content = repr(sorted((str(name), repr(value)) for name, value in values.items()))
    name = re.sub(r"[^\w.-]+", "-", options.call.model)
    return Diagram(
        id=make_distinct(name, content),
        options=options,
        problem=Problem(kind="option", message=str(error)),
    )


def list_module_classes(graph: Graph) -> list[str]:
    """List the fully qualified names of all module classes, in order of first use."""
    return list(dict.fromkeys(node.class_ for node in graph.nodes if isinstance(node, ModuleNode)))


def list_link_names(diagram: Diagram, class_name: str) -> list[str]:
    """List the names a class may be documented under, most exact first.

    Packages document what they re-export. So other names follow, of which the worker knows that they are this class.
    PyTorch's inventory has ``torch.nn.Linear`` instead of ``torch.nn.modules.linear.Linear``.
    """
    names = [class_name, *diagram.names.get(class_name, ())]
    if class_name.startswith(_LAYERS):
        names.append(f"torch.nn.{class_name.rpartition('.')[2]}")
    return names
