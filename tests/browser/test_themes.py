"""Style isolation: a diagram takes only its colours from the page, and the page nothing from it."""

import re
from pathlib import Path

import pytest

from browser.controls import box, wait_until
from modeldiagrams.render.assets import find_asset

RUDE = {
    "elements": """
        svg { max-width: 20px !important; height: 10px; fill: red; overflow: hidden; vertical-align: middle }
        text, tspan { fill: red !important; font: 30px serif !important; display: none }
        g, rect, path { stroke: red !important; stroke-width: 9px; transform: rotate(5deg) !important }
        a { color: red !important; text-decoration: underline wavy }
        button, input, select { all: unset; display: block !important; width: 100% !important; border: 9px solid }
        nav, p, dl, dt, dd, div { padding: 40px !important; margin: 40px }""",
    "everything": "* { box-sizing: content-box; margin: 0; padding: 3px; line-height: 3; outline: 2px dotted red }",
    "inherited": """
        body { letter-spacing: 4px; word-spacing: 9px; text-transform: uppercase; font: italic small-caps 40px serif;
               text-indent: 50px; text-align: right; direction: rtl; text-shadow: 2px 2px red }""",
    "reset": """
        *, *::before, *::after { border: 0 solid; margin: 0; padding: 0; box-sizing: border-box }
        img, svg, video, canvas { display: block; vertical-align: middle; max-width: 100%; height: auto }
        button { background: transparent; background-image: none; font: inherit; line-height: 1 }""",
    "nothing left": """
        * { all: unset } :where(model-graph) * { all: initial }
        svg { width: 10px } table { display: block }
        button, input, select { background: red !important; padding: 30px !important; min-height: 99px !important }
        :host, ::part(x), ::slotted(*) { display: none !important }""",
    "lists": """
        details { border: 9px solid; padding: 1em } summary { display: block; list-style: none }
        li::before { content: '!' }""",
}

LOOKS = """e => {
    const stage = e.shadowRoot.querySelector('.mg-stage');
    const origin = stage.querySelector('svg').getBoundingClientRect();
    const inside = x => {
        const b = x.getBoundingClientRect();
        return [b.x - origin.x, b.y - origin.y, b.width, b.height].map(n => Math.round(n));
    };
    const style = x => {
        const s = getComputedStyle(x);
        const words = x.tagName === 'text' ? [s.fontSize, s.fontWeight, s.letterSpacing, s.textTransform] : [];
        return [s.display, s.fill, s.stroke, s.strokeWidth, s.transform, ...words];
    };
    const all = [...stage.querySelectorAll('[data-id], rect, path, text')];
    const shapes = all.map(x => [x.tagName, inside(x), style(x)]);
    return JSON.stringify(shapes);
}"""
CONTROLS = """(e, props) => [...e.shadowRoot.querySelectorAll('.mg-foot, .mg-foot *')].map(x => {
    const style = getComputedStyle(x);
    return [`${x.tagName} ${x.className}`, ...props.map(name => `${name}: ${style[name]}`)];
})"""
FOLLOWED = ["display", "position", "boxSizing", "border", "borderRadius", "boxShadow", "outlineStyle", "marginTop"]
FOLLOWED += ["paddingTop", "paddingBottom", "paddingInlineStart", "backgroundImage", "visibility"]
FOLLOWED += ["letterSpacing", "wordSpacing", "textTransform", "textIndent", "textShadow", "fontStyle", "fontVariant"]
FOLLOWED += ["fontWeight", "textAlign", "whiteSpace", "textDecorationLine", "cursor"]
SIZES = ["height", "marginBottom", "minHeight", "lineHeight", "fontSize"]
"""The page decides the size of text; everything else is in proportion to it."""


def look(reader, server, rules, *, sizes):
    """Computed styles of a diagram with all its controls, on a page with these rules."""
    reader.page.goto(f"{server}/rich.html")
    # a diagram follows the text colour and the direction of the page
    ours = "html, body { color: rgb(20, 20, 20) } main { display: block !important; width: 700px !important }"
    reader.page.add_style_tag(content=f"{rules} {ours}")
    picture = reader.evaluate(LOOKS)
    reader.node("head").click()
    reader.page.keyboard.press("/")
    reader.page.get_by_role("combobox", name="Search").wait_for()
    reader.page.get_by_role("button", name="More controls").click()
    reader.page.get_by_role("menu").wait_for()
    reader.page.get_by_role("region", name="Details").wait_for()
    props = FOLLOWED + SIZES if sizes else FOLLOWED
    return picture, reader.page.locator("model-graph").evaluate(CONTROLS, props)


@pytest.fixture(scope="module")
def plain_looks():
    """The looks without any rules."""
    return {}


@pytest.mark.parametrize("name", RUDE)
def test_page_styles_do_not_reach_a_diagram(reader, server, name, plain_looks):
    sizes = name not in ("inherited", "nothing left")
    if sizes not in plain_looks:
        plain_looks[sizes] = look(reader, server, "", sizes=sizes)
    picture, controls = look(reader, server, RUDE[name], sizes=sizes)
    assert picture == plain_looks[sizes][0]
    assert controls == plain_looks[sizes][1]
    reader.page.keyboard.press("Escape")
    reader.page.keyboard.press("Escape")
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()


