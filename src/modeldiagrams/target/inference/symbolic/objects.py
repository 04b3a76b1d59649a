"""Objects of the project's own classes that a forward takes: made of what the constructor of their class takes."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_origin, is_typeddict

from torch import Tensor, nn

from modeldiagrams.common.user_files import is_user_file
from modeldiagrams.target.forward import VARIADIC, parameters_of
from modeldiagrams.target.inference.annotations import annotations_of, is_own_class, without_none
from modeldiagrams.target.inference.members import classes_beside, members_of
from modeldiagrams.target.inference.plain_values import NOTHING, plain_value

if TYPE_CHECKING:
    from modeldiagrams.target.inference.entries import Path
    from modeldiagrams.target.inference.symbolic.given import Given

__all__ = ["annotate", "classes_read", "fields_with_default", "made_of_fields", "of_items"]


def annotate(given: Given, annotation: Any) -> None:
    """Note the project's own class that an input is annotated as, and which keys of a `TypedDict` are plain data."""
    given.class_ = _class_of(annotation) or given.class_
    if is_typeddict(found := without_none(annotation)):
        given.plain = _plain_data(annotations_of(found))


def classes_read(inputs: list[Given], names: Mapping[str, Any]) -> dict[Path, Any]:
    """The classes beside a model that have all that its code reads of inputs which nothing is said of.

    Args:
        inputs: All inputs and their parts, as they were read.
        names: The globals of the model's code.
    """
    found: dict[Path, Any] = {}
    for given in inputs:
        if given.way == "attribute" and of_items(given.path) not in found:
            alike = [each for each in inputs if each.path[: len(given.path)] == given.path and _is_alike(each, given)]
            class_ = _class_with({name for each in alike for name in _read_of(each)}, names)
            found |= {of_items(each.path): class_ for each in alike if class_}
    return found


def of_items(path: Path) -> Path:
    """The same for all items of a list."""
    return tuple(0 if isinstance(key, int) else key for key in path)


def _is_alike(given: Given, other: Given) -> bool:
    """Whether both are read by the same code: the nodes of a tree."""
    return given.way == "attribute" and not _read_of(given).isdisjoint(_read_of(other))


def _read_of(given: Given) -> set[str]:
    return {*map(str, given.parts), *given.plain}


def _class_with(read: set[str], names: Mapping[str, Any]) -> Any:
    """A class with several attributes that are read, or with a method or a property."""
    for class_ in classes_beside(names, object):
        is_told = len(read) > 1 or any(hasattr(class_, name) for name in read)
        if is_told and read <= members_of(class_) and _class_of(class_):
            return class_
    return None


def _class_of(annotation: Any) -> Any:
    """The project's own class that an annotation names, of which an instance can be written down; None for others."""
    found = without_none(annotation)
    found = get_origin(found) or found  # of a generic class, which is made without its arguments
    if not is_own_class(found) or issubclass(found, (Tensor, nn.Module, Mapping)) or "<" in found.__qualname__:
        return None
    file = getattr(sys.modules.get(found.__module__), "__file__", None)
    return found if file and is_user_file(file) and _fields_of(found) else None


def _fields_of(class_: Any) -> dict[str, Any]:
    """What a class is made of, by name, with the annotations; what has a default only where everything has one."""
    parameters = [p for p in parameters_of(class_).values() if p.kind not in VARIADIC]
    needed = [p for p in parameters if p.default is inspect.Parameter.empty] or parameters
    annotations = annotations_of(class_)
    return {p.name: without_none(annotations.get(p.name)) for p in needed}


def fields_with_default(class_: Any) -> set[str]:
    """What a class can be made without."""
    return {p.name for p in parameters_of(class_).values() if p.default is not p.empty}


def _plain_data(fields: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: plain_value(kind) for name, kind in fields.items()}
    return {name: value for name, value in values.items() if value is not NOTHING}


def made_of_fields(reading: Any, given: Given) -> Any:
    """An object of the class that an input is annotated as; what else it could be, where that can't be made.

    Args:
        reading: Gives the fields.
        given: The input.
    """
    if given.made is None:
        given.made = _made(reading, given)
    return given.tensor if given.class_ is None else given.made


def _made(reading: Any, given: Given) -> Any:
    fields = _fields_of(given.class_)
    classes = {name: _class_of(kind) for name, kind in fields.items()}
    within = (*given.within, given.class_)
    # a tree without more branches
    ends = {name: None for name, class_ in classes.items() if class_ in within or given.ends_with(name)}
    given.way, given.plain = "field", {**_plain_data(fields), **ends}
    parts = {name: reading.given((*given.path, name)) for name in fields if name not in given.plain}
    given.parts.update(parts)
    for name, part in parts.items():
        part.class_, part.within = classes[name] or part.class_, within
    try:
        return given.class_(**given.plain, **{name: reading.value(part) for name, part in parts.items()})
    except Exception:  # noqa: BLE001  (whatever the constructor raises)
        given.way, given.class_, given.plain = "", None, {}
        given.parts.clear()
        return None
