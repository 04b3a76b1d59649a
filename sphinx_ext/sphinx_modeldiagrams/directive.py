"""The directive ``.. model-graph:: mypkg.Model``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.graph import ModuleNode
from modeldiagrams.host import describe, draw, figure_classes, read_body, refused
from modeldiagrams.options import option_help
from sphinx_modeldiagrams.domain import domain_of
from sphinx_modeldiagrams.links import cross_references
from sphinx_modeldiagrams.nodes import model_graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from docutils.nodes import Node

    from modeldiagrams.diagrams import Diagram

__all__ = ["ModelGraphDirective"]

_log = logging.getLogger(__name__)


class _AnyOption(dict[str, Any]):
    """Lets unknown options through to `parse_options`, whose message says what was meant; docutils' does not."""

    def __missing__(self, name: str) -> Callable[[str], str]:
        return directives.unchanged


class ModelGraphDirective(SphinxDirective):
    """A model's diagram as a figure. Never raises for what is wrong with model or options."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Callable[[str], Any]]] = _AnyOption(
        dict.fromkeys((name for name in option_help() if name != "model"), directives.unchanged)
    )

    def run(self) -> list[Node]:
        """Called by docutils."""
        diagram = self._diagram()
        for source in diagram.sources:
            self.env.note_dependency(source)
        if diagram.problem:
            _log.warning(
                "%s",
                describe(diagram.problem),
                location=self.get_location(),
                type="modeldiagrams",
                subtype=diagram.problem.kind,
            )
        domain_of(self.env).note_diagram(diagram)
        return [self._figure(diagram)]

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
        maker = domain_of(self.env).maker
        diagram = draw(maker, values, self.config.modeldiagrams_defaults)
        if maker.output:
            _log.verbose("%s printed:\n%s", diagram.options.model, maker.output, location=self.get_location())
        return diagram

    def _node(self, diagram: Diagram) -> model_graph:
        """The diagram with what Sphinx resolves and indexes."""
        node = model_graph.of(diagram)
        self.set_source_info(node)
        if diagram.graph:
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
        return figure
