"""Builds a catalogue: graphs of all its models, of which only figures and small pictures stay in memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.engine.builder import name_snapshot
from modeldiagrams.engine.catalogue.cards import take_card
from modeldiagrams.engine.catalogue.entries import Catalogue, CatalogueModel
from modeldiagrams.engine.catalogue.families import find_families, join_aliases
from modeldiagrams.engine.catalogue.listing import make_catalogue_id
from modeldiagrams.engine.catalogue.releases import find_first_releases
from modeldiagrams.engine.diagram_ids import make_diagram_id
from modeldiagrams.engine.many_graphs import run_each
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.text import readable
from modeldiagrams.worker import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.engine.catalogue.listing import Listed
    from modeldiagrams.options.catalogue import CatalogueOptions
    from modeldiagrams.options.options import Options

__all__ = ["build_catalogue"]


def build_catalogue(
    builder: DiagramBuilder, options: CatalogueOptions, defaults: Mapping[str, Any], listed: Listed
) -> Catalogue:
    """Take the graphs of a catalogue's models as their pages do, several at a time, and list them in families.

    Memory doesn't grow with the number of graphs. A model that fails costs its own entry.

    Args:
        builder: Takes the graphs, and keeps figures and pictures between builds.
        options: What the author wrote.
        defaults: The site's values of options.
        listed: The names of the models, and why there are none.
    """
    wanted = [options.options_for(name, defaults) for name in listed.models]
    workers = builder.session.workers
    found = dict(
        run_each(range(len(wanted)), lambda at: _describe(builder, wanted[at]), workers.jobs, on_error=workers.close)
    )
    models = [found[at] for at in sorted(found)]  # they end in any order
    models = _add_releases(builder, models)
    return Catalogue(
        id=make_catalogue_id(options),
        options=options,
        families=find_families(join_aliases(models)),
        problem=listed.problem,
    )


def _add_releases(builder: DiagramBuilder, models: list[CatalogueModel]) -> list[CatalogueModel]:
    if builder.snapshots is None:
        return models
    files = [builder.snapshots.path(name_snapshot(model.options)).name for model in models]
    releases = find_first_releases(builder.snapshots.folder, {*files})
    pairs = zip(models, files, strict=True)
    return [msgspec.structs.replace(model, since=releases.get(file, "")) for model, file in pairs]


def _describe(builder: DiagramBuilder, options: Options) -> CatalogueModel:
    describe = partial(CatalogueModel, name=options.call.model, options=options)
    id_ = make_diagram_id(options.written)
    try:
        loaded = builder.load(options)
    except ModelDiagramsError as error:
        return describe(id=id_, problem=_shorten(str(error)))
    if isinstance(loaded, Refused):
        return describe(id=id_, problem=_shorten(loaded.problem.message))
    card = take_card(builder, loaded)
    problem = loaded.problem.message if loaded.problem and loaded.problem.kind != "snapshot" else card.problem
    return describe(
        id=make_diagram_id(options.written.called(loaded.name), has_case_variant=loaded.has_case_variant),
        figures=card.figures,
        picture=card.picture,
        problem=_shorten(problem),
    )


def _shorten(problem: str) -> str:
    return readable(problem.strip().partition("\n")[0])
