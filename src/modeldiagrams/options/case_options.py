"""The option `cases`: several passes of a model in one diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.options.reading import read_yaml
from modeldiagrams.options.suggestions import find_meant
from modeldiagrams.options.wording import describe_type

__all__ = ["GENERATE", "LONGEST", "CaseOptions", "Mode", "check_given_cases", "read_cases"]

GENERATE = "generate"
Mode = Literal["auto", "fake", "meta", "real"]
LONGEST = 80
"""Characters of the text of a case."""
_MOST = 10
_GIVEN = ("args", "kwargs", "mode", "training", "method")
"""What a case of a model object may have."""


class CaseOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is different in one case: the options of the diagram with the same names."""

    method: str | None = None
    training: bool | None = None
    mode: Mode | None = None
    args: list[Any] | None = None
    kwargs: dict[str, Any] | None = None
    config: dict[str, Any] | None = None
    inputs_from: str | None = None
    inputs: list[Any] | dict[str | int, Any] | None = None


def read_cases(value: Any) -> Any:
    """Read a map from names of cases to their options, or the word `generate`.

    Raises:
        ModelDiagramsError: for what is no map, too many cases, and an unknown or invalid option of a case.
    """
    value = read_yaml(value) if isinstance(value, str) else value
    return value if value is None or value == GENERATE else _checked(value, CaseOptions.__struct_fields__)


def check_given_cases(cases: Any) -> Mapping[str, Mapping[str, Any]]:
    """Check the cases of a program's own model, and return them.

    Raises:
        OptionError: as `read_cases`.
    """
    try:
        return _checked(cases, _GIVEN)
    except OptionError:
        raise
    except ModelDiagramsError as error:
        raise OptionError("cases", f"{error}.") from error


def _checked(cases: Any, known: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(cases, Mapping) or not cases:
        raise ModelDiagramsError(f"expected a map from names of cases to their options, or `{GENERATE}`")
    if len(cases) > _MOST:
        raise ModelDiagramsError(f"expected at most {_MOST} cases, and these are {len(cases)}")
    for name in cases:
        if known is _GIVEN and not isinstance(name, str):
            raise ModelDiagramsError(f"expected a text as the name of a case, and it is {name!r}")
    found: dict[str, Any] = {str(name): {} if own is None else own for name, own in cases.items()}
    for name, own in found.items():
        _check_case(f"case {name!r}", own, known)
    return found


def _check_case(place: str, own: Any, known: Sequence[str]) -> None:
    """Check the options of a case; positional and named arguments of Python may be anything."""
    if not isinstance(own, Mapping):
        raise OptionError("cases", f"{place}: expected a map of options, {{training: true}}, and it is {own!r}.")
    if known is _GIVEN and not isinstance(own.get("args", ()), Sequence):
        raise OptionError(
            "cases", f"{place}: expected args as a tuple, and it is of type {type(own['args']).__name__}."
        )
    types = {field.name: field.type for field in msgspec.structs.fields(CaseOptions)}
    types |= {"args": Any, "kwargs": Any} if known is _GIVEN else {}
    for name, value in own.items():
        if name not in known:
            meant = find_meant(str(name), known)
            hint = f"did you mean {meant!r}?" if meant else f"there are {', '.join(known)}"
            raise OptionError("cases", f"{place}: no option of a case is called {name!r} ({hint}).")
        try:
            msgspec.convert(value, types[name])
        except msgspec.ValidationError as error:
            expected = describe_type(types[name])
            raise OptionError(
                "cases", f"{place}, option {name!r}: expected {expected}, and it is {value!r}."
            ) from error
