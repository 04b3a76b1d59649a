"""Adapts pages to LaTeX: keeps figures with their text, and declares the special characters of our texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

from modeldiagrams.html.note_list import collect_notes
from sphinx_modeldiagrams.diagram_node import read_diagram

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.latex import LaTeXTranslator

    from sphinx_modeldiagrams.diagram_node import model_graph

__all__ = ["connect_latex", "kept_in_place", "no_break"]

_SIGNS = {
    "−": "-",
    "≈": r"\approx",
    "≤": r"\leq",
    "≥": r"\geq",
    "∥": r"\parallel",
    "⊕": r"\oplus",
    "⊗": r"\otimes",
    "⌈": r"\lceil",
    "⌉": r"\rceil",
    "⌊": r"\lfloor",
    "⌋": r"\rfloor",
    "′": r"{}^\prime",
}
"""Characters in lists of changes and tables that pdfLaTeX doesn't know."""


class in_place(nodes.General, nodes.Element):  # noqa: N801  (as docutils names nodes)
    """Figures that LaTeX must not move to another page."""


def kept_in_place(node: model_graph, env: BuildEnvironment) -> None:
    """Keep a figure in place if the text around it belongs to it, or if it has no caption."""
    figure, diagram = node.parent, read_diagram(node, env)
    has_caption = any(isinstance(child, nodes.caption) for child in figure)
    if not has_caption or collect_notes(diagram) or diagram.options.tour.steps:
        place = in_place()
        figure.replace_self(place)
        place += figure


def no_break() -> nodes.raw:
    """Return a node that keeps two paragraphs on one page."""
    return nodes.raw("", "\\nopagebreak\n", format="latex")


def connect_latex(app: Sphinx) -> None:
    """Set up LaTeX; called by `setup`."""
    app.add_node(in_place, latex=(_visit, _depart))
    app.connect("config-inited", _declare_signs)


def _visit(self: LaTeXTranslator, _node: in_place) -> None:
    self.no_latex_floats += 1


def _depart(self: LaTeXTranslator, _node: in_place) -> None:
    self.no_latex_floats -= 1


def _declare_signs(_app: Sphinx, config: Config) -> None:
    signs = (
        f"  \\DeclareUnicodeCharacter{{{ord(sign):04X}}}{{\\ensuremath{{{tex}}}}}\n" for sign, tex in _SIGNS.items()
    )
    declared = f"\\ifdefined\\DeclareUnicodeCharacter\n{''.join(signs)}\\fi\n"
    # first, so that authors' declarations override these
    config.latex_elements = {**config.latex_elements, "preamble": declared + config.latex_elements.get("preamble", "")}
