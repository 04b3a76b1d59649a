# ruff: noqa: S603 - runs this project's own modules
"""Compares pages of one file with torchvista's: their size, when they are ready, how fast modules open and close."""

from __future__ import annotations

import contextlib
import math
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from playwright.sync_api import Error
from playwright.sync_api import TimeoutError as PatienceError

import modeldiagrams
from benchmarks import layout
from benchmarks.browser.scripts import NOTE_READY, TOGGLE_NUMBER, TOGGLE_TORCHVISTA
from benchmarks.measure import p95
from benchmarks.trace import PEERS_PYTHON, ROOT
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.html.standalone import render_standalone
from modeldiagrams.options.options import Call, Options, View
from modeldiagrams.render.draw import render

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page

MODELS = ("ResNet-50", "GPT-2", "Llama-3-70B")
TOGGLES = 20
MOST_TOGGLING = 60
"""Seconds after which no more modules are toggled."""
LOADS = 3
PATIENCE_MS = 300_000
EVERYTHING = "99"
VIEWPORT = {"width": 1000, "height": 800}


class Tool(NamedTuple):
    """How to make and use a tool's page of a model."""

    page: Callable[..., Path]
    picture: str
    """CSS selector of an element that appears with the picture."""
    ready: str
    """JavaScript that tells whether readers can use the page."""
    toggle: str


class Load(NamedTuple):
    """Medians of a page's loads: milliseconds (of the main thread for CPU), and bytes of its heap.

    Infinite after the timeout; NaN if unknown because of it.
    """

    picture: float
    ready: float
    cpu: float
    held: float


def print_comparison(browser: Browser, graphs: dict[str, Path], folder: Path) -> None:
    """Print one row per model and tool."""
    print("\npages of one file compared to torchvista's; toggles with everything open")
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
    load = _loaded(browser, file, tool)
    times = _toggles(browser, _made(tool, model, graph, folder / "open", is_open=True), tool)
    amounts = (*load[:3], load.held / 1e6, file.stat().st_size / 1e3, statistics.median(times), p95(times))
    return "".join(f"{_figure(amount):>11}" for amount in amounts)


def _figure(amount: float) -> str:
    """Format a number of the table; after a timeout, only a lower limit is known."""
    if math.isinf(amount):
        return f"> {PATIENCE_MS / 1000:.0f} s"
    return "–" if math.isnan(amount) else f"{amount:.0f}"


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
    file.write_text(
        render_standalone(Diagram(id="page", options=options, graph=traced, picture=picture)), encoding="utf-8"
    )
    return file


def _theirs(model: str, graph: Path, folder: Path, *, is_open: bool) -> Path:
    del graph
    words = [
        PEERS_PYTHON,
        "-m",
        "benchmarks.browser.vista",
        model,
        str(folder),
        *([EVERYTHING] if is_open else []),
    ]
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


def _loaded(browser: Browser, file: Path, tool: Tool) -> Load:
    """Return the medians of several loads, or the first load that times out."""
    loads = []
    for _ in range(LOADS):
        loads.append(_load(browser, file, tool))
        if math.isinf(loads[-1].ready):
            return loads[-1]
    return Load(*(statistics.median(each) for each in zip(*loads, strict=True)))


@contextlib.contextmanager
def _opened(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport=VIEWPORT)
    page.set_default_timeout(PATIENCE_MS)
    try:
        yield page
    finally:
        # a busy page may refuse to close
        with contextlib.suppress(Error):
            page.close()


def _load(browser: Browser, file: Path, tool: Tool) -> Load:
    try:
        with _opened(browser) as page:
            return _measured(page, file, tool)
    except PatienceError:
        return Load(math.inf, math.inf, math.nan, math.nan)


def _measured(page: Page, file: Path, tool: Tool) -> Load:
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.add_init_script(f"({NOTE_READY})({tool.picture!r}, () => {tool.ready})")
    page.goto(file.as_uri())
    page.wait_for_function("() => window.noted?.ready")
    noted = page.evaluate("window.noted")
    found = {entry["name"]: entry["value"] for entry in session.send("Performance.getMetrics")["metrics"]}
    return Load(noted["picture"], noted["ready"], found["TaskDuration"] * 1000, _held(session))


def _held(session: CDPSession) -> float:
    session.send("HeapProfiler.collectGarbage")
    usage = session.send("Runtime.getHeapUsage")
    return usage["usedSize"] + usage["embedderHeapUsedSize"] + usage["backingStorageSize"]


def _toggles(browser: Browser, file: Path, tool: Tool) -> list[float]:
    """Milliseconds of each toggle; the last is infinite where it, or the page before, took too long."""
    times: list[float] = []
    try:
        with _opened(browser) as page:
            page.goto(file.as_uri())
            page.wait_for_function(f"() => {tool.ready}")
            for _ in range(2):  # loads what is needed
                _toggled(page, tool, 0)
            end = time.monotonic() + MOST_TOGGLING
            while len(times) < TOGGLES and time.monotonic() < end:
                times.append(_toggled(page, tool, len(times)))
    except PatienceError:
        times.append(math.inf)
    return times


def _toggled(page: Page, tool: Tool, number: int) -> float:
    # begun later: what the page does at once would hold up this call, for which there is no patience
    page.evaluate(
        f"""number => {{
            window.took = undefined;
            setTimeout(() => ({tool.toggle})(number).then(ms => {{ window.took = ms; }}));
        }}""",
        number,
    )
    return page.wait_for_function("() => window.took").json_value()
