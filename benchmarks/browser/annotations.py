"""Measures what annotations cost a page: a tour compared to a plain diagram, and the bytes of an overlay."""

from __future__ import annotations

import contextlib
import gzip
import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import markdown

import modeldiagrams
from modeldiagrams.markdown import extension

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROUNDS = 9
TOUR_RATIO = 1.25
OVERHEAD = 300
"""Bytes that an overlay may add to a page's data in addition to its own size, both compressed."""
PROSE = "What a teacher says of this part, in words that fill some lines of a page. " * 6
DIAGRAM = "```model-graph\nmodel: net.json\n```\n" + 3 * f"\n**A step**\n\n{PROSE}\n"
TOUR = "/// model-tour | net.json\n\n" + 3 * f"//// tour-step | A step\n\n{PROSE}\n////\n\n" + "///\n"
READY = """() => {
    const isReady = () => document.querySelector(".mg-tour-bar") ||
        (!document.querySelector(".mg-tour") && document.querySelector("model-graph")?.shadowRoot);
    const look = () => { if (isReady()) window.ready = performance.now(); else setTimeout(look, 1); };
    look();
}"""
"""Stores in `window.ready` when readers can use the page, in milliseconds since navigation began."""


def print_costs(browser: Browser, file: Path, folder: Path) -> None:
    """Print the ratio of a tour's page to a diagram's, and the bytes of an overlay.

    Args:
        browser: The browser.
        file: The graph file.
        folder: An empty folder for the pages.
    """
    (folder / "net.json").write_bytes(file.read_bytes())
    pages = {name: _written(folder, name, text) for name, text in {"diagram": DIAGRAM, "tour": TOUR}.items()}
    times: dict[str, list[float]] = {name: [] for name in pages}
    for _ in range(ROUNDS):  # alternating, so that other work on the machine slows both
        for name, page in pages.items():
            times[name].append(_ready(browser, page))
    diagram, tour = (statistics.median(times[name]) for name in ("diagram", "tour"))
    met = "met" if tour <= TOUR_RATIO * diagram else "MISSED"
    ratio = f"ratio {tour / diagram:.2f} (budget {TOUR_RATIO})  {met}"
    print(f"  ready: diagram {diagram:.0f} ms, tour {tour:.0f} ms, {ratio}")
    _print_overlay(folder, file)


def _print_overlay(folder: Path, file: Path) -> None:
    graph = modeldiagrams.load(file)
    paths = [node.path for node in graph.module_calls()][:20]
    names = {path: f"Part {i}" for i, path in enumerate(paths)}
    body = f"```model-graph\nmodel: net.json\nno-index: true\nrename: {json.dumps(names)}\n```\n"
    overlay = len(gzip.compress(json.dumps(names).encode(), 9))
    sizes = [_data_size(_written(folder, *page)) for page in (("plain", DIAGRAM), ("renamed", body))]
    added = sizes[1] - sizes[0]
    met = "met" if added <= overlay + OVERHEAD else "MISSED"
    print(f"  {len(names)} names, {overlay} bytes compressed, add {added} bytes to the page's data  {met}")


def _written(folder: Path, name: str, text: str) -> Path:
    """Convert a text with Python-Markdown to a page with its files, next to the graph."""
    settings = {"folder": str(folder), "site_dir": str(folder / name), "page": "index.html"}
    html = markdown.markdown(text, extensions=["modeldiagrams"], extension_configs={"modeldiagrams": settings})
    extension._services.close()  # noqa: SLF001  (end its worker now, not at exit)
    page = folder / name / "index.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><title>{name}</title>\n{html}\n", encoding="utf-8")
    return page


def _data_size(page: Path) -> int:
    (data,) = [file for file in (page.parent / "modeldiagrams").glob("*.js") if file.name.startswith("net")]
    return len(gzip.compress(data.read_bytes(), 9))


def _ready(browser: Browser, page: Path) -> float:
    with _opened(browser) as opened:
        opened.add_init_script(f"({READY})()")
        opened.goto(page.as_uri())
        opened.wait_for_function("window.ready !== undefined")
        ready: float = opened.evaluate("ready")
        return ready


@contextlib.contextmanager
def _opened(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()
