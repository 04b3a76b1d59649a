"""Where pages are not web pages, a diagram becomes nodes every writer knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from modeldiagrams.outline import Row, rows
from sphinx_modeldiagrams.assets import is_interactive
from sphinx_modeldiagrams.links import references
from sphinx_modeldiagrams.nodes import diagram_of, model_graph

if TYPE_CHECKING:
    from modeldiagrams.graph import Graph

__all__ = ["OrdinaryNodes"]

# paper is small, figures do not break across pages, and LaTeX nests lists four deep
_ROW_LIMIT = 40
_DEPTH_LIMIT = 4


class OrdinaryNodes(SphinxPostTransform):
    """Replaces diagrams by their outline, after references were resolved (priority 10)."""

    default_priority = 200

    def run(self, **_: Any) -> None:
        """Called by Sphinx."""
        if is_interactive(self.app.builder):
            return
        for node in list(self.document.findall(model_graph)):
            node.replace_self(_ordinary(node))


def _ordinary(node: model_graph) -> list[nodes.Node]:
    diagram = diagram_of(node)
    content: list[nodes.Node] = []
    if diagram.problem:
        sentence = diagram.problem.message.strip().partition("\n")[0]
        content.append(nodes.paragraph("", f"{diagram.options.model}: {sentence}"))
    if diagram.graph:
        content.append(nodes.paragraph("", diagram.options.alt or f"Architecture of {diagram.graph.model.name}:"))
        content += _outline(diagram.graph, references(node))
    return content


def _outline(graph: Graph, links: dict[str, nodes.reference]) -> list[nodes.Node]:
    """Nested bullet lists, level by level."""
    top = nodes.list_item()
    level = [(top, rows(graph, _ROW_LIMIT))]
    for depth in range(1, _DEPTH_LIMIT + 1):
        deeper = []
        for item, row in level:
            below = [
                (nodes.list_item("", _line(child, row, links, is_last=depth == _DEPTH_LIMIT)), child)
                for child in row.children
            ]
            if below:
                item.append(nodes.bullet_list("", *(inner for inner, _ in below)))
            deeper += below
        level = deeper
    return top.children


def _line(row: Row, holder: Row, links: dict[str, nodes.reference], *, is_last: bool) -> nodes.paragraph:
    """Name, class as a link where it is documented, and how often it repeats."""
    class_ = row.calls[0].class_
    mention: nodes.Element = nodes.literal("", class_.rpartition(".")[2])
    if class_ in links:
        mention = links[class_].deepcopy()
    times = f" ×{len(row.calls)}" if len(row.calls) > 1 else ""
    left_out = row.hidden + (len(row.children) if is_last else 0)
    hidden = f" (… {left_out} more inside)" if left_out else ""
    name = nodes.literal("", row.names(holder))
    return nodes.paragraph("", "", name, nodes.Text(" "), mention, nodes.Text(times + hidden))
