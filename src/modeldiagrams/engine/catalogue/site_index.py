"""The list of diagrams in a built site, ``modeldiagrams/index.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.ir.documents import check_version, parse_json, to_graph_error
from modeldiagrams.ir.figures import Figures  # noqa: TC001  (msgspec reads the annotation)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ListedDiagram", "SiteIndex", "encode_index", "read_index"]

_FORMAT: Literal["modeldiagrams-index"] = "modeldiagrams-index"
_VERSION = "1.1"
"""1.0 had no figures."""


class ListedDiagram(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One diagram on all its pages, in all languages of a site."""

    id: str
    model: str
    snapshots: list[str]
    """Several if pages use several names for the model."""
    pages: list[str]
    figures: int | None = None
    """The number of its figures."""


class SiteIndex(msgspec.Struct, frozen=True, kw_only=True):
    """A site's list of diagrams."""

    format: Literal["modeldiagrams-index"] = _FORMAT
    version: str = _VERSION
    figures: list[Figures] = []
    """Without layers and ops; those of equal graphs, under any names, are listed once."""
    diagrams: list[ListedDiagram]


def encode_index(figures: Iterable[str], diagrams: Iterable[ListedDiagram]) -> bytes:
    """Write a list of diagrams; figures are JSON text."""
    # one line for each: the names of thousands of models take enough space
    lists = {"figures": map(str.encode, figures), "diagrams": map(msgspec.json.encode, diagrams)}
    fields = [b'"%b":[\n%b\n]' % (name.encode(), b",\n".join(lines)) for name, lines in lists.items()]
    return b'{"format":"%b","version":"%b",\n%b}\n' % (_FORMAT.encode(), _VERSION.encode(), b",\n".join(fields))


def read_index(content: bytes) -> SiteIndex:
    """Read the list of diagrams of a site.

    Raises:
        GraphError: if it is none, or one of a later major version; with a JSON path.
    """
    head = parse_json(content)
    check_version(head, _FORMAT, _VERSION)
    try:
        return msgspec.convert(head, decodable(SiteIndex))
    except msgspec.ValidationError as error:
        raise to_graph_error(error) from error
