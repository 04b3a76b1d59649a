"""What the name of a forward's parameter tells about the input (rule 4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.offers import Offer, ids, ones

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Role", "named_offers", "role_of"]

_FEW = 4
"""Below the number of anything there is several of: nodes of a graph, steps of a sequence, rows of an embedding."""
_L = "<length>"
_S = "<size>"


@dataclass(frozen=True)
class Role:
    """A kind of input."""

    name: str
    pattern: str
    """Regular expression for names of parameters."""
    entries: tuple[Any, ...] = ()
    """What it is whatever the layers are."""
    dimensions: tuple[int, ...] = ()
    """What a layer's candidate must have to suit it; empty where layers tell nothing."""
    is_whole: bool = False
    """Whether it holds whole numbers."""

    def suits(self, entry: Any) -> bool:
        """Whether a layer's candidate is of this kind."""
        is_whole = isinstance(entry, dict) and entry.get("dtype") == "int64"
        shape = entry["shape"] if isinstance(entry, dict) else entry
        return is_whole == self.is_whole and len(shape) in self.dimensions


_MASKS: tuple[list[Any], ...] = ([1, _L], [_L, _L], [1, 1, _L, _L], [1, _L, _L])

_ROLES = (
    Role("mask", r".*mask.*|.*padding", (ones([1, _L], "bool"), *[ones(shape) for shape in _MASKS], *_MASKS)),
    Role("edges", r"edge_?(index|indices|list)|edges", (ids([2, 8], _FEW), ids([8, 2], _FEW))),
    Role("adjacency", r"adj\w*|a_hat|laplacian|graph", ([_L, _L], [1, _L, _L], ids([2, 8], _FEW))),
    Role("edge weights", r"edge_?(weights?|attrs?|features?)", ([8], [8, 1], [8, _FEW])),
    Role("lengths", r"\w*lengths?|\w*lens", ({"shape": [1], "dtype": "int64", "low": _FEW, "high": _FEW + 1},)),
    Role("offsets", r"offsets", (ids([1], 1),)),
    Role(
        "time",
        r"t|ts|time|time_?steps?|timesteps?|step|sigmas?|noise_level",
        (ids([1], 10), [1], [1, 1], {"value": 1}),
    ),
    Role("class", r"y|labels?|class(es)?|class_?(ids?|labels?)|action", (ids([1], 2),), (1,), is_whole=True),
    Role(
        "ids",
        r"\w*ids?|\w*tokens?|\w*idx|words|text|\w*indices|index|src|tgt|trg|source|target|sentence\w*|captions?|users?"
        r"|items?|prompt|question|\w*_words|pos\w*_items?|neg\w*_items?|sparse\w*|categor\w*|cat|x_cat",
        (ids([1, _L], 2), ids([1], 2)),
        (1, 2),
        is_whole=True,
    ),
    Role(
        "image",
        r"\w*(image|img|pixel|photo|picture|frame)\w*|rgb|depth_map|anchor|positive|negative",
        ([1, 3, _S, _S], [1, 1, _S, _S]),
        (4,),
    ),
    Role("video", r"\w*(video|clip)s?", ([1, 3, 8, 32, 32], [1, 8, 3, 32, 32]), (5,)),
    Role("sound", r"\w*(audio|wave|sound|speech|signal|mel|spec)\w*", ([1, 1, 4000], [1, 4000]), (3,)),
    Role(
        "points",
        r"points?|point_?cloud|xyz|pos|positions?|coords?",
        ([1, _L, 3], [1, 3, _L], [_L, 3], [1, 3]),
        (2, 3),
    ),
    Role("state", r"h|c|hx|cx|h_?\d?|state|hidden\w*|memory|carry|h_prev|prev\w*", ({"value": None},), (2,)),
)


def role_of(name: str) -> Role | None:
    """The role that a parameter's name tells."""
    return next((role for role in _ROLES if re.fullmatch(role.pattern, name.lower())), None)


def named_offers(role: Role | None) -> Iterator[Offer]:
    """Candidates that a role has whatever the layers are."""
    for entry in role.entries if role else ():
        yield Offer(entry, f"its name tells that it is of the kind {role.name!r}" if role else "")
