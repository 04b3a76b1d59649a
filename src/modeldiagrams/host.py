"""What every documentation host needs between an author's text and the engine."""

from __future__ import annotations

import contextlib
import hashlib
import re
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from modeldiagrams.diagrams import Diagram, Maker, Problem
from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.graph import Graph, ModuleNode
from modeldiagrams.options import Options, parse_option, parse_options, read_yaml
from modeldiagrams.page import data_script
from modeldiagrams.worker import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from modeldiagrams.settings import Settings

__all__ = [
    "FOLDER",
    "UNASKED",
    "UNKNOWN",
    "accepted_problems",
    "check_defaults",
    "data_files",
    "describe",
    "draw",
    "figure_classes",
    "in_figure",
    "link_names",
    "module_classes",
    "read_body",
    "refused",
]

FOLDER = "modeldiagrams"
"""The folder of a site that holds viewer and data; no leading underscore, which GitHub Pages would drop."""

UNASKED = frozenset({"model", "inputs"})
"""Kinds of problems that are no news where nobody has asked for the diagram, nor said how to make the model."""

UNKNOWN = "?"
"""The model of a diagram that names none."""

_AROUND = ("caption", "name", "align", "class")
"""Options of the figure around a diagram, which other pages may refer to."""

_LAYERS = "torch.nn.modules."

_OWN = ("model", "name", "caption", "alt")
"""Options that say something about one diagram only."""


def read_body(text: str) -> dict[str, Any]:
    """Read the text inside a fence: options as YAML, or one line that names the model.

    Args:
        text: What the author wrote.

    Returns:
        Option name → value; empty for empty text.

    Raises:
        ModelDiagramsError: if it is neither.
    """
    try:
        body = read_yaml(text)
    except ModelDiagramsError as error:
        raise ModelDiagramsError(f"the body: {error}") from error
    if body is None:
        return {}
    if isinstance(body, str) and len(body.split()) == 1:
        return {"model": body}
    if isinstance(body, dict):
        return {str(name): value for name, value in body.items()}
    raise ModelDiagramsError(
        f"the body is expected to be one line that names the model, or options as YAML (`model: …`), got {text!r}"
    )


def check_defaults(defaults: object) -> None:
    """Check a site's defaults once, so that a mistake there is not reported for every diagram.

    Raises:
        ModelDiagramsError: naming the first wrong one.
    """
    if not isinstance(defaults, dict):
        raise ModelDiagramsError(f"expected options and their values, got {defaults!r}")
    for name in _OWN:
        if name in defaults:
            raise OptionError(name, "has no default: every diagram has its own")
    parse_options({"model": "-"}, defaults)


def draw(maker: Maker, values: Mapping[str, Any], settings: Settings, *, asked: bool = True) -> Diagram:
    """Make a diagram of options as an author wrote them; never raises for what is wrong with them.

    Args:
        maker: Traces and draws.
        values: Option name → value.
        settings: The site's: values for options that are not mentioned, and what is done about problems.
        asked: Whether an author asked for this diagram.

    Returns:
        The diagram; one whose options are wrong has nothing but a problem of kind ``option``.
    """
    try:
        options, written = parse_options(values, settings.options), parse_options(values)
    except OptionError as error:
        return refused(values, error)
    return maker.make(options, written, accepted_problems(options, settings, asked=asked))


def accepted_problems(options: Options, settings: Settings, *, asked: bool = True) -> frozenset[str]:
    """Kinds of problems that a diagram may have without anybody being told.

    Args:
        options: The diagram's.
        settings: The site's.
        asked: Whether an author asked for this diagram.
    """
    if options.nowarn or settings.on_error == "placeholder":
        return frozenset(get_args(Kind))
    return frozenset() if asked else UNASKED


def refused(values: Mapping[str, Any], error: ModelDiagramsError) -> Diagram:
    """The diagram that says what is wrong with its options; figure, caption and anchor stay what they are."""
    around: dict[str, Any] = {"model": UNKNOWN}
    for name in ("model", *_AROUND):
        with contextlib.suppress(OptionError):
            around |= {name: parse_option(name, values[name])} if name in values else {}
    options = parse_options(around)
    content = repr(sorted((str(name), repr(value)) for name, value in values.items()))
    name = re.sub(r"[^\w.-]+", "-", options.model)
    return Diagram(
        id=f"{name}-{hashlib.blake2b(content.encode(), digest_size=4).hexdigest()}",
        options=options,
        problem=Problem(kind="option", message=str(error)),
    )


def describe(problem: Problem) -> str:
    """A problem as one warning of a build: what happened, and where in user code."""
    lines = [f"model-graph: {problem.message.strip()}", *problem.frames]
    return "\n  ".join("\n".join(lines).splitlines())


def module_classes(graph: Graph) -> list[str]:
    """Fully qualified names of all module classes, in order of first use."""
    return list(dict.fromkeys(node.class_ for node in graph.nodes if isinstance(node, ModuleNode)))


def link_names(diagram: Diagram, class_name: str) -> list[str]:
    """Names a class may be documented under, most exact first.

    Packages document what they re-export, so shorter names that the tracing process found to be of this very class
    follow; a name that only looks right may be another class's. ``torch.nn.modules.linear.Linear`` stands in no
    inventory, but ``torch.nn.Linear`` does, and is the same in every torch.
    """
    names = [class_name, *diagram.names.get(class_name, ())]
    if class_name.startswith(_LAYERS):
        names.append(f"torch.nn.{class_name.rpartition('.')[2]}")
    return names


def figure_classes(options: Options) -> list[str]:
    """CSS classes of the figure around a diagram."""
    return ["mg-figure", *(options.class_ or "").split()]


def in_figure(diagram: Diagram) -> Diagram:
    """The diagram as it stands inside a figure, which takes the author's CSS classes."""
    return msgspec.structs.replace(diagram, options=msgspec.structs.replace(diagram.options, class_=None))


def data_files(diagrams: Iterable[Diagram]) -> dict[str, bytes]:
    """The data scripts of these diagrams: name under the site's ``modeldiagrams/`` folder → content."""
    return {
        f"{diagram.id}.js": data_script(diagram).encode()
        for diagram in diagrams
        if diagram.graph is not None and diagram.picture is not None and not diagram.options.static
    }
