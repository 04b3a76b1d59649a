"""The directives ``.. model-graph:: mypkg.Model`` and ``.. model-diff::``, and the one for autodoc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.nodes import make_id

from modeldiagrams.hosting.diagram_parts import number_diagram
from modeldiagrams.hosting.documented_classes import get_reference_name, list_names
from modeldiagrams.hosting.host import draw
from modeldiagrams.hosting.reports import is_left_out, report_problem
from modeldiagrams.hosting.source_links import list_imported_packages
from modeldiagrams.html.fragment import list_figure_classes
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.options.parsing import collect_help
from sphinx_modeldiagrams.class_references import make_cross_references
from sphinx_modeldiagrams.diagram_node import model_graph
from sphinx_modeldiagrams.domain import domain_of
from sphinx_modeldiagrams.entries import Entry, Location
from sphinx_modeldiagrams.host_directive import HostDirective
from sphinx_modeldiagrams.image_nodes import render_images
from sphinx_modeldiagrams.note_directive import model_note, parse_notes, render_notes, split_notes

if TYPE_CHECKING:
    from collections.abc import Callable

    from docutils.nodes import Node
    from sphinx.environment import BuildEnvironment

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["AnyOption", "AutodocDirective", "ModelDiffDirective", "ModelGraphDirective"]


_SHOWN = "modeldiagrams_shown"
"""Key in the environment's temporary data of the diagrams of the document so far."""


class AnyOption(dict[str, Any]):
    """Accepts unknown options, because our own parsers suggest the option that was meant."""

    def __missing__(self, name: str) -> Callable[[str], str]:
        return directives.unchanged


class ModelGraphDirective(HostDirective):
    """Shows a model's diagram as a figure."""

    requested = True
    compares = False
    has_content = True
    optional_arguments = 1
    option_spec: ClassVar[dict[str, Callable[[str], Any]]] = AnyOption(
        dict.fromkeys((name for name in collect_help() if name != "model"), directives.unchanged)
    )

    def run(self) -> list[Node]:
        """Build the figure; called by docutils."""
        values: dict[str, Any] = dict(self.options)
        if self.arguments:
            values["model"] = self.arguments[0]
        body, first = split_notes(self.content)
        notes, others = parse_notes(self, first) if first < len(self.content) else ([], [])
        by_pattern = self.by_pattern(notes)
        diagram = draw(
            self, values, "\n".join(body), requested=self.requested, compares=self.compares, notes=by_pattern
        )
        diagram = self.placed(diagram)
        report_problem(self, diagram, None, requested=self.requested)
        if is_left_out(diagram, requested=self.requested):
            self._note(diagram, None)
            return []
        return [self.figure(diagram), *render_notes(self, diagram, notes), *render_images(diagram), *others]

    def by_pattern(self, notes: list[model_note]) -> dict[str, str]:
        """Return the texts of notes by pattern."""
        texts = {note["pattern"]: note["text"] for note in notes}
        if len(texts) < len(notes):
            raise self.error("two notes have the same pattern; write both in one")
        return texts

    def placed(self, diagram: Diagram) -> Diagram:
        """Number a diagram among those of the page; a requested one replaces one that autodoc added."""
        if self.requested and not self.compares:
            _withdraw(self.env, self.state.document, list_names(diagram))
        return number_diagram(diagram, _list_shown(self.env))

    def _note(self, diagram: Diagram, anchor: str | None) -> None:
        """Register dependencies of the page and the target of references."""
        for source in diagram.sources:
            self.env.note_dependency(source)
        domain = domain_of(self.env)
        # authors' own diagrams are better targets than those of catalogues
        is_automatic = not self.requested or self.env.docname in domain.model_pages
        location = Location(anchor=anchor, source=self.get_location(), automatic=is_automatic)
        domain.note_diagram(diagram, location)

    def _node(self, diagram: Diagram) -> model_graph:
        """Build the diagram's node, with children for Sphinx to resolve and index."""
        node = model_graph.of(diagram, self.env)
        self.set_source_info(node)
        node["packages"] = list_imported_packages(diagram)
        if diagram.graph:
            if not diagram.options.figure.no_links:
                node += make_cross_references(diagram)
            # words for the search index: every part of a path once
            paths = (item.path for item in diagram.graph.nodes if isinstance(item, ModuleNode))
            words = dict.fromkeys(word for path in paths for word in path.split(".") if not word.isdigit())
            node += nodes.inline("", " ".join(words))
        return node

    def figure(self, diagram: Diagram) -> nodes.figure:
        """Build and register the figure that Sphinx numbers, aligns and refers to."""
        figure = self._figure(diagram)
        _list_shown(self.env).append(diagram)
        self._note(diagram, figure["ids"][0])
        return figure

    def _figure(self, diagram: Diagram) -> nodes.figure:
        options = diagram.options.figure
        figure = nodes.figure("", self._node(diagram), classes=list_figure_classes(diagram.options))
        self.set_source_info(figure)
        if options.align:
            figure["align"] = options.align
        if options.caption:
            content, messages = self.parse_inline(options.caption, lineno=self.lineno)
            caption = nodes.caption(options.caption, "", *content)
            self.set_source_info(caption)
            figure += [caption, *messages]
        if options.name:
            self.options["name"] = options.name
            self.add_name(figure)
        else:
            figure["ids"].append(make_id(self.env, self.state.document, "model-graph", get_reference_name(diagram)))
            self.state.document.note_explicit_target(figure)
        return figure


