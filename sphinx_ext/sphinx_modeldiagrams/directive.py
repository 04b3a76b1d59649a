"""The directive ``.. model-graph:: mypkg.Model``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.errors import SphinxError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_id

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.graph import ModuleNode
from modeldiagrams.host import UNASKED, accepted_problems, describe, draw, figure_classes, read_body, refused
from modeldiagrams.lines import line_link, own_packages
from modeldiagrams.options import option_help
from sphinx_modeldiagrams.config import settings_of
from sphinx_modeldiagrams.domain import Place, domain_of, reference_name
from sphinx_modeldiagrams.links import cross_references
from sphinx_modeldiagrams.nodes import model_graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from docutils.nodes import Node

    from modeldiagrams.diagrams import Diagram

__all__ = ["AutodocDirective", "ModelGraphDirective"]

_log = logging.getLogger(__name__)


class DiagramError(SphinxError):
    """A diagram has a problem, and the site is one that does without rather than with it."""

    category = "Model diagram error"


class _AnyOption(dict[str, Any]):
    """Lets unknown options through to `parse_options`, whose message says what was meant; docutils' does not."""

    def __missing__(self, name: str) -> Callable[[str], str]:
        return directives.unchanged


class ModelGraphDirective(SphinxDirective):
    """A model's diagram as a figure. What is wrong with model or options ends no build, unless the site wants it so."""

    automatic = False
    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Callable[[str], Any]]] = _AnyOption(
        dict.fromkeys((name for name in option_help() if name != "model"), directives.unchanged)
    )

    def run(self) -> list[Node]:
        """Called by docutils."""
        return [self._shown(self._diagram())]

    def _shown(self, diagram: Diagram) -> nodes.figure:
        """The diagram on its page, known to all who should know of it."""
        self._report(diagram)
        figure = self._figure(diagram)
        self._note(diagram, figure["ids"][0])
        return figure

    def _note(self, diagram: Diagram, anchor: str | None) -> None:
        """Let the environment know what the page depends on, and what references lead to."""
        for source in diagram.sources:
            self.env.note_dependency(source)
        place = Place(anchor=anchor, location=self.get_location(), automatic=self.automatic)
        domain_of(self.env).note_diagram(diagram, place)

    def _report(self, diagram: Diagram) -> None:
        """Tell a problem to who builds the site, as the site wants it."""
        problem, settings = diagram.problem, settings_of(self.config)
        if problem is None:
            return
        text, location = describe(problem), self.get_location()
        if problem.kind in accepted_problems(diagram.options, settings, asked=not self.automatic):
            _log.verbose("%s", text, location=location)
            return
        if settings.on_error == "raise":
            raise DiagramError(f"{location}: {text}")
        _log.warning("%s", text, location=location, type="modeldiagrams", subtype=problem.kind)

    def _diagram(self) -> Diagram:
        values: dict[str, Any] = dict(self.options)
        if self.arguments:
            values["model"] = self.arguments[0]
        try:
            values |= read_body("\n".join(self.content))
        except ModelDiagramsError as error:
            return refused(values, error)
        model = values.get("model")
        if isinstance(model, str) and model.endswith(".json"):
            values["model"], _ = self.env.relfn2path(model)
        maker, settings = domain_of(self.env).maker, settings_of(self.config)
        if settings.static_only:
            values["static"] = True
        diagram = draw(maker, values, settings, asked=not self.automatic)
        if maker.output:
            _log.verbose("%s printed:\n%s", diagram.options.model, maker.output, location=self.get_location())
        return diagram

    def _node(self, diagram: Diagram) -> model_graph:
        """The diagram with what Sphinx resolves and indexes."""
        node = model_graph.of(diagram)
        self.set_source_info(node)
        node["packages"] = own_packages(diagram)
        node["source_link"] = None
        if diagram.graph:
            node["source_link"] = line_link(settings_of(self.config), diagram, Path(self.env.srcdir))
            if not diagram.options.no_links:
                node += cross_references(diagram)
            # the index is one of words: every part of a path once
            paths = (item.path for item in diagram.graph.nodes if isinstance(item, ModuleNode))
            words = dict.fromkeys(word for path in paths for word in path.split(".") if not word.isdigit())
            node += nodes.inline("", " ".join(words))
        return node

    def _figure(self, diagram: Diagram) -> nodes.figure:
        """Figure, diagram, caption: what Sphinx numbers, aligns and refers to."""
        options = diagram.options
        figure = nodes.figure("", self._node(diagram), classes=figure_classes(options))
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
            figure["ids"].append(make_id(self.env, self.state.document, "model-graph", reference_name(diagram)))
            self.state.document.note_explicit_target(figure)
        return figure


class AutodocDirective(ModelGraphDirective):
    """A diagram that nobody asked for one by one: base classes that can't be drawn are left out without a word."""

    automatic = True

    def run(self) -> list[Node]:
        """Called by docutils."""
        here = domain_of(self.env).diagrams.get(self.env.docname, [])
        # with `autoclass_content = "both"` a class has two docstrings
        if any(entry["model"] == self.arguments[0] for entry in here):
            return []
        diagram = self._diagram()
        is_empty = diagram.graph is None or not diagram.graph.nodes
        if diagram.problem and diagram.problem.kind in UNASKED and is_empty:
            self._report(diagram)
            self._note(diagram, None)
            return []
        return [self._shown(diagram)]
