"""Measures catalogues in Chromium: what loads at first, when readers can use it, and the longest task of each use.

The models are those of graph files in the folder that the environment variable ``GRAPHS`` names, by default that of the
demonstration; then 10,000: the same ones under other names, with other figures.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import tempfile
from pathlib import Path

import msgspec
from playwright.sync_api import Browser, Page, Response, sync_playwright

from benchmarks.browser.tasks import from_here, longest_task
from benchmarks.browser.widget import served
from modeldiagrams.common.files import get_graph_name
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.catalogue.cards import describe_model
from modeldiagrams.engine.catalogue.entries import Catalogue, CatalogueModel
from modeldiagrams.engine.catalogue.families import find_families, join_aliases
from modeldiagrams.engine.catalogue.site_index import ListedDiagram, encode_index
from modeldiagrams.html.catalogue_page import build_catalogue_files, render_catalogue
from modeldiagrams.html.fragment import list_viewer_files
from modeldiagrams.options.catalogue import CatalogueOptions
from modeldiagrams.options.options import Call, Options

MODELS = 10_000
FIRST_KB = 1500
LONGEST_TASK_MS = 50
SCREENS = 50
"""How far a reader scrolls."""
ROUNDS = 3
VIEWPORT = {"width": 1200, "height": 900}
GRAPHS = Path(__file__).parents[2] / "docs/model-graphs"
_FIELD = ".mg-catalogue-search input"
_NOTE_READY = f"""new MutationObserver((_, observer) => {{
  if (!document.querySelector({_FIELD!r})) return;
  performance.mark('interactive');
  observer.disconnect();
}}).observe(document, {{ childList: true, subtree: true }})"""
_TIMES = """() => {
  const { startTime } = performance.getEntriesByName('interactive')[0];
  return [startTime, startTime / performance.getEntriesByType('navigation')[0].domInteractive];
}"""


def main() -> None:
    """Print the sizes of each catalogue, and the longest task of each use."""
    folder = Path(os.environ.get("GRAPHS", GRAPHS))
    cache = Path(tempfile.gettempdir(), "modeldiagrams-catalogue")  # drawing takes minutes
    with DiagramBuilder(cache, folder=folder) as builder:
        real = [_describe(builder, file) for file in sorted(folder.absolute().glob("*.json.gz"))]
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for models in (real, [*real, *(_vary(real, number) for number in range(len(real), MODELS))]):
            with tempfile.TemporaryDirectory() as site, served(Path(site)) as address:
                _write(Path(site), models)
                _measure(browser, f"{address}/models.html")
        browser.close()


def _describe(builder: DiagramBuilder, file: Path) -> CatalogueModel:
    model = describe_model(builder, Options(call=Call(model=str(file))))
    name = get_graph_name(file)
    return msgspec.structs.replace(model, name=name, id=f"{name}-{model.id[-8:]}")


def _vary(models: list[CatalogueModel], number: int) -> CatalogueModel:
    model, turn = models[number % len(models)], number // len(models)
    class_ = model.figures.class_ if model.figures else ""
    word = "".join(random.Random(f"{class_}{turn}").choices("bdfgklmnprstvz", k=6))  # noqa: S311
    chance = random.Random(number)  # noqa: S311
    name, hash_ = f"lib{turn}.{word}.{word}_{number}", f"{chance.getrandbits(32):08x}"
    figures = model.figures and msgspec.structs.replace(
        model.figures,
        class_=f"lib{turn}.{word}.{word.title()}",
        structure=hash_,
        parameters=int(model.figures.parameters * (1 + chance.random())),
        flops=int((model.figures.flops or 0) * (1 + chance.random())),
        activation_bytes=int((model.figures.activation_bytes or 0) * (1 + chance.random())),
    )
    picture = model.picture.replace("</svg>", f"<!--{turn}--></svg>")
    return msgspec.structs.replace(model, name=name, id=f"{name}-{hash_}", figures=figures, picture=picture)


def _write(site: Path, models: list[CatalogueModel]) -> None:
    families = find_families(join_aliases(models))
    catalogue = Catalogue(id="catalogue-1", options=CatalogueOptions(of=("a.b",)), families=families)
    (site / "modeldiagrams").mkdir()
    for name, path in list_viewer_files().items():
        shutil.copy(path, site / "modeldiagrams" / name)
    for name, content in build_catalogue_files(catalogue, _page_of, back="../models.html").items():
        (site / "modeldiagrams" / name).write_bytes(content)
    html = render_catalogue(catalogue, assets="modeldiagrams/", page_of=_page_of)
    (site / "models.html").write_text(f"<!doctype html><meta charset=utf-8><title>Models</title>{html}", "utf-8")
    figures = [msgspec.structs.replace(model.figures, layers={}, ops=()) for model in models if model.figures]
    listed = [ListedDiagram(id=m.id, model=m.name, snapshots=[m.name], pages=[_page_of(m)]) for m in models]
    index = encode_index((msgspec.json.encode(each).decode() for each in figures), listed)
    data = (site / "modeldiagrams/catalogue-1.js").stat().st_size
    print(
        f"\n{len(models)} models in {len(families)} entries: page {len(html) // 1000} kB, data {data // 1000} kB,",
        end="",
    )
    print(f" index.json {len(index) // 1000} kB")


def _page_of(model: CatalogueModel) -> str:
    return f"models/{model.name}.html"


def _measure(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport=VIEWPORT)
    responses: list[Response] = []
    page.on("response", lambda response: responses.append(response))  # noqa: PLW0108  Playwright marks it
    _open(page, address)
    size = sum(len(response.body()) for response in responses) / 1000
    verdict = "met" if size <= FIRST_KB else "MISSED"
    print(f"  at first {size:.0f} kB in {len(responses)} files, not compressed  {verdict}")
    page.close()
    for use in (_open, _scroll, _search, _sort):
        tasks, times = [], []
        for _ in range(ROUNDS):
            page = browser.new_page(viewport=VIEWPORT)
            with longest_task(browser, page) as found:
                use(page, address)
            tasks.append(found.ms)
            times.append(page.evaluate(_TIMES))
            page.close()
        task = statistics.median(tasks)
        verdict = "met" if task <= LONGEST_TASK_MS else "MISSED"
        print(f"  {use.__name__[1:]:8} longest task {task:4.0f} ms of CPU  {verdict}")
        if use is _open:
            ready, ratio = (statistics.median(found) for found in zip(*times, strict=True))
            print(f"  interactive after {ready:.0f} ms, {ratio:.1f} × the time until its HTML is parsed")


def _open(page: Page, address: str) -> None:
    page.add_init_script(_NOTE_READY)
    page.goto(address)
    page.wait_for_selector(_FIELD)
    page.wait_for_timeout(2000)


def _scroll(page: Page, address: str) -> None:
    _open(page, address)
    from_here(page)
    page.mouse.move(600, 600)
    for _ in range(SCREENS):
        page.mouse.wheel(0, VIEWPORT["height"])
        page.wait_for_timeout(60)


def _search(page: Page, address: str) -> None:
    _open(page, address)
    from_here(page)
    page.type(_FIELD, "resnet uses batchnorm", delay=80)
    page.fill(_FIELD, "")
    page.wait_for_timeout(1000)


def _sort(page: Page, address: str) -> None:
    _open(page, address)
    from_here(page)
    for order in ("parameters", "flops", ""):
        page.select_option(".mg-choice >> nth=0", order)
        page.wait_for_timeout(1000)
