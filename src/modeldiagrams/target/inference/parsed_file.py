"""One file's code, parsed: what its names are assigned, where; its functions, classes, imports, and calls."""

from __future__ import annotations

import ast
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Around", "Function", "ParsedFile", "called_name", "parameter_names", "statement_nodes"]

Function = ast.FunctionDef | ast.AsyncFunctionDef
Around = tuple[ast.AST, ...]
"""The functions and classes around a node, outermost first."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_CHANGING = {"update", "setdefault", "append", "extend", "insert", "merge_from_file", "merge_from_list"}


@dataclass
class ParsedFile:
    """A file, or a piece of code in one."""

    file: Path
    module: str
    """Its dotted name."""
    tree: ast.Module
    line: int = 0
    """Lines of the file before it."""
    imported: dict[str, str] = field(default_factory=dict)
    """Name → dotted path."""
    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    options: dict[str, ast.expr | None] = field(default_factory=dict)
    """Option of a command line → its default; None where it has none."""
    around: dict[ast.AST, Around] = field(default_factory=dict)
    """Of functions, classes, calls and mappings, outer ones first."""
    calls: dict[str, list[ast.Call]] = field(default_factory=dict)
    """By the last part of what is called."""
    _changed: list[tuple[Around, str, str]] = field(default_factory=list)
    """Name and attribute or key of what is assigned to later; ``*`` where it can be any."""
    _removed: list[tuple[Around, str, str]] = field(default_factory=list)
    """The same of what ``pop`` takes out."""
    _names: dict[ast.AST, dict[str, ast.expr | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        pending: deque[tuple[ast.AST, Around]] = deque([(self.tree, ())])
        while pending:
            node, around = pending.popleft()
            self._note(node, around)
            if isinstance(node, _SCOPES):
                around = (*around, node)
            pending.extend((child, around) for child in ast.iter_child_nodes(node))

    def _note(self, node: ast.AST, around: Around) -> None:
        match node:
            case ast.Import(names=names):
                self.imported |= {alias.asname or alias.name: alias.name for alias in names}
            case ast.ImportFrom(names=names):
                source = self._absolute(node)
                self.imported |= {alias.asname or alias.name: f"{source}.{alias.name}" for alias in names}
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self.functions.setdefault(name, node)
                self.around[node] = around
            case ast.ClassDef(name=name):
                self.classes.setdefault(name, node)
                self.around[node] = around
            case ast.Call():
                self.calls.setdefault(called_name(node), []).append(node)
                self.around[node] = around
                self._note_call(node, around)
            case ast.Dict():
                self.around[node] = around
            case ast.Attribute(value=ast.Name(id=owner), attr=name, ctx=ast.Store()):
                self._changed.append((around, owner, name))
            case ast.Subscript(value=ast.Name(id=owner), slice=key, ctx=ast.Store()):
                self._changed.append((around, owner, str(key.value) if isinstance(key, ast.Constant) else "*"))

    def _note_call(self, node: ast.Call, around: Around) -> None:
        match node:
            case ast.Call(func=ast.Attribute(attr="add_argument"), args=[*flags], keywords=keywords):
                self._add_option(flags, {keyword.arg: keyword.value for keyword in keywords})
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="pop"), args=args):
                key = args[0].value if args and isinstance(args[0], ast.Constant) else "*"
                self._removed.append((around, owner, str(key)))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)) if name in _CHANGING:
                self._changed.append((around, owner, "*"))

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.module.split(".")
        up = node.level - (self.file.stem == "__init__")
        return ".".join([*parts[: len(parts) - up], *([node.module] if node.module else [])])

    def _add_option(self, flags: list[ast.expr], keywords: dict[str | None, ast.expr]) -> None:
        """``parser.add_argument("--hidden-size", default=64)`` gives ``args.hidden_size``."""
        names = [flag.value for flag in flags if isinstance(flag, ast.Constant) and isinstance(flag.value, str)]
        long = [name for name in names if name.startswith("--")] or names
        match keywords.get("dest"), keywords.get("action"):
            case ast.Constant(value=str(name)), _:
                long = [name]
            case _, ast.Constant(value=("store_true" | "store_false") as action):
                keywords.setdefault("default", ast.Constant(action == "store_false"))
        for name in long[:1]:
            self.options[name.lstrip("-").replace("-", "_")] = keywords.get("default")

    def made(self) -> Iterator[ast.Call | ast.Dict]:
        """Every call and mapping, outer ones first."""
        return (node for node in self.around if isinstance(node, ast.Call | ast.Dict))

    def changes(self, scope: ast.AST, name: str) -> set[str]:
        """Attributes and keys that are assigned to later, of what a scope calls by a name."""
        return self._keys(self._changed, scope, name)

    def removals(self, scope: ast.AST, name: str) -> set[str]:
        """The same of keys that are taken out."""
        return self._keys(self._removed, scope, name)

    def _keys(self, noted: list[tuple[Around, str, str]], scope: ast.AST, name: str) -> set[str]:
        return {key for around, owner, key in noted if owner == name and self._holder(around, name) is scope}

    def _holder(self, around: Around, name: str) -> ast.AST:
        own = (node for node in reversed(around) if name in parameter_names(node) or name in self.names(node))
        return next(own, self.tree)

    def names(self, scope: ast.AST) -> dict[str, ast.expr | None]:
        """What is assigned to the names of the module, a function or a class; None where that can be several values."""
        if scope not in self._names:
            self._names[scope] = _assigned(scope)
        return self._names[scope]


def called_name(node: ast.Call) -> str:
    """The last part of what is called."""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def parameter_names(node: ast.AST) -> list[str]:
    """Names of a function's parameters; none for what is no function."""
    arguments = getattr(node, "args", None)
    return [part.arg for part in ast.walk(arguments) if isinstance(part, ast.arg)] if arguments else []


def statement_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a scope, without those of functions and classes inside."""
    body: Any = getattr(scope, "body", [])
    pending: deque[ast.AST] = deque(body if isinstance(body, list) else [body])
    while pending:
        node = pending.popleft()
        yield node
        if not isinstance(node, _SCOPES):
            pending.extend(ast.iter_child_nodes(node))


def _assigned(scope: ast.AST) -> dict[str, ast.expr | None]:
    names: dict[str, ast.expr | None] = {}
    plain: set[ast.AST] = set()
    for node in statement_nodes(scope):
        for target, value in _targets(node):
            plain.add(target)
            known = names.setdefault(target.id, value)
            names[target.id] = known if known is not None and ast.dump(known) == ast.dump(value) else None
    for node in statement_nodes(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in plain:
            names[node.id] = None  # by `+=` and the like
    if isinstance(scope, ast.Module):
        names |= {name: None for node in ast.walk(scope) if isinstance(node, ast.Global) for name in node.names}
    return names


def _targets(node: ast.AST) -> Iterator[tuple[ast.Name, ast.expr]]:
    """Names that a statement assigns, each with the expression that it gets."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _unpacked(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _unpacked(target, value)
        case ast.For(target=target, iter=items):
            yield from _unpacked(target, _item(items, 0))
        case ast.With(items=items):
            for item in items:
                if item.optional_vars is not None:
                    yield from _unpacked(item.optional_vars, item.context_expr)


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    match target:
        case ast.Name():
            yield target, value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for index, part in enumerate(parts):
                yield from _unpacked(part, _item(value, index))


def _item(value: ast.expr, index: int) -> ast.expr:
    return ast.Subscript(value=value, slice=ast.Constant(index), ctx=ast.Load())
