"""The inputs of a forward that is read, and the parts that it takes out of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Given"]


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
    """The project's own class that it is annotated as."""
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
    def is_read(self) -> bool:
        """Whether anything was done with it."""
        return self.is_used or bool(self.parts)

    def items(self) -> list[Given]:
        """The parts by position up to the last one that was used; those counted from the end come after all others."""
        read = [at for at, part in self.parts.items() if type(at) is int and part.is_read]
        first, last = range(max(read, default=-1) + 1), range(min(0, *read, 0), 0)
        return [self.parts.get(at) or Given((*self.path, at)) for at in (*first, *last)]
