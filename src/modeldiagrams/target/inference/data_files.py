"""Reads YAML and JSON of a project as trees whose values know their lines; also as Hydra composes them.

Only plain data is made of it. Values with interpolations (``${model.width}``) that name no constant are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from modeldiagrams.target.inference.project import DATA
from modeldiagrams.target.inference.trees import Tree, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modeldiagrams.target.inference.project import Project

__all__ = ["DataFiles", "subtrees"]

_MOST_NODES = 5_000
"""Of one file; a few aliases can stand for millions."""
_MOST_BYTES = 400_000
"""Of all that are parsed, which is slow."""
_DEEPEST = 20
_LONGEST = 1000
_MOST_COMPOSED = 40
_PLAIN = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null")}
_AS_TEXT = {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:merge"}
_FLOAT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+")
"""What Hydra and JSON read as a number, but YAML 1.1 as text: ``1e-4``."""
_REFERENCE = re.compile(r"\$\{\s*([\w.\-/]*)\s*\}")


@dataclass
class DataFiles:
    """Those of a project."""

    project: Project
    read: list[Path] = field(default_factory=list)
    """Files that may say something."""
    _trees: dict[Path, Any] = field(default_factory=dict)
    _bytes: int = 0
    _composed: int = 0

    def load(self, file: Path) -> Any:
        """What a file holds; its interpolations stay as they are.

        Raises:
            Unreadable: if it is no YAML, or too much.
        """
        if file not in self._trees:
            text = self.project.text(file)
            self._bytes += len(text)
            self.read.append(file)
            self._trees[file] = _parsed(text, self.project.relative(file)) if self._bytes <= _MOST_BYTES else None
        if self._trees[file] is None:
            raise Unreadable
        return self._trees[file]

    def composed(self, file: Path) -> list[Tree]:
        """What a file means: on its own, or in the configurations above it that have a list of defaults."""
        alone = self._tree(file)
        found = [*self._choices(file), self._with_defaults(file, alone, {}, ())]
        return [_Interpolated(tree).tree(tree, (), 0) for tree in found]

    def _choices(self, file: Path) -> Iterator[Tree]:
        """The main configurations of a file's folder of Hydra: as they are, and with this file chosen for its group."""
        for folder in file.parent.parents:
            if not folder.is_relative_to(self.project.folder):
                return
            group = file.parent.relative_to(folder).as_posix()
            for main in sorted(path for path in _inside(folder) if path.suffix in DATA and path.is_file()):
                if re.search(r"^defaults:", self.project.text(main), re.MULTILINE):
                    yield self._with_defaults(main, self._tree(main), {}, ())
                    yield self._with_defaults(main, self._tree(main), {group: file.stem}, ())

    def _tree(self, file: Path) -> Tree:
        tree = self.load(file)
        if not isinstance(tree, Tree):
            raise Unreadable
        return tree

    def _with_defaults(self, file: Path, tree: Tree, chosen: dict[str, str], above: tuple[Path, ...]) -> Tree:
        """A configuration merged with those that its list of defaults names, which it overrides."""
        own = Tree({key: value for key, value in tree.values.items() if key != "defaults"}, tree.place, tree.places)
        entries = tree.values.get("defaults")
        if not isinstance(entries, list) or file in above:
            return own
        self._composed += 1
        if self._composed > _MOST_COMPOSED:
            raise Unreadable
        if "_self_" not in entries:
            entries = [*entries, "_self_"]
        result = Tree({}, tree.place)
        for entry in entries:
            part = own if entry == "_self_" else self._default(file, entry, chosen, (*above, file))
            result = result if part is None else _merged(result, part)
        return result

    def _default(self, file: Path, entry: Any, chosen: dict[str, str], above: tuple[Path, ...]) -> Tree | None:
        """One entry of a list of defaults: ``model: small``, ``base``."""
        match entry:
            case str(name):
                group, choice = "", name
            case Tree(values=values) if len(values) == 1 and not str(next(iter(values))).startswith("override "):
                group, choice = str(next(iter(values))), next(iter(values.values()))
            case _:
                return None
        group, _, package = group.removeprefix("optional ").strip("/").partition("@")
        found = self.project.data_file(f"{group}/{chosen.get(group, choice)}.yaml".lstrip("/"), file)
        if found is None or not found.is_relative_to(file.parent):
            return None
        part = self._with_defaults(found, self._tree(found), {}, above)
        for key in reversed(_package(self.project.text(found), package or group.replace("/", "."))):
            part = Tree({key: part}, part.place, {key: part.place})
        return part


