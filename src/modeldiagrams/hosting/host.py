"""From an author's text to a diagram or a warning: what is the same in every documentation tool."""

from __future__ import annotations

import contextlib
import itertools
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import msgspec

from modeldiagrams.engine.diagram import Diagram, Kind, Problem
from modeldiagrams.engine.ids import distinct
from modeldiagrams.engine.problems import in_words
from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.hosting.code_lines import code_lines
from modeldiagrams.hosting.mentions import mentions
from modeldiagrams.hosting.source_links import url_templates
from modeldiagrams.ir.graph import Graph, ModuleNode
from modeldiagrams.options.options import Compare, Figure, is_graph_file
from modeldiagrams.options.parsing import option_help, option_names, parse_option, parse_options
from modeldiagrams.options.reading import read_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.options.options import Options
    from modeldiagrams.options.settings import Settings

__all__ = [
    "UNKNOWN",
    "Host",
    "Severity",
    "accepted_problems",
    "describe",
    "draw",
    "is_left_out",
    "link_names",
    "module_classes",
    "prefetch",
    "severity",
    "unfound_in_steps",
]

UNKNOWN = "?"
"""The model of a diagram that names none."""

Severity = Literal["info", "warning", "error"]

_EXPECTED = frozenset({"model", "inputs"})
"""Kinds of problems that are normal for a documented class whose author asked for no diagram: it may be abstract."""

_LAYERS = "torch.nn.modules."


class Host(Protocol):
    """What a documentation tool provides."""

    @property
    def builder(self) -> DiagramBuilder:
        """Traces and draws."""

    @property
    def settings(self) -> Settings:
        """The site's."""

    def graph_file(self, path: str) -> str:
        """The path of a graph file as an author wrote it → relative to the builder's folder."""

    def inform(self, message: str) -> None:
        """Show a message to those who build the site verbosely."""


def draw(  # noqa: PLR0913  (what an author writes comes in several parts)
    host: Host,
    values: Mapping[str, Any],
    body: str,
    *,
    requested: bool = True,
    compares: bool = False,
    notes: Mapping[str, str] = MappingProxyType({}),
    steps: Sequence[Mapping[str, Any]] | None = None,
) -> Diagram:
    """Build a diagram from what an author wrote; mistakes become its problem and are not raised.

    Args:
        host: The documentation tool.
        values: Option name → value.
        body: More options, as YAML or as one line that names the model.
        requested: False for a diagram that a site adds to a documented class.
        compares: Whether it shows what changed between two versions of the model.
        notes: Pattern → text of notes that stand beside the options.
        steps: What each step of a tour shows; None for other diagrams.

    Returns:
        The diagram; if its options are wrong it has nothing but a problem of kind ``option``.
    """
    merged = dict(values)
    try:
        merged |= read_body(body)
        for name in ("model", "before", "after"):
            if is_graph_file(file := merged.get(name)) and ":" not in file:
                merged[name] = host.graph_file(parse_option(name, file))
        if "recording" in merged:
            merged["recording"] = [host.graph_file(file) for file in parse_option("recording", merged["recording"])]
        if "embed" in merged:
            merged["embed"] = {
                at: {**one, "image": host.graph_file(one["image"])}
                for at, one in parse_option("embed", merged["embed"]).items()
            }
        _check_site(merged)
        _check_versions(merged, compares=compares)
        if notes:
            merged["notes"] = {**(parse_option("notes", merged.get("notes")) or {}), **notes}
        _add_steps(merged, steps)
        merged |= {"static": True} if host.settings.static_only else {}
        options = parse_options(merged, host.settings.options)
    except ModelDiagramsError as error:
        return _refused(merged, error)
    diagram = host.builder.build(options, accepted_problems(options, host.settings, requested=requested))
    if host.builder.output:
        host.inform(f"{options.call.model} printed:\n{host.builder.output}")
    if is_left_out(diagram, requested=requested):
        host.builder.note_left_out(options)
    return _with_code(diagram, host)


def _with_code(diagram: Diagram, host: Host) -> Diagram:
    """The diagram with links to its code and lines of it, where the site has a repository."""
    link = url_templates(host.settings, diagram, host.builder.folder)
    if link is None:
        return diagram
    return msgspec.structs.replace(diagram, source_link=link, code=code_lines(diagram, link))


def _check_site(values: Mapping[str, Any]) -> None:
    """Colours belong to the site, whose style sheet has them."""
    if "palette" in values:
        text = "belongs to the whole site: write it in the setting `defaults`"
        raise OptionError("palette", f"{text}; to colour some nodes differently, there is `kind`")


def _check_versions(values: Mapping[str, Any], *, compares: bool) -> None:
    """Options of comparisons belong to comparisons."""
    given = [name for name in option_names(Compare) if name in values]
    if compares and "before" not in given:
        raise OptionError("before", f"missing. {option_help()['before']}")
    if given and not compares:
        raise OptionError(given[0], "belongs to `model-diff`, which shows what changed between two versions of a model")


