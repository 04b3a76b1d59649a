"""Two versions of a model, and the sites that show them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from browser.pages import HEAD, Builder, Press
from modeldiagrams.html import fragment as page
from modeldiagrams.ir.serialize import save
from modeldiagrams.options.parsing import parse_options

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
        for file, content in page.viewer_files().items():
            shutil.copy(content, assets / file)
    body = "".join(
        f'<figure class="mg-figure">{page.fragment(made, assets="modeldiagrams/")}</figure>' for made in diagrams
    )
    (folder / f"{name}.html").write_text(f"{HEAD}<title>{name}</title>\n<main>{body}</main>\n", encoding="utf-8")
    for made in diagrams:
        (assets / f"{made.id}.js").write_text(page.data_script(made), encoding="ascii")
