"""Packs texts for pages: compressed, in characters that no HTML parser, plugin, template or encoding changes."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.ir.folding import digest_code, fold_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["digest_packing", "pack", "pack_page_data"]

_GRAPHS = frozenset({"graph", "before"})
"""Fields of a page's data to fold."""

_SAFE = str.maketrans("&<>`{}", ",./:[]")
"""Replaces characters of base 85 that have a meaning in HTML or templates."""


def pack(content: bytes) -> str:
    """Compress, and encode four bytes as five characters; `viewer/src/shared/unpack.ts` reads it."""
    return base64.b85encode(zlib.compress(content, 9)).decode("ascii").translate(_SAFE)


def pack_page_data(fields: Mapping[str, bytes]) -> str:
    """Pack the data of a diagram for a page: an object of these fields, each of them JSON text."""
    values = {name: fold_graph(value) if name in _GRAPHS else value for name, value in fields.items()}
    return pack(b"{%b}" % b",".join([b'"%b":%b' % (name.encode(), value) for name, value in values.items()]))


def digest_packing() -> str:
    """Return a hash of the code that folds and packs."""
    return digest_code(Path(__file__))
