"""Literal calls of a class or factory in the Python files of its project, which are read and never run.

A call counts if its arguments are literals, names that are assigned literals, or classes and objects of classes.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from modeldiagrams.common.user_files import is_user_file
from modeldiagrams.resolve.code.evaluate import Evaluator, Names, UnknownValueError, get_attribute
from modeldiagrams.resolve.code.source import get_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["LiteralCall", "find_literal_calls"]

_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_MAX_FILES = 400
_MAX_FOLDERS = 300
_MAX_PARENTS = 5
_MAX_BYTES = 300_000
_MAX_NAMES = 16
"""Names that a value is read through."""
_SKIPPED = re.compile(r"^(\.|_build$|build$|dist$|node_modules$|site-packages$|venv$|__pycache__$)")
_TESTS = re.compile(r"(^|/)(tests?|testing)(/|$)|test_|conftest")
_CHANGING = {"update", "setdefault", "append", "extend", "insert", "pop"}
_UNREADABLE = (UnknownValueError, ArithmeticError, LookupError, TypeError, ValueError)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef

Assigned = dict[str, ast.expr | None]
"""Name → the expression that it is assigned; None where only a run would tell."""


@dataclass(frozen=True)
class LiteralCall:
    """One call of a class or factory in the project."""

    place: str
    """``tests/test_model.py:12``."""
    kwargs: dict[str, Any]
    """Its arguments by name, as the option `kwargs`."""
    file: str
    """Absolute path; a change of this file may change the call."""


def find_literal_calls(found: Callable[..., Any]) -> Iterator[LiteralCall]:
    """Calls of a class or factory in its project, those of tests last.

    Args:
        found: The class or function.
    """
    try:
        module_file = Path(inspect.getsourcefile(inspect.unwrap(found)) or "")
        signature = inspect.signature(found)
    except (OSError, TypeError, ValueError):
        return
    seen = []
    root, files = _list_files(module_file)
    for file in files:
        tree = _parse_file(file, getattr(found, "__name__", ""))
        loaded = vars(sys.modules[found.__module__]) if file == module_file else {}
        loaded = {**vars(builtins), **loaded, **_list_imports(tree, found.__module__)}
        for node, assigned in _list_calls(tree, {}):
            with suppress(*_UNREADABLE):
                kwargs = _read_call(node, _LiteralReader(loaded, assigned), found, signature)
                if kwargs and kwargs not in seen:
                    seen.append(kwargs)
                    yield LiteralCall(f"{file.relative_to(root).as_posix()}:{node.lineno}", kwargs, str(file))


def _read_call(
    node: ast.Call, reader: _LiteralReader, found: Callable[..., Any], signature: inspect.Signature
) -> dict[str, Any] | None:
    """Arguments of a call by name; None if it calls something else."""
    if reader.read(node.func) is not found:
        return None
    args, kwargs = reader.read_arguments(node)
    bound = signature.bind(*args, **kwargs).arguments
    is_named = all(signature.parameters[name].kind in _BY_NAME for name in bound)
    return {name: _as_option(value) for name, value in bound.items()} if is_named else None


# -- values


class _LiteralReader(Evaluator):
    """Evaluates expressions of a file that doesn't run; an object of a class becomes an entry of an option."""

    def __init__(self, loaded: Names, assigned: Assigned, depth: int = 0) -> None:
        super().__init__(loaded)
        self.assigned = assigned
        self.depth = depth

    def read_name(self, name: str) -> Any:
        """Value that the file assigns to a name, or that it imports from a module that is loaded."""
        if name not in self.assigned:
            return super().read_name(name)
        value = self.assigned[name]
        if value is None or self.depth == _MAX_NAMES:
            raise UnknownValueError
        return _LiteralReader(self.names, self.assigned, self.depth + 1).read(value)

    def read_call(self, node: ast.Call) -> Any:
        """``dict(width=3)``, or an object of a class; a function may do anything."""
        made = self.read(node.func)
        args, kwargs = self.read_arguments(node)
        if made is dict and not args:
            return kwargs
        if not inspect.isclass(made) or made.__module__ == "builtins":
            raise UnknownValueError
        return {"_target_": get_path(made), **({"_args_": args} if args else {}), **kwargs}

    def read_arguments(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments of a call."""
        keys = [ast.Constant(keyword.arg) if keyword.arg else None for keyword in node.keywords]
        kwargs = self.read(ast.Dict([*keys], [keyword.value for keyword in node.keywords]))
        return [self.read(argument) for argument in node.args], kwargs


def _as_option(value: Any) -> Any:
    """A value as it is written in an option.

    Raises:
        UnknownValueError: if it can't be.
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, tuple | list):
        return [_as_option(item) for item in value]
    if type(value) is dict and all(isinstance(key, str | int | float) for key in value):
        return {key: _as_option(item) for key, item in value.items()}
    if inspect.isclass(value) or isinstance(value, FunctionType):
        return {"_object_": get_path(value)}
    raise UnknownValueError


