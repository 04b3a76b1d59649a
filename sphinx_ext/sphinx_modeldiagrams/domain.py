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
from modeldiagrams.host import UNKNOWN, accepted_problems
from modeldiagrams.installed import made_with, surroundings
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
    interactive: bool
    modules: str
    """Dotted paths of its modules, one a line: what a reference may name. One string pickles best."""
    failed: bool
    """Whether it has a problem that is to be told again, or may be gone in the next build."""
    libraries: list[str]
    python: str | None
    made_with: list[str]
    folders: list[str]
    """Where the modules are of a model that has failed, and is not to be told again."""
    surroundings: str
    """What it might have imported, as a digest; empty for all others."""


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
    initial_data: ClassVar[dict[str, dict[str, list[Any]]]] = {"diagrams": {}}
    data_version = 6

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
        python, problem, options = self.maker.interpreter(diagram.options), diagram.problem, diagram.options
        accepted = accepted_problems(options, settings_of(self.env.config), asked=not place["automatic"])
        folders = sorted({str(Path(file).parent) for file in diagram.sources})
        remembers = problem is not None and problem.kind in accepted and problem.kind != "worker"
        modules = (node.path for node in diagram.graph.nodes if isinstance(node, ModuleNode)) if diagram.graph else ()
        entry = Entry(
            id=diagram.id,
            model=reference_name(diagram),
            place=place,
            target=place["anchor"] is not None and not options.no_index and options.model != UNKNOWN,
            has_graph=diagram.graph is not None,
            interactive=diagram.graph is not None and diagram.picture is not None and not options.static,
            modules="\n".join(dict.fromkeys(modules)),
            failed=problem is not None and not remembers,
            libraries=list(diagram.libraries),
            python=python,
            made_with=list(made_with(diagram.libraries, python)),
            folders=folders if remembers else [],
            surroundings=surroundings(map(Path, folders), python) if remembers else "",
        )
        self.diagrams.setdefault(self.env.docname, []).append(entry)

    def clear_doc(self, docname: str) -> None:
        """Called by Sphinx before a document is read again."""
        self.diagrams.pop(docname, None)

    def merge_domaindata(self, docnames: AbstractSet[str], otherdata: dict[str, Any]) -> None:
        """Called by Sphinx with what a parallel reader found."""
        self.diagrams.update({name: found for name, found in otherdata["diagrams"].items() if name in docnames})

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
            if model in seen or not entry["has_graph"]:
                continue
            seen.add(model)
            yield model, model, "diagram", docname, entry["place"]["anchor"] or "", 1
            for module, anchor in _module_anchors(entry, self.diagrams[docname]).items():
                yield f"{model}#{module}", "-", "module", docname, anchor, -1

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
        if module and entry["has_graph"] and module not in entry["modules"].split("\n"):
            _log.warning(
                "model-graph: no module %r in the diagram of %s",
                module,
                model,
                location=node,
                type="modeldiagrams",
                subtype="ref",
            )
            module = ""
        anchor = entry["place"]["anchor"] or ""
        if module and entry["interactive"] and is_interactive(builder):
            anchor = address(entry["id"], _place(entry, self._on_page(builder, docname)), module)
        found = make_refnode(builder, fromdocname, docname, anchor, contnode, target)
        if "refuri" in found:
            found["refuri"] = one_fragment(found["refuri"])
        return found

    def anchors(self, builder: Builder, node: Element) -> list[str]:
        """Fragments by which other pages may refer to modules in a diagram.

        The widget knows what they mean; where no script runs, there has to be something of this name. Which of them are
        in use is of no account, or a page would depend on all others.
        """
        docname = _document_of(node) or builder.current_docname  # type: ignore[attr-defined]  # HTML builders have it
        here = [entry for entry in self.diagrams.get(docname, []) if entry["target"] and entry["interactive"]]
        entry = next((entry for entry in here if entry["place"]["anchor"] in node.parent["ids"]), None)
        return list(_module_anchors(entry, self._on_page(builder, docname)).values()) if entry else []

    def resolve_any_xref(self, *_: Any) -> list[tuple[str, reference]]:
        """Called by Sphinx for ``:any:``, which means the class where a class is meant, not its picture."""
        return []

    def _on_page(self, builder: Builder, docname: str) -> list[Entry]:
        """The diagrams that share a web page with those of a document, in order."""
        names = [docname]
        if builder.name == "singlehtml":
            names, waiting = [], [builder.config.root_doc]
            while waiting:
                name = waiting.pop()
                if name not in names:
                    names.append(name)
                    waiting += reversed(self.env.toctree_includes.get(name, []))
        return [entry for name in names for entry in self.diagrams.get(name, [])]

    def _targets(self) -> list[tuple[str, Entry]]:
        """Diagrams that references lead to: first those that can be seen, and of these what an author has placed.

        One that has failed is better than none: there is a note in its place, and its problem was told there.
        """
        found = [(name, entry) for name in sorted(self.diagrams) for entry in self.diagrams[name] if entry["target"]]
        return sorted(found, key=lambda item: (not item[1]["has_graph"], item[1]["place"]["automatic"]))


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
    if entry["failed"] or entry["made_with"] != list(made_with(entry["libraries"], entry["python"])):
        return True
    seen = entry["surroundings"]
    return bool(seen) and seen != surroundings(map(Path, entry["folders"]), entry["python"])


def _module_anchors(entry: Entry, page: list[Entry]) -> dict[str, str]:
    """Module → where it is shown: in the widget, or else anywhere in the picture.

    Args:
        entry: The diagram.
        page: All on its web page, in order.
    """
    modules = [module for module in entry["modules"].split("\n")[:_LISTED_MODULES] if module]
    if not entry["interactive"]:
        return dict.fromkeys(modules, entry["place"]["anchor"] or "")
    place = _place(entry, page)
    return {module: address(entry["id"], place, module) for module in modules}


def _place(entry: Entry, page: list[Entry]) -> int:
    """A diagram's number among those of its page that have its id: the very same text twice makes equal ones."""
    alike = [other["place"] for other in page if other["id"] == entry["id"] and other["interactive"]]
    return alike.index(entry["place"]) if entry["place"] in alike else 0


def _document_of(node: Element) -> str | None:
    """The document that a node was in before Sphinx made one page of all; None where it did not."""
    above: Any = node
    while above is not None and "docname" not in above:
        above = above.parent
    return above and str(above["docname"])


def close_maker(app: Sphinx, _exception: Exception | None) -> None:
    """The build is over."""
    if app.env is not None:
        domain_of(app.env).close()
