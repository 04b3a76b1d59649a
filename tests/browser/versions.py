"""Two versions of a model, and the sites that show them."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import msgspec

from browser.pages import HEAD, Builder, Press
from modeldiagrams.hosting.site_files import build_diagram_files, build_shared_files, make_entry
from modeldiagrams.html import fragment as page
from modeldiagrams.ir.serialize import save
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.options.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.ir.graph import Graph


def network(*, activation: str = "relu", norm: bool = False, pool: bool = False, blocks: int = 2) -> Graph:
    """``x → stem → blocks.0 → … → [norm] → [pool] → head → y``; a block is up, activation and down, with a skip."""
    graph = Builder("Network")
    at = graph.leaf("stem", "torch.nn.Linear", None, "input:x")
    graph.module("blocks", "torch.nn.Sequential")
    for i in range(blocks):
        block = graph.module(f"blocks.{i}", "pkg.Block", "blocks")
        up = graph.leaf(f"{block}.up", "torch.nn.Linear", block, at)
        active = graph.op(f"torch.nn.functional.{activation}", block, up)
        at = graph.op("torch.add", block, at, graph.leaf(f"{block}.down", "torch.nn.Linear", block, active))
    if norm:
        at = graph.leaf("norm", "torch.nn.LayerNorm", None, at)
    if pool:
        at = graph.leaf("pool", "torch.nn.AvgPool1d", None, at)
    return graph.finish(graph.leaf("head", "torch.nn.Linear", None, at))


OLD = {"pool": True}
NEW = {"activation": "gelu", "norm": True, "blocks": 3}


def difference(press: Press, before: Graph, after: Graph, **options: object) -> Diagram:
    """The diagram of what changed."""
    save(before, press.folder / "before.json")
    save(after, press.folder / "after.json")
    return press.maker.build(parse_options({"model": "after.json", "before": "before.json", **options}))


def write_page(folder: Path, name: str, *diagrams: Diagram) -> None:
    """Write a page with diagrams, and their files."""
    assets = folder / "modeldiagrams"
    if not assets.exists():
        assets.mkdir(parents=True)
        for file, content in page.list_viewer_files().items():
            shutil.copy(content, assets / file)
    body = "".join(
        f'<figure class="mg-figure">{page.render_fragment(made, assets="modeldiagrams/")}</figure>' for made in diagrams
    )
    (folder / f"{name}.html").write_text(f"{HEAD}<title>{name}</title>\n<main>{body}</main>\n", encoding="utf-8")
    for made in diagrams:
        (assets / f"{made.id}.js").write_text(page.build_data_script(made), encoding="ascii")


MIKE = '<script id="__config" type="application/json">{"version": {"provider": "mike"}}</script>'


def diagram(press: Press, graph: Graph, *, snapshot: str = "pkg.Network", **options: object) -> Diagram:
    """The diagram of a model, as of a version."""
    return msgspec.structs.replace(press.make(graph, **options), id="pkg.Network", snapshot=snapshot)


def write_version(folder: Path, head: str, *diagrams: Diagram) -> None:
    """Write the site of a version: one page, and the files beside it."""
    entries = [make_entry(made, "index.html") for made in diagrams]
    files = {**build_shared_files(Settings(), entries), **build_diagram_files(diagrams)}
    assets = folder / "modeldiagrams"
    assets.mkdir(parents=True)
    for name, content in files.items():
        (assets / name).write_bytes(content)
    body = "".join(page.render_fragment(made, assets="modeldiagrams/") for made in diagrams)
    text = f"{HEAD}<title>{folder.name}</title>{head}\n<main><h1>Network</h1>{body}</main>\n"
    (folder / "index.html").write_text(text, encoding="utf-8")


def write_documentation(root: Path, press: Press) -> None:
    """Write a documentation in several versions, as mike does."""
    sites = {
        "2.0": [diagram(press, network(**NEW))],
        "1.1": [diagram(press, network(**NEW))],
        "1.0": [diagram(press, network(**OLD))],
        "0.9": [diagram(press, network(**OLD), snapshot="pkg.Another")],
        "0.8": [diagram(press, network(**NEW))],
        "0.7": [diagram(press, network(**OLD))],
        "0.6": [diagram(press, network(**OLD))],
        "0.5": [diagram(press, network(**NEW))],
    }
    for version, diagrams in sites.items():
        write_version(root / version, MIKE, *diagrams)
    (root / "0.6" / "modeldiagrams" / "index.json").unlink()
    for version, was, now in (
        ("0.8", '"state":"complete"', '"state":"partial"'),
        ("0.7", '"version":"1.', '"version":"9.'),
        ("0.5", '"mode":"real"', '"mode":"fake"'),
    ):
        graph = root / version / "modeldiagrams" / "pkg.Network.json"
        text = graph.read_text("utf-8")
        assert was in text
        graph.write_text(text.replace(was, now, 1), encoding="utf-8")
    listed = [{"version": version, "title": version, "aliases": []} for version in sites]
    listed[0]["aliases"] = ["latest"]
    (root / "versions.json").write_text(json.dumps(listed), encoding="utf-8")
