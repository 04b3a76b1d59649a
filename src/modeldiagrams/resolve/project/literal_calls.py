"""Calls of a class in the files of its project, with arguments that can be read without a run.

A call counts if its arguments are literals, names that are assigned literals, or classes and objects of classes. Where
the model is called in the same file with ``torch.randn`` and the like, their shapes are example inputs. Configurations
that name the class, ``_target_: mypkg.Model``, count as calls.
"""

from __future__ import annotations

import ast
import inspect
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from modeldiagrams.resolve.project.literals import LiteralReader, SourceFile, UnreadableError, called_name
from modeldiagrams.resolve.project.project_files import CODE, ProjectFiles, iterate_code_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from modeldiagrams.resolve.project.literals import Enclosing, Names


__all__ = ["LiteralCall", "find_literal_calls"]

_NAMING_KEYS = ("_target_", "class_path", "type", "name")
_ARGUMENT_KEYS = ("init_args", "args", "kwargs", "params")
_MAX_BYTES = 2_000_000
"""Of code that is parsed."""
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class LiteralCall:
    """One call of a class or factory in the project."""

    place: str
    """``tests/test_model.py:12``."""
    kwargs: dict[str, Any]
    """Its arguments by name, as the option `kwargs`."""
    file: str
    """Absolute path; a change of this file may change the call."""
    inputs: list[list[Any]] = field(default_factory=list)
    """What the model is called with, as the option `inputs`."""


def find_literal_calls(found: Callable[..., Any]) -> Iterator[LiteralCall]:
    """Calls of a class or factory in its project: complete ones first, and those of tests after others.

    Args:
        found: The class or function.
    """
    name = getattr(found, "__name__", "")
    try:
        module_file = Path(inspect.getsourcefile(inspect.unwrap(found)) or "")
        signature = inspect.signature(found)
    except (OSError, TypeError, ValueError):
        return
    if name and module_file.is_file():
        finder = _CallFinder(found, name, signature, ProjectFiles(module_file, found.__module__))
        seen = []
        for site in finder.all_sites():
            if site.kwargs not in seen:
                seen.append(site.kwargs)
                yield site


