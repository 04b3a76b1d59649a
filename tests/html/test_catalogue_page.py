"""What the page of a catalogue says without scripts, and the files of its site."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser

import pytest

from catalogue_samples import catalogue, catalogue_of, family, figures, model, small_picture
from modeldiagrams.html.catalogue_data import build_catalogue_data
from modeldiagrams.html.catalogue_page import build_catalogue_files, render_catalogue
from modeldiagrams.html.fragment import DATA_START
from modeldiagrams.html.packing import pack

HOSTILE = "pkg.</script><img src=x onerror=alert(1)>\"'&<!--\x1b[31m\x00 src=//evil.example"
CLOSED = {"link", "img", "wbr", "meta"}


class Page(HTMLParser):
    """The elements of a page, and the cells of each row of the table; of nested tables, only the links."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements, self.rows, self.links, self.headings, self.text = [], [], [], [], [], ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.elements.append((tag, values))
        if tag not in CLOSED:
            self.open.append(tag)
        if tag == "a":
            self.links.append(values["href"])
        if self.open.count("table") == 1:
            if tag == "tr":
                self.rows.append([])
            elif tag in ("th", "td"):
                self.rows[-1].append([values, ""])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open.count("table") == 1 and self.rows and self.rows[-1]:
            self.rows[-1][-1][1] += data

    def all(self, tag):
        return [values for found, values in self.elements if found == tag]

    def texts(self):
        """The cells of each row."""
        return [[" ".join(text.split()) for _, text in row] for row in self.rows]


def page_of(shown):
    return f"models/{shown.name}.html"


def render(shown, **values):
    return render_catalogue(shown, assets="../modeldiagrams/", page_of=page_of, **values)


def build(shown, **values):
    return build_catalogue_files(shown, page_of, back="../api/models.html", **values)


def data_of(files):
    (script,) = [content.decode() for name, content in files.items() if name.endswith(".js")]
    id_, text = re.fullmatch(re.escape(DATA_START) + r'"([^"]+)",\'([^\']*)\'\);\n', script).groups()
    assert id_ == "catalogue-1a2b3c4d"
    lines = zlib.decompress(base64.b85decode(text.translate(str.maketrans(",./:[]", "&<>`{}")))).splitlines()
    head, *parts = map(json.loads, lines)
    return head | {name: [one for part in parts for one in part.get(name, [])] for name in ("families", "models")}


def test_the_table_is_complete_and_accessible():
    page = Page(render(catalogue(30)))
    assert not page.open
    # a table model of its own: each row has as many columns as the first, with those that span several
    width, left = len(page.rows[0]), 0
    for row in page.rows:
        columns = left + sum(int(values.get("colspan", 1)) for values, _ in row)
        assert columns == width
        left = sum(int(values.get("rowspan", 1)) > 1 for values, _ in row)
    names = [values for row in page.rows[1:] for values, _ in row if values.get("scope") == "row"]
    assert len(names) == 30
    assert all(values.get("scope") == "col" for values, _ in page.rows[0][1:])
    assert "57 models in 30 families" in page.text
    (region,) = [values for values in page.all("div") if values.get("role") == "region"]
    assert (region["tabindex"], region["aria-label"]) == ("0", "Models of pkg")
    assert all(
        (values["loading"], values["decoding"], values["alt"]) == ("lazy", "async", "") for values in page.all("img")
    )


def test_every_model_has_a_link_and_every_picture_a_file():
    shown = catalogue(30)
    page = Page(render(shown))
    assert page.links == [page_of(one) for family in shown.families for one in family.models]
    files = build(shown)
    assert {values["src"].removeprefix("../modeldiagrams/") for values in page.all("img")} < {*files}
    unlinked = Page(render_catalogue(shown, assets="", page_of=lambda _: None))
    assert not unlinked.links


