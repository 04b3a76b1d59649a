"""Lists the models of a library that an author names for a catalogue.

The author names packages, modules, objects, and patterns of names:

- A package or module means the models among its public names: `__all__`, or else all names without underscore. Models
  are classes of modules that its top-level package defines, and functions there that return one, as their annotation
  says or the package's own `list_models()`. A function that needs a text or a model first (`get_model(name)`) is none.
- A class is left out if functions next to it make it, because these are its models: `resnet18`, not `ResNet`.
- Submodules of a package are looked into if the package has no model of theirs among its own names.
- A module that has no `__all__` and is no package means only what it defines.
- A package that imports its names only when they are used, like transformers, means these names.
- A pattern (`mypkg.*Net`) means every public class and function of a package with such a name, even if it is left out
  above. A name means that object.
- An object with several names has the shortest. Nothing is called to find out what it makes.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import re
from types import FunctionType, ModuleType, SimpleNamespace, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import torch
from torch import nn

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
    from collections.abc import Callable, Iterable

__all__ = ["find_models"]

_HAS_NO_MODELS = re.compile(r"_|tests?$|test_|conftest$")
"""The beginning of names of submodules that are not looked into."""
_IMPORTED = {"nn": nn, "torch": torch, "Module": nn.Module}
"""What annotations as text often name, and their modules import for type checkers only."""

_LONGEST_NAME = 150


def find_models(of: Iterable[str], exclude: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List models as an author names them, by the rules above.

    Args:
        of: Packages, modules, objects, and patterns of names.
        exclude: Patterns of whole names, or of their last parts, to leave out; a module also by its own name.

    Returns:
        The sorted names, and one sentence for each word that names no model, or module that can't be imported.
    """
    problems: list[str] = []
    leaves_out = compile_globs(exclude)
    searches = [(_Search(get_package(word), leaves_out, problems), word) for word in of]
    found = [each for search, word in searches for each in search.read(word)]
    names: dict[int, list[str]] = {}
    for name, model in found:
        if not leaves_out(name) and not leaves_out(name.rpartition(".")[2]):
            names.setdefault(id(model), []).append(name)
    if found and not names:
        problems.append("the option `exclude` leaves out all models")
    shortest = (min(each, key=lambda name: (name.count("."), len(name), name)) for each in names.values())
    return tuple(sorted(shortest)), tuple(dict.fromkeys(problems))