def test_controls_stay_visible_where_the_page_clips_its_content(reader, server):
    """PyData wraps articles in a box that never scrolls, but captures `position: sticky`."""
    for rule in ("main { overflow: visible }", "main { overflow: auto }"):
        reader.page.goto(f"{server}/tall.html")
        reader.page.add_style_tag(content=rule)
        reader.node("input:x").hover()
        for scrolled in (0, 200):
            reader.page.evaluate("y => scrollTo(0, y)", scrolled)
            bar = reader.page.locator(".mg-toolbar")
            wait_until(reader, lambda bar=bar: 600 <= box(bar)["y"] <= 700 - box(bar)["height"], rule)


def test_diagram_styles_do_not_reach_the_page(reader, server, site):
    """With and without the style sheet, the rest of the page looks the same."""
    strangers = [
        "svg",
        "text",
        "button",
        "details",
        "summary",
        "ul",
        "li",
        "a",
        "p",
        "pre",
        "code",
        "figure",
        "nav",
        "div",
    ]
    looks = []
    for sheet in ("", f'<link rel="stylesheet" href="{server}/modeldiagrams/model-graph.css">'):
        reader.page.set_content(sheet + "".join(f"<{name} class='x'>x</{name}>" for name in strangers))
        reader.page.wait_for_load_state("networkidle")
        looks.append(
            reader.page.evaluate(
                "[...document.querySelectorAll('.x')].map(x => JSON.stringify(Object.values({...getComputedStyle(x)})))"
            )
        )
    assert looks[0] == looks[1]
    css = (site / "modeldiagrams" / "model-graph.css").read_text("utf-8")
    selectors = re.findall(r"(?:^|[}{;])([^{}@;]+)(?=\{)", css)
    assert len(selectors) > 100
    ours = re.compile(r"mg-|model-graph|:host|data-step|^\s*(from|to|\d+%)")
    assert [selector for selector in selectors if not ours.search(selector)] == []


def test_custom_properties_override_styles(reader, server):
    stroke = "e => getComputedStyle(e.shadowRoot.querySelector('[data-id=embed] .mg-box')).stroke"
    font = "e => getComputedStyle(e.shadowRoot.querySelector('.mg-stage text')).fontFamily"
    reader.page.goto(f"{server}/one.html")
    reader.page.add_style_tag(
        content=":root { --mg-hue-linear: rgb(255, 0, 0); --mg-font: Georgia; --mg-accent: lime }"
    )
    assert re.match(r"color\(srgb 1 0 0|rgba\(255, 0, 0", reader.evaluate(stroke))
    assert reader.evaluate(font) == "Georgia"
    reader.page.add_style_tag(content="model-graph { --mg-hue-linear: rgb(0, 0, 255) }")
    assert re.match(r"color\(srgb 0 0 1|rgba\(0, 0, 255", reader.evaluate(stroke))


OURS = {f"--mg-{name}" for name in ("least", "legible", "height", "room", "foot", "behind", "around", "theme")}


def test_every_custom_property_is_documented():
    """Those with a fallback; the script or a theme sets the others itself."""
    css = find_asset("model-graph.css").read_text("utf-8")
    offered = set(re.findall(r"var\((--mg-[a-z-]+),", css)) - OURS
    pages = (Path(__file__).parents[2] / "docs").rglob("themes.*")
    documented = " ".join(page.read_text("utf-8") for page in pages if "_build" not in page.parts)
    missing = {name for name in offered if name not in documented and not name.startswith("--mg-hue-")}
    assert missing == set()


def contrast(reader, foreground, background):
    """The WCAG contrast of two CSS colours."""
    luminances = reader.page.evaluate(
        """colours => colours.map(colour => {
            const pen = new OffscreenCanvas(1, 1).getContext('2d');
            pen.fillStyle = colour;
            pen.fillRect(0, 0, 1, 1);
            const part = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
            const [r, g, b] = pen.getImageData(0, 0, 1, 1).data;
            return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
        })""",
        [foreground, background],
    )
    dark, light = sorted(luminances)
    return (light + 0.05) / (dark + 0.05)


SWITCHES = {
    "Furo": "document.body.dataset.theme = '{}'",
    "PyData, Book": "document.documentElement.dataset.theme = '{}'",
    "Material": "document.body.dataset.mdColorScheme = '{}'",
    "MkDocs": "document.documentElement.dataset.bsTheme = '{}'",
    "Shibuya": "document.documentElement.className = '{}'",
}
SWITCHING = """
    [data-theme=dark], [data-md-color-scheme=dark], [data-bs-theme=dark], .dark { background: #111; color: #ddd }
    [data-theme=light], [data-md-color-scheme=light], [data-bs-theme=light], .light { background: #fff; color: #222 }
"""


def test_diagram_follows_light_and_dark_live(reader, server):
    """As themes switch them: everything derives from the text colour."""
    reader.page.goto(f"{server}/one.html")
    reader.page.add_style_tag(content=SWITCHING)
    word = "e => getComputedStyle(e.shadowRoot.querySelector('.mg-stage .mg-name')).fill"
    paper = "e => getComputedStyle(e.shadowRoot.querySelector('.mg-toolbar')).backgroundColor"
    for theme, switch in SWITCHES.items():
        for mode, background in (("dark", "#111"), ("light", "#fff")):
            reader.page.evaluate(switch.format(mode))
            assert contrast(reader, reader.evaluate(word), background) > 7, theme
            assert contrast(reader, reader.evaluate(word), reader.evaluate(paper)) > 7, theme
        reader.page.evaluate(switch.format(""))
