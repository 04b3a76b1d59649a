"""Draws what changed between two graphs, for the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.engine.compare.difference import diff
from modeldiagrams.engine.diagram import Comparison, Diagram
from modeldiagrams.errors import RenderError
from modeldiagrams.html.standalone import render_standalone
from modeldiagrams.ir.remarks import list_limits
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.options import Call, Options, View
from modeldiagrams.render.draw import embed_style, render_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.render.draw import Picture

__all__ = ["DrawnComparison"]


class DrawnComparison:
    """A comparison of two graphs, and its picture.

    Attributes:
        difference: The difference.
    """

    def __init__(self, before: Graph, after: Graph, *, details: bool) -> None:
        self.difference = diff(before, after)
        self._comparison = Comparison(before=before, after=after, difference=self.difference, details=details)

    def to_svg(self) -> str:
        """Draw the later model with all changes marked.

        Raises:
            RenderError: if there is nothing to mark.
        """
        if not self._comparison.has_picture:
            reason = "nothing changed" if self.difference.inventory is None else "these are two different architectures"
            raise RenderError(f"{reason}, so there is no picture; `--format text` lists what was found")
        picture = self._draw(list_limits(self._comparison.after))
        return embed_style(picture, View(), self._comparison.earlier).svg

    def to_html(self) -> str:
        """Render one file with the list of changes, and the picture if there is one."""
        after = self._comparison.after
        return render_standalone(
            Diagram(
                id="difference",
                options=Options(call=Call(model=after.model.class_)),
                comparison=self._comparison,
                picture=self._draw() if self._comparison.has_picture else None,
            )
        )

    def _draw(self, remarks: Sequence[str] = ()) -> Picture:
        return render_json(serialize(self._comparison.after), View(), beside=self._comparison.earlier, remarks=remarks)
