"""What prose says of an input beside its shape: its dtype, the number that ids are below, whether it is several."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["KindText", "kind_in"]

_WHOLE = re.compile(
    r"\b(Long|Int)Tensor|\bu?int(64|32|16|8)\b|torch\.(long|int)|\bintegers?\b|(?<!\w )\blong\b(?! +[a-z])"
    r"|\blong tensor|\btype:? long\b"
    r"|\b(token|word|item|user|node|class|category|char|character|phoneme|subword|vocab\w*)"
    r" ?(ids?|ind(ices|exes)|index)\b",
    re.IGNORECASE,
)
_BOOL = re.compile(
    r"BoolTensor|torch\.bool|\bbool(ean)?\b|\bTrue (for|where|at|if|means|marks)\b|ByteTensor", re.IGNORECASE
)
_FLOAT = re.compile(r"\b(Float|Half|Double)Tensor\b|torch\.float\w*|\bfloat(32|16|64)\b", re.IGNORECASE)
_BELOW = re.compile(
    r"(?:\bin|range|∈|values?|between|from)\W{0,4}[\[({]\s*0\s*(?:,|to|\.\.+|-)\s*(?:\.\.\.,?\s*)?"
    r"(?P<high>\w+)\s*(?P<less>-\s*1\s*)?(?P<end>[)\]}])"
)
_SEVERAL = re.compile(
    r"^\W{0,6}(an? )?((list|tuple|sequence)\W*\[|(list|tuple)\b|sequence of [\w.]*tensors)", re.IGNORECASE
)
_PLAIN = re.compile(r"\s*[(:]\s*(?:a |an )?(int|float|bool)\b\s*(?:[),.;:]|$|\n)")


@dataclass(frozen=True)
class KindText:
    """What a text says of an input's content."""

    dtype: str = ""
    high: str = ""
    """A number or a name; ids are below it."""
    is_several: bool = False
    plain: str = ""
    """The name of its type, where it is no tensor."""


def kind_in(text: str) -> KindText:
    """What a text about an input says, which begins after its name."""
    plain = _PLAIN.match(text)
    if plain and not re.search("tensor|shape", text, re.IGNORECASE):
        return KindText(plain=plain[1])
    below = _BELOW.search(text)
    high = below["high"] if below and (below["end"] != "]" or below["less"]) else ""
    high = "" if high in ("0", "1") else high
    is_several = bool(_SEVERAL.search(text))
    if _BOOL.search(text):
        return KindText("bool", is_several=is_several)
    if _FLOAT.search(text):
        return KindText("float32", is_several=is_several)
    is_whole = bool(_WHOLE.search(text)) or bool(high)
    return KindText("int64" if is_whole else "", high, is_several)
