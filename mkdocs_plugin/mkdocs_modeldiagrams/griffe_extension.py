"""Adds diagrams to classes that mkdocstrings documents, as an extension of Griffe, which reads the sources."""

from __future__ import annotations

import contextlib
import json
import re
from typing import TYPE_CHECKING, Any, cast

from griffe import (
    AliasResolutionError,
    BuiltinModuleError,
    Class,
    CyclicAliasError,
    Docstring,
    DocstringSection,
    DocstringSectionText,
    Extension,
    Function,
)
from mkdocs.plugins import get_plugin_logger

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.documented_classes import is_module, is_selected
from modeldiagrams.markdown.fence import FENCE, IF_POSSIBLE_FENCE, LOCATION, PAGE_FENCE
from modeldiagrams.options.docstring_field import read_field, split_field

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from griffe import Module, Object

__all__ = ["DiagramsExtension", "add_to_mkdocstrings"]

_UNQUOTED = re.compile(r"[\"`\n]")
"""Characters that would end the first line of a fence, or a value in it."""

_log = get_plugin_logger("modeldiagrams")


class DiagramsExtension(Extension):
    """Adds a fence to docstrings; mkdocstrings converts them with the site's Markdown extensions."""

    def __init__(self, patterns: Sequence[str] = ("*",), listed: Iterable[str] = ()) -> None:
        """Remember the patterns; called by Griffe.

        Args:
            patterns: Patterns of full names of classes that get a diagram without requesting one.
            listed: Full names of what catalogues list, read when a package is loaded.
        """
        self._patterns = tuple(patterns)
        self._listed = listed

    def on_class(self, *, cls: Class, **_: Any) -> None:
        """Add a diagram to a class; called by Griffe."""
        self._add_diagram(cls, chosen=is_selected(self._patterns, cls.path) and _is_module(cls))

    def on_function(self, *, func: Function, **_: Any) -> None:
        """Add a diagram to a function that requests one because it returns a model; called by Griffe."""
        if func.parent is not None and func.parent.is_module:
            self._add_diagram(func, chosen=False)

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        """Add links to the classes and functions that catalogues list, under any name; called by Griffe."""
        for name in self._listed:
            found = _find(pkg, name) if name.startswith(f"{pkg.path}.") else None
            if isinstance(found, Class | Function):
                _add_fence(found, found.docstring, f"```{PAGE_FENCE}\n{name}\n```")

    def _add_diagram(self, documented: Class | Function, *, chosen: bool) -> None:
        docstring = documented.docstring or _MissingDocstring("", lineno=documented.lineno, parent=documented)
        field, text = split_field(docstring.value)
        if field is None and not chosen:
            return
        location = _locate(docstring)
        values = {} if field is None else _read_options(field, location)
        if values is None:
            docstring.value = text
            return
        fence = IF_POSSIBLE_FENCE if field is None else FENCE
        body = json.dumps({"model": documented.path, **values}, default=str)
        docstring.value = text
        _add_fence(documented, docstring, f'```{fence} {LOCATION}="{_UNQUOTED.sub("", location)}"\n{body}\n```')


class _WithFence(Docstring):
    """A docstring with a fence after all its sections, whatever their style."""

    fence = ""

    @property
    def parsed(self) -> list[DocstringSection]:
        """The sections, as used by mkdocstrings."""
        return [*self.parse(), DocstringSectionText(self.fence)]


class _MissingDocstring(_WithFence):
    """The docstring of a class without one; falsy, so that mkdocstrings' settings for such classes apply."""

    def __bool__(self) -> bool:
        return False


def _add_fence(documented: Class | Function, docstring: Docstring | None, fence: str) -> None:
    """Add a fence after a docstring."""
    docstring = docstring or _MissingDocstring("", lineno=documented.lineno, parent=documented)
    kind = _MissingDocstring if isinstance(docstring, _MissingDocstring) else _WithFence
    documented.docstring = kind(
        docstring.value,
        lineno=docstring.lineno,
        endlineno=docstring.endlineno,
        parent=docstring.parent,
        parser=docstring.parser,
        parser_options=docstring.parser_options,
    )
    # links last, which are left out below a diagram; in Griffe 2, packages come before their classes
    fences = sorted([getattr(docstring, "fence", ""), fence], key=lambda one: PAGE_FENCE in one)
    documented.docstring.fence = "\n\n".join(filter(None, fences))


def _read_options(field: str, location: str) -> dict[str, Any] | None:
    """Read the options in a field; None means no diagram."""
    try:
        return read_field(field)
    except ModelDiagramsError as error:
        _log.warning("%s: %s", location, error)
        return None


def _locate(docstring: Docstring) -> str:
    """Return the location of the field in the sources, as editors open it: ``src/mypkg/models.py:12``."""
    documented, line = docstring.parent, docstring.lineno
    path = documented.path if documented else ""
    # inspected modules have no lines, compiled ones no file
    with contextlib.suppress(BuiltinModuleError, KeyError, ValueError):
        path = cast("Object", documented).relative_filepath.as_posix()
        for number, text in enumerate(docstring.source.splitlines() if docstring.endlineno else (), line or 1):
            if f":{FENCE}:" in text:
                line = number
    return f"{path}:{line}" if line else path


def add_to_mkdocstrings(
    plugin: Any,
    chosen: bool | Sequence[str],  # noqa: FBT001  (as `mkdocs.yml` has it)
    listed: Iterable[str],
) -> None:
    """Register the extension with mkdocstrings, which reads its own configuration later.

    Args:
        plugin: The plugin mkdocstrings.
        chosen: The classes that get a diagram: all modules, or patterns of their full names.
        listed: As in `DiagramsExtension`.
    """
    handlers = plugin.config.handlers
    python = handlers.get("python") or {}
    options = python.get("options") or {}
    patterns = ["*"] if chosen is True else list(chosen or [])
    extensions = [*(options.get("extensions") or []), {__name__: {"patterns": patterns, "listed": listed}}]
    handlers["python"] = {**python, "options": {**options, "extensions": extensions}}


def _is_module(cls: Class) -> bool:
    """Whether a class is a `torch.nn.Module` by its sources, which may contain cycles."""
    waiting, known, unread = [cls], set[str](), set[str]()
    while waiting:
        for base in waiting.pop().bases:
            name = str(getattr(base, "canonical_path", base))
            definition = _find(cls, name)
            if not isinstance(definition, Class):
                unread.add(name)
            elif definition.path not in known:
                known.add(definition.path)
                waiting.append(definition)
    return is_module(known, unread)


def _find(known: Object, name: str) -> Object | None:
    """Return what has this name; None if its package was not read."""
    try:
        found = known.modules_collection.get_member(name)
        found = found.final_target if found.is_alias else found
    except (AliasResolutionError, CyclicAliasError, KeyError):
        return None
    return cast("Object", found)
