"""What a project knows of its diagrams: where each is, and what it was made with."""

from __future__ import annotations

import os
from multiprocessing import util
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, cast

from sphinx.domains import Domain, ObjType
from sphinx.util import logging
from sphinx.util.nodes import make_refnode

from modeldiagrams.diagrams import Maker
from modeldiagrams.graph import ModuleNode
from modeldiagrams.host import UNASKED
from modeldiagrams.installed import made_with
from sphinx_modeldiagrams.builders import is_interactive, one_fragment
from sphinx_modeldiagrams.config import settings_of
from sphinx_modeldiagrams.reference import DOMAIN, ROLE, ModelRole, address

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from docutils.nodes import Element, reference
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.builders import Builder
    from sphinx.environment import BuildEnvironment
    from sphinx.roles import XRefRole
    from sphinx.util.typing import RoleFunction

    from modeldiagrams.diagrams import Diagram

__all__ = ["Entry", "ModelDiagramsDomain", "Place", "close_maker", "domain_of", "outdated_documents", "reference_name"]

_LISTED_MODULES = 2_000
"""Of one diagram, in the inventory: the largest models have ten thousand."""

_log = logging.getLogger(__name__)


class Place(TypedDict):
    """Where a diagram stands."""

    anchor: str | None
    """None for one that is left out."""
    location: str
    """For messages."""
    automatic: bool
    """Whether it stands here because autodoc documents the class."""


class Entry(TypedDict):
    """What is remembered of a diagram; pickled with the environment, so it is plain data."""

    id: str
    model: str
    """What references call it."""
    place: Place
    target: bool
    """Whether references to the model lead here."""
    has_graph: bool
    is_static: bool
    modules: str
    """Dotted paths of its modules, one a line: what a reference may name. One string pickles best."""
    failed: bool
    libraries: list[str]
    python: str | None
    made_with: list[str]


