"""What a catalogue shows of each graph, kept between builds instead of the graph itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.common.environment import made_with
from modeldiagrams.common.files import digest
from modeldiagrams.engine.store import take_or_make
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.figures import Figures, list_figures
from modeldiagrams.render.draw import digest_viewer

if TYPE_CHECKING:
    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.engine.loaded_graph import LoadedGraph

__all__ = ["Card", "take_card"]


class Card(msgspec.Struct, frozen=True):
    """The figures and the small picture of a graph."""

    figures: Figures
    picture: str
    problem: str = ""
    """Why there is no picture."""


def take_card(builder: DiagramBuilder, loaded: LoadedGraph) -> Card:
    """Take the card of a graph from the cache, or make it."""
    key = digest(loaded.content, "\n".join([digest_viewer(), *made_with()]).encode())
    return take_or_make(builder.store, f"{key}.card", Card, partial(_make_card, builder, loaded))


def _make_card(builder: DiagramBuilder, loaded: LoadedGraph) -> Card:
    found = list_figures(loaded.graph)
    try:
        return Card(figures=found, picture=builder.session.drawer.render_card(loaded.content))
    except ModelDiagramsError as error:
        return Card(figures=found, picture="", problem=str(error))