@dataclass
class _CallFinder:
    found: Callable[..., Any]
    name: str
    signature: inspect.Signature
    files: ProjectFiles
    parsed_bytes: int = 0

    def all_sites(self) -> Iterator[LiteralCall]:
        for file in self.files.list_files():
            text = self.files.read_text(file)
            if self.name in text and file.suffix in CODE:
                self.parsed_bytes += len(text)
                for line, tree in iterate_code_blocks(file, text) if self.parsed_bytes <= _MAX_BYTES else ():
                    yield from self.sites_in_code(SourceFile(file, self.module_of(file), tree, line))
            elif self.name in text:
                yield from self.sites_in_data(file, text)

    def module_of(self, file: Path) -> str:
        if file == self.files.module_file:
            return self.files.module
        parts = file.relative_to(self.files.root).with_suffix("").parts
        parts = parts[1:] if parts[0] == "src" else parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def place(self, file: Path, line: int) -> str:
        return f"{self.files.relative_path(file)}:{line}"

    # -- code

    def sites_in_code(self, source: SourceFile) -> Iterator[LiteralCall]:
        for node, enclosing in source.calls:
            call = self.call_of_class(node, source)
            if call is not None:
                place = self.place(source.file, source.line + node.lineno)
                reader = LiteralReader(source, self.names_at(source, enclosing))
                with suppress(UnreadableError, TypeError):
                    args, kwargs = reader.read_arguments(call)
                    yield self.site(place, source.file, self.bound(args, kwargs), find_model_inputs(reader, node))

    def call_of_class(self, node: ast.Call, source: SourceFile) -> ast.Call | None:
        """The call, if it is one of the class; of ``partial(Model, 3)``, the call that it prepares."""
        if called_name(node) == "partial" and node.args:
            node = ast.Call(func=node.args[0], args=node.args[1:], keywords=node.keywords)
        path = source.path_of(node.func)
        if not path:  # a page may import nothing
            return node if isinstance(node.func, ast.Name) and node.func.id == self.name else None
        module, _, name = path.rpartition(".")
        loaded = sys.modules.get(module)
        is_it = (
            getattr(loaded, name, None) is self.found if loaded else name == self.name and self.is_own_module(module)
        )
        return node if is_it else None

    def is_own_module(self, path: str) -> bool:
        """Whether a path names the module of the class, perhaps as scripts in its folder import it."""
        return f".{self.files.module}".endswith(f".{path}")

    def names_at(self, source: SourceFile, enclosing: Enclosing) -> Names:
        """What names mean somewhere in a file, including constants that are imported from the module of the class."""
        imported = {}
        for name, path in source.imports.items():
            module, _, constant = path.rpartition(".")
            if self.is_own_module(module) and constant in self.constants:
                imported[name] = self.constants[constant]
        return {**imported, **source.names_at(enclosing)}

    @cached_property
    def constants(self) -> Names:
        """Names that the module of the class assigns."""
        text = self.files.read_text(self.files.module_file)
        tree = next((tree for line, tree in iterate_code_blocks(self.files.module_file, text) if not line), None)
        return SourceFile(self.files.module_file, self.files.module, tree).names_at(()) if tree else {}

    # -- data

    def sites_in_data(self, file: Path, text: str) -> Iterator[LiteralCall]:
        """Mappings in YAML or JSON that name the class."""
        try:
            data = yaml.safe_load(text.replace("\t", " "))
        except (yaml.YAMLError, LookupError, ValueError, RecursionError):
            return
        for mapping in iterate_mappings(data):
            named = next((mapping[key] for key in _NAMING_KEYS if isinstance(mapping.get(key), str)), "")
            module, _, name = named.rpartition(".")
            if name != self.name or (module and not self.is_own_module(module)):
                continue
            inner = next((mapping[key] for key in _ARGUMENT_KEYS if isinstance(mapping.get(key), dict)), mapping)
            kwargs = {key: value for key, value in inner.items() if key not in _NAMING_KEYS}
            if any(isinstance(value, str) and "${" in value for value in kwargs.values()):
                continue
            line = text.count("\n", 0, text.index(named)) + 1
            with suppress(TypeError, UnreadableError):
                bound = self.bound(kwargs.pop("_args_", []), kwargs)
                yield self.site(self.place(file, line), file, bound, [])

    # -- both

    def bound(self, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments by name.

        Raises:
            TypeError: if the class can't be called with them.
            UnreadableError: if there are none, or some have no name.
        """
        bound = self.signature.bind(*args, **kwargs).arguments
        if not bound or any(self.signature.parameters[name].kind not in _BY_NAME for name in bound):
            raise UnreadableError
        return dict(bound)

    def site(self, place: str, file: Path, kwargs: dict[str, Any], inputs: list[list[Any]]) -> LiteralCall:
        return LiteralCall(place, kwargs, str(file), inputs)


def iterate_mappings(data: Any) -> Iterator[Mapping[Any, Any]]:
    """All mappings in data, outer ones first; each once, because YAML may repeat the same one without end."""
    pending, seen = [data], {id(data)}
    for item in pending:
        if isinstance(item, dict):
            yield item
        inside = [*item.values()] if isinstance(item, dict) else item if isinstance(item, list) else []
        pending += [each for each in inside if id(each) not in seen]
        seen |= {*map(id, inside)}


def find_model_inputs(reader: LiteralReader, made: ast.Call) -> list[list[Any]]:
    """Arguments of the calls of the name that a model is assigned to."""
    source = reader.source
    assigned = {
        target.id
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign) and _gives(node.value, made)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found: list[list[Any]] = []
    for call, enclosing in source.calls:
        if isinstance(call.func, ast.Name) and call.func.id in assigned and call.args and not call.keywords:
            with suppress(UnreadableError):
                inner = LiteralReader(source, {**reader.names, **source.names_at(enclosing)})
                entries = [inner.read_tensor(argument) for argument in call.args]
                if entries not in found:
                    found.append(entries)
    return found


def _gives(value: ast.expr, made: ast.Call) -> bool:
    """Whether a value is the model: ``Model(3).to(device)``, ``torch.compile(Model(3))``."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Call() as inner)) | ast.Call(args=[inner]) if value is not made:
            return _gives(inner, made)
    return value is made
