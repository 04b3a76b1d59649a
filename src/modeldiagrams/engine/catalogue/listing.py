"""Lists the models of a catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.engine.diagram_ids import make_distinct, name_snapshot
from modeldiagrams.worker import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.options.catalogue import CatalogueOptions

__all__ = ["Listed", "list_models", "make_catalogue_id", "name_list"]

_ANY = "mypkg.Model"
"""Stands for each model in the options that all of them share."""
_MOST_TOLD = 3
"""How many problems a message names."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """The models of a catalogue."""

    models: tuple[str, ...] = ()
    """Full names, sorted, one for each model."""
    problem: str = ""
    """What is not as the author wrote it, in one sentence; there may be models all the same."""
    sources: tuple[str, ...] = ()
    """Absolute paths of the files whose change may change the list."""


def make_catalogue_id(options: CatalogueOptions) -> str:
    """Make a stable name for a catalogue's files, ``catalogue-1a2b3c4d``, on which all its options have an effect."""
    shared = msgspec.json.encode(options.options_for(_ANY, {})).decode()
    return make_distinct("catalogue", repr((options.of, options.exclude, options.group_by, shared)))


def name_list(options: CatalogueOptions) -> str:
    """Return the name of a catalogue's list, which stays when its diagrams are drawn or called in another way."""
    interpreter = options.options_for(_ANY, {}).limits.python
    return make_distinct("catalogue", repr((options.of, options.exclude, interpreter)))


def list_models(builder: DiagramBuilder, options: CatalogueOptions, defaults: Mapping[str, Any]) -> Listed:
    """List the names of a catalogue's models by the rules of `modeldiagrams.resolve.libraries.public_models`.

    It imports the packages in a worker, again only if their sources or the installed packages have changed. Without
    torch, it reads the committed list, ``<snapshots>/<name>.models.txt``.

    Args:
        builder: Runs the models, and knows the folder of snapshots.
        options: What the author wrote.
        defaults: The site's values of options, of which limits and the interpreter count.
    """
    name, shared = name_list(options), options.options_for(_ANY, defaults)
    file = builder.snapshots.list_path(name).absolute() if builder.snapshots else None
    if builder.snapshots and file:
        builder.snapshots.note_mention(file, traced=True)
    committed = (str(file),) if file and file.is_file() else ()
    if not builder.can_trace(shared):
        if file and committed:
            return Listed(models=tuple(file.read_text("utf-8").split()), sources=committed)
        if reason := builder.explain_untraced(shared):
            return Listed(problem=f"{', '.join(options.of)} can't be listed. {reason}")
    answer = builder.tracing.list_models(options.of, options.exclude, shared)
    if isinstance(answer, Refused):
        frames = f" ({answer.problem.frames[-1]})" if answer.problem.frames else ""
        return Listed(problem=f"{answer.problem.message}{frames}", sources=(*answer.sources, *committed))
    drift = None
    if builder.snapshots and answer.names:
        drift = builder.snapshots.compare_list(name, answer.names)
        own = (options.options_for(model, defaults) for model in answer.names)
        builder.snapshots.compressed.update(map(name_snapshot, own))
    problems = [*answer.problems, *([drift] if drift else [])]
    more = [f"and {len(problems) - _MOST_TOLD} more"] if len(problems) > _MOST_TOLD else []
    problem = "; ".join([*problems[:_MOST_TOLD], *more])
    return Listed(models=answer.names, problem=problem, sources=(*answer.sources, *committed))
