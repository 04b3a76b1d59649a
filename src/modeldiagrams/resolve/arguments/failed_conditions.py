"""What a failed condition in a constructor shows of an argument: ``isinstance(depths, tuple)``, ``size % 4 == 0``."""

from __future__ import annotations

import ast
import inspect
from math import gcd
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.arguments.slot_options import ORDERS
from modeldiagrams.resolve.arguments.stand_in_containers import Fields, Fixed, Items
from modeldiagrams.resolve.arguments.stand_in_numbers import Number, Real, Refused, Use, plain, slots_of
from modeldiagrams.resolve.code.conditions import checks, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.resolve.code.conditions import Names

__all__ = ["uses_in_conditions"]

_LIMITS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FEW = 4
"""Multiples that are tried."""


def uses_in_conditions(error: BaseException) -> Iterator[Refused]:
    """What would have let the condition hold that made the innermost frame raise; PyTorch's messages tell more."""
    for names, check, is_wanted in checks(error):
        if str(names.get("__name__")).startswith("torch."):
            return
        match check:
            case ast.Call(func=ast.Name(id="isinstance"), args=[value, classes]) if is_wanted:
                yield from _of_class(value_of(value, names), value_of(classes, names))
            case ast.Compare():
                yield from _of_comparison(check, names, is_wanted=is_wanted)
            case _:
                yield from _divisible(check, names, is_wanted=is_wanted)


def _of_comparison(check: ast.Compare, names: Names, *, is_wanted: bool) -> Iterator[Refused]:
    match check:
        case ast.Compare(left=value, ops=[ast.In() | ast.NotIn() as how], comparators=[options]):
            if isinstance(how, ast.In) is is_wanted:
                yield from _one_of(value_of(value, names), value_of(options, names))
                yield from _with_keys(value_of(options, names), (value_of(value, names),), "members")
        case ast.Compare(left=ast.Call(func=ast.Name(id="len"), args=[value]), ops=[how], comparators=[count]):
            if isinstance(how, ast.NotEq | ast.Lt | ast.Gt) is not is_wanted:
                yield from _of_length(value_of(value, names), count, names)
        case ast.Compare(left=value, ops=[ast.Eq() | ast.NotEq() as how], comparators=[other]):
            yield from _divisible(check, names, is_wanted=is_wanted)
            if isinstance(how, ast.Eq) is is_wanted:
                yield from _equal(value_of(value, names), value_of(other, names))
                yield from _with_keys(value_of(_gone_through(value), names), _strings(other, names))
        case ast.Compare(left=left, ops=ops, comparators=others) if is_wanted or len(ops) == 1:
            for one, how, other in zip([left, *others], ops, others, strict=False):
                order = _LIMITS.get(type(how), "")
                order = order if is_wanted else _OPPOSITE.get(order, "")
                yield from _limited(value_of(one, names), order, value_of(other, names))


def _of_class(value: Any, classes: Any) -> Iterator[Refused]:
    """It is an instance of one of these classes."""
    known = [each for each in (classes if isinstance(classes, tuple) else (classes,)) if inspect.isclass(each)]
    if known and not isinstance(value, tuple(known)):
        yield from (Refused(slot, Use("instance", tuple(known))) for slot in slots_of(value)[:1])


def _one_of(value: Any, options: Any) -> Iterator[Refused]:
    """It is one of these numbers."""
    is_group = isinstance(options, tuple | list | set | frozenset | range | dict) and not isinstance(options, Fields)
    known = [*options] if is_group else []
    numbers = tuple(sorted({int(each) for each in known if type(each) is int}))
    if numbers and len(numbers) == len(known) and plain(value) not in numbers:
        yield from (Refused(slot, Use("one of", numbers)) for slot in slots_of(value)[:1])


def _equal(one: Any, other: Any) -> Iterator[Refused]:
    """One is as large as the other: ``if cfg.n_branches != len(cfg.channels): raise …``."""
    for argument, number in ((one, other), (other, one)):
        if isinstance(argument, Number) and not argument.is_derived and isinstance(number, int):
            yield from (Refused(slot, Use("one of", (int(number),))) for slot in argument.slots if argument != number)