class ModelDiagramsDomain(Domain):
    """Diagrams by document."""

    name = DOMAIN
    label = "model"
    object_types: ClassVar[dict[str, ObjType]] = {
        "diagram": ObjType("diagram", ROLE),
        "module": ObjType("module in a diagram", ROLE),
    }
    roles: ClassVar[dict[str, RoleFunction | XRefRole]] = {ROLE: ModelRole(warn_dangling=True)}
    dangling_warnings: ClassVar[dict[str, str]] = {
        ROLE: "no diagram of %(target)s: expected the model as a `model-graph` directive names it"
    }
    initial_data: ClassVar[dict[str, dict[str, list[Any]]]] = {"diagrams": {}, "references": {}}
    data_version = 5

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
            settings = settings_of(self.env.config)
            cache = folder / settings.cache_dir if settings.cache_dir else Path(self.env.doctreedir) / self.name
            self._maker = Maker(cache, folder=folder, snapshots=folder / settings.snapshots)
            self._maker.on_trace = lambda model: _log.info("tracing %s", model)
            self._process = os.getpid()
            util.Finalize(None, self._maker.close, exitpriority=1)
        return self._maker

    def close(self) -> None:
        """End this process's tracing, if it ever began."""
        if self._maker is not None and self._process == os.getpid():
            self._maker.close()

    def note_diagram(self, diagram: Diagram, place: Place) -> None:
        """Remember a diagram of the document that is being read."""
        python, problem = self.maker.interpreter(diagram.options), diagram.problem
        modules = (node.path for node in diagram.graph.nodes if isinstance(node, ModuleNode)) if diagram.graph else ()
        entry = Entry(
            id=diagram.id,
            model=reference_name(diagram),
            place=place,
            target=place["anchor"] is not None and not diagram.options.no_index,
            has_graph=diagram.graph is not None,
            is_static=diagram.options.static,
            modules="\n".join(dict.fromkeys(modules)),
            failed=problem is not None and not (place["automatic"] and problem.kind in UNASKED),
            libraries=list(diagram.libraries),
            python=python,
            made_with=list(made_with(diagram.libraries, python)),
        )
        self.diagrams.setdefault(self.env.docname, []).append(entry)

    def clear_doc(self, docname: str) -> None:
        """Called by Sphinx before a document is read again."""
        for documents in self.data.values():
            if isinstance(documents, dict):
                documents.pop(docname, None)

    def merge_domaindata(self, docnames: AbstractSet[str], otherdata: dict[str, Any]) -> None:
        """Called by Sphinx with what a parallel reader found."""
        for kind in self.initial_data:
            self.data[kind].update({name: found for name, found in otherdata[kind].items() if name in docnames})

    def check_consistency(self) -> None:
        """Called by Sphinx when all documents are read: of which diagram are two the target?"""
        first: dict[str, str] = {}
        for docname, entry in self._targets():
            if not entry["has_graph"]:
                continue
            if entry["model"] not in first:
                first[entry["model"]] = docname
            elif not entry["place"]["automatic"]:
                _log.warning(
                    "model-graph: duplicate diagram of %s, other instance in %s; give one of them `:no-index:`",
                    entry["model"],
                    first[entry["model"]],
                    location=entry["place"]["location"],
                    type="modeldiagrams",
                    subtype="duplicate",
                )

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        """Called by Sphinx for `objects.inv` and for the search; modules only have the former."""
        seen = set()
        for docname, entry in self._targets():
            model = entry["model"]
            if model in seen:
                continue
            seen.add(model)
            yield model, model, "diagram", docname, entry["place"]["anchor"] or "", 1
            for module in entry["modules"].split("\n")[:_LISTED_MODULES]:
                if module:
                    yield f"{model}#{module}", "-", "module", docname, self._anchor(docname, entry, module), -1

    def resolve_xref(  # noqa: PLR0913, PLR0917  (Sphinx's signature)
        self,
        env: BuildEnvironment,  # noqa: ARG002
        fromdocname: str,
        builder: Builder,
        typ: str,  # noqa: ARG002
        target: str,
        node: pending_xref,
        contnode: Element,
    ) -> reference | None:
        """Called by Sphinx: a model's diagram, or a module inside it."""
        model, _, module = target.partition("#")
        docname, entry = next(((name, found) for name, found in self._targets() if found["model"] == model), ("", None))
        if entry is None:
            return None
        if module and module not in entry["modules"].split("\n"):
            _log.warning(
                "model-graph: no module %r in the diagram of %s",
                module,
                model,
                location=node,
                type="modeldiagrams",
                subtype="ref",
            )
            module = ""
        anchor = self._anchor(docname, entry, module if is_interactive(builder) else "")
        found = make_refnode(builder, fromdocname, docname, anchor, contnode, target)
        if "refuri" in found:
            found["refuri"] = one_fragment(found["refuri"])
        return found

    def anchors(self, docname: str, ids: list[str]) -> list[str]:
        """Fragments by which other pages refer to modules in a figure's diagram.

        The widget knows what they mean; where no script runs, there has to be something of this name.
        """
        for name, entry in self._targets():
            if name == docname and entry["place"]["anchor"] in ids:
                asked = {target for targets in self.data["references"].values() for target in targets}
                modules = entry["modules"].split("\n")
                return [self._anchor(name, entry, path) for path in modules if f"{entry['model']}#{path}" in asked]
        return []

    def resolve_any_xref(self, *_: Any) -> list[tuple[str, reference]]:
        """Called by Sphinx for ``:any:``, which means the class where a class is meant, not its picture."""
        return []

    def _anchor(self, docname: str, entry: Entry, module: str) -> str:
        """Where a module is shown: in the widget, or else anywhere in the picture."""
        if not module or entry["is_static"]:
            return entry["place"]["anchor"] or ""
        # the very same text twice on a page makes equal entries, too
        alike = [other for other in self.diagrams[docname] if other["id"] == entry["id"] and not other["is_static"]]
        place = next(i for i, other in enumerate(alike) if other["place"] == entry["place"])
        return address(entry["id"], place, module)

    def _targets(self) -> list[tuple[str, Entry]]:
        """Diagrams that references lead to; what an author has placed comes first."""
        found = [(name, entry) for name in sorted(self.diagrams) for entry in self.diagrams[name] if entry["target"]]
        return sorted(found, key=lambda item: item[1]["place"]["automatic"])


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


def reference_name(diagram: Diagram) -> str:
    """What references call a diagram: the model as its author names it, or the class in a graph file."""
    is_file = diagram.options.model.endswith(".json")
    return diagram.graph.model.class_ if diagram.graph and is_file else diagram.options.model


def _is_outdated(entry: Entry) -> bool:
    return entry["failed"] or entry["made_with"] != list(made_with(entry["libraries"], entry["python"]))


def close_maker(app: Sphinx, _exception: Exception | None) -> None:
    """The build is over."""
    if app.env is not None:
        domain_of(app.env).close()
