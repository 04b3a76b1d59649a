"""What a project knows of its diagrams, and the one maker of a process."""

from __future__ import annotations

import os
from multiprocessing import util
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, cast

from sphinx.domains import Domain

from modeldiagrams.diagrams import Maker

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from modeldiagrams.diagrams import Diagram

__all__ = ["ModelDiagramsDomain", "close_maker", "domain_of", "failed_documents"]


class Entry(TypedDict):
    """What is remembered of a diagram; pickled with the environment."""

    id: str
    failed: bool


class ModelDiagramsDomain(Domain):
    """Diagrams by document."""

    name = "modeldiagrams"
    label = "model diagrams"
    initial_data: ClassVar[dict[str, dict[str, list[Entry]]]] = {"diagrams": {}}
    data_version = 1

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
            self._maker = Maker(Path(self.env.doctreedir) / self.name, folder=Path(self.env.srcdir))
            self._process = os.getpid()
            util.Finalize(None, self._maker.close, exitpriority=1)
        return self._maker

    def close(self) -> None:
        """End this process's tracing, if it ever began."""
        if self._maker is not None and self._process == os.getpid():
            self._maker.close()

    def note_diagram(self, diagram: Diagram) -> None:
        """Remember a diagram of the document that is being read."""
        entry = Entry(id=diagram.id, failed=diagram.problem is not None)
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


def failed_documents(
    _app: Sphinx, env: BuildEnvironment, _added: set[str], _changed: set[str], _removed: set[str]
) -> list[str]:
    """Read documents with a bad diagram again: the cause may be gone, and if not, it must not fall silent."""
    found = domain_of(env).diagrams
    return sorted(name for name, entries in found.items() if any(entry["failed"] for entry in entries))


def close_maker(app: Sphinx, _exception: Exception | None) -> None:
    """The build is over."""
    if app.env is not None:
        domain_of(app.env).close()
