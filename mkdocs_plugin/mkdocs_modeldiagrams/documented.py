"""Diagrams under the classes that mkdocstrings documents: an extension of Griffe, which reads the sources for it."""

from __future__ import annotations

import contextlib
import fnmatch
import json
import re
from typing import TYPE_CHECKING, Any, cast

from griffe import BuiltinModuleError, Class, Docstring, DocstringSection, DocstringSectionText, Extension, Function
from mkdocs.plugins import get_plugin_logger

from modeldiagrams.docstrings import asked_options, without_field
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.fence import FENCE, PLACE, UNASKED_FENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from griffe import Object

__all__ = ["DiagramsExtension", "add_to_mkdocstrings"]

_MODULES = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module"})
_LAYERS = "torch.nn."
_NO_LAYERS = frozenset({"Parameter", "Buffer"})
_BASES = ("PreTrainedModel", "LightningModule")
"""Names of well-known libraries' models, whose sources need not be there to be read."""

_UNQUOTED = re.compile(r"[\"`\n]")
"""What would end the first line of a fence, or a value in it."""

_log = get_plugin_logger("modeldiagrams")


class DiagramsExtension(Extension):
    """Puts a fence at the end of docstrings; mkdocstrings converts them with the site's Markdown extensions."""

    def __init__(self, patterns: Sequence[str] = ("*",)) -> None:
        """Called by Griffe.

        Args:
            patterns: Of the full names of classes that get a diagram without asking for one.
        """
        self._patterns = tuple(patterns)

    def on_class(self, *, cls: Class, **_: Any) -> None:
        """Called by Griffe with every class, when its package is read."""
        self._add_diagram(cls, chosen=self._is_chosen(cls))

    def on_function(self, *, func: Function, **_: Any) -> None:
        """Called by Griffe with every function and method; some functions return models, and ask for a diagram."""
        if func.parent is not None and func.parent.is_module:
            self._add_diagram(func, chosen=False)

    def _add_diagram(self, documented: Class | Function, *, chosen: bool) -> None:
        docstring = documented.docstring or _Absent("", lineno=documented.lineno, parent=documented)
        field, text = without_field(docstring.value)
        if field is None and not chosen:
            return
        fence, values, place = FENCE, dict[str, Any](), _place(docstring)
        if field is None:
            fence = UNASKED_FENCE
        else:
            try:
                asked = asked_options(field)
            except ModelDiagramsError as error:
                _log.warning("%s: %s", place, error)
                asked = None
            if asked is None:
                docstring.value = text
                return
            values = asked
        body = json.dumps({"model": documented.path, **values}, default=str)
        kind = _Absent if isinstance(docstring, _Absent) else _WithFence
        documented.docstring = kind(
            text,
            lineno=docstring.lineno,
            endlineno=docstring.endlineno,
            parent=docstring.parent,
            parser=docstring.parser,
            parser_options=docstring.parser_options,
        )
        documented.docstring.fence = f'```{fence} {PLACE}="{_UNQUOTED.sub("", place)}"\n{body}\n```'

    def _is_chosen(self, cls: Class) -> bool:
        return any(fnmatch.fnmatchcase(cls.path, pattern) for pattern in self._patterns) and _is_module(cls)


class _WithFence(Docstring):
    """A docstring and a fence after all its sections, of whichever style these are written in."""

    fence = ""

    @property
    def parsed(self) -> list[DocstringSection]:
        """The sections, as mkdocstrings asks for them."""
        return [*self.parse(), DocstringSectionText(self.fence)]


class _Absent(_WithFence):
    """The docstring of a class that has none; so the site's setting for such classes holds."""

    def __bool__(self) -> bool:
        return False


def _place(docstring: Docstring) -> str:
    """Where the field is in the sources, or would be, as editors understand it: ``src/mypkg/models.py:12``."""
    documented, line = docstring.parent, docstring.lineno
    place = documented.path if documented else ""
    # what was imported to be read has no lines, and what is compiled no file
    with contextlib.suppress(BuiltinModuleError, KeyError, ValueError):
        place = cast("Object", documented).relative_filepath.as_posix()
        for number, text in enumerate(docstring.source.splitlines() if docstring.endlineno else (), line or 1):
            if f":{FENCE}:" in text:
                line = number
    return f"{place}:{line}" if line else place


def add_to_mkdocstrings(plugin: Any, chosen: bool | Sequence[str]) -> None:  # noqa: FBT001  (as `mkdocs.yml` has it)
    """Have mkdocstrings use the extension; its own configuration is read later.

    Args:
        plugin: mkdocstrings'.
        chosen: Which classes get a diagram: all modules, or those whose full names match one of these patterns.
    """
    handlers = plugin.config.handlers
    python = handlers.get("python") or {}
    options = python.get("options") or {}
    patterns = ["*"] if chosen is True else list(chosen or [])
    extensions = [*(options.get("extensions") or []), {__name__: {"patterns": patterns}}]
    handlers["python"] = {**python, "options": {**options, "extensions": extensions}}


def _is_module(cls: Class) -> bool:
    """Whether a class is an ``nn.Module``, as far as its sources tell, which need not be a class that Python takes."""
    waiting, seen = [cls], set[str]()
    while waiting:
        owner = waiting.pop()
        if owner.path in seen:
            continue
        seen.add(owner.path)
        if any(_is_known_base(str(getattr(base, "canonical_path", base))) for base in owner.bases):
            return True
        waiting += [base for base in owner.resolved_bases if isinstance(base, Class)]
    return False


def _is_known_base(name: str) -> bool:
    last = name.rpartition(".")[2]
    return name in _MODULES or last.endswith(_BASES) or (name.startswith(_LAYERS) and last not in _NO_LAYERS)