class ModelDiffDirective(ModelGraphDirective):
    """Shows what changed between two versions of a model, as a list and a picture."""

    compares = True

    def run(self) -> list[Node]:
        """Build the figure; called by docutils."""
        self.env.note_reread()  # a revision or an address may have another graph next time
        return super().run()


class _Added(NamedTuple):
    """A diagram that a site added to the current document, because autodoc documents a class."""

    diagram: Diagram
    entry: Entry
    nodes: list[Node]


def _list_shown(env: BuildEnvironment) -> list[Diagram]:
    return cast("list[Diagram]", env.temp_data.setdefault(_SHOWN, []))


def _count_added(env: BuildEnvironment) -> list[_Added]:
    return cast("list[_Added]", env.temp_data.setdefault("modeldiagrams_added", []))


def _withdraw(env: BuildEnvironment, document: nodes.document, names: list[str]) -> None:
    """Remove diagrams added for a class of these names, which also frees their ids."""
    added = _count_added(env)
    for one in [one for one in added if not set(names).isdisjoint(one.entry["names"])]:
        added.remove(one)
        _list_shown(env).remove(one.diagram)
        domain_of(env).diagrams[env.docname].remove(one.entry)
        for node in one.nodes:
            _remove(node, document)


def _remove(node: Node, document: nodes.document) -> None:
    """Remove a node and its names from a document, which may not contain its parent yet."""
    for inner in node.findall(nodes.Element):
        for id_ in inner["ids"]:
            document.ids.pop(id_, None)
        for name in inner["names"]:
            document.nameids.pop(name, None)
            document.nametypes.pop(name, None)
    node.parent.remove(node)


class AutodocDirective(ModelGraphDirective):
    """Shows a diagram that the site adds to a documented class, unless the model needs its author's help."""

    requested = False

    def run(self) -> list[Node]:
        """Build the figure, if any; called by docutils."""
        domain, docname = domain_of(self.env), self.env.docname
        # with `autoclass_content = "both"` a class has two docstrings
        if any(self.arguments[0] in entry["names"] for entry in domain.diagrams.get(docname, [])):
            return []
        made = super().run()
        if made:
            _count_added(self.env).append(_Added(_list_shown(self.env)[-1], domain.diagrams[docname][-1], made))
        return made
