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
    """Whether it is annotated as several tensors."""
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
        """The parts by position up to the last one that was used."""
        parts = [*self.parts.values()]
        used = [at for at, part in enumerate(parts) if part.is_read]
        return parts[: used[-1] + 1] if used else []
