"""Parses the options that hosts find. Everything here is derived from the declarations in `options.py`."""

from __future__ import annotations

import functools
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec

from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.ir.samples import SAMPLE
from modeldiagrams.options.call import is_graph_file
from modeldiagrams.options.declaring import READ
from modeldiagrams.options.options import GROUPS, Options, View
from modeldiagrams.options.reading import read_yaml
from modeldiagrams.options.suggestions import explain_unknown, find_meant, suggest
from modeldiagrams.options.wording import describe_type

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["check_defaults", "collect_help", "list_options", "parse_option", "parse_options", "parse_view"]

# makes msgspec inspect these types in one thread, see `decodable`
msgspec.json.Decoder(tuple[Options, View])
_NOT_ENCODABLE = (TypeError, ValueError, OverflowError, RecursionError)


class _Declaration(NamedTuple):
    group: type[msgspec.Struct]
    field: str
    """The field of `Options` with the group."""
    type: Any
    meta: msgspec.Meta
    is_flag: bool
    is_text: bool
    """Whether a text is the value itself; for other options, it is YAML."""


def _collect_declarations() -> dict[str, _Declaration]:
    """Collect the declarations of options by the names that authors write, in order."""
    return {
        field.encode_name: _declare(group, field)
        for group in GROUPS
        for field in msgspec.structs.fields(group.type)
        if get_origin(field.type) is Annotated
    }


def _declare(group: msgspec.structs.FieldInfo, field: msgspec.structs.FieldInfo) -> _Declaration:
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


_DECLARED = _collect_declarations()


def list_options(*groups: type[msgspec.Struct]) -> list[str]:
    """Return the names of the options in some structs, as authors write them; by default of all options."""
    return [name for name, declared in _DECLARED.items() if not groups or declared.group in groups]


def collect_help() -> dict[str, str]:
    """Return the help of all options by name, in the order of declaration."""
    return {name: declared.meta.description or "" for name, declared in _DECLARED.items()}


def parse_options(values: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> Options:
    """Parse options as a host found them.

    Args:
        values: Values by option name. A string for an option that is not text is parsed as YAML, so ``"[1, 4]"`` and
            ``[1, 4]`` are equivalent.
        defaults: Values for options missing in `values`, for example from a site's configuration.

    Returns:
        The checked options.

    Raises:
        OptionError: for the first option that is unknown or has an invalid value, with the expected form.
    """
    groups: dict[str, Any] = {"site": [name for name in defaults or {} if name not in values]}
    for name, value in {**(defaults or {}), **values}.items():
        plain = parse_option(name, value)
        groups.setdefault(_DECLARED[name].field, {})[name] = plain
    if "model" not in groups.get("call", {}):
        raise OptionError("model", f"missing. {collect_help()['model']}")
    if SAMPLE in (groups.get("author", {}).get("values") or ()) and not is_graph_file(groups["call"]["model"]):
        groups["call"]["sample"] = True
    return msgspec.convert(groups, Options)


def parse_view(values: Mapping[str, Any]) -> View:
    """Parse the ``**view`` keywords of the Python API.

    Raises:
        OptionError: for a keyword that is not a field of `View`, or an invalid value.
    """
    for name in values:
        if name not in View.__struct_fields__:
            meant = find_meant(name, View.__struct_fields__)
            known = f"did you mean {meant!r}?" if meant else f"a view has {', '.join(View.__struct_fields__)}"
            raise OptionError(name, f"unknown here; {known}")
    return msgspec.convert({name: parse_option(name, value) for name, value in values.items()}, View)


def parse_option(name: str, value: Any) -> Any:
    """Parse one option as a host found it.

    Returns:
        The value as plain data.

    Raises:
        OptionError: if the option is unknown or the value invalid.
    """
    declared = _DECLARED.get(name)
    if declared is None:
        raise OptionError(str(name), explain_unknown(str(name), _DECLARED))
    try:
        return _checked(declared, value)
    except OptionError:  # it says which part of the value is wrong
        raise
    except msgspec.ValidationError as error:
        raise _reject(name, declared, value, f"expected {describe_type(declared.type)}") from error
    except (ModelDiagramsError, *_NOT_ENCODABLE) as error:
        raise _reject(name, declared, value, str(error)) from error


def check_defaults(defaults: object) -> None:
    """Check a site's defaults once, so that a mistake there is not reported for every diagram.

    Raises:
        ModelDiagramsError: for the first invalid default.
    """
    if not isinstance(defaults, dict):
        raise ModelDiagramsError(f"expected options and their values, got {defaults!r}")
    for name, declared in _DECLARED.items():
        if name in defaults and "per_diagram" in (declared.meta.extra or ()):
            raise OptionError(name, "can't have a default: every diagram has its own")
    for name, value in defaults.items():
        parse_option(name, value)


def _reject(name: str, declared: _Declaration, value: Any, reason: str) -> OptionError:
    end = suggest(name, value, functools.partial(_is_valid, declared))
    return OptionError(name, f"{reason}, got {value!r}{end} {declared.meta.description}")


def _is_valid(declared: _Declaration, text: str) -> bool:
    try:
        _checked(declared, text)
    except (msgspec.ValidationError, ModelDiagramsError, *_NOT_ENCODABLE):
        return False
    return True


def _checked(declared: _Declaration, value: Any) -> Any:
    plain = _to_plain(declared, value)
    msgspec.convert(plain, declared.type)
    # messages to the worker can't contain integers of more than 64 bits, lone surrogates and endless lists
    msgspec.msgpack.encode(plain)
    return plain


def _to_plain(declared: _Declaration, value: Any) -> Any:
    if declared.is_flag and (value is None or value == ""):
        return True  # a flag needs no value
    if declared.meta.extra and READ in declared.meta.extra:
        return declared.meta.extra[READ](value)
    if declared.is_text:
        # YAML reads the text in `width: 640` and `name: 3` as numbers
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    return read_yaml(value) if isinstance(value, str) else value
