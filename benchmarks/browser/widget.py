"""Measures the widget in headless Chromium, on the largest pictures, and compares it with torchvista's pages."""

from __future__ import annotations

import contextlib
import functools
import gzip
import shutil
import statistics
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import msgspec
from playwright.sync_api import Browser, Page, sync_playwright

import modeldiagrams
from benchmarks import layout, models
from benchmarks.browser import annotations, torchvista
from benchmarks.browser.scripts import FRAME_RATE, LOAD_SCRIPT, TOGGLE
from benchmarks.browser.tasks import from_here, longest_task
from benchmarks.measure import p95
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.html import fragment as page
from modeldiagrams.options.options import Call, Options, View
from modeldiagrams.render.draw import render

SCRIPT_KB = 45
READY_MS = 100
TOGGLE_MS = 50
FRAMES = 50
LONGEST_TASK_MS = 50
GROWTH = 0.10
DIAGRAMS = 20
TOGGLES = 20
VIEWPORT = {"width": 1000, "height": 800}

_SCRIPT_TAG = '<script src="model-graph.js" defer></script>'


class Site(NamedTuple):
    """A folder with pages, and a browser."""

    folder: Path
    browser: Browser

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[Page]:
        """Open a page of the folder, and print its errors."""
        opened = self.browser.new_page(viewport=VIEWPORT)
        opened.on("pageerror", lambda error: print(f"  {name}: {error}"))
        opened.goto((self.folder / f"{name}.html").as_uri())
        yield opened
        opened.close()


def main() -> None:
    """Print script and page budgets, then one row per model."""
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        for name, content in page.list_viewer_files().items():
            shutil.copy(content, folder / name)
        chromium = shutil.which("chromium") or shutil.which("chromium-headless-shell")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        site = Site(folder, browser)
        graphs = _graphs(folder)
        _page_budgets(site, graphs["BERT-base"])
        annotations.print_costs(browser, graphs["BERT-base"], Path(tempfile.mkdtemp(dir=folder)))
        _models(site, graphs)
        torchvista.print_comparison(browser, graphs, folder / "torchvista")
        _first_opening(site, graphs["DeepSeek-V3"])
        browser.close()


def _graphs(folder: Path) -> dict[str, Path]:
    """Write the graph files of the demo and of the largest models."""
    files = {}
    for name in models.CASES:
        case = models.prepared(name)
        files[name] = folder / f"{name.replace('/', ' ')}.json"
        modeldiagrams.save(modeldiagrams.trace(case.model, (), case.inputs), files[name])
    return files | {name: layout.traced(name, case, folder) for name, case in layout.CASES.items() if name not in files}


def _write(site: Site, file: Path, *, copies: int = 1, opened: bool = True) -> tuple[str, list[str]]:
    """Write a page with a small still picture; return its name and the expanded ids."""
    graph = modeldiagrams.load(file)
    picture = render(graph, View(depth=0 if opened else None))
    state = layout.everything_open(file) if opened else picture.state
    name = f"page{len(list(site.folder.glob('page*.html')))}"
    diagram = Diagram(
        id=name,
        options=Options(call=Call(model=name)),
        graph=graph,
        picture=msgspec.structs.replace(picture, state=state),
    )
    (site.folder / f"{name}.js").write_text(page.build_data_script(diagram), encoding="ascii")
    fragment = page.render_fragment(diagram, assets="")
    text = f"<!doctype html><meta charset=utf-8><title>{name}</title>{fragment * copies}"
    (site.folder / f"{name}.html").write_text(text, encoding="utf-8")
    return name, state["expanded"]


def _page_budgets(site: Site, file: Path) -> None:
    size = len(gzip.compress((site.folder / "model-graph.js").read_bytes(), 9)) / 1000
    print("\nthe widget in Chromium")
    print(f"  script                       {size:8.1f} kB, compressed{_verdict(size, SCRIPT_KB)}")
    ready = statistics.median(_ready(site, file) for _ in range(5))
    print(f"  ready after the script loads {ready:8.1f} ms{_verdict(ready, READY_MS)}")
    name, _ = _write(site, file, copies=DIAGRAMS, opened=False)
    still = _longest_task(site, _without_script(site, name))
    task = _longest_task(site, name)
    print(f"  longest task, {DIAGRAMS} diagrams     {task:8.1f} ms of CPU{_verdict(task, LONGEST_TASK_MS)}")
    print(f"    the same page without script {still:6.1f} ms")
    with site.open(name) as opened:
        opened.wait_for_timeout(500)
        print(f"  idle, {DIAGRAMS} diagrams             {_busy(opened):8.2f} ms of work in a second")
    growth = _growth(site, file)
    print(f"  memory after 100 toggles     {growth:+8.1%}{_verdict(growth, GROWTH)}")


def _longest_task(site: Site, name: str) -> float:
    """Return the milliseconds of the longest task while a page loads; median of five."""
    longest = []
    for _ in range(5):
        opened = site.browser.new_page(viewport=VIEWPORT)
        with longest_task(site.browser, opened) as found:
            opened.goto((site.folder / f"{name}.html").as_uri())
            opened.wait_for_timeout(500)
        longest.append(found.ms)
        opened.close()
    return statistics.median(longest)


def _without_script(site: Site, name: str) -> str:
    """Write a copy of a page without the script; return its name."""
    text = (site.folder / f"{name}.html").read_text("utf-8")
    (site.folder / f"{name}-still.html").write_text(text.replace(_SCRIPT_TAG, ""), encoding="utf-8")
    return f"{name}-still"


