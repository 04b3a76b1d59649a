"""Catalogues: figures, small pictures, aliases and families of many models."""

from __future__ import annotations

import subprocess
import threading
from collections import Counter

import msgspec
import pytest
import torch
from torch import nn

import catalogue_samples as samples
import modeldiagrams
from engine.test_history import Repository
from graphs import small_graph
from modeldiagrams.engine import builder as builder_module
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.catalogue import cards
from modeldiagrams.engine.catalogue.build import build_catalogue
from modeldiagrams.engine.catalogue.families import find_families, join_aliases, summarise_failures
from modeldiagrams.engine.catalogue.listing import Listed
from modeldiagrams.engine.catalogue.releases import find_first_releases
from modeldiagrams.errors import RenderError
from modeldiagrams.ir.figures import list_figures
from modeldiagrams.ir.serialize import save, serialize
from modeldiagrams.ir.traits import list_traits
from modeldiagrams.options.catalogue import read_catalogue
from modeldiagrams.worker import Problem, Refused, Traced, Worker


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return x + self.conv(x)


class Grouped(Block):
    def __init__(self, width):
        super().__init__(width)
        self.conv = nn.Conv2d(width, width, 3, padding=1, groups=4)


class Gated(Block):
    """Another design: the same layers, but other operations."""

    def forward(self, x):
        return x * self.conv(x)


class Net(nn.Module):
    def __init__(self, times=2, width=4, block=Block):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 1)
        self.stage = nn.Sequential(*(block(width) for _ in range(times)))
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        return self.head(self.stage(self.stem(x)))


class OtherNet(Net):
    pass


class Branched(Net):
    """A class of two designs."""

    def __init__(self, times, *, has_tail):
        super().__init__(times)
        self.tail = nn.Conv2d(2, 2, 1) if has_tail else None

    def forward(self, x):
        return super().forward(x) if self.tail is None else self.tail(super().forward(x))


MODELS = {
    "net2": Net,
    "deep.net2": Net,
    "Net": Net,
    "net5": lambda: Net(times=5),
    "wide": lambda: Net(times=5, width=8),
    "grouped": lambda: Net(times=5, width=8, block=Grouped),
    "gated": lambda: Net(times=5, width=8, block=Gated),
    "other": OtherNet,
    "branched": lambda: Branched(2, has_tail=False),
    "branched_deep": lambda: Branched(3, has_tail=False),
    "tailed": lambda: Branched(2, has_tail=True),
    "tailed_deep": lambda: Branched(3, has_tail=True),
}


@pytest.fixture(scope="module")
def graphs():
    return {f"zoo.{name}": modeldiagrams.trace(make(), (torch.ones(1, 3, 8, 8),)) for name, make in MODELS.items()}


@pytest.fixture
def done(monkeypatch, graphs):
    """What was done, and how often: models traced, and cards drawn."""
    done = Counter[str]()

    def trace(_worker, options, *_):
        done[options.call.model] += 1
        if options.call.model not in graphs:
            return Refused(problem=Problem(kind="model", message=f"{options.call.model} can't be made: no disk\nmore"))
        return Traced(graph=serialize(graphs[options.call.model]))

    def draw(*_):
        done["drawn"] += 1
        return f"<svg>{done['drawn']}</svg>"

    monkeypatch.setattr(Worker, "trace", trace)
    monkeypatch.setattr(builder_module.Drawer, "render_card", draw)
    return done


@pytest.fixture
def build(tmp_path):
    def built(names=MODELS, *, cache="cache", **places):
        listed = Listed(models=tuple(f"zoo.{name}" for name in names))
        with DiagramBuilder(cache and tmp_path / cache, folder=tmp_path, **places) as builder:
            return build_catalogue(builder, read_catalogue({"of": "zoo"}), {}, listed)

    return built


def models_of(catalogue):
    return {model.name: model for family in catalogue.families for model in family.models}


def table_of(catalogue, name):
    (family,) = (one for one in catalogue.families if one.name == name)
    return {title: [row[at] for row in family.rows] for at, title in enumerate(family.columns)}, family