def _add_steps(values: dict[str, Any], steps: Sequence[Mapping[str, Any]] | None) -> None:
    """Steps belong to tours, and are written with their prose."""
    if "steps" in values:
        raise OptionError("steps", "belongs to `model-tour`, which has a `tour-step` with prose for each")
    if steps is not None:
        if not steps:
            raise OptionError("steps", "missing: expected at least one `tour-step` inside the tour")
        values["steps"] = [*steps]


def unfound_in_steps(diagram: Diagram) -> Iterator[tuple[int, OptionError]]:
    """Steps of a tour, from 0, that do not show what they ask for, and what to tell the author."""
    asked = diagram.options.tour.steps or ()
    for index, (step, wanted) in enumerate(zip(diagram.picture.steps if diagram.picture else (), asked, strict=False)):
        if step.unfound and diagram.graph:
            yield index, step.unfound.error(diagram.graph, _other_names(diagram))
        elif wanted.alone and step.state.get("root") is None:
            message = f"{wanted.alone!r} cannot be the whole picture; expected a module or function that holds several"
            yield index, OptionError("alone", message)
        elif wanted.lens != step.lens:
            message = "the graph has no times of ops; trace the model with the option `measure_time`"
            yield index, OptionError("lens", message)


def _other_names(diagram: Diagram) -> list[str]:
    """What steps may name besides modules and functions: other nodes, and groups."""
    names = [*diagram.graph.other_names.values()] if diagram.graph else []
    groups = [group.name for group in diagram.overlay.groups] if diagram.overlay else []
    return [*dict.fromkeys([*itertools.chain.from_iterable(names), *groups])]


def prefetch(builder: DiagramBuilder, settings: Settings, pages: Iterable[str]) -> None:
    """Run the models of many pages at the same time, before the first page asks for its diagram.

    Args:
        builder: Traces them.
        settings: The site's.
        pages: Their texts, in order.
    """
    wanted = []
    for values, body in itertools.chain.from_iterable(map(mentions, pages)):
        # whoever converts the page reports it
        with contextlib.suppress(ModelDiagramsError):
            merged = {**values, **read_body(body)}
            if not is_graph_file(merged.get("model")):
                wanted.append(parse_options(merged, settings.options))
    builder.prefetch(wanted)


def _refused(values: Mapping[str, Any], error: ModelDiagramsError) -> Diagram:
    """A diagram that only says what is wrong with its options; its figure stays, because pages may refer to it."""
    kept: dict[str, Any] = {"model": UNKNOWN}
    # `nowarn` is about models; without `no-index` references lead to the note
    for name in {"model", *option_names(Figure)} - {"nowarn", "no-index"}:
        with contextlib.suppress(OptionError):
            kept |= {name: parse_option(name, values[name])} if name in values else {}
    options = parse_options(kept)
    content = repr(sorted((str(name), repr(value)) for name, value in values.items()))
    name = re.sub(r"[^\w.-]+", "-", options.call.model)
    return Diagram(
        id=distinct(name, content),
        options=options,
        problem=Problem(kind="option", message=str(error)),
    )


def accepted_problems(options: Options, settings: Settings, *, requested: bool = True) -> frozenset[str]:
    """Kinds of problems that a diagram may have without a warning.

    Args:
        options: The diagram's.
        settings: The site's.
        requested: As in `draw`.
    """
    if options.figure.nowarn or settings.on_error == "placeholder":
        return frozenset(get_args(Kind))
    return frozenset() if requested else _EXPECTED


def severity(diagram: Diagram, settings: Settings, *, requested: bool = True) -> Severity | None:
    """How to report a diagram's problem; None if it has none.

    Args:
        diagram: Just drawn.
        settings: The site's.
        requested: As in `draw`.
    """
    if diagram.problem is None:
        return None
    if diagram.problem.kind in accepted_problems(diagram.options, settings, requested=requested):
        return "info"
    return "error" if settings.on_error == "raise" else "warning"


def is_left_out(diagram: Diagram, *, requested: bool) -> bool:
    """Whether a page does without a diagram: the site added it to a class of which there is nothing to show."""
    is_empty = diagram.graph is None or not diagram.graph.nodes
    return not requested and is_empty and diagram.problem is not None and diagram.problem.kind in _EXPECTED


def describe(problem: Problem) -> str:
    """A problem as one warning of a build: what happened, and where in user code."""
    return f"model-graph: {in_words(problem)}"


def module_classes(graph: Graph) -> list[str]:
    """Fully qualified names of all module classes, in order of first use."""
    return list(dict.fromkeys(node.class_ for node in graph.nodes if isinstance(node, ModuleNode)))


def link_names(diagram: Diagram, class_name: str) -> list[str]:
    """Names a class may be documented under, most exact first.

    Packages document what they re-export, so shorter names follow that the worker found to be of this very class; a
    name that only looks right may be another class's. No inventory has ``torch.nn.modules.linear.Linear``, but
    ``torch.nn.Linear`` is in PyTorch's, and is the same class in every version.
    """
    names = [class_name, *diagram.names.get(class_name, ())]
    if class_name.startswith(_LAYERS):
        names.append(f"torch.nn.{class_name.rpartition('.')[2]}")
    return names