def _ready(site: Site, file: Path) -> float:
    name, _ = _write(site, file, opened=False)
    with site.open(_without_script(site, name)) as opened:
        return opened.evaluate(LOAD_SCRIPT)


def _busy(opened: Page) -> float:
    """Return the milliseconds of work per second on an idle page."""
    work = _work_meter(opened, "timeTicks")
    before = work()
    opened.wait_for_timeout(2000)
    return (work() - before) / 2


def _work_meter(opened: Page, clock: str) -> Callable[[], float]:
    """Return a function that returns how many milliseconds the page's main thread has worked so far."""
    session = opened.context.new_cdp_session(opened)
    session.send("Performance.enable", {"timeDomain": clock})

    def work() -> float:
        metrics = {entry["name"]: entry["value"] for entry in session.send("Performance.getMetrics")["metrics"]}
        return metrics["TaskDuration"] * 1000

    return work


def _growth(site: Site, file: Path) -> float:
    """Return the growth of the heap between the first ten and 100 toggles."""
    name, expanded = _write(site, file)
    with site.open(name) as opened:
        session = opened.context.new_cdp_session(opened)

        def held() -> float:
            session.send("HeapProfiler.collectGarbage")
            return session.send("Runtime.getHeapUsage")["usedSize"]

        toggled = expanded[: len(expanded) // 2][-5:]
        for _ in range(2):
            for node in toggled:
                opened.locator("model-graph").evaluate(TOGGLE, node)
        before = held()
        for _ in range(20):
            for node in toggled:
                opened.locator("model-graph").evaluate(TOGGLE, node)
        return held() / before - 1


def _models(site: Site, graphs: dict[str, Path]) -> None:
    print(f"\nall open and unrolled: toggle to painted frame (budget p95 {TOGGLE_MS} ms), frames a second ({FRAMES})")
    print(f"(an empty page currently makes {_idle_frames(site):.0f} frames a second on this machine)")
    print("(CPU: of the page's main thread only, which other work on the machine changes little)")
    print(f"{'model':26}{'nodes':>7}{'median ms':>11}{'p95 ms':>8}{'CPU ms':>8}{'p95 CPU':>9}{'pan':>6}{'zoom':>6}")
    for name, file in graphs.items():
        nodes = len(modeldiagrams.load(file).nodes)
        found = _moves(site, file)
        if found is None:
            continue
        p95_ms = p95(found.toggles)
        met = "met" if p95_ms <= TOGGLE_MS and min(found.pan, found.zoom) >= FRAMES else "MISSED"
        print(
            f"{name:26}{nodes:7}{statistics.median(found.toggles):11.0f}{p95_ms:8.0f}"
            f"{statistics.median(found.cpu):8.0f}{p95(found.cpu):9.0f}{found.pan:6.0f}{found.zoom:6.0f}  {met}",
            flush=True,
        )


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder over http, because pages from disk can't start workers; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))) as http:
        threading.Thread(target=http.serve_forever).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


def _first_opening(site: Site, file: Path) -> None:
    """Print the longest task of the main thread while the largest model opens completely."""
    name, expanded = _write(site, file)
    longest = []
    with served(site.folder) as address:
        for origin in (address, site.folder.as_uri()):
            opened = site.browser.new_page(viewport=VIEWPORT)
            with longest_task(site.browser, opened) as found:
                opened.goto(f"{origin}/{name}.html")
                opened.wait_for_timeout(500)
                from_here(opened)
                opened.locator("model-graph").evaluate(TOGGLE, expanded[0])
                opened.wait_for_timeout(500)
            longest.append(found.ms)
            opened.close()
    for where, task in zip(("over http", "from disk"), longest, strict=True):
        print(f"DeepSeek-V3 opened first, {where}: longest task {task:.0f} ms of CPU{_verdict(task, LONGEST_TASK_MS)}")


def _idle_frames(site: Site) -> float:
    opened = site.browser.new_page(viewport=VIEWPORT)
    rate = opened.evaluate(
        """async () => {
            const start = performance.now();
            for (let i = 0; i < 90; i++) await new Promise(requestAnimationFrame);
            return 90_000 / (performance.now() - start);
        }"""
    )
    opened.close()
    return rate


class Moves(NamedTuple):
    """Milliseconds of toggles all over a picture, and frames per second of pan and zoom."""

    toggles: list[float]
    cpu: list[float]
    pan: float
    zoom: float


def _moves(site: Site, file: Path) -> Moves | None:
    """Measure a fully expanded picture; None if there is nothing to expand."""
    name, expanded = _write(site, file)
    if not expanded:
        return None
    with site.open(name) as opened:
        element = opened.locator("model-graph")
        nodes = expanded[:: max(1, len(expanded) // TOGGLES)]
        for _ in range(2):  # loads the scripts and lays everything out
            element.evaluate(TOGGLE, nodes[0])
        work = _work_meter(opened, "threadTicks")
        times, cpu = [], []
        for node in [node for node in nodes for _ in range(2)]:
            before = work()
            times.append(element.evaluate(TOGGLE, node))
            cpu.append(work() - before)
        return Moves(times, cpu, element.evaluate(FRAME_RATE, "pan"), element.evaluate(FRAME_RATE, "zoom"))


def _verdict(value: float, budget: float) -> str:
    return f"  ({'met' if value <= budget else 'MISSED'}, budget {budget:g})"


if __name__ == "__main__":
    sys.exit(main())
