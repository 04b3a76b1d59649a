"""What readers press and read in a diagram, as the tests find it."""

SELECTED = "e => e.shadowRoot.querySelector('.mg-stage .mg-selected')?.dataset.id"
FOCUSED = """e => {
  const { activeElement } = e.shadowRoot;
  return activeElement?.closest('[data-id]')?.dataset.id ?? (activeElement?.ariaLabel || activeElement?.textContent);
}"""
"""The id of the node that has the focus, or the words on the control."""


def open_page(reader, server, name="one"):
    reader.page.goto(f"{server}/{name}.html")


def button(reader, name):
    return reader.page.get_by_role("button", name=name)


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
