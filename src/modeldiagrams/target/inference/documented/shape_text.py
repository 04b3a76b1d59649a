"""Shapes in prose: ``(B, T, dim)``, ``[batch x 3 x H x W]``, ``N*C*L``, ``:math:`(N, C_{in}, L)```, ``BxCxHxW``.

A bracket in a sentence is a shape only where something says so: it comes first, or after "shape", or starts with a
batch. Ranges, types, remarks and coordinates are none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ANY", "ELLIPSIS", "Dims", "is_batch", "plain_text", "rank_in", "shape_in", "split_dims"]

Dims = tuple[str, ...]
"""Of each dimension a number, a name or a sum of such; `ANY`, or `ELLIPSIS` for any number of them."""
ANY = ""
ELLIPSIS = "..."

_BATCH = re.compile(r"b|bs|bsz|n?_?batch|(mini_?)?batch_?(size|sz)?|(num|n)_batch(es)?", re.IGNORECASE)
_FIRST = re.compile(
    r"n\d?|m|\*|\.\.\.|\?|none|-1|n_\w+|num_?\w+|nodes?|seq_?len|t|l|time|(time)?steps|frames", re.IGNORECASE
)
"""What shapes without a batch begin with."""
_LATEX = (
    (r":math:", ""),
    (r"\\(?:left|right|,|;|!|quad)(?![a-zA-Z])", ""),
    (r"\\(?:text|mathrm|mathit|texttt|operatorname)\{([^{}]*)\}", r"\1"),
    (r"_\{([^{}]*)\}", r"_\1"),
    (r"\\(?:times|cdot)|[×✕⨯]", " x "),
    (r"\\(?:l?dots|cdots)|…", "..."),
    (r"(?:\\mathbb\{R\}|\\R\b|ℝ|\bR)\s*\^\s*[({]([^{}()]*)[})]", r" shape (\1)"),
    (r"\\_", "_"),
    (r"\\[()]|[`$]|(?<!\w)\*\*|\*\*(?!\w)", ""),
)
_BRACKET = re.compile(r"([\w.]*)([(\[{<])((?:[^()\[\]{}<>]|\([^()]*\))*)([)\]}>])")
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_NAME = r"[A-Za-z_][\w']*"
_TERM = rf"(?:{_NAME}|\d+)"
_SUM = re.compile(rf"\(*{_TERM}(?:\s*(?:[-+*/^]|//)\s*\(*{_TERM}\)*)*\)*")
_PHRASE = re.compile(rf"(?:{_NAME}|\d+)(?:[ -](?:{_NAME}|\d+)){{1,3}}")
_CROSSED = re.compile(rf"(?<![\w)\]]){_TERM}(?:[/*+-]{_TERM})*(?:\s+[xX]\s+{_TERM}(?:[/*+-]{_TERM})*)+(?![\w(])")
_GLUED = re.compile(r"(?<![\w.])(?:(?:[A-Z]+_?\d*|\d+)(?:x(?:[A-Z]+_?\d*|\d+))+|[a-z\d](?:x[a-z\d]){2,})(?!\w)")
_STARRED = re.compile(rf"(?<![\w*)]){_TERM}(?:\s?\*\s?{_TERM})+(?![\w*(])")
_LISTED = re.compile(r"(?<![\w,])(?:[A-Z]\w{0,3}|[a-z]|\d+)(?:, ?(?:[A-Z]\w{0,3}|[a-z]|\d+))+(?=\s*(?:[.;)]|$|\n))")
_QUOTED = re.compile(rf"[\"'](\.{{3}}|{_TERM})((?: {_TERM})+)[\"']")
_NO_SIZES = {
    *("tensor", "int", "float", "str", "string", "optional", "bool", "list", "dict", "tuple", "default", "required"),
    *("any", "array", "ndarray", "module", "callable", "long", "true", "false", "eg", "ie", "cpu", "gpu", "or", "and"),
    *("if", "see", "torch", "the", "for", "is", "not", "when", "with", "of", "only", "in", "longtensor", "floattensor"),
}
_COORDINATES = {"x", "y", "z", "w", "h", "cx", "cy", "cz", "x1", "y1", "x2", "y2", "l", "xmin", "ymin", "xmax", "ymax"}
_INTRODUCED = re.compile(
    r"(shapes?|sizes?|dims?|dimensions?|dimensionality|tensors?|array|matrix|layout|each|expects?)"
    r"[\s:=_,'\"]*((of|is|are|with|as|in|has|the)[\s:=]+)?((shape|size)[\s:=]+)?$",
    re.IGNORECASE,
)
_AT_START = re.compile(
    r"[\s:,\-–|.'\"]*((a|an|the|input|inputs|of|optional|none|or|float|int|long|bool|\w*tensors?|array|torch|np|numpy"
    r"|ndarray|\(|\)|\[|\])[\s:,\-–|.'\"]*)*",
    re.IGNORECASE,
)
_IN_RANGE = re.compile(
    r"(\bin|ranges?|between|to|from|∈|values?|within|into|kernels?|coordinates?|corners?)(\s+of|\s+is)?[\s:=]*$",
    re.IGNORECASE,
)
_RANK = re.compile(r"\b([1-5])-?\s?[dD](?:imensional)?\s+(?:\w+\s+)?(?:[tT]ensor|array)")
_MOST_DIMS = 7
_FEW_LETTERS = 4


def plain_text(text: str) -> str:
    """The same without markup, with products as in ``B x T``."""
    for pattern, new in _LATEX:
        text = re.sub(pattern, new, text)
    return text


def is_batch(name: str) -> bool:
    """Whether a size is the number of examples."""
    return bool(_BATCH.fullmatch(name))


def shape_in(text: str) -> Dims | None:
    """The first shape in a text without markup; None if there is none."""
    found = [*_bracketed(text), *_bare(text)]
    return min(found, key=lambda each: each[0])[1] if found else None


def rank_in(text: str) -> Dims | None:
    """The shape of a ``3D tensor``, of which nothing else is said."""
    match = _RANK.search(text)
    return (ANY,) * int(match[1]) if match else None


def _bracketed(text: str) -> Iterator[tuple[int, Dims]]:
    for start in [match.start(2) for match in re.finditer(r"([\w.]*)([(\[{<])", text)]:
        match = _BRACKET.match(text, _word_start(text, start))
        if not match or _PAIRS[match[2]] != match[4] or match.start(2) != start:
            continue
        is_typed = bool(re.search(r"(tensor|array|shape|size)s?\w{0,2}$", match[1], re.IGNORECASE))
        if match[1] and not is_typed:
            continue
        before = text[: match.start()]
        is_introduced = is_typed or bool(_INTRODUCED.search(before[-_WINDOW:]))
        dims = split_dims(match[3], is_said=is_introduced)
        if dims and (is_introduced or _is_likely(dims, before)):
            yield match.start(), dims


_WINDOW = 40


def _word_start(text: str, end: int) -> int:
    while end and (text[end - 1].isalnum() or text[end - 1] in "._"):
        end -= 1
    return end


def _bare(text: str) -> Iterator[tuple[int, Dims]]:
    """Shapes without brackets."""
    for pattern, separator in ((_CROSSED, r"\s+[xX]\s+"), (_GLUED, "x"), (_STARRED, r"\*"), (_LISTED, ",")):
        for match in pattern.finditer(text):
            before = text[: match.start()]
            is_introduced = bool(_INTRODUCED.search(before[-_WINDOW:]))
            dims = _valid([part.strip() for part in re.split(separator, match[0])])
            if not dims or before.count("(") + before.count("[") > before.count(")") + before.count("]"):
                continue
            if is_introduced or (_is_likely(dims, before) and not all(map(str.isdigit, dims))):
                yield match.start(), dims
    for match in _QUOTED.finditer(text):
        if dims := _valid([match[1], *match[2].split()]):
            yield match.start(), dims


def _is_likely(dims: Dims, before: str) -> bool:
    """Whether something is a shape though no word says so."""
    if {dim.lower() for dim in dims} <= _COORDINATES | {ANY}:
        return False
    if any(map(is_batch, dims)):
        return True
    if _IN_RANGE.search(before[-_WINDOW:]) or all(re.fullmatch(r"-?\d+", dim) for dim in dims):
        return False
    return len(dims) > 1 and bool(_FIRST.fullmatch(dims[0]) or _AT_START.fullmatch(before))


def split_dims(inside: str, *, is_said: bool = False) -> Dims | None:
    """The dimensions between brackets.

    Args:
        inside: The text there.
        is_said: Whether a word says that it is a shape: then words with spaces are sizes, too.
    """
    inside = re.sub(r"\s+", " ", inside).strip().strip("'\"")
    if "," in inside:
        parts = _split(inside)
    elif re.search(r"\S [xX] \S", inside):
        parts = re.split(r" [xX] ", inside)
    elif _GLUED.fullmatch(inside):
        parts = inside.split("x")
    elif re.fullmatch(rf"{_TERM}(\s?\*\s?{_TERM})+", inside):
        parts = inside.split("*")
    elif re.fullmatch(rf"(\.\.\.|\*|{_TERM})( {_TERM})+", inside) and (is_said or _is_short(inside)):
        parts = inside.split()
    else:
        parts = [inside]
        if not (is_said or is_batch(inside) or re.fullmatch("[A-Z]", inside)):
            return None
    return _valid([part.strip() for part in parts], is_said=is_said)


def _is_short(inside: str) -> bool:
    return all(len(word) < _FEW_LETTERS for word in inside.split())


def _split(inside: str) -> list[str]:
    """At commas outside brackets; one at the end makes no dimension."""
    parts = re.split(r",(?![^(]*\))", inside)
    return parts[:-1] if not parts[-1].strip() else parts


def _valid(parts: list[str], *, is_said: bool = False) -> Dims | None:
    dims = [_dim(part, is_said=is_said) for part in parts]
    known = [dim for dim in dims if dim is not None]
    is_wrong = len(known) != len(dims) or not known or len(dims) > _MOST_DIMS or known.count(ELLIPSIS) > 1
    return None if is_wrong else tuple(known)


def _dim(part: str, *, is_said: bool) -> str | None:
    """One dimension; None where a text is none."""
    part = re.sub(r"\s*\([A-Za-z ]*\)$", "", part.strip("'\" "))
    if "=" in part:  # ``C=3``, ``T = max_len``
        part = part.rpartition("=")[2].strip()
    if part in ("*", "...", "Ellipsis"):
        return ELLIPSIS
    if part in ("?", "-1", "_", ":", "None", "any"):
        return ANY
    if part == "0" or {*re.findall(r"[a-z_]\w*", part.lower())} & _NO_SIZES:
        return None
    if _SUM.fullmatch(part):
        return part
    return re.sub(r"[ -]", "_", part) if is_said and _PHRASE.fullmatch(part) else None
