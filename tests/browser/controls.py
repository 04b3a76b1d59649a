"""Finds the controls and texts of a diagram, and uses them."""

import time

PATIENCE = 60
"""Seconds until a condition that does not come true is given up; a busy machine may need many."""

SELECTED = "e => e.shadowRoot.querySelector('.mg-stage .mg-selected')?.dataset.id"
FOCUSED = """e => {
  const { activeElement } = e.shadowRoot;
  return activeElement?.closest('[data-id]')?.dataset.id ?? (activeElement?.ariaLabel || activeElement?.textContent);
}"""
"""The id of the focused node, or the label of the focused control."""


def open_page(reader, server, name="one"):
    reader.page.goto(f"{server}/{name}.html")


def button(reader, name):
    return reader.page.get_by_role("button", name=name)


def item(reader, name):
    """What the menu offers under this name."""
    return reader.page.locator(".mg-menu").get_by_text(name)


def details(reader):
    return reader.page.get_by_role("region", name="Details")


def facts(reader):
    """Label → lines of the details panel."""
    return {
        row.locator("dt").inner_text(): row.locator("dd").all_inner_texts()
        for row in details(reader).locator("dl").all()
    }


def wait_selected(reader, node):
    reader.page.wait_for_function(f"id => ({SELECTED})(document.querySelector('model-graph')) === id", arg=node)


def expand(reader, diagram=0):
    """Expand the first layer."""
    reader.node("layers.0", diagram).click()
    reader.node("layers.0.mlp", diagram).wait_for()


def loaded(reader):
    """Wait until the widget has everything that a diagram needs, as after a pointer's first movement."""
    reader.evaluate("e => e.picture()")


def wait_until(reader, is_so, what=""):
    """Wait for a condition that is told by Python; the page goes on meanwhile."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, what
        reader.page.wait_for_timeout(20)


def wait_equal(reader, read, expected):
    """Wait until something is what it should be; the failure tells what it was."""
    seen = []
    try:
        wait_until(reader, lambda: seen.append(read()) or seen[-1] == expected)
    except AssertionError:
        changes = [one for i, one in enumerate(seen) if one != seen[i - 1] or i == 0]
        raise AssertionError(f"expected {expected}, saw {changes}") from None


def settled(reader):
    """Wait until no animation runs."""
    reader.page.wait_for_function(
        "[...document.querySelectorAll('model-graph')].every(e => e.shadowRoot.getAnimations().length === 0)"
    )


def box(locator):
    return locator.bounding_box()
