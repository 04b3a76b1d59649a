"""Colouring by an amount or by class, with its scale."""

from browser.controls import button, item, open_page


def luminance(colour):
    channels = [float(value) / 255 for value in colour[:3]]
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


PAINTED = """(e, step) => {
  const node = e.shadowRoot.querySelector('.mg-stage [data-id=head]');
  node.dataset.step = step;
  return ['.mg-detail', '.mg-box'].map(part => getComputedStyle(node.querySelector(part)).fill);
}"""
PIXELS = """([text, fill]) => {
  const page = getComputedStyle(document.body).backgroundColor;
  const context = document.createElement('canvas').getContext('2d');
  const paint = (...colours) => {
    for (const colour of colours) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  return [paint(page, fill, text), paint(page, fill)];
}"""


LIGHT = "background: #fff; color: #222"
DARK = "background: #131416; color: #cfd0d0"


def test_text_has_contrast_on_every_colour(reader, server):
    open_page(reader, server, "rich")
    button(reader, "More controls").click()
    for by, steps in (("parameters", 5), ("class", 8)):
        item(reader, by.title()).click()
        reader.page.locator(f".mg-scale[data-by={'class' if by == 'class' else 'amount'}] .mg-swatch").first.wait_for()
        for style in (LIGHT, DARK):
            reader.page.evaluate("style => { document.body.style = style; }", style)
            for step in range(1, steps + 1):
                colours = reader.page.locator("model-graph").evaluate(PAINTED, step)
                assert contrast(*reader.page.evaluate(PIXELS, colours)) >= 4.5, (by, style, step)


def test_colouring_by_amount_has_a_scale_and_survives_a_toggle(reader, server):
    open_page(reader, server, "rich")
    button(reader, "More controls").click()
    item(reader, "FLOPs").click()
    scale = reader.page.locator(".mg-scale")
    scale.get_by_text("FLOPs:").wait_for()
    assert scale.locator(".mg-entry").all_inner_texts()[0] == "1K"
    assert reader.node("head").get_attribute("data-step") == "5"
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    assert reader.node("head").get_attribute("data-step") == "5"
    assert reader.node("layers.0/add").get_attribute("data-step") == "0"
    item(reader, "Kind").dispatch_event("click")
    scale.wait_for(state="hidden")
