"""The directive ``.. model-tour:: mypkg.Model`` and its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.host import draw
from modeldiagrams.hosting.reports import report_problem, report_steps
from modeldiagrams.html.tour_parts import BODY, PICTURE, STEP, STEPS, TITLE, list_tour_classes
from modeldiagrams.options.steps import parse_step, step_help
from sphinx_modeldiagrams.diagram_node import step_picture
from sphinx_modeldiagrams.directive import AnyOption, ModelGraphDirective
from sphinx_modeldiagrams.image_nodes import render_images
from sphinx_modeldiagrams.note_directive import parse_notes, render_notes
from sphinx_modeldiagrams.reporting import warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from docutils.nodes import Node

__all__ = ["ModelTourDirective", "TourStepDirective"]

_OPTIONS = "step-options"
"""Attribute of a step with its options."""
_IN_TOUR = "modeldiagrams-in-tour"


class TourStepDirective(SphinxDirective):
    """A step: its prose, and the picture's state."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Callable[[str], Any]]] = AnyOption(dict.fromkeys(step_help(), directives.unchanged))

    def run(self) -> list[Node]:
        """Build the step; called by docutils."""
        if not self.env.temp_data.get(_IN_TOUR):
            raise self.error("tour-step: expected inside a `model-tour`")
        step = nodes.container("", classes=[STEP])
        self.set_source_info(step)
        step[_OPTIONS] = self._options()
        name = ""
        if self.arguments:
            title, messages = self.parse_inline(self.arguments[0], lineno=self.lineno)
            name = "".join(node.astext() for node in title)
            step += [nodes.paragraph("", "", nodes.strong("", "", *title), classes=[TITLE]), *messages]
        step += [step_picture(title=name), *self.parse_content_to_nodes()]
        return [step]

    def _options(self) -> dict[str, Any]:
        try:
            return parse_step(self.options)
        except ModelDiagramsError as error:
            warn("option", f"model-tour: step: {error}", self.get_location())
            return {}


class ModelTourDirective(ModelGraphDirective):
    """Explains a model step by step: the picture follows the text."""

    def run(self) -> list[Node]:
        """Build the tour; called by docutils."""
        self.env.temp_data[_IN_TOUR] = True
        try:
            notes, content = parse_notes(self, 0)
        finally:
            self.env.temp_data.pop(_IN_TOUR)
        steps = [node for node in content if isinstance(node, nodes.container) and _OPTIONS in node]
        values = {**self.options, "model": self.arguments[0]} if self.arguments else dict(self.options)
        shows = [step.attributes.pop(_OPTIONS) for step in steps]
        diagram = draw(self, values, "", steps=shows, notes=self.by_pattern(notes))
        diagram = self.placed(diagram)
        report_problem(self, diagram, None)
        report_steps(self, diagram, steps)
        figure = self.figure(diagram)
        for index, step in enumerate(steps):
            step["ids"].append(f"{figure['ids'][0]}-step-{index + 1}")
            for picture in step.findall(step_picture):
                picture["index"] = index
        below = (*render_notes(self, diagram, notes), *render_images(diagram))
        beside = nodes.container("", figure, *below, classes=[PICTURE])
        body = nodes.container("", beside, nodes.container("", *content, classes=[STEPS]), classes=[BODY])
        tour = nodes.container("", body, classes=list_tour_classes(diagram))
        for node in (tour, body, *body.children):
            self.set_source_info(node)
        return [tour]
