"""Texts as pages carry them: compressed, in characters that no HTML parser, plugin, template or encoding changes."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.ir.folding import digest_code, fold_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["packed", "packing_digest", "page_data"]

_GRAPHS = frozenset({"graph", "before"})
"""Fields of a page's data that are folded."""

_SAFE = str.maketrans("&<>`{}", ",./:[]")
"""Characters of base 85 that mean something elsewhere."""


def packed(content: bytes) -> str:
    """Compressed, and five characters for four bytes; `viewer/src/shared/unpack.ts` reads it."""
    return base64.b85encode(zlib.compress(content, 9)).decode("ascii").translate(_SAFE)


def page_data(fields: Mapping[str, bytes]) -> str:
    """What a page has of one diagram: an object of these fields, each of them JSON text, packed."""
    values = {name: fold_graph(value) if name in _GRAPHS else value for name, value in fields.items()}
    return packed(b"{%b}" % b",".join([b'"%b":%b' % (name.encode(), value) for name, value in values.items()]))


def packing_digest() -> str:
    """Hash of the code that folds and packs."""
    return digest_code(Path(__file__))
