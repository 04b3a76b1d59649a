"""Strings in a small language of the model's author, ``"C16-P-C32"``, and what reading one tells of the language.

A constructor takes such a string apart, compares the parts or their first letters with some that it knows, and makes
numbers of the rest. All this is recorded, and strings are written of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Spelling"]

_NUMBER = 16
_LETTERS = 12
"""More are an alphabet, and no language."""


@dataclass(eq=False)
class Spelling:
    """How strings for one argument are written, as far as it is known."""

    separator: str
    """Between parts; none, where each letter is one."""
    words: dict[str, None] = field(default_factory=dict)
    """Whole parts."""
    heads: dict[str, bool] = field(default_factory=dict)
    """What parts begin with, and whether a number comes after."""
    has_numbers: bool = False
    """Whether a part may be just a number."""
    inner: Spelling | None = None
    """Of each part, where it is taken apart, too."""
    is_news: bool = False
    """Whether something was learnt since a string was written."""

    def learn_word(self, word: str) -> None:
        """A whole part that code knows."""
        if word and word not in self.words and word not in self.heads:
            self.words[word], self.is_news = None, True

    def learn_head(self, head: str) -> None:
        """What code knows that a part begins with."""
        if head and head not in self.heads:
            self.heads[head], self.is_news = False, True
            self.words.pop(head, None)

    def learn_number(self, head: str) -> None:
        """A number that a part is, or that comes after what it begins with."""
        if head and not self.heads.get(head):
            self.heads[head], self.is_news = True, True
        elif not head and not self.has_numbers:
            self.has_numbers, self.is_news = True, True

    def has_learnt(self) -> bool:
        """Whether something is new; it is not the next time."""
        is_new_inside = self.inner is not None and self.inner.has_learnt()
        was, self.is_news = self.is_news, False
        return was or is_new_inside

    def strings(self, number: int = _NUMBER) -> list[str]:
        """Strings that may be read, likeliest first; with a number where code makes one."""
        parts = self._parts(number)
        if not parts or len(parts) > _LETTERS:
            return []
        twice = [] if self.separator == "" else [[parts[0], parts[0]]]
        lists = [*twice, parts] if len(parts) == 1 else [parts, *twice]
        lists += [[part] for part in parts]
        return list(dict.fromkeys(self.separator.join(each) for each in lists))

    def _parts(self, number: int) -> list[str]:
        if self.inner is not None and (inside := self.inner.strings(number)):
            return [inside[0], inside[0]]
        numbers = [str(number)] if self.has_numbers else []
        return [*numbers, *(head + (str(number) if said else "") for head, said in self.heads.items()), *self.words]
