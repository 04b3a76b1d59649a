"""Renders recordings of trainings as text and a table, for readers without scripts and on paper."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from modeldiagrams.html.templating import load_template

if TYPE_CHECKING:
    from modeldiagrams.engine.diagram import Diagram

__all__ = ["render_recordings"]

_TITLES = {
    "min": "min",
    "max": "max",
    "mean": "mean",
    "rms": "rms",
    "ratio": "update / weight",
    "zeros": "zeros",
    "bad": "not finite",
    "dead": "dead units",
}
_SHARES = frozenset({"zeros", "bad", "dead"})
_KINDS = {"parameter_gradient": "gradient of", "activation": "output", "gradient": "gradient of the output"}
_MOST_ROWS = 200


class _TensorRow(NamedTuple):
    node: str
    tensor: str
    cells: list[str]


def render_recordings(diagram: Diagram) -> Markup:
    """Render the findings of each recording of a diagram, and the numbers of its last step."""
    html = Markup()
    for run in diagram.recordings:
        seen = [tensor for tensor in run.tensors if tensor.seen[-1:] == "1"][:_MOST_ROWS]
        loss = run.loss[-1] if run.loss else None
        html += Markup(  # noqa: S704  rendered with autoescape
            load_template("recording").render(
                name=run.name,
                findings=run.findings,
                step=run.steps[-1] if run.steps else 0,
                loss=None if loss is None else f"{loss:.3g}",
                titles=_TITLES.values(),
                rows=[
                    _TensorRow(
                        tensor.node or "the model", _name_tensor(tensor.kind, tensor.name), _format_cells(tensor.values)
                    )
                    for tensor in seen
                ],
            )
        )
    return html


def _name_tensor(kind: str, name: str) -> str:
    return " ".join([_KINDS.get(kind, kind), *([name] if name != "output" else [])])


def _format_cells(values: dict[str, tuple[int | None, ...]]) -> list[str]:
    return [_format_cell(values.get(name, ()), is_share=name in _SHARES) for name in _TITLES]


def _format_cell(series: tuple[int | None, ...], *, is_share: bool) -> str:
    """Format the last value of a series of differences of codes, see `PageRecording`."""
    if not series or series[-1] is None:
        return ""
    *_, code = accumulate(difference or 0 for difference in series)
    if is_share:
        return f"{code / 10:.2g} %"
    return f"{math.copysign(10 ** ((abs(code) - 5000) / 100), code):.2g}" if code else "0"
