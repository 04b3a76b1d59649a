"""The tables of names in ``names.yaml``, and those of a project, which come first."""

from __future__ import annotations

import functools
import re
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["PROJECT", "extended", "matches", "project_value", "table", "value_of"]

PROJECT = "the project's vocabulary has it"
"""Why a value is what it is."""
_PROJECT: ContextVar[Mapping[Any, Mapping[str, Any]] | None] = ContextVar("_PROJECT", default=None)


@functools.cache
def _tables() -> dict[str, Any]:
    return dict(yaml.safe_load(Path(__file__).with_name("names.yaml").read_text("utf-8")))


@contextmanager
def extended(vocabulary: Mapping[Any, Mapping[str, Any]] | None) -> Iterator[None]:
    """Let the names of a project come first: the option `vocabulary`."""
    token = _PROJECT.set(vocabulary)
    try:
        yield
    finally:
        _PROJECT.reset(token)


def project_value(kind: str, name: str) -> Any:
    """The value that the project gives a name; None if it gives none.

    Args:
        kind: ``arguments`` or ``inputs``.
        name: In any case.
    """
    known = (_PROJECT.get() or {}).get(kind, {})
    return next((value for pattern, value in known.items() if matches([str(pattern)], name.lower())), None)


def table(title: str) -> Any:
    """One of the tables."""
    return _tables()[title]


def value_of(title: str, name: str) -> Any:
    """The value of a table's first row that matches a name; None if none does."""
    if title in ("constructor_parameters", "constructor_lists"):
        known = project_value("arguments", name)
        if known is not None and isinstance(known, list) == (title == "constructor_lists"):
            return known
    return next((row["value"] for row in table(title) if matches(row["names"], name)), None)


def matches(patterns: list[str], name: str) -> bool:
    """Whether one of several regular expressions matches a whole name."""
    return any(re.fullmatch(pattern, name) for pattern in patterns)
