"""Objects that a forward is annotated to take: they are made of what the constructor of their class takes."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_origin, is_typeddict

from torch import Tensor, nn

from modeldiagrams.common.user_files import is_user_file
from modeldiagrams.target.forward import VARIADIC, parameters_of
from modeldiagrams.target.inference.annotations import annotations_of, is_own_class, without_none
from modeldiagrams.target.inference.plain_values import NOTHING, plain_value

if TYPE_CHECKING:
    from modeldiagrams.target.inference.symbolic.given import Given

__all__ = ["annotate", "made_of_fields"]


def annotate(given: Given, annotation: Any) -> None:
    """Note the project's own class that an input is annotated as, and which keys of a `TypedDict` are plain data."""
    given.class_ = _class_of(annotation)
    if is_typeddict(found := without_none(annotation)):
        given.plain = _plain_data(annotations_of(found))


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


def _plain_data(fields: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: plain_value(kind) for name, kind in fields.items()}
    return {name: value for name, value in values.items() if value is not NOTHING}


def made_of_fields(reading: Any, given: Given) -> Any:
    """An object of the class that an input is annotated as; what else it could be, where that can't be made.

    Args:
        reading: Gives the fields.
        given: The input.
    """
    fields = _fields_of(given.class_)
    classes = {name: _class_of(kind) for name, kind in fields.items()}
    within = (*given.within, given.class_)
    ends = {name: None for name, class_ in classes.items() if class_ in within}  # a tree without more branches
    given.way, given.plain = "field", {**_plain_data(fields), **ends}
    parts = {name: reading.given((*given.path, name)) for name in fields if name not in given.plain}
    given.parts.update(parts)
    for name, part in parts.items():
        part.class_, part.within = classes[name], within
    try:
        return given.class_(**given.plain, **{name: reading.value(part) for name, part in parts.items()})
    except Exception:  # noqa: BLE001  (whatever the constructor raises)
        given.way, given.class_, given.plain = "", None, {}
        given.parts.clear()
        return given.tensor
