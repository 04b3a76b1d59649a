"""What symbolic tensors hold: dtypes, and the number that ids are below."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Kind"]


@dataclass(eq=False)
class Kind:
    """What tensors hold that are the same but for their shapes."""

    dtype: str = ""
    high: int = 0
    """Whole numbers are below this."""
    is_length: bool = False
    is_counted: bool = False
    """They are compared with whole numbers, or loops go as far as they say; so they are likely whole, too."""
    is_asked: bool = False
    """Code asks for values: how many groups there are, ``int(batch[-1]) + 1``."""
    is_reckoned: bool = False
    """They are multiplied, added and so on, as numbers are, and masks of booleans needn't be."""
    is_order: bool = False
    """They are the places of all items of another tensor."""
    is_place: bool = False
    """They choose among the rows of another tensor, of which nobody has said how many there are."""
    made_of: tuple[Kind, ...] = ()
    """What it was reckoned of: then all are whole, or none."""
    casts: list[Kind] = field(default_factory=list)
    """What it was cast to: what that is used for, it has to suit, too."""
    _same: Kind | None = None

    def end(self) -> Kind:
        """The one that stands for all that are equal."""
        found = self
        while found._same is not None:
            found = found._same
        return found

    def join(self, other: Kind) -> None:
        """Both are one."""
        a, b = self.end(), other.end()
        if a is not b and (not a.dtype or not b.dtype or a.dtype == b.dtype):
            b.dtype = a.dtype or b.dtype
            b.high = min(a.high, b.high) if a.high and b.high else a.high or b.high
            b.is_length = a.is_length or b.is_length
            b.is_asked = a.is_asked or b.is_asked
            b.is_reckoned = a.is_reckoned or b.is_reckoned
            b.is_place = a.is_place or b.is_place
            b.is_counted = a.is_counted or b.is_counted
            b.casts += a.casts
            a._same = b  # noqa: SLF001

    def with_casts(self, seen: frozenset[Kind] = frozenset()) -> Kind:
        """The same, as casts of it are used where it isn't used itself; one may be joined with what it is a cast of."""
        end = self.end()
        if end.dtype or end in seen:
            return end
        casts = (each.with_casts(seen | {end}) for each in end.casts)
        return next((cast for cast in casts if cast.high or cast.is_length or cast.is_place), end)

    def become(self, dtype: str, high: int = 0) -> None:
        """Note a dtype, unless there is one."""
        end = self.end()
        if not end.dtype:
            end.dtype = dtype
            for each in end.made_of:
                each.become(dtype)
        if high and end.dtype == "int64":
            end.high = min(end.high or high, high)
