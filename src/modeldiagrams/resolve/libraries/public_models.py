"""Lists the models of a library that an author names for a catalogue.

The author names packages, modules, objects, and patterns of names:

- A package or module means the models among its public names: `__all__`, or else all names without underscore. Models
  are classes of modules that its top-level package defines, and functions there that return one, as their annotation
  says or the package's own `list_models()`. A function that needs a text or a model first (`get_model(name)`) is none.
- A class is left out if functions next to it make it, because these are its models: `resnet18`, not `ResNet`.
- Submodules of a package are looked into if the package has no model of theirs among its own names.
- A module that has no `__all__` and is no package means only what it defines, or imports from a private module.
- A package that imports its names only when they are used, like transformers, means these names.
- A pattern (`mypkg.*Net`) means every public class and function of a package with such a name, even if it is left out
  above.
- A name means that object.
- An object with several names has the shortest. Nothing is called to find out what it makes.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
from types import FunctionType, ModuleType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, ForwardRef, TypeVar, Union, get_args, get_origin

import torch
from torch import nn

from modeldiagrams.common.class_facts import find_module, name_of
from modeldiagrams.common.globs import compile_globs
from modeldiagrams.errors import TargetError
from modeldiagrams.options.options import get_package
from modeldiagrams.resolve.values.locate import (
    describe_object_at,
    import_module,
    list_submodules,
    locate,
    suggest_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["find_models"]

_NO_MODELS = re.compile(r"_|tests?$|test_|conftest$")
"""The beginning of names of submodules that are not looked into."""
_WILD = re.compile(r"[*?]")
_IN_TEXTS = {"nn": nn, "torch": torch, "Module": nn.Module}
"""Names that annotations often have from imports for type checkers only."""


def find_models(of: Iterable[str], exclude: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List models as an author names them, by the rules above.

    Args:
        of: Packages, modules, objects, and patterns of names.
        exclude: Patterns of names to leave out; each may be a whole name, its last part, or the name of a module.

    Returns:
        The sorted names, and one sentence for each word that names no model, or module that can't be imported.
    """
    problems: list[str] = []
    names: dict[int, tuple[Any, list[str]]] = {}
    for word in of:
        search = _Search(get_package(word))
        try:
            models = search.read(word)
        except TargetError as error:
            search.problems.append(_describe(error))
            models = {}
        problems += search.problems
        for name, model in models.items():
            names.setdefault(id(model), (model, []))[1].append(name)
    patterns = {pattern: compile_globs([pattern]) for pattern in exclude}
    unused = dict(patterns)

    def is_excluded(name: str) -> bool:
        parts = name.split(".")
        forms = [parts[-1], *(".".join(parts[:depth]) for depth in range(1, len(parts) + 1))]
        matching = [pattern for pattern, matches in patterns.items() if any(map(matches, forms))]
        for pattern in matching:
            unused.pop(pattern, None)
        return bool(matching)

    kept = [[name for name in each if not is_excluded(name)] for _, each in names.values()]
    problems += [f"nothing matches {pattern!r} of the option `exclude`" for pattern in unused if names]
    return tuple(sorted(min(each, key=_by_length) for each in kept if each)), tuple(dict.fromkeys(problems))


def _by_length(name: str) -> tuple[int, int, str]:
    return name.count("."), len(name), name


def _describe(error: TargetError) -> str:
    return f"{error} ({error.frames[-1]})" if error.frames else str(error)