def subtrees(tree: Any) -> Iterator[Tree]:
    """All mappings in a tree, outer ones first."""
    if isinstance(tree, Tree):
        yield tree
    for item in tree.values.values() if isinstance(tree, Tree) else tree if isinstance(tree, list) else ():
        yield from subtrees(item)


def _inside(folder: Path) -> list[Path]:
    try:
        return [*folder.iterdir()]
    except OSError:
        return []


def _package(text: str, usual: str) -> list[str]:
    """Where Hydra puts the content of a file: ``# @package _global_`` is at the top."""
    said = re.match(r"\s*#\s*@package\s+(\S+)", text)
    package = usual if said is None or said[1] == "_group_" else said[1].replace("_group_", usual)
    return [part for part in package.replace("_global_", "").split(".") if part]


def _merged(first: Tree, second: Tree) -> Tree:
    values, places = {**first.values}, {**first.places}
    for key, value in second.values.items():
        before = values.get(key)
        values[key] = _merged(before, value) if isinstance(before, Tree) and isinstance(value, Tree) else value
        places[key] = second.place_of(key)
    return Tree(values, second.place or first.place, places)


def _parsed(text: str, name: str) -> Any:
    """A file's data; None if it is none."""
    try:
        node = yaml.compose(text.replace("\t", " "), Loader=yaml.SafeLoader)
        return _Nodes(name).value(node, 0) if node else None
    except (yaml.YAMLError, LookupError, ValueError, RecursionError, Unreadable):
        return None


@dataclass
class _Nodes:
    """Makes data of the nodes of one file."""

    file: str
    count: int = 0

    def value(self, node: yaml.Node, depth: int) -> Any:
        self.count += 1
        if self.count > _MOST_NODES or depth > _DEEPEST:
            raise Unreadable
        match node:
            case yaml.ScalarNode():
                return _scalar(node)
            case yaml.SequenceNode():
                return [self.value(item, depth + 1) for item in node.value]
        return self.mapping(node, depth)

    def mapping(self, node: yaml.Node, depth: int) -> Tree:
        own, bases = Tree({}, self.place(node)), []
        for key_node, value_node in node.value:
            key = _scalar(key_node) if isinstance(key_node, yaml.ScalarNode) else None
            value = self.value(value_node, depth + 1)
            if key == "<<":
                bases += [base for base in (value if isinstance(value, list) else [value]) if isinstance(base, Tree)]
            elif key is not None:
                own.values[key] = value
                own.places[key] = self.place(key_node)
        for base in bases:
            own.values = {**base.values, **own.values}
            own.places = {**base.places, **own.places}
        return own

    def place(self, node: yaml.Node) -> str:
        return f"{self.file}:{node.start_mark.line + 1}"


def _scalar(node: yaml.ScalarNode) -> Any:
    if node.tag in _AS_TEXT:
        return node.value
    if node.tag not in _PLAIN:
        raise Unreadable
    if node.style is None and _FLOAT.fullmatch(node.value):
        return float(node.value)
    return yaml.constructor.SafeConstructor().construct_object(node)  # `!!bool maybe` raises a KeyError


@dataclass
class _Interpolated:
    """Puts values in place of interpolations; leaves out what has none."""

    root: Tree
    count: int = 0

    def value(self, value: Any, path: tuple[Any, ...], depth: int = 0) -> Any:
        self.count += 1
        if self.count > _MOST_NODES or depth > _DEEPEST or value == "???":
            raise Unreadable
        match value:
            case Tree():
                return self.tree(value, path, depth)
            case list():
                return [self.value(item, path, depth + 1) for item in value]
            case str() if "${" in value:
                return self.text(value, path, depth)
        return value

    def tree(self, tree: Tree, path: tuple[Any, ...], depth: int) -> Tree:
        result = Tree({}, tree.place, tree.places)
        for key, item in tree.values.items():
            try:
                result.values[key] = self.value(item, (*path, key), depth + 1)
            except Unreadable:
                result.is_whole = False
        return result

    def text(self, text: str, path: tuple[Any, ...], depth: int) -> Any:
        if whole := _REFERENCE.fullmatch(text):
            return self.target(whole[1], path, depth)
        result = _REFERENCE.sub(lambda match: str(self.target(match[1], path, depth)), text)
        if "${" in result or len(result) > _LONGEST:  # `${oc.env:HOME}` has a resolver
            raise Unreadable
        return result

    def target(self, name: str, path: tuple[Any, ...], depth: int) -> Any:
        up = len(name) - len(name.lstrip("."))
        keys = [*path[: len(path) - up], *name.lstrip(".").split(".")] if up else name.split(".")
        found: Any = self.root
        for key in keys:
            if not isinstance(found, Tree) or key not in found.values:
                raise Unreadable
            found = found.values[key]
        return self.value(found, tuple(keys), depth + 1)
