"""A docstring or a comment, taken apart: which words are about which name, in the styles that people use.

Google's ``x (Tensor): …``, NumPy's ``x : Tensor of shape …``, Sphinx' ``:param x: …`` and ``:type x: …``,
``@param x …``, lists with dashes, ``**input** of shape …``, ``q, k, v: …``, and several in one line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modeldiagrams.target.inference.documented.shape_text import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["inputs_part", "items"]

_OUTPUT = re.compile(
    r"\s*[-*•]?\s*(:returns?\b|:rtype|:raises|@returns?\b|(returns?|outputs?|out|yields?|raises|examples?|notes?"
    r"|references?|todo)\s*(shapes?)?\s*(\([^)]*\))?\s*(:|$)|return(s|ed)?\b|>>>|::)",
    re.IGNORECASE,
)
_INPUT = re.compile(
    r"\s*[-*•]?\s*(:param|:type|:arg|@param|(args|arguments|parameters|params|inputs?\d?|shapes?|expects|keyword\w*"
    r"|attributes|forward)\b)",
    re.IGNORECASE,
)
_NAMES = r"[A-Za-z_]\w*(?:\s*(?:,|/|&|\band\b)\s*[A-Za-z_]\w*)*"
_QUOTES = r"[\"'*]*"
_AFTER = r"\(|\[|:(?!:)|=(?!=)|-[ \t-]|–|of\s+(?:shape|size)|(?:is|has)\s.{0,20}shape|\w+\ of\ shape"
"""What follows a name of which something is said."""
_ITEM = re.compile(
    rf"""
    ^[ \t]*(?:[-*•+]|\d+[.)])?[ \t]*
    (?:
      [:@](?:param|parameter|arg|argument|type)\s+(?:[\w.\[\]|]+\s+)?(?P<marked>\w+)[ \t]*:?
      |{_QUOTES}(?P<names>{_NAMES}){_QUOTES}[ \t]*(?={_AFTER})
    )
    |(?<=[,;.({{])[ \t]+{_QUOTES}(?P<inline>[A-Za-z_]\w*){_QUOTES}[ \t]*(?::|\ of\ shape)[ \t]*(?=[\[(<]|[A-Z]\w*\ x)
    |(?<=[,;.({{]){_QUOTES}(?<=["'])(?P<key>[A-Za-z_]\w*)["'][ \t]*:[ \t]*(?=[\[(<])
    """,
    re.MULTILINE | re.VERBOSE,
)
_LONGEST = 400


def inputs_part(text: str) -> str:
    """A docstring without markup, and without what it says about outputs."""
    kept, is_output, indent = [], False, 0
    for line in plain_text(text).splitlines():
        own = len(line) - len(line.lstrip())
        if _OUTPUT.match(line):
            is_output, indent = True, own
        elif line.strip() and (_INPUT.match(line) or (is_output and own < indent)):
            is_output = False
        if not is_output:
            kept.append(re.sub(r"\s*(->|→|=>).*", "", line))
    return "\n".join(kept)


def items(text: str) -> Iterator[tuple[str, str]]:
    """Names, and what is said of each.

    Args:
        text: As `inputs_part` makes it.
    """
    found = [*_ITEM.finditer(text)]
    for match, following in zip(found, [*found[1:], None], strict=False):
        end = following.start() if following else len(text)
        words = re.split(r"\n\s*\n", text[match.end() : min(end, match.end() + _LONGEST)], maxsplit=1)[0]
        names = match["marked"] or match["names"] or match["inline"] or match["key"]
        for name in re.split(r"\s*(?:,|/|&|\band\b)\s*", names):
            yield name, words