class _Search:
    """Looks for models in one top-level package; sentences about what is wrong are added to `problems`."""

    def __init__(self, package: str, leaves_out: Callable[[str], object], problems: list[str]) -> None:
        self._package = package
        self._leaves_out = leaves_out
        self._problems = problems
        self._classes: dict[str, type] = {}
        """Those found, by short name."""

    def read(self, word: str) -> Iterable[tuple[str, Any]]:
        """Find the models that a word names, with their names."""
        try:
            return self._read(word).items()
        except TargetError as error:
            self._note(error)
            return ()

    def _note(self, error: TargetError) -> None:
        self._problems.append(f"{error} ({error.frames[-1]})" if error.frames else str(error))

    def _read(self, word: str) -> dict[str, Any]:
        is_pattern = "*" in word or "?" in word
        owner = re.split(r"[*?]", word)[0].rpartition(".")[0] if is_pattern else word.replace(":", ".")
        if not owner:
            raise TargetError(f"the pattern {word!r} names no package to look in; write `mypkg.{word}`")
        found = locate(owner)
        if not isinstance(found, ModuleType):
            is_class_of_model = isinstance(found, type) and issubclass(found, nn.Module)
            if is_pattern or not (is_class_of_model or (callable(found) and not isinstance(found, type))):
                wanted = "a package or module" if is_pattern else "a torch.nn.Module, or a class or function of one"
                raise TargetError(f"expected {wanted}, got {describe_object_at(owner, found)}")
            return {owner: found}
        known, seen, matches = len(self._problems), set[str](), compile_globs([word if is_pattern else "*"])

        def wants(name: str) -> object:
            seen.add(name)
            return matches(name)

        models = self._walk(found, owner, wants)
        if not is_pattern:
            made = {(class_, each.__module__) for each in models.values() for class_ in self._list_returned(each)}
            models = {name: each for name, each in models.items() if (each, each.__module__) not in made}
        if not models and is_pattern:
            raise TargetError(f"no model matches {word!r}" + suggest_name(word, seen))
        if not models and len(self._problems) == known:
            kinds = "public nn.Module classes or functions annotated to return one"
            raise TargetError(f"{word} has no {kinds}; name them (`{word}.…`), or a module that has some")
        return models

    def _walk(self, module: ModuleType, path: str, wants: Callable[[str], object]) -> dict[str, Any]:
        """Find the models among the public names of a module, and of submodules from which it has none."""
        exported, submodules = getattr(module, "__all__", None), list_submodules(module)
        written = (name for name in dir(module) if not name.startswith("_")) if exported is None else exported
        names = {name for name in written if isinstance(name, str)}
        is_lazy = bool(names - vars(module).keys() - {*submodules})
        scope = module.__name__ if exported is None and not hasattr(module, "__path__") else self._package
        found: dict[str, Any] = {}
        # others are no attributes that an author could write, or no names of files
        names = {name for name in names if name.isidentifier() and len(name) < _LONGEST_NAME}
        for name in [name for name in sorted(names) if wants(f"{path}.{name}")]:
            try:
                value = getattr(module, name, None)
            except Exception as error:  # noqa: BLE001  (lazy packages import here)
                self._problems.append(f"{path}.{name} can't be imported ({type(error).__name__}: {error})")
                continue
            is_class = isinstance(value, type) and issubclass(value, nn.Module) and value is not nn.Module
            if (is_class or isinstance(value, FunctionType)) and _is_inside(value, scope):
                found[f"{path}.{name}"] = value
        self._classes |= {each.__name__: each for each in found.values() if isinstance(each, type)}
        found = {name: each for name, each in found.items() if isinstance(each, type) or self._list_returned(each)}
        own = [*found.values()]
        for name in [] if is_lazy else submodules:
            inside = f"{module.__name__}.{name}"
            is_named = any(_is_inside(each, inside) for each in own)
            if is_named or _HAS_NO_MODELS.match(name) or self._leaves_out(f"{path}.{name}"):
                continue
            try:
                more = self._walk(import_module(inside), f"{path}.{name}", wants)
            except TargetError as error:
                self._note(error)
            else:  # what another package defines has a name there
                found |= {name: each for name, each in more.items() if _is_inside(each, module.__name__)}
        return found

    def _list_returned(self, function: Any) -> list[type]:
        """The classes of models that a function returns; none if it needs a text or a model first."""
        if not isinstance(function, FunctionType):
            return []
        plain = inspect.unwrap(
            function, stop=lambda each: not isinstance(getattr(each, "__wrapped__", None), FunctionType)
        )
        for name, parameter in inspect.signature(plain).parameters.items():
            if parameter.default is parameter.empty and parameter.kind not in _VARIABLE:
                needed = self._list_types(plain, name)
                if any(issubclass(each, str | os.PathLike | nn.Module) for each in needed):
                    return []
        returned = self._list_types(plain, "return")
        is_registered = not returned and plain.__name__ in self._registered
        return [nn.Module] if is_registered else [each for each in returned if issubclass(each, nn.Module)]

    def _list_types(self, function: Any, name: str) -> list[type]:
        """The classes in an annotation, which may be text."""
        hints = {key: hint for key, hint in function.__annotations__.items() if key == name}
        with contextlib.suppress(Exception):  # text may name anything
            known = {**_IMPORTED, **self._classes, **function.__globals__}
            hints = get_type_hints(SimpleNamespace(__annotations__=hints), known)
        return [found for hint in hints.values() for found in _flatten(hint)]

    @functools.cached_property
    def _registered(self) -> set[str]:
        """Names of functions that the package's own `list_models` lists, as that of timm does."""
        with contextlib.suppress(Exception):
            return {*map(str, locate(f"{self._package}.list_models")())}
        return set()


_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _is_inside(found: Any, scope: str) -> bool:
    """Whether a module or package defines an object."""
    return f"{found.__module__}.".startswith(f"{scope}.")


def _flatten(hint: Any) -> list[type]:
    """The classes in a union, or of a variable for types."""
    if isinstance(hint, TypeVar):
        inside: tuple[Any, ...] = (hint.__bound__, *hint.__constraints__)
    elif get_origin(hint) in {Union, UnionType}:
        inside = get_args(hint)
    else:
        found = get_origin(hint) or hint
        return [found] if isinstance(found, type) else []
    return [each for one in inside for each in _flatten(one)]
