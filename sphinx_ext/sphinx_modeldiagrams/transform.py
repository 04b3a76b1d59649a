"""Replaces diagrams by images, lists or text for builders other than HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from modeldiagrams.hosting.site_files import FOLDER
from modeldiagrams.html.change_list import list_changes
from modeldiagrams.html.descriptions import explain_caution
from modeldiagrams.html.module_table import summarise_diagram
from modeldiagrams.html.outline import list_outline_rows
from modeldiagrams.html.tour_parts import describe_step
from modeldiagrams.ir.describing.text import describe
from sphinx_modeldiagrams.builders import makes_web_pages
from sphinx_modeldiagrams.class_references import references
from sphinx_modeldiagrams.diagram_node import find_tour, model_graph, read_diagram, step_picture
from sphinx_modeldiagrams.image_nodes import SIZE
from sphinx_modeldiagrams.latex import kept_in_place, no_break
from sphinx_modeldiagrams.outlines import build_lists
from sphinx_modeldiagrams.static import draw_picture, replace_svg
from sphinx_modeldiagrams.tables import build_table
from sphinx_modeldiagrams.version_directives import build_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sphinx.builders import Builder
    from sphinx.environment import BuildEnvironment

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["ReplaceDiagrams"]


class ReplaceDiagrams(SphinxPostTransform):
    """Replaces diagrams by ordinary nodes, after references were resolved (priority 10)."""

    default_priority = 200

    def run(self, **_: Any) -> None:
        """Replace all diagrams; called by Sphinx."""
        builder = self.app.builder
        # gettext extracts the messages of the node itself
        if makes_web_pages(builder) or builder.name == "gettext":
            return
        for image in [image for image in self.document.findall(nodes.image) if SIZE in image]:
            replace_svg(image, builder)
        for picture in list(self.document.findall(step_picture)):
            _replace_step(picture, builder)
        for node in list(self.document.findall(model_graph)):
            summary = summarise_diagram(read_diagram(node, self.env))
            if summary:
                # outside the figure, because LaTeX breaks long tables across pages, but not figures
                figure = node.parent
                table = build_table(summary, references(node))
                if builder.format == "markdown":
                    table = list(_part_totals(table))
                figure.parent.insert(figure.parent.index(figure) + 1, table)
            _list_changes(node, self.env)
            _keep_ids(node.parent, builder)
            content = _make_ordinary(node, builder)
            if builder.format == "latex":
                kept_in_place(node, self.env)
            figure = node.parent
            node.replace_self(content)
            if builder.format == "html":
                _put_in_order(figure)
            elif builder.format in {"man", "markdown"}:
                _convert_caption(figure)


def _part_totals(table: Sequence[nodes.Node]) -> Iterator[nodes.Node]:
    """Make a paragraph of each total: writers of Markdown put lines so close to the table that they are rows of it."""
    for node in table:
        if isinstance(node, nodes.line_block):
            yield from (nodes.paragraph("", "", *line.children) for line in node.findall(nodes.line))
        else:
            yield node


def _put_in_order(figure: nodes.Element) -> None:
    """Reorder a figure to picture, caption and legend: docutils leaves tags of other figures open.

    E-book readers don't show pages that are not well-formed.
    """
    captions = [child for child in figure if isinstance(child, nodes.caption)]
    others = [child for child in figure if child not in captions]
    pictures = [child for child in others if isinstance(child, nodes.image)]
    first = pictures[0] if pictures else nodes.container("", *others)
    rest = [child for child in others if child is not first] if pictures else []
    figure.children.clear()
    figure += [first, *captions, *([nodes.legend("", *rest)] if rest else [])]


def _convert_caption(figure: nodes.Element) -> None:
    """Turn a caption into a paragraph: manual pages start no line after it, and writers of Markdown don't know it."""
    for caption in [child for child in figure if isinstance(child, nodes.caption)]:
        caption.replace_self(nodes.paragraph(caption.rawsource, "", *caption.children))


def _replace_step(node: step_picture, builder: Builder) -> None:
    """Replace a step's picture by an image, if the builder supports images."""
    diagram, index = read_diagram(find_tour(node), builder.env), node["index"]
    is_drawn = diagram.picture and index < len(diagram.picture.steps)
    alt = describe_step(diagram, index, node["title"])
    image = draw_picture(diagram, builder, step=index, alt=alt) if is_drawn else None
    if image is None:
        node.replace_self([])
        return
    image["align"] = "center"
    node.replace_self([no_break(), image] if builder.format == "latex" else image)


def _keep_ids(figure: nodes.Element, builder: Builder) -> None:
    """Keep the ids of a figure if a writer would drop them: LaTeX has them in the caption."""
    is_kept = any(isinstance(child, nodes.caption) for child in figure)
    if builder.format == "texinfo" or (builder.format == "latex" and not is_kept):
        ids, figure["ids"] = figure["ids"], []
        # inside, because a target before a figure is left to the figure
        figure.insert(0, nodes.target("", "", ids=ids))


def _list_changes(node: model_graph, env: BuildEnvironment) -> None:
    """Put the list of a difference before its figure, because LaTeX doesn't break figures across pages."""
    comparison, figure = read_diagram(node, env).comparison, node.parent
    if comparison:
        found = list_changes(comparison.difference, details=comparison.details)
        place = figure.parent.index(figure)
        figure.parent[place:place] = build_changes(found)


def _make_ordinary(node: model_graph, builder: Builder) -> list[nodes.Node]:
    """Build a note on the problem, the model in the best form for the builder, and its assumptions."""
    diagram = read_diagram(node, builder.env)
    content: list[nodes.Node] = []
    if diagram.shown_problem:
        sentence = diagram.shown_problem.message.strip().partition("\n")[0]
        content.append(nodes.paragraph("", f"{diagram.options.call.model}: {sentence}"))
    if diagram.comparison:
        picture = draw_picture(diagram, builder)
        content += [picture] if picture else []
    if diagram.graph:
        content += _make_shown(node, diagram, builder)
    if warned := explain_caution(diagram):
        content.append(nodes.paragraph("", warned))
    return content


def _make_shown(node: model_graph, diagram: Diagram, builder: Builder) -> list[nodes.Node]:
    """Build the model's picture, or else its outline; text for text."""
    graph = diagram.graph
    if graph is None:
        return []
    if builder.format in {"text", "markdown"}:
        site = builder.config.html_baseurl.rstrip("/")
        remarks = {row.id: row.remark for row in list_outline_rows(diagram) if row.remark}
        text = describe(graph, f"{site}/{FOLDER}/{diagram.id}.json" if site else "", remarks).rstrip()
        return [nodes.literal_block(text, text, language="markdown")]
    picture = draw_picture(diagram, builder)
    if picture:
        return [picture]
    title = nodes.paragraph("", diagram.options.figure.alt or f"Architecture of {graph.model.name}:")
    return [title, *build_lists(list_outline_rows(diagram), references(node))]
