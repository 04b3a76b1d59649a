"""Addresses and texts of the pages of catalogues' models."""

from __future__ import annotations

import yaml

from modeldiagrams.engine.catalogue.listing import Listed
from modeldiagrams.hosting.catalogue_pages import (
    MARK,
    format_markdown_page,
    format_rst_page,
    name_catalogue,
    name_pages,
    plan_models,
)
from modeldiagrams.options.catalogue import read_catalogue

OPTIONS = read_catalogue({"of": "mypkg", "depth": "1", "group": {"Stem": "conv1, bn1"}})


def test_addresses_are_the_names_of_models():
    assert name_pages("guide/models", ["b.Net", "a.Net", "b.Net"]) == {
        "a.Net": "guide/models/a.Net",
        "b.Net": "guide/models/b.Net",
    }


def test_addresses_are_distinct_where_file_systems_and_urls_are_not():
    names = ["pkg.alexnet", "pkg.AlexNet", "pkg.ALEXNET", "pkg.Modèle", "pkg.Mod-le", "pkg.Net:make", "pkg.net.make"]
    found = name_pages("models", names)
    assert len({page.lower() for page in found.values()}) == len(names)
    assert all(page.isascii() and ":" not in page for page in found.values())
    assert found["pkg.AlexNet"] == "models/pkg.AlexNet"


def test_addresses_do_not_depend_on_other_models_or_order():
    names = ["pkg.alexnet", "pkg.AlexNet", "pkg.Modèle", "pkg.Net"]
    alone = {model: page for name in names for model, page in name_pages("models", [name]).items()}
    assert name_pages("models", [*reversed(names), "pkg.ALEXNET"]).items() >= alone.items()


def test_pages_have_the_options_of_their_catalogue():
    wanted = {"depth": "1", "group": {"Stem": "conv1, bn1"}, "nowarn": True}
    rst = format_rst_page("pkg.Net_", OPTIONS, ":doc:`/models`")
    assert rst.startswith(f".. {MARK}\n\n:orphan:\n\nNet\\_\n=====\n\n``pkg.Net_`` in :doc:`/models`\n\n")
    directive, _, body = rst.partition(".. model-graph:: ")[2].partition("\n\n")
    assert (directive, yaml.safe_load(body)) == ("pkg.Net_", wanted)
    markdown = format_markdown_page("pkg.Net_", OPTIONS, "[Models](../models.md)", fence="{model-graph}")
    assert MARK in markdown
    assert "\n# Net\\_\n\n`pkg.Net_` in [Models](../models.md)\n" in markdown
    fence, body, end = markdown.partition("```")[2].split("\n", 2)
    assert (fence, yaml.safe_load(body), end) == ("{model-graph}", {"model": "pkg.Net_", **wanted}, "```\n")


def test_lines_below_titles_are_as_wide_as_these():
    page = format_rst_page("pkg.网Net", OPTIONS, "back")
    assert "\n网Net\n=====\n" in page


def plan(*catalogues, problem=""):
    warnings = []
    text = "".join(f"```model-catalogue\n{body}\n```\n" for body in catalogues)

    def list_models(options):
        return Listed(models=options.of, problem=problem)

    return plan_models(text, list_models, lambda message, line: warnings.append((line, message))), warnings


def test_a_page_has_the_options_of_the_first_catalogue_of_its_model():
    planned, warnings = plan("of: [a.Net, a.Other]\ndepth: 1", "of: [a.Net, a.New]\ndepth: 2")
    assert {model: options.values["depth"] for model, options in planned.models.items()} == {
        "a.Net": 1,
        "a.Other": 1,
        "a.New": 2,
    }
    ((line, message),) = warnings
    assert line == 5
    assert "shows a.Net with other options" in message
    for same in ("of: a.Net\ndepth: '1'\nnowarn: true\ngroup-by: none", "of: a.Third"):
        assert plan("of: a.Net\ndepth: 1", same)[1] == []


def test_models_are_certain_without_problems():
    assert plan("a.Net")[0].is_certain
    assert not plan("a.Net", "of: [")[0].is_certain
    assert not plan("a.Net", problem="b can't be imported")[0].is_certain


def test_data_of_a_catalogue_is_that_of_its_page():
    """It has links, which are relative to the page."""
    ids = {name_catalogue("catalogue-1a2b3c4d", page) for page in ("models", "guide/models")}
    assert len(ids) == 2
    assert name_catalogue("catalogue-1a2b3c4d", "models") in ids