def test_rows_tell_figures_with_their_signs():
    known = {"flops": 2_000, "flops_sign": "≥", "activation_bytes": 2048, "has_assumed_inputs": True}
    one = model("pkg.net", figures=figures(parameters=0, **known, inputs={"x": (1, 3), "y": None, "z": ()}))
    two = [
        model(f"pkg.net{n}", figures=figures(parameters=n * 10**6, flops=n * 10**9, flops_sign="≈", inputs={"x": (n,)}))
        for n in (2, 5)
    ]
    some = family(*two, name="Net", columns=("Layers",), rows=(("2",), ("5",)))
    page = Page(render(catalogue_of(some, family(one), group_by="none")))
    head, *rows = page.texts()
    assert head == ["", "Model", "Parameters", "FLOPs", "Activations", "Inputs"]
    assert rows == [
        ["", "Net pkg.nets", "2M–5M", "≈ 2 G–≈ 5 G", "–", "x 2 or 1 more"],
        ["2 models"],
        ["", "net pkg", "0", "≥ 2 k", "2 KiB", "x 1×3, y ?, 1 more assumed"],
    ]
    assert "≥ means at least; ≈ means about." in page.text
    assert "“Assumed” inputs were found by rules" in page.text
    assert re.search(r"2 models\s*Model\s*Layers\s*net2\s*2\s*net5\s*5", page.text)


def test_failures_partial_passes_and_aliases_are_told():
    failed = model("pkg.Bad", problem="ImportError: no scipy")
    partial = model("pkg.Half", figures=figures(state="partial"), problem="Its pass ends in head.", aliases=("pkg.H",))
    page = Page(render(catalogue_of(family(failed), family(partial))))
    assert page.texts()[1:] == [
        ["", "Bad pkg", "No diagram: ImportError: no scipy"],
        ["", "Half pkg also pkg.H", "1K"],
        ["Its pass ends in head."],
    ]
    assert "1 of 2 models has no diagram" in page.text
    alone = Page(render(catalogue_of(family(failed))))
    assert "No diagram: ImportError: no scipy" in alone.text


@pytest.mark.parametrize(
    ("group_by", "headings"),
    [("family", ["pkg.a.Net"]), ("module", ["pkg", "pkg.a", "pkg.b"]), ("none", [])],
)
def test_groups_have_headings(group_by, headings):
    classes = {"one": "pkg.b.Other", "two": "pkg.a.Net", "three": "pkg.a.Net"}
    families = [family(model(f"pkg.{name}", figures=figures(class_))) for name, class_ in classes.items()]
    page = Page(render(catalogue_of(*families, family(model("pkg.failed")), group_by=group_by)))
    assert [row[0][1].strip() for row in page.rows if row[0][0].get("scope") == "rowgroup"] == headings
    order = [row[1][1].split()[0] for row in page.rows[1:] if len(row) > 1]
    assert order == (["failed", "two", "three", "one"] if group_by == "module" else ["one", "two", "three", "failed"])


def test_hostile_names_stay_text():
    many = [model(HOSTILE + str(n), figures=figures(HOSTILE), aliases=(HOSTILE,), problem=HOSTILE) for n in (1, 2)]
    hostile = catalogue_of(
        family(*many, name=HOSTILE, columns=(HOSTILE,), rows=((HOSTILE,), (HOSTILE,))),
        family(model(HOSTILE, problem=HOSTILE)),
        group_by="module",
    )
    page = Page(render(hostile))
    assert not page.open
    assert not page.all("img")
    assert len(page.all("script")) == 1
    assert "\x1b" not in page.text
    (script,) = [content.decode() for name, content in build(hostile).items() if name.endswith(".js")]
    assert not re.search("<|=//", script)


