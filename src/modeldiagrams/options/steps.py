"""The options of a tour's steps: what the picture shows. Their prose belongs to the documentation tool."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.options.reading import read_patterns, read_yaml
from modeldiagrams.options.wording import describe_type

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LONGEST_TOUR", "Step", "parse_step", "read_steps", "step_help"]

LONGEST_TOUR = 99
"""The maximum number of steps."""

_Patterns = list[str] | None


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The picture's state during a step; every step starts from the tour's own picture."""

    open: Annotated[
        _Patterns,
        Meta(description="Patterns as for `expand`: modules that this step opens, with everything around them."),
    ] = None
    focus: Annotated[
        _Patterns,
        Meta(
            description="Patterns, or ids of ops: what the picture moves to. If none of it is visible, the modules that"
            " hide the first match are opened."
        ),
    ] = None
    highlight: Annotated[
        _Patterns, Meta(description="Patterns, or ids of ops: what stays bright while everything else is dimmed.")
    ] = None
    alone: Annotated[
        str | None, Meta(description="A pattern: the module that is the whole picture during this step.")
    ] = None
    lens: Annotated[
        Literal["class", "parameters", "flops", "memory", "intensity", "time"] | None,
        Meta(
            description="What colours the nodes during this step: their class, or what they cost; `time` needs the"
            " option `measure_time`."
        ),
    ] = None


_DECLARED = {field.name: get_args(field.type) for field in msgspec.structs.fields(Step)}


def step_help() -> dict[str, str]:
    """Return the help of a step's options by name."""
    return {name: meta.description or "" for name, (_, meta) in _DECLARED.items()}


def parse_step(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parse the options of one step as a host found them.

    Returns:
        The plain data of a `Step`.

    Raises:
        OptionError: for the first option that is unknown or has an invalid value, with the expected form.
    """
    return {name: _parse_option(name, value) for name, value in values.items()}


def _parse_option(name: str, value: Any) -> Any:
    if name not in _DECLARED:
        near = difflib.get_close_matches(str(name), _DECLARED, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"a step has {', '.join(_DECLARED)}"
        raise OptionError(str(name), f"unknown; {hint}")
    type_, meta = _DECLARED[name]
    plain = read_patterns(value) if type_ == _Patterns else value
    try:
        return msgspec.convert(plain, type_)
    except msgspec.ValidationError as error:
        raise OptionError(name, f"expected {describe_type(type_)}, got {value!r}. {meta.description}") from error


def read_steps(value: Any) -> Any:
    """Read a list of maps; it may be text.

    Raises:
        ModelDiagramsError: for the first invalid step.
    """
    steps = read_yaml(value) if isinstance(value, str) else value
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        return steps
    read = []
    for number, step in enumerate(steps, 1):
        try:
            read.append(parse_step(step))
        except OptionError as error:
            raise ModelDiagramsError(f"step {number}: {error}") from error
    return read
