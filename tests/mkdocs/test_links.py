"""Links to classes through autorefs."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest
from mkdocs_autorefs import AutorefsPlugin, fix_refs

from mkdocs_modeldiagrams.links import Addresses, render_placeholder, resolve_names

NAMES = ["pkg.deep.Net", "pkg.Net"]


@pytest.fixture
def autorefs() -> AutorefsPlugin:
    plugin = AutorefsPlugin()
    plugin.load_config({})
    return plugin


def linked(autorefs, page: str) -> str:
    return resolve_names(render_placeholder(NAMES, "<code>Net</code>"), Addresses(autorefs, page))


def test_mention_refers_to_the_documented_name(autorefs):
    autorefs.register_anchor(SimpleNamespace(url="api/"), "pkg.Net")
    assert linked(autorefs, "") == '<autoref identifier="pkg.Net" optional><code>Net</code></autoref>'


def test_autorefs_resolves_an_unprocessed_mention():
    known = {"pkg.deep.Net": ("api/", None)}
    html, unmapped = fix_refs(render_placeholder(NAMES, "<code>Net</code>"), known.__getitem__)
    assert '<a class="autorefs autorefs-internal"' in html
    assert not unmapped


def test_undocumented_class_stays_an_optional_autoref(autorefs):
    assert linked(autorefs, "") == '<autoref identifier="pkg.deep.Net" optional><code>Net</code></autoref>'


@pytest.mark.parametrize("primary", [True, False])
def test_class_documented_twice_links_without_a_warning(primary, autorefs, caplog):
    for url in ("api/", "again/"):
        autorefs.register_anchor(SimpleNamespace(url=url), "pkg.Net", primary=primary)
    with caplog.at_level(logging.WARNING):
        link = linked(autorefs, "guide/deep/")
    assert link == '<a class="autorefs autorefs-internal" href="../../api/#pkg.Net"><code>Net</code></a>'
    assert not caplog.records
    autorefs.get_item_url("pkg.Net", from_url="guide/deep/")
    assert caplog.records, "what authors have written themselves is still a warning"