def test_data_has_all_figures():
    shown = catalogue(20)
    models = [one for family in shown.families for one in family.models]
    data = data_of(build(shown))
    assert (data["format"], data["version"], data["groupBy"]) == ("modeldiagrams-catalogue", "1.0", "family")
    assert [at for family in data["families"] for at in family["models"]] == [*range(len(models))]
    for family_, told in zip(shown.families, data["families"], strict=True):
        assert told["name"] == family_.name
        assert told.get("rows", []) == [[*row] for row in family_.rows]
    for one, told in zip(models, data["models"], strict=True):
        assert (told["name"], told["id"], told["page"]) == (one.name, one.id, page_of(one))
        assert (told.get("problem", ""), told.get("since", "")) == (one.problem, one.since)
        assert told.get("aliases", []) == [*one.aliases]
        if one.figures is None:
            assert {"parameters", "uses", "picture"}.isdisjoint(told)
            continue
        layers, ops = data["uses"][told["uses"]]
        assert {data["layers"][at] for at in layers} == {*one.figures.layers}
        assert {data["ops"][at] for at in ops} == {*one.figures.ops}
        assert (told["parameters"], told["flops"]) == (one.figures.parameters, one.figures.flops)
        assert (told.get("flopsSign", ""), told.get("assumed", False)) == (
            one.figures.flops_sign,
            one.figures.has_assumed_inputs,
        )


def test_unknown_numbers_are_left_out_and_zero_is_known():
    data = data_of(build(catalogue_of(family(model("pkg.net", figures=figures(parameters=0))))))
    (told,) = data["models"]
    assert told == {
        "name": "pkg.net",
        "id": "pkg.net-1a2b3c4d",
        "page": "models/pkg.net.html",
        "parameters": 0,
        "uses": 0,
    }


def test_equal_pictures_share_a_file():
    twins = [family(model(f"pkg.net{n}", figures=figures(), picture=small_picture())) for n in range(3)]
    files = build(catalogue_of(*twins))
    assert [name for name in files if name.endswith(".svg")] == ["pkg.net0-1a2b3c4d.card.svg"]
    shared = "pkg.net0-1a2b3c4d.card.svg"
    assert [one["picture"] for one in data_of(files)["models"]] == [True, shared, shared]


def test_large_catalogues_have_a_page_with_the_whole_table():
    shown = catalogue(62)
    page = Page(render(shown))
    assert len([row for row in page.rows if any(values.get("scope") == "row" for values, _ in row)]) == 60
    assert "../modeldiagrams/catalogue-1a2b3c4d.html" in page.links
    whole = Page(build(shown)["catalogue-1a2b3c4d.html"].decode())
    models = [f"../api/{page_of(one)}" for family in shown.families for one in family.models]
    assert whole.links == ["../api/models.html", *models]
    assert not whole.all("script")
    assert not whole.all("link")
    assert all("/" not in values["src"] for values in whole.all("img"))
    assert "catalogue-1a2b3c4d.html" not in build(catalogue(60))


def test_catalogue_without_models_says_why():
    empty = catalogue_of(problem="The package pkg has no models.")
    page = Page(render(empty))
    assert "The package pkg has no models." in page.text
    assert not page.all("script")
    assert not page.all("table")
    assert build(empty) == {}


def test_sites_without_scripts():
    page = Page(render(catalogue(3), interactive=False))
    assert not page.all("script")
    assert page.all("model-catalogue") == [{}]
    assert not [name for name in build(catalogue(3), interactive=False) if name.endswith(".js")]


def test_same_catalogue_same_bytes():
    assert render(catalogue(30)) == render(catalogue(30))
    assert build(catalogue(30)) == build(catalogue(30))


def test_bounds():
    """What a page loads at first, apart from scripts and the pictures in sight."""
    assert len(render(catalogue(60)).encode()) < 100_000
    large = catalogue(10_000, sizes=1)
    assert len(render(large).encode()) < 100_000
    assert len(pack(build_catalogue_data(large, page_of))) < 900_000
    # few entries, each with many models
    assert len(render(catalogue(50, sizes=100)).encode()) < 250_000