# -- names


def _list_imports(tree: ast.AST, own: str) -> dict[str, Any]:
    """What a file imports from modules that are loaded: importing others would run them."""
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    name = alias.name if alias.asname else alias.name.partition(".")[0]
                    found[alias.asname or name] = _find_module(name, own)
            case ast.ImportFrom(module=path, names=names):
                for alias in names:
                    value = get_attribute(_find_module(path, own), alias.name) if path else None
                    whole = f"{path}.{alias.name}" if path else alias.name
                    found[alias.asname or alias.name] = _find_module(whole, own) if value is None else value
    return found


def _find_module(path: str, own: str) -> Any:
    """A loaded module; one of the package of the class may be imported by the end of its path."""
    top = own.partition(".")[0]
    inside = [own, *(name for name in sorted(sys.modules) if name.partition(".")[0] == top)]
    name = next((name for name in inside if f".{name}".endswith(f".{path}")), path)
    return sys.modules.get(path) or sys.modules.get(name)


def _list_calls(scope: ast.AST, around: Mapping[str, ast.expr | None]) -> Iterator[tuple[ast.Call, Assigned]]:
    """All calls, each with the names that are assigned around it."""
    nodes = [*_list_nodes(scope)]
    names = {**around, **_assigned_names(nodes)}
    for node in nodes:
        if isinstance(node, ast.Call):
            yield node, names
        if isinstance(node, _SCOPES):
            yield from _list_calls(node, names)


def _list_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a scope, without those of functions and classes inside."""
    pending = [*ast.iter_child_nodes(scope)]
    for node in pending:
        yield node
        if not isinstance(node, _SCOPES):
            pending.extend(ast.iter_child_nodes(node))


def _assigned_names(nodes: list[ast.AST]) -> Assigned:
    """Names that a scope assigns; None for parameters, and for names that are assigned twice or changed."""
    values: dict[str, ast.expr] = {}
    changes: Counter[str] = Counter()
    for node in nodes:
        match node:
            case ast.arg(arg=name):
                changes[name] += 1
            case (
                ast.Subscript(value=ast.Name(id=name), ctx=ast.Store())
                | ast.Attribute(value=ast.Name(id=name), ctx=ast.Store())
            ):
                changes[name] += 2
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _CHANGING:
                changes[name] += 2
            case ast.Name(id=name, ctx=ast.Store()):
                changes[name] += 1
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                values[name] = value
    return {name: values.get(name) if count == 1 else None for name, count in changes.items()}


# -- files


def _list_files(module_file: Path) -> tuple[Path, list[Path]]:
    """The folder that places are relative to, and the files of the project: the module's own first, tests last.

    Without a file that marks a project, only the folder of the module is read, because other files may belong to
    anybody. Of an installed library, only the module itself is read.
    """
    parents = [*module_file.parents][:_MAX_PARENTS]
    marked = (folder for folder in parents if any((folder / name).exists() for name in _PROJECT_FILES))
    project = next(marked, None) if is_user_file(str(module_file)) else None
    root = project or next((folder for folder in parents if not (folder / "__init__.py").exists()), parents[-1])
    if not is_user_file(str(module_file)):
        return root, [module_file]
    found: list[Path] = []
    folders = [project or module_file.parent]
    for folder in folders:
        inside = [path for path in sorted(folder.iterdir()) if not (_SKIPPED.search(path.name) or path.is_symlink())]
        found += [path for path in inside if path.suffix == ".py" and path.is_file() and path != module_file]
        folders += [path for path in inside if project and path.is_dir()][: _MAX_FOLDERS - len(folders)]
    found = found[:_MAX_FILES]
    return root, [module_file, *sorted(found, key=lambda path: bool(_TESTS.search(path.relative_to(root).as_posix())))]


def _parse_file(file: Path, name: str) -> ast.Module:
    """Code of a file; empty if it doesn't contain a name, or can't be read."""
    try:
        text = file.read_text("utf-8") if file.stat().st_size <= _MAX_BYTES else ""
        return ast.parse(text if name in text else "")
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return ast.Module([], [])
