"""How the project itself makes a class: in code, documentation, tests and configurations, which are read, never run.

A call counts if its arguments can be read, all of them or, where no call is better, some: literals, names that are
assigned such values, here or in another file of the project, what functions around it are called with, defaults of
command lines, fields of dataclasses, files with data, arithmetic, classes by name, and calls of classes (``nn.Linear(8,
4)``). Where the object that it makes is called in turn, and its arguments are ``torch.randn`` and the like, their
shapes are example inputs. Beside calls there are configurations that name the class, ``_target_: mypkg.Model``, and
such as have exactly its parameters as keys.
"""

from __future__ import annotations

import ast
import inspect
import re
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.data_files import subtrees
from modeldiagrams.target.inference.inputs_shown import inputs_shown
from modeldiagrams.target.inference.parameters import frames
from modeldiagrams.target.inference.parsed_file import called_name
from modeldiagrams.target.inference.parsed_project import ParsedProject
from modeldiagrams.target.inference.project import CODE, DATA, Project
from modeldiagrams.target.inference.scope import Scope
from modeldiagrams.target.inference.trees import Tree, Unreadable, written
from modeldiagrams.target.inference.written_objects import Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.target.inference.parsed_file import ParsedFile

__all__ = ["CallSite", "call_sites"]

_TESTS = re.compile(r"(^|/)(tests?|testing)(/|$)|test_|conftest")
_CONFIGURATIONS = re.compile(r"^(conf|cfg|config|setting|hparam|param|model)", re.IGNORECASE)
"""Folders and files that are likely to be one, where nothing names the class."""
_NAMING = ("_target_", "class_path", "type", "name", "target", "class", "model")
"""Keys of configurations that name what they are for."""
_ARGUMENTS = ("init_args", "params", "kwargs", "args", "arguments")
"""Keys beside them that hold the arguments."""
_MOST_PARTS = 2
"""Calls of which some arguments can be read."""
_MANY = 8
"""Options of a command line, from which only those are taken that the model's file mentions."""


@dataclass(frozen=True)
class CallSite:
    """One way in which the project makes a class, or calls a factory."""

    place: str
    """``tests/test_model.py:12``."""
    kwargs: dict[str, Any]
    """Its arguments by name, as the option `kwargs`."""
    places: dict[str, str]
    """Where each of them is written: ``train.py:7 and conf/small.yaml:3``."""
    files: tuple[str, ...]
    """Absolute; a change of one may change the call."""
    inputs: list[list[Any]] = field(default_factory=list)
    """What the model is called with, as the option `inputs`."""
    is_whole: bool = True
    """Whether all its arguments could be read."""


def call_sites(found: Callable[..., Any], *, parts: bool = False) -> Iterator[CallSite]:
    """Calls of a class or factory in its project, those that show it to readers before those of tests.

    Args:
        found: The class or the function; of one in an installed package, only its own file is read.
        parts: Whether to end with calls of which only some arguments can be read.
    """
    name = getattr(found, "__name__", "")
    try:
        own = Path(inspect.getsourcefile(inspect.unwrap(found)) or "")
        signature = inspect.signature(found)
    except (OSError, TypeError, ValueError):
        return
    if name and own.is_file():
        sources = ParsedProject(Project(own, found.__module__))
        seen, evidence = [], _Evidence(name, signature, sources)
        for site in chain(evidence.all(), evidence.parts if parts else ()):
            if site.kwargs not in seen:
                seen.append(site.kwargs)
                yield site


