"""What calls and attributes in a project's files mean: objects of its classes, configurations, files with data."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.parameters import bound, frames
from modeldiagrams.target.inference.parsed_file import called_name, statement_nodes
from modeldiagrams.target.inference.scope import Known, Scope
from modeldiagrams.target.inference.trees import Tree, Unreadable, written
from modeldiagrams.target.inference.written_values import CALCULATED, Expressions, calculated

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Reader"]

_NAMESPACE = "types.SimpleNamespace"
_NAMESPACES = {"SimpleNamespace", "Namespace", "EasyDict", "edict", "Munch", "ConfigDict", "AttrDict", "DictConfig"}
_LOADED = {"load", "safe_load", "full_load", "loads", "unsafe_load"}
"""Functions of `yaml`, `json` and `OmegaConf` that read a file."""
_LOADERS = {"yaml", "json", "OmegaConf"}
_AS_MAPPING = {"vars", "asdict", "to_container", "deepcopy", "copy", "resolve"}
_DEEPEST_BASE = 12
_PLAIN_BASES = {"object", "NamedTuple", "BaseModel", "Protocol", "Struct"}


class Reader(Expressions):
    """Reads all expressions."""

    def made(self, node: ast.Call, scope: Scope, depth: int) -> Any:
        """What a call returns."""
        for read in (self._of_libraries, self._of_project, self._of_python):
            known = read(node, scope, depth)
            if known is not None:
                return known.value
        return self._by_path(node, scope, depth)

    def _of_libraries(self, node: ast.Call, scope: Scope, depth: int) -> Known | None:
        """Command lines, files with data, and objects that only hold values."""
        name, path = called_name(node), ast.unparse(node.func)
        if name in {"parse_args", "parse_known_args"}:
            options = self._options(scope, depth)
            return Known(options if name == "parse_args" else [options, []])
        if name in _LOADED and path.rpartition(".")[0] in _LOADERS:
            return Known(self._loaded(node, scope, depth))
        if path in {"dict", "OmegaConf.create"} or name in _NAMESPACES:
            return Known(self._collected(node, scope, depth, path))
        return None

    def _of_project(self, node: ast.Call, scope: Scope, depth: int) -> Known | None:
        """Classes and functions of the project."""
        if (found := self.sources.class_named(node.func, scope)) is not None:
            return Known(self._instance(node, found, scope, depth))
        if (function := self.sources.function_named(node.func, scope)) is not None:
            return Known(self._returned(node, function, scope, depth))
        return None

    def _of_python(self, node: ast.Call, scope: Scope, depth: int) -> Known | None:
        """Functions and methods of Python that make values of values."""
        name = called_name(node)
        if name in _AS_MAPPING and len(node.args) == 1:
            value = self.read(node.args[0], scope, depth + 1)
            is_tree = isinstance(value, Tree)
            return Known(Tree(value.values, value.place, value.places, is_whole=value.is_whole) if is_tree else value)
        if isinstance(node.func, ast.Name) and name in CALCULATED:
            return Known(calculated(name, self._arguments(node, scope, depth)[0]))
        if isinstance(node.func, ast.Attribute) and name in {"get", "pop", "items", "keys", "values"}:
            return Known(self._method(node, node.func.value, scope, depth))
        return None

    def _by_path(self, node: ast.Call, scope: Scope, depth: int) -> Any:
        """An object of a class that is loaded already; a function may do anything."""
        args, kwargs = self._arguments(node, scope, depth)
        path = self.path(node.func, scope)
        if not path.rpartition(".")[2][:1].isupper():
            raise Unreadable
        given = [written(item) for item in args]
        named = {key: written(item) for key, item in kwargs.items()}
        return {"_target_": path, **({"_args_": given} if given else {}), **named}

    def _arguments(self, node: ast.Call, scope: Scope, depth: int) -> tuple[list[Any], dict[str, Any]]:
        args: list[Any] = []
        for argument in node.args:
            value = self.read(argument.value if isinstance(argument, ast.Starred) else argument, scope, depth + 1)
            if isinstance(argument, ast.Starred) and not isinstance(value, list):
                raise Unreadable
            args += value if isinstance(argument, ast.Starred) else [value]
        pairs = [(ast.Constant(keyword.arg) if keyword.arg else None, keyword.value) for keyword in node.keywords]
        kwargs = self.read(ast.Dict([key for key, _ in pairs], [value for _, value in pairs]), scope, depth + 1)
        return args, kwargs.values

    def arguments(self, node: ast.Call, scope: Scope) -> tuple[list[Any], dict[str, Any]]:
        """What a call is given.

        Raises:
            Unreadable: if a part of it can't be read.
        """
        return self._arguments(node, scope, 0)

    def _options(self, scope: Scope, depth: int) -> Tree:
        """The defaults of a command line."""
        tree = Tree({}, maker=_NAMESPACE)
        for name, default in scope.source.options.items():
            try:
                tree.values[name] = default and self.read(default, Scope(scope.source, scope.source.tree), depth + 1)
            except Unreadable:
                tree.is_whole = False
        return tree

    def _loaded(self, node: ast.Call, scope: Scope, depth: int) -> Any:
        """What a file with data holds: the one that the call names somewhere inside."""
        for name in self._texts(node, scope, depth):
            file = self.sources.project.data_file(name, scope.source.file)
            if file is not None:
                tree = self.sources.data.composed(file)[-1]
                return tree.as_settings() if "OmegaConf" in ast.unparse(node.func) else tree
        raise Unreadable

    def _texts(self, node: ast.AST, scope: Scope, depth: int) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            try:
                value = self.read(child, scope, depth + 1) if isinstance(child, ast.expr) else None
            except Unreadable:
                value = None
            if isinstance(value, str):
                yield value
            elif isinstance(child, ast.Name) and isinstance(opened := self._meaning(child, scope), tuple):
                yield from self._texts(opened[0], opened[1], depth + 1)
            else:
                yield from self._texts(child, scope, depth + 1)

    def _meaning(self, node: ast.Name, scope: Scope) -> Any:
        try:
            return scope.find(node.id)
        except KeyError:
            return None

    def _collected(self, node: ast.Call, scope: Scope, depth: int, maker: str) -> Tree:
        """``dict(width=3)``, ``SimpleNamespace(width=3)``."""
        args, kwargs = self._arguments(node, scope, depth)
        if len(args) > 1 or not all(isinstance(item, Tree) for item in args):
            raise Unreadable
        tree = Tree({**(args[0].values if args else {}), **kwargs}, is_whole=all(item.is_whole for item in args))
        if maker == "dict":
            return tree
        tree.maker = _NAMESPACE
        return tree if maker.rpartition(".")[2] in {"SimpleNamespace", "Namespace"} else tree.as_settings()

    def _method(self, node: ast.Call, owner: ast.expr, scope: Scope, depth: int) -> Any:
        if isinstance(owner, ast.Name):
            tree = self.named(owner, scope, depth, with_removed=True)
        else:
            tree = self.read(owner, scope, depth + 1)
        if not isinstance(tree, Tree):
            raise Unreadable
        args, _ = self._arguments(node, scope, depth)
        match called_name(node), args:
            case "get" | "pop", [key, *default] if isinstance(key, str) and (
                key in tree.values or (default and tree.is_whole)
            ):
                return self.value_of(tree, key) if key in tree.values else default[0]
            case "items", []:
                return [[key, self.value_of(tree, key)] for key in tree.values]
            case "keys", []:
                return [*tree.values]
            case "values", []:
                return [self.value_of(tree, key) for key in tree.values]
        raise Unreadable

    def _returned(self, node: ast.Call, function: Scope, scope: Scope, depth: int) -> Any:
        """What a function of the project returns, if it has one way to do so."""
        returns = [part for part in statement_nodes(function.node) if isinstance(part, ast.Return)]
        inner = self._called(node, function, scope)
        if len(returns) != 1 or returns[0].value is None:
            raise Unreadable
        return self.read(returns[0].value, inner, depth + 1)

    def _called(self, node: ast.Call, function: Scope, scope: Scope, *, is_method: bool = False) -> Scope:
        """What names mean in a function that is called so."""
        code: Any = function.node
        around = function.source.around.get(code, ())
        inner = frames(self.sources, function.source, (*around, code))[-1]
        return Scope(
            inner.source, code, inner.outer, {**inner.parameters, **bound(code, node, scope, is_method=is_method)}
        )

    def _instance(self, node: ast.Call, found: Scope, scope: Scope, depth: int) -> Tree:
        """An object of one of the project's classes: its fields, and what its constructor assigns."""
        tree = self._class_values(found, depth)
        tree.maker, order = _NAMESPACE, self._fields(found)
        init = next((part for part in ast.iter_child_nodes(found.node) if _is_init(part)), None)
        if init is None:
            try:
                args, kwargs = self._arguments(node, scope, depth)
                tree.values |= {**dict(zip(order, args, strict=False)), **kwargs}
            except Unreadable:
                tree.is_whole = False
            tree.is_whole &= {*order} <= {*tree.values}
        else:
            inner = self._called(node, Scope(found.source, init, found), scope, is_method=True)
            self._assign(tree, init, inner, depth)
        try:
            tree.as_option = self._by_path(node, scope, depth)
        except Unreadable:
            tree.is_whole &= bool(tree.values)
        return tree

    def _fields(self, found: Scope) -> list[str]:
        return [
            part.target.id
            for part in found.node.body  # type: ignore[attr-defined]
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        ]

    def _class_values(self, found: Scope, depth: int) -> Tree:
        """What a class assigns to its own names, and its bases."""
        tree = Tree({}, self.sources.place(found.source, found.node))
        for base in found.node.bases:  # type: ignore[attr-defined]
            above = self.sources.class_named(base, found) if depth < _DEEPEST_BASE else None
            if above is not None and above.node is not found.node:
                inherited = self._class_values(above, depth + 1)
                tree.values |= inherited.values
                tree.places |= inherited.places
                tree.is_whole &= inherited.is_whole
            else:
                tree.is_whole &= ast.unparse(base).rpartition(".")[2] in _PLAIN_BASES
        for name, value in found.source.names(found.node).items():
            self._put(tree, name, value and _default(value), Scope(found.source, found.node, found.outer), depth)
        return tree

    def _assign(self, tree: Tree, init: Any, inner: Scope, depth: int) -> None:
        own = init.args.args[0].arg if init.args.args else ""
        for part in statement_nodes(init):
            match part:
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr=attribute)], value=value) if (
                    name == own
                ):
                    self._put(tree, attribute, value, inner, depth)

    def _put(self, tree: Tree, name: str, value: ast.expr | None, scope: Scope, depth: int) -> None:
        node = value or ast.Yield()  # which can't be read
        try:
            tree.values[name] = self.read(node, scope, depth + 1)
            tree.places[name] = self.sources.place(scope.source, node)
        except Unreadable:
            tree.values.pop(name, None)
            tree.is_whole = False

    def found(self, node: ast.Attribute, scope: Scope, depth: int) -> Known | None:
        """An attribute of a module, of a class, or of a method's own object; None for any other."""
        owner = node.value
        if isinstance(owner, ast.Name) and (own := scope.class_of(owner.id)) is not None:
            call = ast.Call(func=ast.Name(own.node.name, ast.Load()), args=[], keywords=[])  # type: ignore[attr-defined]
            return Known(self.value_of(self._instance(call, own, own, depth + 1), node.attr))
        if isinstance(owner, ast.Name) and owner.id in scope.source.imported:
            source = self.sources.of_module(scope.source.imported[owner.id], scope.source.file)
            if source is not None and source.names(source.tree).get(node.attr) is not None:
                name = ast.Name(node.attr, ast.Load())
                return Known(self.read_elsewhere(name, Scope(source, source.tree), depth))
        if (named := self.sources.class_named(owner, scope)) is not None:
            return Known(self.value_of(self._class_values(named, depth + 1), node.attr))
        return None


def _is_init(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "__init__"


def _default(value: ast.expr) -> ast.expr:
    """``field(default_factory=Encoder)`` is an ``Encoder()``."""
    if not isinstance(value, ast.Call) or called_name(value) not in {"field", "Field"}:
        return value
    said = {keyword.arg: keyword.value for keyword in value.keywords}
    match said.get("default_factory"):
        case None:
            return said.get("default", value.args[0] if value.args else value)
        case ast.Lambda(body=body):
            return body
        case ast.Name(id=("list" | "tuple")):
            return ast.List(elts=[], ctx=ast.Load())
        case ast.Name(id="dict"):
            return ast.Dict(keys=[], values=[])
        case factory:
            return ast.Call(func=factory, args=[], keywords=[])
