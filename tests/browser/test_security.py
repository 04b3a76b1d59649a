"""Content security policies, Trusted Types, hostile text, and scripts from other hosts."""

import pytest

from browser.controls import box, expand, wait_until
from browser.pages import HOSTILE


@pytest.mark.parametrize("policy", ["wasm", "types", "named-types"])
def test_strict_policies_that_allow_webassembly_change_nothing(reader, server, policy):
    """WebAssembly by name, nothing inline, nothing from other hosts; Trusted Types."""
    reader.page.goto(f"{server}/one.html?{policy}")
    expand(reader)
    assert reader.page.locator(".mg-note").inner_text() == ""
    assert reader.page.locator(".mg-stage").evaluate("e => getComputedStyle(e).position") == "relative"


@pytest.mark.requests
def test_policy_without_webassembly_keeps_the_picture_with_a_message(reader, server):
    reader.page.goto(f"{server}/one.html?csp")
    reader.node("layers.0").click()
    reader.page.get_by_text("The diagram isn't interactive").wait_for()
    assert reader.node("layers.0").is_visible()
    assert "viz.js" not in reader.requests
    before = box(reader.node("layers.0"))["width"]
    reader.page.get_by_role("button", name="Zoom in").click()
    wait_until(reader, lambda: box(reader.node("layers.0"))["width"] > before)


def test_policy_that_forbids_the_trusted_type_keeps_the_picture(reader, server):
    reader.page.goto(f"{server}/one.html?no-types")
    reader.node("layers.0").click()
    reader.page.locator(".mg-note:not(:empty)").wait_for()
    assert reader.node("layers.0").is_visible()


@pytest.mark.requests
def test_scripts_from_other_hosts_are_refused(reader, site, server):
    """An element in text that somebody else wrote must not bring a script; the data beside the viewer is the site's."""
    text = (site / "one.html").read_text("utf-8").replace('src="modeldiagrams/pkg.', 'src="https://x.invalid/pkg.')
    (site / "foreign.html").write_text(text, encoding="utf-8")
    reader.page.goto(f"{server}/foreign.html")
    reader.evaluate("e => e.toggle('layers.0')")
    reader.node("layers.0.mlp").wait_for()
    assert [url for url in reader.urls if not url.startswith(server)] == []


def test_hostile_names_stay_text(reader, server):
    reader.page.goto(f"{server}/hostile.html")
    assert HOSTILE.replace("\u202e", "\ufffd") in reader.page.locator(".mg-problem").inner_text()
    expand(reader)
    reader.page.locator(".mg-outline > summary").click()
    assert reader.page.locator("img").count() == 0
    assert reader.evaluate("e => e.shadowRoot.querySelectorAll('img, script, a').length") == 0
