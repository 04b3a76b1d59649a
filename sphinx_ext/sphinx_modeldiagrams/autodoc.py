"""Diagrams under the classes that autodoc documents."""

from __future__ import annotations

import fnmatch
import inspect
import json
import sys
from typing import TYPE_CHECKING, Any

from sphinx.util import logging

from modeldiagrams.docstrings import asked_options, without_field
from modeldiagrams.errors import ModelDiagramsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx
    from sphinx.config import Config

__all__ = ["AUTODOC_DIRECTIVE", "connect"]

AUTODOC_DIRECTIVE = "modeldiagrams-autodoc"
"""The directive of diagrams that nobody asked for one by one."""

_EVENT = "autodoc-process-docstring"

_log = logging.getLogger(__name__)


def connect(app: Sphinx, _config: Config) -> None:
    """Listen to autodoc where it is loaded; connecting to an event that nobody has added is an error."""
    if _EVENT in app.events.events:
        # after napoleon and other writers of docstrings, which read some fields as their own
        app.connect(_EVENT, _add_diagram, priority=900)


def _add_diagram(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: PLR0913, PLR0917
    """Called by autodoc with every docstring, which may be changed in place."""
    if what not in {"class", "function"}:
        return
    field, rest = without_field("\n".join(lines))
    lines[:] = rest.split("\n")
    directive = "model-graph" if field is not None else AUTODOC_DIRECTIVE
    if field is None:  # `autoclass_content` may leave out the docstring that it stands in, or have shown it before
        written = getattr(obj, "__doc__", None)
        field, _ = without_field(inspect.cleandoc(written) if isinstance(written, str) else "")
    file = getattr(sys.modules.get(getattr(obj, "__module__", "")), "__file__", None)
    values = _values(field, f"{file}:docstring of {name}")
    if values is None:
        if field is not None or not _is_chosen(app.config.modeldiagrams_autodoc, name, obj):
            return
        values = {}
    # with nothing before it, the summary in a table of autosummary would be the directive
    before = [] if any(line.strip() for line in lines) else ["\\ "]
    flags = [f"   :{flag}:" for flag in ("no-index",) if _is_set(options, flag)]
    body = ["", f"   {json.dumps(values, default=str)}"] if values else []
    lines += [*before, "", f".. {directive}:: {name}", *flags, *body, ""]


def _values(field: str | None, location: str) -> dict[str, Any] | None:
    """Options that a field asks for; None for no diagram."""
    if field is None:
        return None
    try:
        return asked_options(field)
    except ModelDiagramsError as error:
        _log.warning("model-graph: %s", error, location=location, type="modeldiagrams", subtype="option")
        return None


def _is_chosen(setting: bool | Sequence[str], name: str, obj: Any) -> bool:  # noqa: FBT001  (as `conf.py` has it)
    """Whether a class gets a diagram without asking for one."""
    patterns = ["*"] if setting is True else setting or []
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns) and inspect.isclass(obj) and _is_module(obj)


def _is_module(class_: type) -> bool:
    """Whether a class is a `torch.nn.Module`, as far as can be told without torch.

    With `autodoc_mock_imports`, bases are Sphinx's mocks: these know their names, and no more.
    """
    for base in class_.__mro__[1:]:
        package, name = base.__module__, base.__name__
        if (package, name) == ("torch.nn.modules.module", "Module"):
            return True
        is_mock = "__display_name__" in vars(base)
        if is_mock and (name.endswith(("Module", "PreTrainedModel")) or _is_layer(package, name)):
            return True
    return False


def _is_layer(package: str, name: str) -> bool:
    return f"{package}.".startswith("torch.nn.") and name not in {"Parameter", "Buffer"}


def _is_set(options: Any, flag: str) -> bool:
    """Whether autodoc was given a flag; Sphinx has changed the type of its options and their names."""
    names = (flag.replace("-", "_"), flag.replace("-", ""))
    return any(getattr(options, name, None) for name in names)
