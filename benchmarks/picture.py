"""Measures what a diagram costs: time to draw it in V8, and bytes on the page, compared to the project's budgets."""

from __future__ import annotations

import gzip
import statistics
import time
from pathlib import Path

import modeldiagrams
from benchmarks.models import CASES, prepared
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.html import fragment as page
from modeldiagrams.options.options import Call, Options, View
from modeldiagrams.render.draw import render

ROUNDS = 5
PAGE_BUDGET_KB = 30
WIDGET_BUDGET_KB = 45


def main() -> None:
    """Print one row per model, then the shared files."""
    print(f"\npicture at default expansion: median of {ROUNDS}, gzip sizes; budget {PAGE_BUDGET_KB} kB a diagram")
    print(f"{'model':26}{'nodes':>7}{'first ms':>10}{'again ms':>10}{'opened ms':>11}{'page kB':>9}{'data kB':>9}")
    for name in CASES:
        case = prepared(name)
        graph = modeldiagrams.trace(case.model, (), case.inputs)
        view = View()
        start = time.perf_counter()
        picture = render(graph, view)
        first = time.perf_counter() - start
        again = median_time(graph, view)
        opened = median_time(graph, View(depth=99))
        diagram = Diagram(id="x", options=Options(call=Call(model="x")), graph=graph, picture=picture)
        on_page = kilobytes(page.render_fragment(diagram, assets="modeldiagrams/").encode())
        data = kilobytes(page.build_data_script(diagram).encode())
        print(
            f"{name:26}{len(graph.nodes):7}{first * 1e3:10.0f}{again * 1e3:10.0f}{opened * 1e3:11.0f}"
            f"{on_page:9.1f}{data:9.1f}"
        )
    print(f"\nshared files (gzip kB; widget budget {WIDGET_BUDGET_KB})")
    for name, content in page.list_viewer_files().items():
        print(f"  {name:20}{kilobytes(content.read_bytes() if isinstance(content, Path) else content):9.1f}")


def median_time(graph: modeldiagrams.Graph, view: View) -> float:
    """Return the median seconds to draw a graph, including the viewer's caches between drawings."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        render(graph, view)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def kilobytes(data: bytes) -> float:
    """Return the compressed size in kB (1,000 bytes), gzip level 9."""
    return len(gzip.compress(data, 9)) / 1000
