"""The domain: all diagrams of a project, references to them, and the builder that draws them."""

from __future__ import annotations

import functools
import os
import shutil
from multiprocessing import util
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from sphinx.domains import Domain, ObjType
from sphinx.util import logging
from sphinx.util.nodes import make_refnode

from modeldiagrams.engine.builder import DiagramBuilder, Session
from modeldiagrams.engine.catalogue.listing import list_models, make_catalogue_id
from modeldiagrams.hosting.host import prefetch
from modeldiagrams.hosting.reports import list_accepted_problems
from modeldiagrams.options.settings import CACHE, CALLS
from sphinx_modeldiagrams.builders import makes_web_pages, one_fragment
from sphinx_modeldiagrams.conf_values import find_configuration_folder, get_settings
from sphinx_modeldiagrams.diagram_node import find_document, locate_diagrams
from sphinx_modeldiagrams.entries import make_entry, make_module_anchor, make_module_anchors
from sphinx_modeldiagrams.reporting import warn
from sphinx_modeldiagrams.role import DOMAIN, ROLE, ModelRole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from docutils.nodes import Element, reference
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.builders import Builder
    from sphinx.environment import BuildEnvironment
    from sphinx.roles import XRefRole
    from sphinx.util.typing import RoleFunction

    from modeldiagrams.engine.catalogue.listing import Listed
    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.options.catalogue import CatalogueOptions
    from sphinx_modeldiagrams.entries import CatalogueEntry, Entry, Location

__all__ = ["ModelDiagramsDomain", "close_builder", "domain_of", "run_models"]

_BY_DOCUMENT = ("diagrams", "catalogues")
"""Data of the domain."""

_log = logging.getLogger(__name__)


