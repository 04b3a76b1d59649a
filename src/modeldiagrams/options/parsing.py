"""Options as hosts find them → `Options`. Everything here follows from the declarations in `options.py`."""

from __future__ import annotations

import functools
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec

from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.options.declaring import READ
from modeldiagrams.options.options import GROUPS, Options, View
from modeldiagrams.options.reading import read_yaml
from modeldiagrams.options.suggestions import suggestion, unknown
from modeldiagrams.options.wording import expected

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "check_defaults",
    "option_help",
    "option_names",
    "parse_option",
    "parse_options",
    "parse_view",
]

# msgspec shows other threads what it learns of a class before it has learnt all (seen in 0.22), so it learns here,
# while one thread imports this
msgspec.json.Decoder(tuple[Options, View])
_NOT_ENCODABLE = (TypeError, ValueError, OverflowError, RecursionError)


class _Declaration(NamedTuple):
    group: type[msgspec.Struct]
    field: str
    """Of `Options`, where the group is."""
    type: Any
    meta: msgspec.Meta
    is_flag: bool
    is_text: bool
    """Whether values are taken as written; all others are YAML where a host only has text."""


def _declarations() -> dict[str, _Declaration]:
    """Option name as authors write it → its declaration, in order."""
    return {
        field.encode_name: _declaration(group, field)
        for group in GROUPS
        for field in msgspec.structs.fields(group.type)
    }


def _declaration(group: msgspec.structs.FieldInfo, field: msgspec.structs.FieldInfo) -> _Declaration:
    return _Declaration(
        group.type,
        group.name,
        field.type,
        get_args(field.type)[1],
        is_flag=field.default is False,
        is_text=_is_text(field.type),
    )


def _is_text(type_: Any) -> bool:
    if get_origin(type_) is Annotated:
        return _is_text(get_args(type_)[0])
    if get_origin(type_) in {Union, UnionType}:
        return any(map(_is_text, get_args(type_)))
    return type_ is str or get_origin(type_) is Literal


_DECLARED = _declarations()


def option_names(*groups: type[msgspec.Struct]) -> list[str]:
    """Names of the options in some of the structs, as authors write them; by default of all options."""
    return [name for name, declared in _DECLARED.items() if not groups or declared.group in groups]


def option_help() -> dict[str, str]:
    """Option name → its documentation, in the order of declaration."""
    return {name: declared.meta.description or "" for name, declared in _DECLARED.items()}


def parse_options(values: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> Options:
    """Read options as a host found them.

    Args:
        values: Option name → value. A string for an option that is not text is read as YAML, so ``"[1, 4]"`` and
            ``[1, 4]`` are the same.
        defaults: Values for options that `values` does not mention, e.g. a site's configuration.

    Returns:
        The options, checked.

    Raises:
        OptionError: naming the first option that is unknown or not of the expected form, and what is expected.
    """
    groups: dict[str, Any] = {"site": [name for name in defaults or {} if name not in values]}
    for name, value in {**(defaults or {}), **values}.items():
        plain = parse_option(name, value)
        groups.setdefault(_DECLARED[name].field, {})[name] = plain
    if "model" not in groups.get("call", {}):
        raise OptionError("model", f"missing. {option_help()['model']}")
    return msgspec.convert(groups, Options)


def parse_view(values: Mapping[str, Any]) -> View:
    """Read the ``**view`` keywords of the Python API.

    Raises:
        OptionError: for a keyword that is not a field of `View`, or a value that is not of the expected form.
    """
    for name in values:
        if name not in View.__struct_fields__:
            raise OptionError(name, f"unknown here; a view has {', '.join(View.__struct_fields__)}")
    return msgspec.convert({name: parse_option(name, value) for name, value in values.items()}, View)


def parse_option(name: str, value: Any) -> Any:
    """Read one option as a host found it.

    Returns:
        Its value as plain data.

    Raises:
        OptionError: if there is no such option, or the value is not of the form it expects.
    """
    declared = _DECLARED.get(name)
    if declared is None:
        raise OptionError(str(name), unknown(str(name), _DECLARED))
    try:
        plain = _plain(declared, value)
        msgspec.convert(plain, declared.type)
        # messages to the worker can't hold integers of more than 64 bits, lone surrogates and endless lists
        msgspec.msgpack.encode(plain)
    except msgspec.ValidationError as error:
        raise _rejected(name, declared, value, f"expected {expected(declared.type)}") from error
    except (ModelDiagramsError, *_NOT_ENCODABLE) as error:
        raise _rejected(name, declared, value, str(error)) from error
    return plain


def check_defaults(defaults: object) -> None:
    """Check a site's defaults once, so that a mistake there is not reported for every diagram.

    Raises:
        ModelDiagramsError: naming the first wrong one.
    """
    if not isinstance(defaults, dict):
        raise ModelDiagramsError(f"expected options and their values, got {defaults!r}")
    for name, declared in _DECLARED.items():
        if name in defaults and "per_diagram" in (declared.meta.extra or ()):
            raise OptionError(name, "can't have a default: every diagram has its own")
    for name, value in defaults.items():
        parse_option(name, value)


def _rejected(name: str, declared: _Declaration, value: Any, reason: str) -> OptionError:
    end = suggestion(name, value, functools.partial(_is_taken, declared))
    return OptionError(name, f"{reason}, got {value!r}{end} {declared.meta.description}")


def _is_taken(declared: _Declaration, text: str) -> bool:
    try:
        plain = _plain(declared, text)
        msgspec.convert(plain, declared.type)
        msgspec.msgpack.encode(plain)
    except (msgspec.ValidationError, ModelDiagramsError, *_NOT_ENCODABLE):
        return False
    return True


def _plain(declared: _Declaration, value: Any) -> Any:
    if declared.is_flag and (value is None or value == ""):
        return True  # a flag needs no value
    if declared.meta.extra and READ in declared.meta.extra:
        return declared.meta.extra[READ](value)
    if declared.is_text:
        # YAML reads `width: 640` and `name: 3` as numbers, which are meant as text
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    return read_yaml(value) if isinstance(value, str) else value
