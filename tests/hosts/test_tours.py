"""Tours in every host: the same parts in the same order, prose in the host's markup, still pictures, and bad input."""

from __future__ import annotations

import re
import textwrap

import pytest
import yaml

from hosts.hosts import SphinxHost

WHOLE = {"title": "The *whole*", "text": "Some **prose**."}
LAYER = {"title": "2. A layer", "text": "- one\n- two", "focus": "fc", "highlight": "fc"}
TOUR = {
    "options": {"model": "net.json", "name": "walk", "caption": "A *net*.", "notes": "{fc: Of an *option*.}"},
    "steps": [WHOLE, LAYER],
    "note": "A *note* of its own.",
}


def rst(options, steps, note):
    return textwrap.dedent("""
        .. model-tour::
        {options}

        {steps}
    """).format(
        options=textwrap.indent("\n".join(f":{name}: {value}" for name, value in options.items()), "   "),
        steps=textwrap.indent(
            "\n".join([*(_rst_step(**step) for step in steps), _rst("model-note:: relu", note)]), "   "
        ),
    )


def _rst_step(title, text, **options):
    return _rst(f"tour-step:: {title}", text, *(f":{name}: {value}" for name, value in options.items()))


def _rst(head, text, *lines):
    return f".. {head}\n{textwrap.indent(chr(10).join([*lines, '', text, '']), '   ')}"


def blocks(options, steps, note):
    inner = "\n\n".join(
        [*(_block("////", "tour-step", **step) for step in steps), _block("////", "model-note | relu", note)]
    )
    return _block("///", "model-tour", text=inner, **options)


def _block(fence, kind, text, title="", **options):
    head = f"{fence} {kind}{f' | {title}' if title else ''}\n"
    body = textwrap.indent(yaml.safe_dump(options), "    ") if options else ""
    return f"{head}{body}\n{text}\n{fence}"


BAD = {
    "no-steps": {**TOUR, "steps": []},
    "no-such-part": {**TOUR, "steps": [WHOLE, {**LAYER, "focus": "fcc"}]},
    "no-such-op": {**TOUR, "steps": [{**LAYER, "highlight": "rely"}]},
    "hidden": {**TOUR, "options": {**TOUR["options"], "hide": "[fc]"}},
    "no-such-option": {**TOUR, "steps": [{**WHOLE, "fokus": "fc"}]},
    "no-such-lens": {**TOUR, "steps": [{**WHOLE, "lens": "heat"}]},
    "no-such-file": {**TOUR, "options": {"model": "nothing.json"}},
}


@pytest.fixture(scope="module")
def written(host):
    return rst if isinstance(host, SphinxHost) else blocks


@pytest.fixture(scope="module")
def site(build_site, written):
    pages = {"index": [f"raw!{written(**TOUR)}"]} | {name: [f"raw!{written(**tour)}"] for name, tour in BAD.items()}
    return build_site({**pages, "plain": ["model: net.json\nsteps: [{}]"]})


@pytest.fixture(scope="module")
def page(site):
    return site.page("index")


def parts(html):
    """The classes of a tour's parts, in order."""
    return re.findall(r'class="(?:\S+ )*?(mg-tour|mg-tour-body|mg-tour-picture|mg-figure|mg-steps|mg-step)[" ]', html)


def test_parts_come_in_the_same_order(page):
    assert parts(page) == ["mg-tour", "mg-tour-body", "mg-tour-picture", "mg-figure", "mg-steps", "mg-step", "mg-step"]
    assert re.search(r'class="mg-tour mg-live[ "]', page)


def test_prose_and_titles_are_converted_like_the_page(page):
    assert "<strong>prose</strong>" in page
    assert re.search(r"<strong>The <em>whole</em></strong>", page)
    assert re.search(r"<li>\s*(<p>)?one", page)
    assert re.search(r"A <em>net</em>\.", page)


def test_notes_are_below_the_picture(page):
    listed = re.search(r'<ol class="[^"]*mg-notes[^>]*>(.*?)</ol>', page, re.DOTALL)
    assert re.findall(r'<li id="([^"]*)">\s*<p>(.*?)</p>', listed[1]) == [
        ("walk-note-1", "Of an <em>option</em>."),
        ("walk-note-2", "A <em>note</em> of its own."),
    ]
    assert page.index("mg-notes") < page.index("mg-steps")
    assert "own" not in page[page.index("mg-steps") :]


def test_each_step_has_a_picture_file(page, site):
    images = re.findall(r'<img class="mg-step-picture" src="(?:\.\./)*modeldiagrams/([^"]+)"[^>]* alt="([^"]*)"', page)
    assert [alt for _, alt in images] == ["Net, step 1: The whole", "Net, step 2: A layer"]
    pictures = [(site.data / name).read_text() for name, _ in images]
    assert [text.count('opacity="0.35"') for text in pictures] == [0, 3]
    assert 'loading="lazy"' in page


def test_steps_have_anchors(page):
    assert re.findall(r'id="([\w.-]+-step-\d)"', page) == ["walk-step-1", "walk-step-2"]


def test_the_page_loads_the_script_of_tours_and_the_data_once(page, site):
    assert re.findall(r'src="[^"]*modeldiagrams/(prose|model-graph)\.js"', page) == ["model-graph", "prose"]
    assert "prose.js" not in site.page("plain")
    assert (site.data / "prose.js").is_file()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no-steps", "option `steps`: missing: expected at least one `tour-step` inside the tour"),
        ("no-such-part", "model-tour: step 2: option `focus`: nothing matches 'fcc'; did you mean 'fc'?"),
        ("no-such-op", "model-tour: step 1: option `highlight`: nothing matches 'rely'; did you mean 'relu'?"),
        ("hidden", "model-tour: step 2: option `focus`: the picture has no 'fc': the option `hide` leaves it out"),
        ("no-such-option", "model-tour: step: option `fokus`: unknown; did you mean 'focus'?"),
        ("no-such-lens", "model-tour: step: option `lens`: expected class or parameters or flops or memory"),
        ("no-such-file", "nothing.json"),
        ("plain", "option `steps`: belongs to `model-tour`, which has a `tour-step` with prose for each"),
    ],
)
def test_mistakes_are_located_warnings(site, host, name, message):
    place = re.escape(host.location(name)).replace(str(6), r"\d+", 1)
    assert re.search(place + ".*" + re.escape(message), site.log), site.log


def test_a_step_with_a_mistake_still_has_its_prose(site):
    assert "<strong>prose</strong>" in site.page("no-such-option")
    assert not site.has_failed
