"""Builds a catalogue: graphs of all its models, of which only figures and small pictures stay in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.engine.catalogue.cards import describe_model
from modeldiagrams.engine.catalogue.entries import Catalogue
from modeldiagrams.engine.catalogue.families import find_families, join_aliases
from modeldiagrams.engine.catalogue.listing import make_catalogue_id
from modeldiagrams.engine.catalogue.releases import find_first_releases
from modeldiagrams.engine.diagram_ids import drop_digest, name_snapshot
from modeldiagrams.engine.many_graphs import run_each

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.engine.catalogue.entries import CatalogueModel
    from modeldiagrams.engine.catalogue.listing import Listed
    from modeldiagrams.options.catalogue import CatalogueOptions

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
        run_each(
            range(len(wanted)), lambda at: describe_model(builder, wanted[at]), workers.jobs, on_error=workers.close
        )
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
    releases = find_first_releases(builder.snapshots.folder)
    names = (drop_digest(name_snapshot(model.options)) for model in models)
    pairs = zip(models, names, strict=True)
    return [msgspec.structs.replace(model, since=releases.get(name, "")) for model, name in pairs]
