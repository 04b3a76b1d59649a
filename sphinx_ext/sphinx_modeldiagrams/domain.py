"""What a project knows of its diagrams, and the one maker of a process."""

from __future__ import annotations

import os
from multiprocessing import util
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, cast

from sphinx.domains import Domain

from modeldiagrams.diagrams import Maker
from modeldiagrams.installed import made_with

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from modeldiagrams.diagrams import Diagram

__all__ = ["ModelDiagramsDomain", "close_maker", "domain_of", "outdated_documents"]


class Entry(TypedDict):
    """What is remembered of a diagram; pickled with the environment."""

    id: str
    failed: bool
    libraries: list[str]
    python: str | None
    made_with: list[str]


class ModelDiagramsDomain(Domain):
    """Diagrams by document."""

    name = "modeldiagrams"
    label = "model diagrams"
    initial_data: ClassVar[dict[str, dict[str, list[Entry]]]] = {"diagrams": {}}
    data_version = 3

    _maker: Maker | None = None
    _process: int | None = None

    @property
    def diagrams(self) -> dict[str, list[Entry]]:
        """Document name → its diagrams, in order."""
        return cast("dict[str, list[Entry]]", self.data["diagrams"])

    @property
    def maker(self) -> Maker:
        """This process's maker.

        A child that Sphinx forked must not share its parent's tracing process, and ends its own when it ends: forked
        children run no `atexit`, but they do run multiprocessing's finalizers.
        """
        if self._maker is None or self._process != os.getpid():
            folder = Path(self.env.srcdir)
            snapshots = folder / self.env.config.modeldiagrams_snapshots
            self._maker = Maker(Path(self.env.doctreedir) / self.name, folder=folder, snapshots=snapshots)
            self._process = os.getpid()
            util.Finalize(None, self._maker.close, exitpriority=1)
        return self._maker

    def close(self) -> None:
        """End this process's tracing, if it ever began."""
        if self._maker is not None and self._process == os.getpid():
            self._maker.close()

    def note_diagram(self, diagram: Diagram) -> None:
        """Remember a diagram of the document that is being read."""
        python = self.maker.interpreter(diagram.options)
        entry = Entry(
            id=diagram.id,
            failed=diagram.problem is not None,
            libraries=list(diagram.libraries),
            python=python,
            made_with=list(made_with(diagram.libraries, python)),
        )
        self.diagrams.setdefault(self.env.docname, []).append(entry)

    def clear_doc(self, docname: str) -> None:
        """Called by Sphinx before a document is read again."""
        self.diagrams.pop(docname, None)

    def merge_domaindata(self, docnames: AbstractSet[str], otherdata: dict[str, Any]) -> None:
        """Called by Sphinx with what a parallel reader found."""
        self.diagrams.update({name: found for name, found in otherdata["diagrams"].items() if name in docnames})


def domain_of(env: BuildEnvironment) -> ModelDiagramsDomain:
    """The domain of an environment."""
    return cast("ModelDiagramsDomain", env.get_domain(ModelDiagramsDomain.name))


def outdated_documents(
    _app: Sphinx, env: BuildEnvironment, _added: set[str], _changed: set[str], _removed: set[str]
) -> list[str]:
    """Documents to read again, although their sources are what they were.

    Those with a bad diagram: the cause may be gone, and if not, it must not fall silent. And those whose diagrams were
    made with another version of torch, of a library that the model is made of, or of this package.
    """
    found = domain_of(env).diagrams
    return sorted(name for name, entries in found.items() if any(map(_is_outdated, entries)))


def _is_outdated(entry: Entry) -> bool:
    return entry["failed"] or entry["made_with"] != list(made_with(entry["libraries"], entry["python"]))


def close_maker(app: Sphinx, _exception: Exception | None) -> None:
    """The build is over."""
    if app.env is not None:
        domain_of(app.env).close()
