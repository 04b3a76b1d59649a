# ruff: noqa: S603 - runs this project's own modules
"""Pages of one file beside those of torchvista: what they weigh, when they work, how fast modules open and close."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

import modeldiagrams
from benchmarks import layout
from benchmarks.measure import p95
from benchmarks.trace import PEERS_PYTHON, ROOT
from benchmarks.widget_scripts import NOTE_READY, TOGGLE_NUMBER, TOGGLE_TORCHVISTA
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.html.standalone import standalone
from modeldiagrams.options.options import Call, Options, View
from modeldiagrams.render.draw import render

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession

MODELS = ("ResNet-50", "GPT-2", "Llama-3-70B")
TOGGLES = 20
MOST_TOGGLING = 60
"""Seconds after which no more modules are toggled."""
LOADS = 3
PATIENCE_MS = 300_000
EVERYTHING = "99"
VIEWPORT = {"width": 1000, "height": 800}


class Tool(NamedTuple):
    """How its pages are made, from a model's name and its graph, and how they are used."""

    page: Callable[..., Path]
    picture: str
    """CSS selector of what is there once its picture is."""
    ready: str
    """JavaScript: whether readers can use it."""
    toggle: str


class Load(NamedTuple):
    """Medians of a page's loads: milliseconds, of the main thread for CPU, and bytes that its objects hold."""

    picture: float
    ready: float
    cpu: float
    held: float


def print_beside(browser: Browser, graphs: dict[str, Path], folder: Path) -> None:
    """Print one row per model and tool."""
    print("\npages of one file beside torchvista's; toggles with everything open")
    is_there = subprocess.run([PEERS_PYTHON, "-c", "import torchvista"], capture_output=True, check=False)
    tools = {"modeldiagrams": OURS, "torchvista": TORCHVISTA}
    if is_there.returncode:
        print("  torchvista is not installed (MODELDIAGRAMS_PEERS_PYTHON names a Python that has it)")
        del tools["torchvista"]
    columns = ["picture ms", "ready ms", "CPU ms", "memory MB", "page kB", "toggle ms", "p95"]
    print(f"{'model':14}{'tool':15}" + "".join(f"{column:>11}" for column in columns))
    for model in MODELS:
        for name, tool in tools.items():
            row = f"{model:14}{name:15}"
            try:
                print(row + _figures(browser, tool, model, graphs[model], folder / name / model), flush=True)
            except (subprocess.CalledProcessError, ValueError) as error:
                print(f"{row} fails: {error}", flush=True)


def _figures(browser: Browser, tool: Tool, model: str, graph: Path, folder: Path) -> str:
    file = _made(tool, model, graph, folder / "closed")
    loads = [_load(browser, file, tool) for _ in range(LOADS)]
    load = Load(*(statistics.median(each) for each in zip(*loads, strict=True)))
    times = _toggles(browser, _made(tool, model, graph, folder / "open", is_open=True), tool)
    amounts = (*load[:3], load.held / 1e6, file.stat().st_size / 1e3, statistics.median(times), p95(times))
    return "".join(f"{amount:11.0f}" for amount in amounts)


def _made(tool: Tool, model: str, graph: Path, folder: Path, *, is_open: bool = False) -> Path:
    folder.mkdir(parents=True)
    return tool.page(model, graph, folder, is_open=is_open)


def _ours(model: str, graph: Path, folder: Path, *, is_open: bool) -> Path:
    traced = modeldiagrams.load(graph)
    picture = render(traced, View(depth=0 if is_open else None))
    if is_open:
        picture = msgspec.structs.replace(picture, state=layout.everything_open(graph))
    options = Options(call=Call(model=model))
    file = folder / "page.html"
    file.write_text(standalone(Diagram(id="page", options=options, graph=traced, picture=picture)), encoding="utf-8")
    return file


def _theirs(model: str, graph: Path, folder: Path, *, is_open: bool) -> Path:
    del graph
    words = [PEERS_PYTHON, "-m", "benchmarks.vista", model, str(folder), *([EVERYTHING] if is_open else [])]
    subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
    (file,) = folder.glob("*.html")
    return file


OURS = Tool(
    _ours,
    picture="model-graph svg, model-graph:defined",
    ready="document.querySelector('model-graph')?.widget !== undefined",
    toggle=TOGGLE_NUMBER,
)
TORCHVISTA = Tool(
    _theirs,
    picture="[class^=collapse-button]",
    ready="document.querySelector('[class^=collapse-button]') !== null",
    toggle=TOGGLE_TORCHVISTA,
)


def _load(browser: Browser, file: Path, tool: Tool) -> Load:
    page = browser.new_page(viewport=VIEWPORT)
    page.set_default_timeout(PATIENCE_MS)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.add_init_script(f"({NOTE_READY})({tool.picture!r}, () => {tool.ready})")
    page.goto(file.as_uri())
    page.wait_for_function("() => window.noted?.ready")
    noted = page.evaluate("window.noted")
    found = {entry["name"]: entry["value"] for entry in session.send("Performance.getMetrics")["metrics"]}
    load = Load(noted["picture"], noted["ready"], found["TaskDuration"] * 1000, _held(session))
    page.close()
    return load


def _held(session: CDPSession) -> float:
    session.send("HeapProfiler.collectGarbage")
    usage = session.send("Runtime.getHeapUsage")
    return usage["usedSize"] + usage["embedderHeapUsedSize"] + usage["backingStorageSize"]


def _toggles(browser: Browser, file: Path, tool: Tool) -> list[float]:
    page = browser.new_page(viewport=VIEWPORT)
    page.set_default_timeout(PATIENCE_MS)
    page.goto(file.as_uri())
    page.wait_for_function(f"() => {tool.ready}")
    page.evaluate(tool.toggle, 0)  # loads what is needed
    page.evaluate(tool.toggle, 0)
    end = time.monotonic() + MOST_TOGGLING
    times: list[float] = []
    while len(times) < TOGGLES and time.monotonic() < end:
        times.append(page.evaluate(tool.toggle, len(times)))
    page.close()
    return times
