"""Outputs of a notebook, in pages as notebooks and their exports make them."""

from __future__ import annotations

import msgspec
import pytest

from browser.controls import wait_equal, wait_until
from browser.pages import encoder
from browser.serving import POLICIES
from modeldiagrams.api.export import draw_diagram
from modeldiagrams.engine.diagram import Problem
from modeldiagrams.html.standalone import build_notebook_viewer, render_notebook_output
from modeldiagrams.options.parsing import parse_view
from modeldiagrams.render.draw import Flat, render

POLICIES["vscode"] = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:;"
    " child-src https: data:"
)
ADD = """html => {
  const output = document.createElement('div');
  output.innerHTML = html;
  document.body.append(output);
  for (const inert of output.querySelectorAll('script')) {
    const script = document.createElement('script');
    script.textContent = inert.textContent;
    inert.replaceWith(script);
  }
}"""
"""How JupyterLab and VS Code show an output."""


def output(problem: Problem | None = None, **view) -> str:
    graph = encoder()
    diagram = msgspec.structs.replace(draw_diagram(graph, view), problem=problem)
    return render_notebook_output(diagram, render(graph, parse_view(view), flat=Flat(outlines=False)).svg)


def frame(reader, number: int = 0):
    """The page in the frame of an output, when it is shown."""
    element = reader.page.locator("iframe.model-diagram-frame").nth(number)
    reader.page.wait_for_function("e => parseFloat(e.style.height) > 0", arg=element.element_handle())
    return element.content_frame


@pytest.fixture
def notebook(reader, site, server):
    """Opens a page with these outputs."""

    def opened(*outputs: str, query: str = "", style: str = "") -> None:
        page = f"<!doctype html><meta charset=utf-8><body style='{style}'>{''.join(outputs)}"
        (site / "notebook.html").write_text(page, encoding="utf-8")
        reader.page.goto(f"{server}/notebook.html{query}")

    return opened


@pytest.mark.parametrize("query", ["", "?vscode"])
def test_one_viewer_makes_all_outputs_interactive(reader, notebook, query):
    """In an export, or in a page that permits what VS Code does."""
    notebook(output(depth=0), output(depth=0) + build_notebook_viewer(), query=query)
    for number in (0, 1):
        shown = frame(reader, number)
        shown.locator("[data-id='layers.0']").click()
        shown.locator("[data-id='layers.0.mlp']").wait_for()
    assert reader.page.locator("img:visible, small:visible").count() == 0


def test_output_says_what_is_missing_until_the_viewer_comes(reader, notebook):
    """The output that had it may be gone, or come later: cells are shown and run in any order."""
    notebook()
    reader.page.evaluate(ADD, output())
    assert reader.page.locator("img").is_visible()
    hint = reader.page.locator("small")
    assert hint.inner_text() == "Still picture. To open modules, run modeldiagrams.notebook() in a cell."
    reader.page.evaluate(ADD, build_notebook_viewer())
    assert frame(reader).locator("[data-id='layers.0']").is_visible()
    assert not hint.is_visible()
    reader.page.evaluate(ADD, output())
    assert frame(reader, 1).locator("[data-id='layers.0']").is_visible()


def test_without_scripts_the_still_picture_is_shown(reader_with, tmp_path):
    (tmp_path / "notebook.html").write_text(output() + build_notebook_viewer(), encoding="utf-8")
    with reader_with(java_script_enabled=False) as reader:
        reader.page.goto(f"{tmp_path.as_uri()}/notebook.html")
        assert reader.page.locator("img").bounding_box()["height"] > 100
        assert reader.page.locator("small").inner_text() == "Still picture. To open modules, trust this notebook."


def test_frame_is_as_high_as_picture_and_note(reader, notebook):
    lines = "\n".join(f"line {number}" for number in range(8))
    notebook(output(Problem(kind="forward", message=f"ValueError: odd\n{lines}")) + build_notebook_viewer())
    note = frame(reader).locator(".mg-problem pre")
    assert "ValueError: odd\nline 0" in note.inner_text()
    assert note.locator("..").evaluate("e => e.getBoundingClientRect().bottom <= innerHeight")
    assert note.evaluate("e => document.documentElement.scrollHeight <= innerHeight")


def test_menu_of_a_small_diagram_has_room(reader, notebook):
    notebook(output(direction="LR") + build_notebook_viewer())
    shown = frame(reader)
    shown.locator("model-graph").hover()
    shown.locator(".mg-toolbar > button").last.click()
    menu = shown.locator(".mg-menu")
    menu.wait_for()
    has_room = "e => { const r = e.getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight; }"
    wait_until(reader, lambda: menu.evaluate(has_room))
    assert "Copy a link" not in menu.inner_text()


@pytest.mark.requests
def test_lenses_show_costs(reader, notebook):
    """The output brings them along: there is nothing to load from."""
    notebook(output(depth=0) + build_notebook_viewer())
    shown = frame(reader)
    shown.locator("[data-id='layers.0']").click()
    shown.locator("[data-id='layers.0.mlp']").wait_for()
    shown.locator(".mg-toolbar > button").last.click()
    shown.locator(".mg-menu").get_by_text("Parameters", exact=True).click()
    bars = shown.locator(".mg-stage .mg-bar")
    bars.first.wait_for(state="attached")
    assert bars.count() > 1
    assert reader.requests == ["notebook.html"]


def test_frame_follows_the_colours_of_the_notebook(reader, notebook):
    notebook(output() + build_notebook_viewer(), style="background:#111;color:#eee")
    looks = "e => { const s = getComputedStyle(e); return [s.backgroundColor, s.color, s.colorScheme]; }"
    root = frame(reader).locator("html")
    dark = ["rgb(17, 17, 17)", "rgb(238, 238, 238)", "dark"]
    wait_equal(reader, lambda: root.evaluate(looks), dark)
    reader.page.evaluate("document.body.style.cssText = 'background:#fff;color:#222'")
    light = ["rgb(255, 255, 255)", "rgb(34, 34, 34)", "light"]
    wait_equal(reader, lambda: root.evaluate(looks), light)