@pytest.mark.usefixtures("done")
def test_equal_graphs_are_one_model_with_the_name_that_readers_search(build):
    models = models_of(build())
    assert models["zoo.net2"].aliases == ("zoo.Net", "zoo.deep.net2")
    assert not {"zoo.Net", "zoo.deep.net2"} & models.keys()
    assert models["zoo.other"].aliases == ()


@pytest.mark.parametrize(("state", "number"), [("complete", 1), ("partial", 2), ("hierarchy", 2)])
def test_names_are_of_one_model_only_if_complete_passes_are_equal(state, number):
    same = samples.figures(state=state)
    assert len(join_aliases(samples.model(name, figures=same) for name in ("pkg.a", "pkg.b"))) == number


@pytest.mark.usefixtures("done")
def test_models_of_a_class_with_the_same_parts_and_operations_are_a_family(build):
    catalogue = build()
    assert [(family.name, [model.name for model in family.models]) for family in catalogue.families] == [
        ("Branched (branched …)", ["zoo.branched", "zoo.branched_deep"]),
        ("Branched (tailed …)", ["zoo.tailed", "zoo.tailed_deep"]),
        ("gated", ["zoo.gated"]),
        ("Net", ["zoo.net2", "zoo.net5", "zoo.grouped", "zoo.wide"]),
        ("other", ["zoo.other"]),
    ]


@pytest.mark.usefixtures("done")
def test_table_says_what_differs_and_no_more(build):
    cells, family = table_of(build(["net2", "net5", "wide", "grouped"]), "Net")
    parameters = [sum(p.numel() for p in MODELS[model.name[4:]]().parameters()) for model in family.models]
    assert [int(number) for number in cells["Parameters"][:1]] == parameters[:1]
    assert parameters == sorted(parameters)
    assert (cells["Block"], cells["Grouped"]) == (["2", "5", "–", "5"], ["–", "–", "5", "–"])
    assert cells["Median Conv2d width"] == ["4", "4", "8", "8"]
    assert cells["Median Conv2d groups"] == ["–", "–", "4", "–"]
    assert "Inputs" not in cells
    assert all(len({*column}) > 1 for title, column in cells.items() if title != "Parameters")
    assert len(cells) <= 8


@pytest.mark.usefixtures("done")
def test_figures_and_ids_are_those_of_the_diagrams(build, tmp_path, graphs, monkeypatch):
    monkeypatch.setattr(builder_module.Drawer, "render", lambda *_: None)
    models = models_of(build())
    assert all(model.figures == list_figures(graphs[name]) for name, model in models.items())
    with DiagramBuilder(tmp_path / "cache", folder=tmp_path) as builder:
        assert all(model.id == builder.build(model.options).id for model in models.values())


def test_next_build_neither_traces_nor_decodes_nor_draws(build, done, monkeypatch):
    first, before = build(), done.copy()
    assert before["drawn"] == len(MODELS)
    monkeypatch.setattr(DiagramBuilder, "load", None)
    assert build() == first
    assert done == before


def test_changed_viewer_draws_again_but_traces_nothing(build, done, monkeypatch):
    build(["net2"])
    monkeypatch.setattr(cards, "digest_viewer", lambda: "other")
    build(["net2"])
    assert done == {"zoo.net2": 1, "drawn": 2}


def test_without_cache_all_is_made_again(build, done):
    assert (
        build(["net2"], cache=None).families[0].models[0].figures
        == build(["net2"], cache=None).families[0].models[0].figures
    )
    assert done == {"zoo.net2": 2, "drawn": 2}


def test_without_torch_committed_graphs_give_the_same(build, done, graphs, tmp_path, monkeypatch):
    traced, folder = build(["net2", "net5", "lost"]), tmp_path / "model-graphs"
    for model in models_of(traced).values():
        if model.figures:
            save(graphs[model.name], folder / f"{model.id}.json")
    monkeypatch.setattr(builder_module, "has_torch", lambda: False)
    for _ in range(2):
        read = build(["net2", "net5", "lost"], cache="other", snapshots=folder)
        plain = [msgspec.structs.replace(model, picture="") for model in models_of(traced).values() if model.figures]
        assert [msgspec.structs.replace(m, picture="") for m in models_of(read).values() if m.figures] == plain
        assert "not installed" in models_of(read)["zoo.lost"].problem
    assert done == {"zoo.net2": 1, "zoo.net5": 1, "zoo.lost": 1, "drawn": 4}


