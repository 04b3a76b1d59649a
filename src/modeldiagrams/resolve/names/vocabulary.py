"""Reads ``vocabulary.toml`` (constructor arguments), ``names.yaml`` (inputs) and the vocabulary of a project."""

from __future__ import annotations

import functools
import re
import tomllib
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

__all__ = [
    "PROJECT",
    "expand_abbreviation",
    "find_project_value",
    "find_rows",
    "find_value",
    "get_table",
    "is_a_model",
    "is_a_width",
    "is_listed",
    "list_numbers",
    "list_usual_counts",
    "list_usual_items",
    "list_usual_values",
    "matches_any",
    "split_words",
    "vocabulary_extended",
]

_GIVEN = {"out_features", "out_channels"}
"""Attributes of layers that hold how many numbers they give."""
_UNLIKE_KERNELS = ("patch", "two", "width", "one")
"""Roles by name of what may be a kernel's size, too."""


@functools.cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text("utf-8"))


def split_words(name: str) -> list[str]:
    """``numHeads2`` → ``["num", "heads"]``."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return [word for word in re.split(r"[_\W\d]+", parted.lower()) if word]


def list_numbers(name: str, attributes: Collection[str], *, is_item: bool) -> list[Any]:
    """Numbers to try for an argument, likeliest first.

    Args:
        name: Of the argument.
        attributes: Attributes of layers that hold it.
        is_item: Whether it is in a list; then the name says nothing of how many there are.
    """
    tables = _tables()
    known = find_value("constructor_parameters", name.lower())
    role = _role_by_use(name.lower(), attributes)
    by_name = _role_by_words(name.lower())
    if role in ("width", "channels") and _is_counted_only(name.lower()):  # `n_emotions`, `num_sensors`
        by_name = "classes" if {*attributes} <= _GIVEN else "features"
    if is_item and role in ("width", "channels") and by_name == "layers":  # widths of layers in a list
        by_name = None
    if role is None or (role in ("width", "channels") and by_name in tables["sizes"]["roles"]):
        role = by_name
    if role in ("kernel", "one") and by_name in _UNLIKE_KERNELS:  # patches are cut by a convolution with such steps
        role = by_name
    if is_item or (role and len(name) == 1):  # a letter says less than a layer
        known = None
    others = [] if role in tables["no_others"]["roles"] else tables["values"]["unknown"]
    values = [*tables["values"][role or "unknown"], *others]
    first = [known] if known is not None and not isinstance(known, list) else []
    return list(dict.fromkeys([*first, *values])) if not isinstance(values[0], bool) else values


def _role_by_use(name: str, attributes: Collection[str]) -> str | None:
    for row in _tables()["uses"]:
        is_used = any(attribute in attributes for attribute in row["attributes"])
        is_other = any(attribute in attributes for attribute in row.get("unless", []))
        if is_used and not is_other and matches_any(row.get("only", [".*"]), name):
            return str(row["role"])
    return None


def _is_counted_only(name: str) -> bool:
    """Whether a name says that things are counted that no row knows."""
    words = split_words(name)
    counting = [word for word in words if matches_any(_tables()["counting"]["names"], word)]
    is_known = any(
        any(matches_any(row["names"], word) for word in {"_".join(words), *words} - {*counting})
        for row in _tables()["words"]
    )
    return 0 < len(counting) < len(words) and not is_known


def _role_by_words(name: str) -> str | None:
    words = split_words(name.split("_per_", maxsplit=1)[0])  # `features_per_stage` are features
    whole = "_".join(split_words(name))
    telling = [word for word in words if not matches_any(_tables()["counting"]["names"], word)]
    for known in (telling, words):  # `n_features` is about features
        for row in _tables()["words"]:
            if any(matches_any(row["names"], word) for word in ([whole] if row.get("whole") else [whole, *known])):
                return str(row["role"])
    return None


def list_usual_values(table: str, name: str) -> list[Any]:
    """The values of all rows of a table that match a name."""
    known = find_project_value("arguments", name) if table == "texts" else None
    found = [value for row in find_rows(table, name) for value in row.get("values", [row.get("value")])]
    return [known, *found] if isinstance(known, str) else found


def find_rows(table: str, name: str) -> list[dict[str, Any]]:
    """All rows of a table that match a name."""
    return [row for row in _tables()[table] if matches_any(row["names"], name.lower())]


def is_a_width(name: str) -> bool:
    """Whether an argument's name says that it is a number of features."""
    return _role_by_words(name.lower()) in _tables()["widths"]["roles"] and not is_listed("widths", name)


def list_usual_counts(name: str) -> list[int]:
    """How many items a list that goes by this name may have, likeliest first."""
    rows = [row for row in _tables()["lists"] if matches_any(row["names"], name.lower())]
    return list(dict.fromkeys([*(len(values) for row in rows for values in row["values"]), 2, 3, 4, 1, 5]))


def list_usual_items(name: str, index: int, count: int) -> list[int]:
    """The usual number at one place of a list of this name, if it is a shape."""
    rows = [row for row in _tables()["lists"] if matches_any(row["names"], name.lower())]
    return [values[index] for row in rows for values in row["values"] if len(values) == count]


def expand_abbreviation(word: str) -> str:
    """The word that an abbreviation stands for."""
    return str(_tables()["abbreviations"].get(word, word))


def is_listed(table: str, name: str) -> bool:
    """Whether a table lists a name."""
    return matches_any(_tables()[table]["names"], name.lower())


def is_a_model(name: str) -> bool:
    """Whether an argument's name is that of a model."""
    return matches_any(_tables()["module_attributes"]["models"], name.lower())


PROJECT = "the project's vocabulary has it"
"""Why a value is what it is."""
_PROJECT: ContextVar[Mapping[Any, Mapping[str, Any]] | None] = ContextVar("_PROJECT", default=None)


@functools.cache
def _name_tables() -> dict[str, Any]:
    return dict(yaml.safe_load(Path(__file__).with_name("names.yaml").read_text("utf-8")))


@contextmanager
def vocabulary_extended(vocabulary: Mapping[Any, Mapping[str, Any]] | None) -> Iterator[None]:
    """Let the names of a project come first: the option `vocabulary`."""
    token = _PROJECT.set(vocabulary)
    try:
        yield
    finally:
        _PROJECT.reset(token)


def find_project_value(kind: str, name: str) -> Any:
    """The value that the project gives a name; None if it gives none.

    Args:
        kind: ``arguments`` or ``inputs``.
        name: In any case.
    """
    known = (_PROJECT.get() or {}).get(kind, {})
    return next((value for pattern, value in known.items() if matches_any([str(pattern)], name.lower())), None)


def get_table(title: str) -> Any:
    """One of the tables of ``names.yaml``."""
    return _name_tables()[title]


def find_value(title: str, name: str) -> Any:
    """The value of a table's first row that matches a name; None if none does."""
    if title in ("constructor_parameters", "constructor_lists"):
        known = find_project_value("arguments", name)
        if known is not None and isinstance(known, list) == (title == "constructor_lists"):
            return known
    return next((row["value"] for row in get_table(title) if matches_any(row["names"], name)), None)


def matches_any(patterns: list[str], name: str) -> bool:
    """Whether one of several regular expressions matches a whole name."""
    return any(re.fullmatch(pattern, name) for pattern in patterns)
