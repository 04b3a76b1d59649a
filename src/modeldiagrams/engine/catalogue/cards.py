"""Describes a model by figures and a small picture, which are kept between builds beside its graph."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.common.environment import made_with
from modeldiagrams.common.files import digest, digest_file
from modeldiagrams.engine.catalogue.entries import CatalogueModel
from modeldiagrams.engine.diagram_ids import make_diagram_id, name_snapshot
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.figures import Figures, list_figures
from modeldiagrams.ir.text import readable
from modeldiagrams.ir.traits import Traits, list_traits
from modeldiagrams.render.draw import digest_viewer
from modeldiagrams.worker import Refused

if TYPE_CHECKING:
    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.engine.loaded_graph import LoadedGraph
    from modeldiagrams.options.options import Options

__all__ = ["describe_model"]


class _Card(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a catalogue shows of a graph."""

    figures: Figures
    traits: Traits
    picture: str = ""
    problem: str = ""


class _Identity(msgspec.Struct, frozen=True):
    """What names a card and its diagram."""

    digest: str
    """The digest of the graph's JSON text."""
    name: str | None = None
    has_case_variant: bool = False


def describe_model(builder: DiagramBuilder, options: Options) -> CatalogueModel:
    """Describe a model of a catalogue.

    Args:
        builder: Takes its graph as for its page, unless there is a card of it.
        options: The options of its diagram.

    Returns:
        The model. Its errors become its problem and are not raised.
    """
    store, known = builder.store, _identify(builder, options)
    card = store.read(_name_card(known, options), _Card) if known and store else None
    if known is None or card is None:
        try:
            loaded = builder.load(options)
        except ModelDiagramsError as error:
            return _describe(options, None, problem=str(error))
        if isinstance(loaded, Refused):
            return _describe(options, None, problem=loaded.problem.message)
        known = _Identity(digest(loaded.content), loaded.name, loaded.has_case_variant)
        card = store.read(_name_card(known, options), _Card) if store else None
        card = card or _make_card(builder, loaded)
        if store and card.picture:  # another try may draw it
            store.write(_name_card(known, options), card)
    return _describe(options, known, **msgspec.structs.asdict(card))


def _describe(options: Options, known: _Identity | None, problem: str, **found: Any) -> CatalogueModel:
    name, has_variant = (known.name, known.has_case_variant) if known else (None, False)
    return CatalogueModel(
        name=options.call.model,
        options=options,
        id=make_diagram_id(options.written.called(name), has_case_variant=has_variant),
        problem=readable(problem.strip().partition("\n")[0]),
        **found,
    )


def _identify(builder: DiagramBuilder, options: Options) -> _Identity | None:
    """Identify the graph that `DiagramBuilder.load` would return; None if it can't be known without loading it."""
    snapshots = builder.snapshots
    if snapshots and snapshots.writes:
        return None
    if builder.can_trace(options):
        entry = builder.tracing.cached(options)
        return _Identity(entry.digest, entry.name, entry.has_case_variant) if entry else None
    file = snapshots.path(name_snapshot(options)) if snapshots else None
    return _Identity(digest_file(file)) if file and file.is_file() else None


def _name_card(known: _Identity, options: Options) -> str:
    made_from = (known.digest, options.call.model, digest_viewer(), *made_with())
    return f"{digest(msgspec.json.encode(made_from))}.card"


def _make_card(builder: DiagramBuilder, loaded: LoadedGraph) -> _Card:
    card = partial(_Card, list_figures(loaded.graph), list_traits(loaded.graph))
    problem = loaded.problem.message if loaded.problem and loaded.problem.kind != "snapshot" else ""
    try:
        return card(picture=builder.session.drawer.render_card(loaded.content), problem=problem)
    except ModelDiagramsError as error:
        return card(problem=problem or str(error))