@dataclass
class _Evidence:
    name: str
    signature: inspect.Signature
    sources: ParsedProject

    def __post_init__(self) -> None:
        self.project = self.sources.project
        self.reader = Reader(self.sources)
        self.parts: list[CallSite] = []
        """Sites of which only some arguments can be read, after those that `all` gives."""

    def all(self) -> Iterator[CallSite]:
        own = self.project.own
        files = [own, *(file for file in self.project.files() if file != own)]
        files.sort(key=lambda file: (bool(_TESTS.search(self.project.relative(file))), file != own))
        for file in files:
            if self.name in self.project.text(file):
                yield from self._of_code(file) if file.suffix in CODE else self._of_data(file, is_named=True)
        for file in files:
            if file.suffix in DATA and self._is_beside(file):
                yield from self._of_data(file, is_named=False)

    # -- code

    def _of_code(self, file: Path) -> Iterator[CallSite]:
        for source in self.sources.of_file(file):
            for node in source.made():
                if isinstance(node, ast.Dict) or (called_name(node) == "dict" and not node.args):
                    yield from self._of_entry(node, source)
                elif call := self._call_of_it(node, source):
                    for scope in frames(self.sources, source, source.around[node]):
                        yield from self._of_call(node, call, source, scope)

    def _call_of_it(self, node: ast.Call, source: ParsedFile) -> ast.Call | None:
        """The call, if it is one of the class: also ``partial(Model, 3)``, and by another name."""
        if called_name(node) == "partial" and node.args:
            node = ast.Call(func=node.args[0], args=node.args[1:], keywords=node.keywords)
        called = called_name(node)
        alias = source.imported.get(called, "") if isinstance(node.func, ast.Name) else ""
        is_it = called == self.name or alias.rpartition(".")[2] == self.name
        return node if is_it and not self._is_elsewhere(node.func, source) else None

    def _is_elsewhere(self, node: ast.expr, source: ParsedFile) -> bool:
        """Whether a name is of another file of the project, or of another package than the model's, as ``nn.LSTM``."""
        scope = Scope(source, source.tree)
        if found := self.sources.class_named(node, scope) or self.sources.function_named(node, scope):
            return found.source.file.resolve() != self.project.own.resolve()
        while isinstance(node, ast.Attribute):
            node = node.value
        path = source.imported.get(node.id, "") if isinstance(node, ast.Name) else ""
        module = self.project.module.rpartition(".")[2]
        return bool(path) and path.partition(".")[0] != self.sources.packages[0] and module not in path.split(".")

    def _of_call(self, node: ast.Call, call: ast.Call, source: ParsedFile, scope: Scope) -> Iterator[CallSite]:
        place = self.sources.place(source, node)
        reader, self.reader.home = self.reader, self.project.relative(source.file)
        places: dict[str, str] = {}
        try:
            reader.places = []
            args, kwargs = reader.arguments(call, scope)
            bound = self._bound(args, kwargs)
            for name in bound:
                places[name] = " and ".join(dict.fromkeys([place, *self._own_places(call, name, args, scope)]))
        except Unreadable:
            self._note_part(place, call, source, scope)
            return
        files = (source.file, *(self.project.root / said.rpartition(":")[0] for said in reader.places))
        yield from self._sites(place, bound, places, files, inputs_shown(reader, source, node, scope))

    def _note_part(self, place: str, call: ast.Call, source: ParsedFile, scope: Scope) -> None:
        """What can be read of a call whose other arguments only a run would tell."""
        if len(self.parts) < _MOST_PARTS:
            names = [*self.signature.parameters]
            plain = [*takewhile(lambda argument: not isinstance(argument, ast.Starred), call.args)]
            given = [*zip(names, plain, strict=False), *((k.arg, k.value) for k in call.keywords)]
            known: dict[str, Any] = {}
            self.reader.places = []
            for name, node in given:
                with suppress(Unreadable):
                    value = self.reader.read(node, scope)
                    known |= {name: written(value)} if name else _written_values(value)
            files = (source.file, *(self.project.root / said.rpartition(":")[0] for said in self.reader.places))
            known = {name: value for name, value in known.items() if name in names and value not in (None, {})}
            if known:
                paths = tuple(dict.fromkeys(map(str, files)))
                self.parts.append(CallSite(place, known, dict.fromkeys(known, place), paths, is_whole=False))

    def _own_places(self, call: ast.Call, name: str, args: list[Any], scope: Scope) -> list[str]:
        """Where else the value of one argument is written; of all arguments, where only all are known."""
        index = [*self.signature.parameters].index(name)
        written_as = [keyword.value for keyword in call.keywords if keyword.arg == name]
        is_by_position = index < len(args) == len(call.args)
        node = call.args[index] if is_by_position else written_as[0] if written_as else None
        before, self.reader.places = self.reader.places, []
        try:
            if node is not None:
                self.reader.read(node, scope)
                return self.reader.places
        except Unreadable:
            pass
        finally:
            self.reader.places = [*dict.fromkeys([*before, *self.reader.places])]
        return before

    def _of_entry(self, node: ast.Dict | ast.Call, source: ParsedFile) -> Iterator[CallSite]:
        """``{"type": "Model", "width": 3}``, ``dict(type="Model", width=3)``."""
        for scope in frames(self.sources, source, source.around[node])[:1]:
            self.reader.home, self.reader.places = self.project.relative(source.file), []
            try:
                tree = self.reader.read(node, scope)
            except Unreadable:
                return
            place = self.sources.place(source, node)
            yield from self._of_tree(Tree(tree.values, place), (source.file,), is_named=True)

    # -- data

    def _is_beside(self, file: Path) -> bool:
        """Whether a file is likely to be a configuration of the model, though it does not name it."""
        near = {self.project.own.parent, self.project.root}
        is_folder = any(_CONFIGURATIONS.match(part) for part in file.relative_to(self.project.root).parts[:-1])
        is_near = file.parent in near and (file.parent == self.project.own.parent or _CONFIGURATIONS.match(file.name))
        required = [p.name for p in self.signature.parameters.values() if p.default is p.empty]
        text = self.project.text(file) if is_folder or is_near else ""
        return bool(text) and all(name in text for name in required)

    def _of_data(self, file: Path, *, is_named: bool) -> Iterator[CallSite]:
        try:
            trees = self.sources.data.composed(file)
        except Unreadable:
            return
        for tree in trees:
            for part in subtrees(tree):
                yield from self._of_tree(part, (file, *self.sources.data.read), is_named=is_named)

    def _of_tree(self, tree: Tree, files: tuple[Path, ...], *, is_named: bool) -> Iterator[CallSite]:
        """A mapping that names the class, or one with its parameters as keys."""
        naming = next((key for key in _NAMING if isinstance(tree.values.get(key), str)), "")
        named = str(tree.values.get(naming, ""))
        if is_named != self._is_name(named, naming) or not tree.is_whole:
            return
        inner = next((tree.values[key] for key in _ARGUMENTS if isinstance(tree.values.get(key), Tree)), None)
        source = inner if is_named and inner and "_target_" not in tree.values else tree
        given = {key: value for key, value in source.values.items() if key != naming and not str(key).startswith("_")}
        if not is_named and (len(given) < 2 or naming):  # noqa: PLR2004
            return
        if naming == "_target_":
            given = {key: value.as_settings() if isinstance(value, Tree) else value for key, value in given.items()}
        try:
            args = tree.values.get("_args_", []) if naming == "_target_" else []
            bound = self._bound(args, given)
        except (Unreadable, TypeError):
            return
        places = {key: source.place_of(key) for key in bound}
        yield from self._sites(tree.place, bound, places, files, [])

    def _is_name(self, path: str, key: str) -> bool:
        module, _, name = path.rpartition(".")
        is_beside = f".{self.project.module}".endswith(f".{module}")  # where a script's folder is the import path
        is_own = module.partition(".")[0] == self.sources.packages[0] or is_beside if module else key != "_target_"
        return name == self.name and is_own

    # -- both

    def _bound(self, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments by name; all required ones, and none that is no parameter.

        Raises:
            Unreadable: if the class can't be called with them.
        """
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError:
            raise Unreadable from None
        kinds = {self.signature.parameters[name].kind for name in bound.arguments}
        if not bound.arguments or not kinds <= {
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.KEYWORD_ONLY,
        }:
            raise Unreadable
        return dict(bound.arguments)

    def _sites(
        self, place: str, bound: dict[str, Any], places: dict[str, str], files: tuple[Path, ...], inputs: list[Any]
    ) -> Iterator[CallSite]:
        """With long command lines cut to what the model's file mentions; then with all of them."""
        absolute = tuple(dict.fromkeys(map(str, files)))
        for values in ({name: self._mentioned(value) for name, value in bound.items()}, bound):
            try:
                kwargs = {name: written(value) for name, value in values.items()}
            except Unreadable:
                continue
            yield CallSite(place, kwargs, places, absolute, inputs)

    def _mentioned(self, value: Any) -> Any:
        if not isinstance(value, Tree) or len(value.values) <= _MANY or value.as_option is not None:
            return value
        words = {*re.findall(r"\w+", self.project.text(self.project.own))}
        kept = {key: item for key, item in value.values.items() if str(key) in words}
        return Tree(kept, value.place, value.places, value.maker) if kept else value


def _written_values(value: Any) -> dict[str, Any]:
    return {str(key): written(item) for key, item in value.values.items()} if isinstance(value, Tree) else {}