def test_models_run_several_at_a_time(build, graphs, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(3), raising=False)
    together = threading.Barrier(3, timeout=120)
    answer = Traced(graph=serialize(graphs["zoo.net2"]))
    monkeypatch.setattr(Worker, "trace", lambda *_: (together.wait() and None) or answer)
    monkeypatch.setattr(builder_module.Drawer, "render_card", lambda *_: "")
    assert [model.aliases for model in models_of(build(["a", "b", "c"])).values()] == [("zoo.b", "zoo.c")]


@pytest.mark.usefixtures("done")
def test_a_graph_that_cannot_be_drawn_keeps_its_figures(build, monkeypatch):
    def draw(*_):
        raise RenderError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(builder_module.Drawer, "render_card", draw)
        (model,) = models_of(build(["net2"])).values()
    assert (model.figures is not None, model.picture, model.problem) == (True, "", "no room")
    (model,) = models_of(build(["net2"])).values()
    assert (model.picture, model.problem) == ("<svg>1</svg>", "")


@pytest.mark.usefixtures("done")
def test_models_of_one_name_have_more_of_it(build, graphs, monkeypatch):
    monkeypatch.setitem(graphs, "zoo.deep.other", graphs["zoo.tailed"])
    names = [family.name for family in build(["other", "deep.other", "net5"]).families]
    assert names == ["deep.other", "net5", "zoo.other"]


@pytest.mark.usefixtures("done")
def test_failures_cost_their_own_entries_and_make_one_sentence(build):
    lost = [f"lost{number}" for number in range(40)]
    catalogue = build(["net2", "net5", *lost])
    assert [len(family.models) for family in catalogue.families] == [1] * 40 + [2]
    assert models_of(catalogue)["zoo.lost7"].problem == "zoo.lost7 can't be made: no disk"
    named = ", ".join(f"zoo.{name}" for name in sorted(lost))
    said = summarise_failures(catalogue)
    assert said == (f"40 of 42 models have no complete diagram: {named} (40 × the model can't be made: no disk)")
    assert summarise_failures(build(["net2"])) is None


def test_first_release_is_the_first_tag_with_a_graph_of_the_model(tmp_path):
    repository = Repository(tmp_path)
    folder = repository.graph.parent
    repository.release("v0.9", None)
    repository.release("v1.9", small_graph())  # which may be younger than its models
    save(small_graph(), folder / "other-1a2b3c4d.json.gz")
    repository.release("v1.10", small_graph())
    for model in ("mypkg.Net", "other"):
        save(small_graph(), folder / f"{model}-00000000.json")
    repository.release("v2.0", None)
    save(small_graph(), folder / "new.json")
    assert find_first_releases(folder) == {"other": "v1.10"}


def test_without_history_there_are_no_releases(tmp_path, monkeypatch):
    assert find_first_releases(tmp_path) == {}
    assert find_first_releases(tmp_path / "missing") == {}
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: (_ for _ in ()).throw(FileNotFoundError("git")))
    assert find_first_releases(tmp_path) == {}


def test_names_of_entries_are_distinct_and_whole():
    names = ["pkg.a.x.Net", "pkg.b.x.Net", "pkg.Foo_"]
    families = find_families([samples.model(name, figures=samples.figures(name)) for name in names])
    assert [family.name for family in families] == ["a.x.Net", "b.x.Net", "Foo_"]


def test_settings_that_differ_are_in_the_table():
    def listed(eps):
        graph = modeldiagrams.trace(nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4, eps=eps)), (torch.ones(1, 4),))
        figures, traits = list_figures(graph), list_traits(graph)
        return samples.model(f"pkg.net_{eps}", figures=figures, traits=traits)

    (family,) = find_families([listed(1e-5), listed(1e-6)])
    assert "Median LayerNorm eps" in family.columns
    assert {row[family.columns.index("Median LayerNorm eps")] for row in family.rows} == {"1e-05", "1e-06"}
