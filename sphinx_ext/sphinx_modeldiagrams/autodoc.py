"""Adds diagrams to classes that autodoc documents."""

from __future__ import annotations

import inspect
import json
import sys
from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.documented_classes import is_module, is_selected
from modeldiagrams.options.docstring_field import read_field, split_field
from sphinx_modeldiagrams.conf_values import get_settings
from sphinx_modeldiagrams.domain import domain_of
from sphinx_modeldiagrams.reporting import warn

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

__all__ = ["AUTODOC_DIRECTIVE", "LINK_DIRECTIVE", "connect"]

LINK_DIRECTIVE = "modeldiagrams-link"
"""The directive for links from documented objects to their diagrams."""

AUTODOC_DIRECTIVE = "modeldiagrams-autodoc"
"""The directive for diagrams that a site adds to documented classes."""

_EVENT = "autodoc-process-docstring"


def connect(app: Sphinx, _config: Config) -> None:
    """Listen to autodoc if it is loaded, because connecting to an unknown event is an error."""
    if _EVENT in app.events.events:
        # after napoleon and other extensions, which would interpret our field
        app.connect(_EVENT, _add_diagram, priority=900)
        app.connect(_EVENT, _add_link, priority=900)


def _add_diagram(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: PLR0913, PLR0917
    """Add a diagram to a docstring in place; called by autodoc."""
    if what not in {"class", "function"}:
        return
    field, rest = split_field("\n".join(lines))
    lines[:] = rest.split("\n")
    directive = "model-graph" if field is not None else AUTODOC_DIRECTIVE
    if field is None:  # `autoclass_content` may skip the docstring with the field, or have shown it before
        written = getattr(obj, "__doc__", None)
        field, _ = split_field(inspect.cleandoc(written) if isinstance(written, str) else "")
    file = getattr(sys.modules.get(getattr(obj, "__module__", "")), "__file__", None)
    values = _read_options(field, f"{file}:docstring of {name}")
    if values is None:
        if field is not None or not (is_selected(app.config.modeldiagrams_autodoc, name) and _is_module(obj)):
            return
        values = {}
    flags = [f"   :{flag}:" for flag in ("no-index",) if _is_set(options, flag)]
    body = ["", f"   {json.dumps(values, default=str)}"] if values else []
    lines += [*_begin(lines), "", f".. {directive}:: {name}", *flags, *body, ""]


def _add_link(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001, PLR0913, PLR0917
    """Add the place for a link to a docstring if a catalogue may have the object; called by autodoc."""
    wanted = get_settings(app.config).catalogue_links
    is_listed = wanted and name.rpartition(".")[2] in domain_of(app.env).short_names
    if what in {"class", "function"} and (is_listed or wanted == "all"):
        defined = f"{getattr(obj, '__module__', '')}.{getattr(obj, '__qualname__', '')}"
        lines += [*_begin(lines), "", f".. {LINK_DIRECTIVE}:: {name} {defined}", ""]


def _begin(lines: list[str]) -> list[str]:
    """Begin an empty docstring: autosummary would use a directive at the start as the summary."""
    return [] if any(line.strip() for line in lines) else ["\\ "]


def _read_options(field: str | None, location: str) -> dict[str, Any] | None:
    """Read the options in a field; None means no diagram."""
    if field is None:
        return None
    try:
        return read_field(field)
    except ModelDiagramsError as error:
        warn("option", str(error), location)
        return None


def _is_module(class_: Any) -> bool:
    """Whether a class is a `torch.nn.Module`; classes mocked by `autodoc_mock_imports` only have names."""
    if not inspect.isclass(class_):
        return False
    known, mocked = list[str](), list[str]()
    for base in class_.__mro__[1:]:
        is_mock = "__display_name__" in vars(base)
        (mocked if is_mock else known).append(f"{base.__module__}.{base.__name__}")
    return is_module(known, mocked)


def _is_set(options: Any, flag: str) -> bool:
    """Whether an autodoc directive has a flag; versions of Sphinx differ in type and names of options."""
    names = (flag.replace("-", "_"), flag.replace("-", ""))
    return any(getattr(options, name, None) for name in names)
