"""The inputs of a forward that is read, and the parts that it takes out of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Given"]

_DEEPEST = 2
"""How many nodes of a tree are in each other below the first one: code that goes through all of them has to end."""
_MOST_NESTED = 5
"""Lists in each other."""


@dataclass(eq=False)
class Given:
    """An input, or a part of one."""

    path: tuple[str | int, ...]
    tensor: Any = None
    parts: dict[str | int, Given] = field(default_factory=dict)
    """By key, by attribute, or by position."""
    way: str = ""
    """How they are read: ``key``, ``attribute``, ``item``; or ``field`` of an object of a class."""
    class_: Any = None
    """The project's own class that it is annotated as, or that has what is read of it."""
    made: Any = None
    """The object of that class: the same one wherever code takes it."""
    plain: dict[str, Any] = field(default_factory=dict)
    """Fields of such an object that are no tensors."""
    within: tuple[Any, ...] = ()
    """The classes of the objects that it is a field of."""
    is_list: bool = False
    """Whether it is annotated as several tensors, or used as such."""
    hint: Any = None
    """What docstrings, comments or annotations say of it."""
    size: Any = None
    """The dimension whose size it is, where code takes it for a plain number: ``x.new_zeros(batch_size, 64)``."""
    numbers: set[int] = field(default_factory=set)
    """By which code reads items of what may be one tensor."""
    count: int = 0
    """How many items code demands; 0 where it leaves that open."""
    is_used: bool = False
    """Whether PyTorch got it as a tensor."""
    is_whole: bool = False
    """Whether more was done with it than to take items of it by their numbers."""
    is_computed: bool = False
    """Whether anything was computed of it, and not only its shape asked."""

    @property
    def is_end(self) -> bool:
        """Whether it is a list that code goes through in such lists: the children of a leaf, which has none."""
        last, nested = self.path[-1], self.path[-_MOST_NESTED:]
        is_nested = len(nested) == _MOST_NESTED and all(isinstance(each, int) for each in nested)
        return is_nested or (isinstance(last, str) and self.path.count(last) > _DEEPEST)

    @property
    def is_of_tree(self) -> bool:
        """Whether it belongs to a node in another one."""
        return any(self.path.count(key) >= _DEEPEST for key in self.path if isinstance(key, str))

    def ends_with(self, key: str | int) -> bool:
        """Whether what goes by a name is None, because it is one of such in each other: ``node.left.right.left``."""
        within = self.path[1:]
        is_deep = sum(isinstance(each, str) for each in within) >= _DEEPEST
        return (
            is_deep and isinstance(key, str) and key in within[:-1] and isinstance(within[within.index(key) + 1], str)
        )

    @property
    def is_read(self) -> bool:
        """Whether anything was done with it."""
        return self.is_used or bool(self.parts)

    def items(self) -> list[Given]:
        """The parts by position up to the last one that was used; those counted from the end come after all others."""
        read = [at for at, part in self.parts.items() if type(at) is int and part.is_read]
        first, last = range(max(read, default=-1) + 1), range(min(0, *read, 0), 0)
        return [self.parts.get(at) or Given((*self.path, at)) for at in (*first, *last)]
