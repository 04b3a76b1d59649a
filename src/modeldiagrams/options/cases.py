"""The option `cases`: several passes of a model in one diagram."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.reading import read_yaml
from modeldiagrams.options.suggestions import explain_unknown
from modeldiagrams.options.wording import describe_type

__all__ = ["GENERATE", "CaseOptions", "Mode", "read_cases"]

GENERATE = "generate"
Mode = Literal["auto", "fake", "meta", "real"]
_MOST = 10


class CaseOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is different in one case: the options of the diagram with the same names."""

    args: list[Any] | None = None
    kwargs: dict[str, Any] | None = None
    config: dict[str, Any] | None = None
    inputs: list[Any] | dict[str | int, Any] | None = None
    inputs_from: str | None = None
    mode: Mode | None = None
    training: bool | None = None
    method: str | None = None


def read_cases(value: Any) -> Any:
    """Read a map from names of cases to their options, or the word `generate`.

    Raises:
        ModelDiagramsError: for what is no map, too many cases, and an unknown or invalid option of a case.
    """
    value = read_yaml(value) if isinstance(value, str) else value
    if value is None or value == GENERATE:
        return value
    if not isinstance(value, dict) or not value:
        raise ModelDiagramsError(f"expected a map from names of cases to their options, or `{GENERATE}`")
    if len(value) > _MOST:
        raise ModelDiagramsError(f"expected at most {_MOST} cases, and these are {len(value)}")
    return {str(name): _read_case(f"case {str(name)!r}", {} if own is None else own) for name, own in value.items()}


def _read_case(place: str, own: Any) -> dict[str, Any]:
    if not isinstance(own, dict):
        raise ModelDiagramsError(f"{place}: expected a map of options, `{{training: true}}`, and it is {own!r}")
    types = {field.name: field.type for field in msgspec.structs.fields(CaseOptions)}
    for name, value in own.items():
        if name not in types:
            raise ModelDiagramsError(f"{place}: the option {name!r} is {explain_unknown(str(name), types)}")
        try:
            msgspec.convert(value, types[name])
        except msgspec.ValidationError as error:
            expected = describe_type(types[name])
            raise ModelDiagramsError(f"{place}, option {name!r}: expected {expected}, and it is {value!r}") from error
    return own
