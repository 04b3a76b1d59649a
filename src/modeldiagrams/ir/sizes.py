"""Names of sizes, and expressions for what depends on them: shapes, arguments of ops, costs, numbers of calls."""

from __future__ import annotations

from typing import Literal

import msgspec

from modeldiagrams.ir.nodes import Struct

__all__ = ["NamedBy", "NamedSizes", "Size"]

NamedBy = Literal["author", "annotation", "docstring", "convention"]


class Size(Struct, frozen=True, kw_only=True):
    """A size of the model's inputs, or one that a tensor's values decide."""

    size: int
    """In the pass that the graph shows; of a counted one, the most that it can be there."""
    places: tuple[tuple[str, int], ...] = ()
    """Id of a tensor and the position of a dimension in its shape: where inputs have this size."""
    arguments: tuple[str, ...] = ()
    """Names of the whole numbers among the model's arguments that are this size."""
    named_by: NamedBy = "convention"
    meaning: str = ""
    """What readers call it: ``batch``, ``height``; empty if nothing tells."""
    multiple_of: int = 1
    """Expressions with this size hold if it is `remainder` more than a multiple of this number."""
    remainder: int = 0
    at_least: int = 1
    """The smallest size that is known to work."""
    at_most: int | None = None
    """The largest size that the model takes, if one is known; without `limit`, the largest that was checked."""
    limit: str = ""
    """What sets `at_most`: name of a weight, or the model's message; empty if larger sizes differ or were not tried."""
    fixed: str = ""
    """Why it is always this size: the model's message at another one, or what changes. No expression has its name."""
    counted: str = ""
    """Id of the op whose values decide it (``nonzero``); such a size has no places."""
    bound: str = ""
    """Of a counted size: expression for the most that it can be."""


class NamedSizes(Struct, frozen=True, kw_only=True):
    """What is known of a graph at other sizes of its inputs. Without it, the graph is the same.

    Expressions are texts in the normal form of `modeldiagrams.ir.expressions`. They were fitted to passes at other
    sizes and hold in one more pass. What has none is the same number at all sizes, or listed in `unknown`.
    """

    sizes: dict[str, Size]
    """Name → size, in the order of the inputs: ``B``, ``T``, ``H``; counted ones last: ``n₁``."""
    tensors: dict[str, tuple[str | None, ...]] = msgspec.field(default_factory=dict)
    """Id of a tensor → an expression per dimension, None for a number. Tensors without any are left out."""
    arguments: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    """Id of an op → path of a number among its `arguments` → expression: ``size[1]``."""
    flops: dict[str, str] = msgspec.field(default_factory=dict)
    """Id of an op → its FLOPs."""
    activation_bytes: dict[str, str] = msgspec.field(default_factory=dict)
    """Id of an op → the bytes of its outputs."""
    times: dict[str, str] = msgspec.field(default_factory=dict)
    """Id of an op or module call in a loop → how often each call of the module around it makes such calls, if that
    depends on sizes."""
    letters: dict[str, str] = msgspec.field(default_factory=dict)
    """Abbreviation → the expression that it stands for: ``N`` → ``H*W/256``. No expression has it among its names."""
    unknown: dict[str, str] = msgspec.field(default_factory=dict)
    """Id of a node or tensor that changes with a size and has no expression → why. Costs at other sizes lack it."""
    checked: tuple[dict[str, int], ...] = ()
    """Sizes of each further pass; all expressions give the sizes and costs of all passes."""
    mistake: str = ""
    """What is wrong with the names that the author wrote, in a sentence or several."""
    notes: tuple[str, ...] = ()
    """Sentences for readers: why no size has a name, or why some lack one."""
