"""Reads names and bases of classes without asking their metaclasses, which may run any code."""

from __future__ import annotations

from typing import Any

__all__ = ["find_module", "get_full_name", "get_qualified_name", "list_bases", "name_of", "readable_name"]

_MODULE: Any = vars(type)["__module__"]
_NAME: Any = vars(type)["__name__"]
_QUALNAME: Any = vars(type)["__qualname__"]
_MRO: Any = vars(type)["__mro__"]


def find_module(class_: type) -> str:
    """Return the name of the Python module that defines a class; empty if ``__module__`` is not a string."""
    name = _MODULE.__get__(class_)
    return name if isinstance(name, str) else ""


def name_of(class_: type) -> str:
    """Return ``__name__``."""
    return str(_NAME.__get__(class_))


def get_qualified_name(class_: type) -> str:
    """Return ``__qualname__``, unless the class was renamed, as `torch.fx` renames its own after the traced class."""
    name, qualified = name_of(class_), str(_QUALNAME.__get__(class_))
    return qualified if qualified.rpartition(".")[2] == name else name


def readable_name(qualified: str) -> str:
    """Remove the function that defines a class from its qualified name: ``make.<locals>.Net`` → ``Net``."""
    return qualified.rpartition("<locals>.")[2]


def get_full_name(class_: type) -> str:
    """Return the name with its module: ``mypkg.models.Net``."""
    module = find_module(class_)
    return f"{module}.{get_qualified_name(class_)}" if module else get_qualified_name(class_)


def list_bases(class_: type) -> tuple[type, ...]:
    """Return ``__mro__``: the class and all its bases."""
    found: tuple[type, ...] = _MRO.__get__(class_)
    return found