class _Search:
    """Looks for models in one top-level package.

    Attributes:
        problems: Sentences about modules that can't be imported.
    """

    def __init__(self, package: str) -> None:
        self.problems: list[str] = []
        self._package = package
        self._registered: set[str] | None = None
        self._classes: dict[str, Any] = {}
        """Classes of models by their short name, for annotations as text."""

    def read(self, word: str) -> dict[str, Any]:
        """Find the models that a word names: name → object.

        Raises:
            TargetError: if there are none.
        """
        if wild := _WILD.search(word):
            return self._match(word, word[: wild.start()].rpartition(".")[0])
        found, dotted = locate(word), word.replace(":", ".")
        if not isinstance(found, ModuleType):
            if isinstance(found, nn.Module) or (callable(found) and (not isinstance(found, type) or _is_model(found))):
                return {dotted: found}
            raise TargetError(
                f"expected a torch.nn.Module, or a class or function that makes one, got "
                f"{describe_object_at(word, found)}"
            )
        models = self._walk(found, dotted)
        made = {(class_, each.__module__) for each in models.values() for class_ in self._returned(each)}
        models = {
            name: each
            for name, each in models.items()
            if not (isinstance(each, type) and (each, find_module(each)) in made)
        }
        if not models and not self.problems:
            kinds = "public nn.Module classes or functions annotated to return one"
            raise TargetError(f"{word} has no {kinds}; name them (`{word}.…`), or a module that has some")
        return models

    def _match(self, pattern: str, owner: str) -> dict[str, Any]:
        """Find the models whose names match a pattern."""
        found = locate(owner) if owner else None
        if not isinstance(found, ModuleType):
            raise TargetError(f"the pattern {pattern!r} names no package to look in; write `mypkg.{pattern}`")
        seen: set[str] = set()
        matches = compile_globs([pattern])

        def wants(name: str) -> object:
            seen.add(name)
            return matches(name)

        models = self._walk(found, owner, wants)
        if not models and not self.problems:
            raise TargetError(f"no model matches {pattern!r}" + suggest_name(pattern, seen))
        return models

    def _walk(self, module: ModuleType, path: str, wants: Callable[[str], object] = bool) -> dict[str, Any]:
        """Find the models among the public names of a module, and of submodules from which it has none."""
        names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
        is_lazy = not vars(module).keys() >= {*names}
        found: dict[str, Any] = {}
        for name in filter(lambda name: wants(f"{path}.{name}"), sorted({*names})):
            try:
                value = getattr(module, name, None)
            except Exception as error:  # noqa: BLE001  (lazy packages import here)
                self.problems.append(f"{path}.{name} can't be imported ({type(error).__name__}: {error})")
                continue
            if isinstance(value, type | FunctionType) and self._is_own(value, module):
                found[f"{path}.{name}"] = value
        self._classes |= {name_of(each): each for each in found.values() if isinstance(each, type)}
        found = {name: each for name, each in found.items() if _is_model(each) or any(self._returned(each))}
        origins = {f"{each.__module__}." for each in found.values()}
        for name in list_submodules(module) if hasattr(module, "__path__") and not is_lazy else []:
            inside = f"{module.__name__}.{name}."
            if _NO_MODELS.match(name) or any(origin.startswith(inside) for origin in origins):
                continue
            try:
                more = self._walk(import_module(inside[:-1]), f"{path}.{name}", wants)
            except TargetError as error:
                self.problems.append(_describe(error))
            else:
                found |= {name: each for name, each in more.items() if _is_inside(each, module.__name__)}
        return found

    def _is_own(self, value: Any, module: ModuleType) -> bool:
        """Whether a public name is the package's own, and the module's, which may only use what it imports."""
        origin = find_module(value) if isinstance(value, type) else str(value.__module__)
        is_exported = hasattr(module, "__all__") or hasattr(module, "__path__")
        is_here = is_exported or origin == module.__name__ or "._" in origin
        return is_here and get_package(origin) == self._package

    def _returned(self, function: Any) -> Iterator[type]:
        """The classes of models that a function returns; none if it needs a text or a model first."""
        if not isinstance(function, FunctionType):
            return
        plain: Any = inspect.unwrap(function)
        for name, parameter in inspect.signature(plain).parameters.items():
            is_open = parameter.default is parameter.empty and parameter.kind not in _VARIABLE
            needed = self._list_types(plain.__annotations__.get(name), plain) if is_open else []
            if any(issubclass(each, str | os.PathLike | nn.Module) for each in needed):
                return
        returned = self._list_types(plain.__annotations__.get("return"), plain)
        yield from filter(_is_module, returned)
        if not returned and plain.__name__ in self._list_registered():
            yield nn.Module

    def _list_types(self, hint: Any, function: Any) -> list[type]:
        """The classes in an annotation, which may be text, a union, or a variable for types."""
        if isinstance(hint, ForwardRef):
            hint = hint.__forward_arg__
        if isinstance(hint, str):
            with contextlib.suppress(Exception):  # what it names may be imported for type checkers only
                hint = eval(hint, {**_IN_TEXTS, **self._classes, **function.__globals__})  # noqa: S307
        if isinstance(hint, TypeVar):
            inside: tuple[Any, ...] = (hint.__bound__, *hint.__constraints__)
        elif get_origin(hint) in {Union, UnionType, Annotated}:
            inside = get_args(hint)
        else:
            found = get_origin(hint) or hint
            return [found] if isinstance(found, type) else []
        return [each for one in inside for each in self._list_types(one, function)]

    def _list_registered(self) -> set[str]:
        """Names of functions that the package's own `list_models` lists, as that of timm does."""
        if self._registered is None:
            self._registered = set()
            for owner in (self._package, f"{self._package}.models"):
                with contextlib.suppress(Exception):
                    self._registered |= {*map(str, locate(f"{owner}.list_models")())}
        return self._registered


_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _is_inside(found: Any, package: str) -> bool:
    """Whether a package or a private module defines an object, which elsewhere has a name of its own."""
    return f"{found.__module__}.".startswith(f"{package}.") or "._" in found.__module__


def _is_module(found: type) -> bool:
    return issubclass(found, nn.Module)


def _is_model(found: Any) -> bool:
    return isinstance(found, type) and _is_module(found) and found is not nn.Module