def _limited(one: Any, how: str, other: Any) -> Iterator[Refused]:
    """It is more or less than a number: ``assert width_mult > 1``."""
    a, b = plain(one), plain(other)
    if not how or not (_is_number(a) and _is_number(b)) or ORDERS[how](a, b):
        return
    for value, limit, order in ((one, b, how), (other, a, _MIRRORED[how])):
        if isinstance(value, Number | Real) and not value.is_derived:
            yield Refused(value.slots[0], Use("limit", (order, limit)))


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _with_keys(mapping: Any, keys: tuple[Any, ...], how: str = "keys") -> Iterator[Refused]:
    """It has these keys, or items: ``if set(towers) != {"query", "item"}: raise …``."""
    if keys and all(type(key) is str for key in keys) and isinstance(mapping, Fields | Items | Fixed):
        how = how if isinstance(mapping, Fields) else "strings"
        yield from (Refused(slot, Use(how, keys)) for slot in slots_of(mapping)[:1])


def _gone_through(node: ast.expr) -> ast.expr:
    """What a set or a list of keys was made of."""
    match node:
        case ast.Call(func=ast.Name(id="set" | "sorted" | "list" | "tuple" | "frozenset"), args=[inner]):
            return _gone_through(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr="keys"), args=[]):
            return inner
    return node


def _strings(node: ast.expr, names: Names) -> tuple[Any, ...]:
    """The strings that a literal or a constant holds, in their order where they have one."""
    match node:
        case ast.Set(elts=items) | ast.List(elts=items) | ast.Tuple(elts=items):
            return tuple(value_of(item, names) for item in items)
    known = value_of(_gone_through(node), names)
    return tuple(sorted(known) if isinstance(known, set | frozenset) else known or ()) if _is_group(known) else ()


def _is_group(value: Any) -> bool:
    return type(value) in (list, tuple, set, frozenset) and all(type(item) is str for item in value)


def _of_length(value: Any, count: ast.expr, names: Names) -> Iterator[Refused]:
    """It has so many items; of two lists the shorter one gets more."""
    match count:
        case ast.Call(func=ast.Name(id="len"), args=[other]):
            lists = [each for each in (value, value_of(other, names)) if isinstance(each, list | tuple)]
            short, size = min(lists, key=len, default=None), max(map(len, lists), default=0)
        case _:
            short, size = value, value_of(count, names)
    if isinstance(short, Items | Fixed) and isinstance(size, int) and len(short) != size:
        yield Refused(short.slot, Use("items", int(size)))


def _divisible(check: ast.expr, names: Names, *, is_wanted: bool) -> Iterator[Refused]:
    """It, or what is made of it, is a multiple of a number."""
    match check:
        case ast.Compare(left=ast.BinOp() as rest, ops=[ast.Eq() | ast.NotEq() as how], comparators=[ast.Constant(0)]):
            asks_for_none = isinstance(how, ast.Eq) is is_wanted
        case ast.Call(func=ast.Name(id=name), args=[left, right]) if "divisible" in name:
            rest, asks_for_none = ast.BinOp(left, ast.Mod(), right), is_wanted
        case ast.BinOp() as rest:
            asks_for_none = not is_wanted
        case _:
            return
    if asks_for_none and isinstance(rest.op, ast.Mod):
        number, divisor = value_of(rest.left, names), value_of(rest.right, names)
        for slot in slots_of(number)[:1]:
            step = _step(plain(slot.option()), plain(number), plain(divisor))
            if step > 1:
                yield Refused(slot, Use("multiple", step))
            elif shifted := _shifted(rest.left, names, plain(divisor)):
                yield Refused(slot, Use("one of", shifted))


def _shifted(node: ast.expr, names: Names, divisor: Any) -> tuple[int, ...]:
    """What an argument may be of which a number is subtracted, ``(depth - 4) % 6``: so that something is left."""
    match node:
        case ast.BinOp(left=left, op=ast.Sub() | ast.Add()):
            argument, less = value_of(left, names), plain(value_of(left, names)) - plain(value_of(node, names))
            if isinstance(argument, Number) and not argument.is_derived and type(divisor) is int and divisor > 1:
                first = max(less, 0) + divisor - max(-less, 0) % divisor
                return tuple(first + step * divisor for step in range(_FEW))
    return ()


def _step(argument: Any, number: Any, divisor: Any) -> int:
    """What an argument has to be a multiple of, so that a number made of it is one of the divisor; 0 if unknown."""
    if not all(type(each) is int and each > 0 for each in (argument, number, divisor)) or number % divisor == 0:
        return 0
    if argument % number == 0:
        return int(divisor * (argument // number))
    return int(divisor // gcd(divisor, number // argument)) if number % argument == 0 else 0
