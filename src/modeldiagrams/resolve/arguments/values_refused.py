"""What an error says of a string or a key that was tried: that it has to have digits, or that it is one too many."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.arguments.copies import spread
from modeldiagrams.resolve.arguments.stand_in_containers import Fields
from modeldiagrams.resolve.arguments.stand_in_numbers import Refused, Use, slots_of
from modeldiagrams.resolve.arguments.stand_in_text import Text
from modeldiagrams.resolve.code.frames import tracebacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.resolve.arguments.slots import Slot

__all__ = ["digits_missing", "has_learnt", "is_key", "member_too_many"]

_MOST_FRAMES = 12


def digits_missing(error: BaseException, known: list[Slot]) -> Iterator[Refused]:
    """A string that has a number in it: ``int(strides.split("_")[0])``."""
    said = re.search(r"(?:invalid literal for int.*|could not convert string to float): '(.*)'", str(error))
    for slot in known if said and said[1] else ():
        if slot.kind == "text" and said and said[1] in str(slot.option()):
            yield Refused(slot, Use("text", "1"))


def is_key(key: str) -> bool:
    """Whether it is no sentence, and no argument that was looked up in a table of the author's."""
    is_choice = isinstance(key, Text) and bool(key.slot.compared)
    return not is_choice and len(key.split()) == 1


def has_learnt(error: BaseException, before: set[str]) -> bool:
    """Whether a string is in no table, which has told meanwhile what it may be.

    Args:
        error: What the constructor raised.
        before: Strings of which that was said; this one is added.
    """
    key = error.args[0] if isinstance(error, KeyError) and error.args else None
    if not isinstance(key, Text) or str(key) in (*before, *key.slot.compared):
        return False
    before.add(str(key))
    return bool(key.slot.compared)


def member_too_many(error: BaseException, known: list[Slot]) -> Iterator[Refused]:
    """A key that another choice asked for: ``build({"type": "mlp", "depth": 4})``, where only a CNN has a depth."""
    said = re.search(r"unexpected keyword argument '(\w+)'", str(error))
    for trace in tracebacks(error)[:_MOST_FRAMES] if said else ():
        values = [*trace.tb_frame.f_locals.values(), *spread(trace.tb_frame, trace.tb_lasti)]
        for slot in [slot for value in values for slot in _mappings(value)]:
            is_read_by_name = "attribute" in slot.ways
            if said and slot in known and slot.kind == "fields" and said[1] in slot.children and not is_read_by_name:
                yield Refused(slot, Use("without", said[1]))


def _mappings(value: Any) -> tuple[Any, ...]:
    return slots_of(value) if isinstance(value, Fields) else ()