class ModelDiagramsDomain(Domain):
    """Stores diagrams by document, and resolves references to them."""

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
    initial_data: ClassVar[dict[str, Any]] = {
        "diagrams": {},
        "catalogues": {},
        "listed": {},
        "has_calls": False,
    }
    data_version = 15

    _session: Session | None = None
    _diagram_builder: DiagramBuilder | None = None
    _process: int | None = None

    def __init__(self, env: BuildEnvironment) -> None:
        """Called by Sphinx; what follows is of one build, and processes that Sphinx forks inherit it."""
        super().__init__(env)
        self.pages_of: dict[str, dict[str, str]] = {}
        """Document with catalogues → model → document of the model; "" if it has none."""
        self.model_pages: set[str] = set()
        """Documents of models, written by this build and earlier ones."""
        self.hidden_pages: set[str] = set()
        """Those of them that the builder doesn't show."""
        self.lists: dict[str, Listed] = {}
        """The models of catalogues, by id."""

    @property
    def catalogues(self) -> dict[str, list[CatalogueEntry]]:
        """The catalogues of each document, in order."""
        return cast("dict[str, list[CatalogueEntry]]", self.data["catalogues"])

    def list_models(self, options: CatalogueOptions) -> Listed:
        """List the models of a catalogue, once in a build."""
        key = make_catalogue_id(options)
        if key not in self.lists:
            self.lists[key] = list_models(self.diagram_builder, options, get_settings(self.env.config).options)
        return self.lists[key]

    @functools.cached_property
    def short_names(self) -> set[str]:
        """The last parts of the names of all models that catalogues list."""
        return {model.rpartition(".")[2] for pages in self.pages_of.values() for model in pages}

    @property
    def diagrams(self) -> dict[str, list[Entry]]:
        """The diagrams of each document, in order."""
        return cast("dict[str, list[Entry]]", self.data["diagrams"])

    @property
    def diagram_builder(self) -> DiagramBuilder:
        """The diagram builder of this process.

        A process forked by Sphinx has its own, with the worker of its parent, and closes it with multiprocessing's
        finalizers, because forked processes don't run `atexit`.
        """
        if self._diagram_builder is None or self._process != os.getpid():
            settings, root = get_settings(self.env.config), find_configuration_folder(self.env.config)
            self._session = self._session or Session()
            self._diagram_builder = DiagramBuilder(
                root / (settings.cache_dir or CACHE),
                folder=Path(self.env.srcdir),
                snapshots=root / settings.snapshots,
                calls=root / CALLS,
                session=self._session,
            )
            self._diagram_builder.tracing.on_trace = lambda model: _log.info("tracing %s", model)
            self._process = os.getpid()
            util.Finalize(None, self._diagram_builder.close, exitpriority=1)
        return self._diagram_builder

    def close(self) -> None:
        """Close this process's builder, if it has one."""
        if self._diagram_builder is not None and self._process == os.getpid():
            self._diagram_builder.close()

    def note_diagram(self, diagram: Diagram, location: Location) -> None:
        """Store a diagram of the current document."""
        requested = not location["automatic"]
        accepted = list_accepted_problems(diagram.options, get_settings(self.env.config), requested=requested)
        entry = make_entry(diagram, location, self.diagram_builder, accepted)
        self.diagrams.setdefault(self.env.docname, []).append(entry)

    def warn_again(self, docnames: Iterable[str]) -> None:
        """Repeat the warnings of documents that are not read again."""
        for entry in (entry for name in sorted(docnames) for entry in self.diagrams.get(name, [])):
            if entry["warning"]:
                warn(*entry["warning"], entry["location"]["source"])
        for listed in (listed for name in sorted(docnames) for listed in self.catalogues.get(name, [])):
            if listed["warning"]:
                warn("catalogue", listed["warning"], listed["source"])

    def clear_doc(self, docname: str) -> None:
        """Forget a document's diagrams; called by Sphinx before it is read again."""
        for kind in _BY_DOCUMENT:
            self.data[kind].pop(docname, None)
        shutil.rmtree(locate_diagrams(self.env, docname), ignore_errors=True)

    def merge_domaindata(self, docnames: AbstractSet[str], otherdata: dict[str, Any]) -> None:
        """Merge what belongs to the documents of a parallel reader; called by Sphinx."""
        for kind in _BY_DOCUMENT:
            self.data[kind].update({name: found for name, found in otherdata[kind].items() if name in docnames})

    def check_consistency(self) -> None:
        """Warn about duplicate diagrams; called by Sphinx when all documents are read.

        Diagrams of one model with other arguments or views are different diagrams.
        """
        first: dict[str, str] = {}
        for docname, entry in self.list_targets():
            if not entry["has_graph"]:
                continue
            if entry["id"] not in first:
                first[entry["id"]] = docname
            elif not entry["location"]["automatic"]:
                other = f"other instance in {first[entry['id']]}; give one of them `:no-index:`"
                warn("duplicate", f"duplicate diagram of {entry['model']}, {other}", entry["location"]["source"])

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        """Yield objects for `objects.inv` and the search, where modules are left out; called by Sphinx."""
        seen = set()
        for docname, entry in self.list_targets():
            if not entry["has_graph"]:
                continue
            modules = make_module_anchors(entry, self.diagrams[docname])
            for name in entry["names"]:
                if name in seen:
                    continue
                seen.add(name)
                priority = 1 if name == entry["model"] else -1
                yield name, name, "diagram", docname, entry["location"]["anchor"] or "", priority
                for module, anchor in modules.items():
                    yield f"{name}#{module}", "-", "module", docname, anchor, -1

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
        """Resolve a reference to a diagram or a module inside it; called by Sphinx."""
        model, _, module = target.partition("#")
        docname, entry = next(
            ((name, found) for name, found in self.list_targets() if model in found["names"]), ("", None)
        )
        if entry is None:
            # where a builder has no pages for models, their catalogue stands for them
            docname = next((name for name in sorted(self.pages_of) if model in self.pages_of[name]), "")
            return make_refnode(builder, fromdocname, docname, "", contnode, target) if docname else None
        if module and entry["has_graph"] and module not in entry["modules"].split("\n"):
            warn("ref", f"no module {module!r} in the diagram of {model}", node)
            module = ""
        anchor = entry["location"]["anchor"] or ""
        if module and entry["interactive"] and makes_web_pages(builder):
            anchor = make_module_anchor(entry, module, self._on_page(builder, docname))
        found = make_refnode(builder, fromdocname, docname, anchor, contnode, target)
        if "refuri" in found:
            found["refuri"] = one_fragment(found["refuri"])
        return found

    def anchors(self, builder: Builder, node: Element) -> dict[str, str]:
        """Return the fragments of modules; without scripts, they lead to rows of the outline.

        Unused ones are included, or else this page would depend on every page that links here.
        """
        docname = find_document(node) or builder.current_docname  # type: ignore[attr-defined]  # HTML builders have it
        here = [entry for entry in self.diagrams.get(docname, []) if entry["target"] and entry["interactive"]]
        entry = next((entry for entry in here if entry["location"]["anchor"] in node.parent["ids"]), None)
        return make_module_anchors(entry, self._on_page(builder, docname)) if entry else {}

    def resolve_any_xref(self, *_: Any) -> list[tuple[str, reference]]:
        """Return nothing, so that ``:any:`` finds the class instead of its diagram; called by Sphinx."""
        return []

    def _on_page(self, builder: Builder, docname: str) -> list[Entry]:
        """Return all diagrams on the web page of a document, in order."""
        names = [docname]
        if builder.name == "singlehtml":
            names, waiting = [], [builder.config.root_doc]
            while waiting:
                name = waiting.pop()
                if name not in names:
                    names.append(name)
                    waiting += reversed(self.env.toctree_includes.get(name, []))
        return [entry for name in names for entry in self.diagrams.get(name, [])]

    def _list_written(self) -> list[str]:
        return sorted(self.diagrams.keys() - self.hidden_pages)

    def list_shown(self) -> Iterator[tuple[str, Entry]]:
        """Yield the documents and diagrams that are drawn, those that an author requested first."""
        found = [(name, entry) for name in self._list_written() for entry in self.diagrams[name]]
        shown = (item for item in found if item[1]["has_graph"] and item[1]["location"]["anchor"])
        yield from sorted(shown, key=lambda item: item[1]["location"]["automatic"])

    def list_targets(self) -> list[tuple[str, Entry]]:
        """Return documents and diagrams, the best targets of references first: drawn, then requested ones.

        A failed diagram is better than none, because its page shows a note.
        """
        found = [(name, entry) for name in self._list_written() for entry in self.diagrams[name] if entry["target"]]
        return sorted(found, key=lambda item: (not item[1]["has_graph"], item[1]["location"]["automatic"]))


def domain_of(env: BuildEnvironment) -> ModelDiagramsDomain:
    """Return the domain of an environment."""
    return cast("ModelDiagramsDomain", env.get_domain(ModelDiagramsDomain.name))


def run_models(_app: Sphinx, env: BuildEnvironment, docnames: Iterable[str]) -> None:
    """Run the models of documents that Sphinx is about to read, and repeat the warnings of others."""
    docnames = [*docnames]
    files = (Path(env.doc2path(name)) for name in docnames)
    texts = (file.read_text("utf-8", "replace") for file in files if file.is_file())
    domain = domain_of(env)
    domain.warn_again({*domain.diagrams, *domain.catalogues}.difference(docnames))
    prefetch(domain.diagram_builder, get_settings(env.config), texts)


def close_builder(app: Sphinx, _exception: Exception | None) -> None:
    """Close the builder; called by Sphinx at the end of a build."""
    if app.env is not None:
        domain_of(app.env).close()
