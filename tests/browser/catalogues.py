"""Pages with catalogues: of models made by hand, and of two with diagrams, for comparisons."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import msgspec

from browser.pages import HEAD, Press
from browser.versions import NEW, OLD, network
from catalogue_samples import catalogue_of, family, figures, model
from modeldiagrams.html import fragment as page
from modeldiagrams.html.catalogue_page import build_catalogue_files, render_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from modeldiagrams.engine.catalogue.entries import Catalogue, CatalogueModel, Family
    from modeldiagrams.engine.diagram import Diagram

TEXT = "<p>Text of the page around the catalogue.</p>\n"


def page_of(model_: CatalogueModel) -> str:
    return f"models/{model_.name}.html"


def write_catalogue(folder: Path, name: str, catalogue: Catalogue, *, before: str = TEXT, head: str = "") -> None:
    """Write a page with a catalogue, and all of its files but the pages of models."""
    catalogue = msgspec.structs.replace(catalogue, id=f"catalogue-{name}")
    assets = folder / "modeldiagrams"
    assets.mkdir(parents=True, exist_ok=True)
    for file, content in page.list_viewer_files().items():
        shutil.copy(content, assets / file)
    for file, data in build_catalogue_files(catalogue, page_of, back=f"../{name}.html").items():
        (assets / file).write_bytes(data)
    body = render_catalogue(catalogue, assets="modeldiagrams/", page_of=page_of)
    text = f"{HEAD}<title>{name}</title>{head}\n<main><h1>Models</h1>{before}{body}{TEXT}</main>\n"
    (folder / f"{name}.html").write_text(text, encoding="utf-8")


def comparable(folder: Path, press: Press) -> Catalogue:
    """Write the diagrams of some models, and return a catalogue of these and of two without."""
    new = press.make(network(**NEW))
    assert new.graph is not None
    status = msgspec.structs.replace(new.graph.status, state="partial")
    partial = msgspec.structs.replace(new, graph=msgspec.structs.replace(new.graph, status=status))
    made = {"pkg.nets.old": press.make(network(**OLD)), "pkg.nets.new": new, "pkg.nets.part": partial}
    one, two, part = (_entry(folder, name, diagram) for name, diagram in made.items())
    gone = family(model("pkg.nets.gone", figures=figures("pkg.nets.Gone")))
    failed = family(model("pkg.nets.failed", problem="ImportError: no module named 'scipy'"))
    return catalogue_of(failed, gone, two, one, part)


def _entry(folder: Path, name: str, diagram: Diagram) -> Family:
    made = model(name, figures=figures(f"pkg.nets.{name[9:].title()}", inputs={"x": (1, 16)}))
    diagram = msgspec.structs.replace(diagram, id=made.id)
    assets = folder / "modeldiagrams"
    assets.mkdir(parents=True, exist_ok=True)
    (assets / f"{made.id}.js").write_text(page.build_data_script(diagram), encoding="ascii")
    return family(made)
