"""Reads ``vocabulary.toml``: roles of constructor arguments, and values that are usual for them."""

from __future__ import annotations

import functools
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.names.tables import matches, project_value, value_of

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = [
    "is_a_model",
    "is_a_width",
    "is_asked",
    "is_listed",
    "number_values",
    "rows_of",
    "says_anything",
    "usual",
    "usual_counts",
    "usual_item",
    "with_last_layer",
    "words_of",
    "written_out",
]


_GIVEN = {"out_features", "out_channels"}
"""Attributes of layers that hold how many numbers they give."""
_UNLIKE_KERNELS = ("patch", "two", "width", "one")
"""Roles by name of what may be a kernel's size, too."""


@functools.cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text("utf-8"))


def words_of(name: str) -> list[str]:
    """``numHeads2`` → ``["num", "heads"]``."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return [word for word in re.split(r"[_\W\d]+", parted.lower()) if word]


def number_values(name: str, attributes: Collection[str], *, is_tested_only: bool, is_item: bool) -> list[Any]:
    """Numbers to try for an argument, likeliest first.

    Args:
        name: Of the argument.
        attributes: Attributes of layers that hold it.
        is_tested_only: Whether all that is done with it is to ask whether it is true.
        is_item: Whether it is in a list; then the name says nothing of how many there are.
    """
    tables = _tables()
    if is_tested_only:
        return [*tables["values"]["flag"]]
    known = value_of("constructor_parameters", name.lower())
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
        if is_used and not is_other and matches(row.get("only", [".*"]), name):
            return str(row["role"])
    return None


def _is_counted_only(name: str) -> bool:
    """Whether a name says that things are counted that no row knows."""
    words = words_of(name)
    counting = [word for word in words if matches(_tables()["counting"]["names"], word)]
    is_known = any(
        any(matches(row["names"], word) for word in {"_".join(words), *words} - {*counting})
        for row in _tables()["words"]
    )
    return 0 < len(counting) < len(words) and not is_known


def _role_by_words(name: str) -> str | None:
    words = words_of(name.split("_per_", maxsplit=1)[0])  # `features_per_stage` are features
    whole = "_".join(words_of(name))
    telling = [word for word in words if not matches(_tables()["counting"]["names"], word)]
    for known in (telling, words):  # `n_features` is about features
        for row in _tables()["words"]:
            if any(matches(row["names"], word) for word in ([whole] if row.get("whole") else [whole, *known])):
                return str(row["role"])
    return None


def usual(table: str, name: str) -> list[Any]:
    """The values of all rows of a table that match a name."""
    known = project_value("arguments", name) if table == "texts" else None
    found = [value for row in rows_of(table, name) for value in row.get("values", [row.get("value")])]
    return [known, *found] if isinstance(known, str) else found


def rows_of(table: str, name: str) -> list[dict[str, Any]]:
    """All rows of a table that match a name."""
    return [row for row in _tables()[table] if matches(row["names"], name.lower())]


def says_anything(name: str) -> bool:
    """Whether a name tells what a number is."""
    return value_of("constructor_parameters", name.lower()) is not None or _role_by_words(name.lower()) is not None


def is_a_width(name: str) -> bool:
    """Whether an argument's name says that it is a number of features."""
    return _role_by_words(name.lower()) in _tables()["widths"]["roles"] and not is_listed("widths", name)


def with_last_layer(name: str) -> list[Any]:
    """A network whose last layer goes by a name, as an option."""
    parts = {**_tables()["last_layers"]["others"], name: _tables()["last_layers"]["last"]}
    return [{"_target_": "torch.nn.Sequential", "_args_": [{"_target_": "collections.OrderedDict", **parts}]}]


def usual_counts(name: str) -> list[int]:
    """How many items a list that goes by this name may have, likeliest first."""
    rows = [row for row in _tables()["lists"] if matches(row["names"], name.lower())]
    return list(dict.fromkeys([*(len(values) for row in rows for values in row["values"]), 2, 3, 4, 1, 5]))


def usual_item(name: str, index: int, count: int) -> list[int]:
    """The usual number at one place of a list that goes by this name, if it is a shape."""
    rows = [row for row in _tables()["lists"] if matches(row["names"], name.lower())]
    return [values[index] for row in rows for values in row["values"] if len(values) == count]


def written_out(word: str) -> str:
    """The word that an abbreviation stands for."""
    return str(_tables()["abbreviations"].get(word, word))


def is_asked(owner: str, method: str) -> bool:
    """Whether a method of an argument gives a value, and doesn't make a layer."""
    gives_value = is_listed("counts", method) or not is_listed("made_by_methods", method)
    return gives_value and not is_listed("configurations", owner)


def is_listed(table: str, name: str) -> bool:
    """Whether a table lists a name."""
    return matches(_tables()[table]["names"], name.lower())


def is_a_model(name: str) -> bool:
    """Whether an argument's name is that of a model."""
    return matches(_tables()["module_attributes"]["models"], name.lower())
