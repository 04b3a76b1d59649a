"""Options: one declaration, any host, located errors."""

from __future__ import annotations

import time
from typing import Any

import click
import msgspec
import pytest
import yaml

from modeldiagrams.cli.commands import main
from modeldiagrams.errors import OptionError
from modeldiagrams.options.options import Limits
from modeldiagrams.options.parsing import collect_help, list_options, parse_option, parse_options
from modeldiagrams.options.settings import Settings
from modeldiagrams.options.suggestions import COMMAND_LINE, SITE
from option_helpers import make_options


def test_text_and_data_give_the_same_options() -> None:
    as_text = {"model": "a.B", "inputs": "{x: [1, 4]}", "depth": "2", "kwargs": "{n: 1}", "expand": "'*.attn', a.b"}
    as_data = {"model": "a.B", "inputs": {"x": [1, 4]}, "depth": 2, "kwargs": {"n": 1}, "expand": ["*.attn", "a.b"]}
    assert parse_options(as_text) == parse_options(as_data)


@pytest.mark.parametrize(
    ("text", "patterns"),
    [("a.b", ["a.b"]), ("[a, '*.b']", ["a", "*.b"]), ("layers.[0-3], x", ["layers.[0-3]", "x"]), ("[]", []), ("", [])],
)
def test_patterns_as_text(text: str, patterns: list[str]) -> None:
    assert parse_options({"model": "a.B", "expand": text}).view.expand == patterns


@pytest.mark.parametrize(
    "written",
    ["{'*': TB, '*.attn': LR}", "*: TB, *.attn: LR", '{"*": "TB", "*.attn": "LR"}', {"*": "TB", "*.attn": "LR"}],
)
def test_directions_by_pattern(written: Any) -> None:
    view = parse_options({"model": "a.B", "direction": written}).view
    assert view.direction == {"*": "TB", "*.attn": "LR"}
    # the last that matches counts: the order is the author's
    assert list(view.direction) == ["*", "*.attn"]


@pytest.mark.parametrize(
    ("written", "means"),
    [("none", "none"), ("columns", ["columns"]), ("[columns]", ["columns"]), (["columns"], ["columns"]), ("[]", [])],
)
def test_shapes_are_a_list_or_none(written: Any, means: Any) -> None:
    assert parse_options({"model": "a.B", "shapes": written}).view.shapes == means


def test_numbers_are_accepted_as_text() -> None:
    assert parse_options({"model": "a.B", "width": 640, "caption": 3}) == make_options(
        model="a.B", width="640", caption="3"
    )


@pytest.mark.parametrize(
    ("written", "means"), [("", True), (None, True), ("false", False), (False, False), ("yes", True)]
)
def test_flags_need_no_value(written: Any, means: bool) -> None:
    assert parse_options({"model": "a.B", "static": written}).figure.static is means
    assert parse_options({"model": "a.B"}, {"no-links": written}).figure.no_links is means


def test_values_override_defaults() -> None:
    view = parse_options({"model": "a.B", "depth": 1}, {"depth": 3, "direction": "LR"}).view
    assert (view.depth, view.direction) == (1, "LR")


@pytest.mark.parametrize(
    ("values", "option", "says"),
    [
        ({"model": "a", "depht": 1}, "depht", "did you mean 'depth'"),
        ({"model": "a", "zzz": 1}, "zzz", "known options: model, args"),
        ({"model": "a", "depth": -1}, "depth", "got -1"),
        ({"model": "a", "depth": "two"}, "depth", "expected a whole number from 0 to 1000, got 'two'"),
        ({"model": "a", "direction": "UP"}, "direction", "left to right"),
        ({"model": "a", "direction": "*.attn: UP"}, "direction", "left to right"),
        (
            {"model": "a", "shapes": "columns, rows"},
            "shapes",
            "expected a list of columns or u or streams or fans or dense or none",
        ),
        ({"model": "a", "inputs": "{x: ["}, "inputs", "is not valid YAML: "),
        (
            {"model": "a", "inputs": "{x: a[1]}"},
            "inputs",
            "is not valid YAML: expected ',' or '}', but found '[', got '{x: a[1]}'",
        ),
        ({"model": "a", "arrange": "{experts.?: row}"}, "arrange", "a pattern needs quotes, 'experts.?'"),
        ({"model": "a", "notes": "{*.attn: See}"}, "notes", "a pattern needs quotes, '*.attn'"),
        ({"model": "a", "group": "{FFN: [relu, *.linear1]}"}, "group", "a pattern needs quotes, '*.linear1'"),
        (
            {"model": "a", "rename": {"a": ""}},
            "rename",
            "values are text that is not empty, got {'a': ''}",
        ),
        (
            {"model": "a", "arrange": {"a": "ring"}},
            "arrange",
            "values are row or column or grid",
        ),
        ({"model": "a", "inputs": 3}, "inputs", "Example inputs"),
        ({"model": "a", "inputs": "{x: {value: 2024-13-45}}"}, "inputs", "month must be"),
        ({"model": "a", "inputs": "[[99999999999999999999]]"}, "inputs", "ints"),
        ({"model": "a", "kwargs": "{a: &a [*a]}"}, "kwargs", "recursion"),
        ({"model": "a", "kwargs": r'{a: "\ud800"}'}, "kwargs", "surrogates"),
        ({"model": "a", "caption": "\ud800"}, "caption", "surrogates"),
        ({"model": "a", "direction": {"\ud800": "LR"}}, "direction", "surrogates"),
        ({"model": "a", "depth": "100000000000000000000"}, "depth", "from 0 to 1000"),
        ({"model": "a", "inputs": "1, 4"}, "inputs", "got '1, 4'; did you mean [1, 4]? Example inputs."),
        ({"model": "a", "inputs": "(1, 4), (2, 3)"}, "inputs", "got '(1, 4), (2, 3)'. Example inputs."),
        ({"model": "a", "inputs": "(1, 4)"}, "inputs", "got '(1, 4)'; did you mean [1, 4]? Example inputs."),
        ({"model": "a", "depth": "1, 4"}, "depth", "expected a whole number from 0 to 1000, got '1, 4'. Number of"),
        ({"model": "a", "width": "wide"}, "width", "expected a CSS length, got 'wide'"),
        ({"model": "a", "static": "often"}, "static", "without zooming and expanding"),
        ({"model": "a", "name": "two words"}, "name", "anchor"),
        ({"model": "a", "expand": [3]}, "expand", "expected a list of text, got [3]"),
        ({"model": "a", "timeout": 0}, "timeout", "expected a number above 0, got 0"),
        (
            {"model": "a", "align": "middle"},
            "align",
            "expected left or center or right, got 'middle'; did you mean center?",
        ),
        ({"model": "a", "vocabulary": {"argments": {}}}, "vocabulary", "inputs, but 'argments' is neither, got {'arg"),
        ({"model": "a", "vocabulary": "{inputs: 3}"}, "vocabulary", "expected a map, got '{inputs: 3}'"),
        ({"model": "a", "args": {"n": 4}}, "args", "got {'n': 4}; arguments by name are the option `kwargs`."),
        ({"model": "a", "args": "{n: 4}"}, "args", "got '{n: 4}'; arguments by name are the option `kwargs`."),
        ({"model": "a", "kwargs": "[4]"}, "kwargs", "got '[4]'; arguments by position are the option `args`."),
        ({"model": "a", "kwargs": "{n: 4, m: 5, n: 6}"}, "kwargs", "is not valid YAML: the key 'n' is given twice"),
        ({"model": "a", "flat": "true"}, "flat", "belongs to the command line"),
        ({"model": "a", "dtype": "int64"}, "dtype", "belongs to an entry of `inputs`"),
        ({"model": "a", "on-error": "raise"}, "on-error", "`modeldiagrams_on_error` in conf.py, or `on_error` in mk"),
        ({"model": "a", "title": "x"}, "title", "unknown; did you mean 'caption'?"),
        ({"model": "a", "colour": "red"}, "colour", "unknown; did you mean 'kind'?"),
        ({"model": "a", "scale": 2}, "scale", "unknown; known options: model, args"),
        ({"model": "a", "vocabulary": "{inputs: {'(': [1]}}"}, "vocabulary", "regular expressions for names, but '('"),
        ({"model": ""}, "model", "expected text that is not empty, got ''. The model: dotted path"),
        ({"model": "a.B\ndepth: 1"}, "model", "expected one line; an option below it has two colons, `:depth: 1`, got"),
        ({"inputs": [1]}, "model", "missing"),
    ],
)
def test_wrong_options_say_what_is_expected(values: dict[str, Any], option: str, says: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_options(values)
    assert caught.value.option == option
    assert says in str(caught.value)
    assert str(caught.value).encode(), "terminals and pages are UTF-8"


def test_each_option_is_in_its_struct():
    groups = {field.name for field in msgspec.structs.fields(Limits)}
    assert {field.name for field in msgspec.structs.fields(Settings)} - groups == SITE
    commands = [main.get_command(click.Context(main), name) for name in ("trace", "show")]
    flags = {flag.lstrip("-") for command in commands if command for one in command.params for flag in one.opts}
    assert flags >= COMMAND_LINE
    assert not {*list_options()} & (SITE | COMMAND_LINE)


def test_every_option_has_documentation() -> None:
    helps = collect_help()
    assert list(helps)[:3] == ["model", "args", "kwargs"]
    assert "class" in helps
    assert all(text.endswith(".") and text[0].isupper() for text in helps.values())


@pytest.mark.parametrize("written", ["{1.1: ../1.1/, next: ../next/}", {"1.1": "../1.1/", "next": "../next/"}])
def test_versions_are_addresses_by_name(written):
    assert parse_options({"model": "m.N", "versions": written}).figure.versions == {
        "1.1": "../1.1/",
        "next": "../next/",
    }


def test_versions_are_the_address_of_a_list():
    assert parse_options({"model": "m.N", "versions": "../versions.json"}).figure.versions == "../versions.json"
    with pytest.raises(OptionError, match=r"`?versions`?.*expected text or a map"):
        parse_options({"model": "m.N", "versions": [1]})


def test_images_are_named_with_or_without_a_text():
    both = {"stem": {"image": "a.png"}, "*.attn": {"image": "maps/b.svg", "alt": "Where, and what"}}
    text = "{stem: a.png, '*.attn': {image: 'maps/b.svg', alt: 'Where, and what'}}"
    assert parse_option("embed", text) == parse_option("embed", both) == both


@pytest.mark.parametrize(
    "value", ["{stem: {alt: Text}}", "{stem: {image: a.png, alt: Where, and what}}", "[a.png]", "3"]
)
def test_images_that_are_not_named_are_refused(value):
    with pytest.raises(OptionError, match=r"option `embed`: expected (for stem an image, .* in quotes|a map)"):
        parse_option("embed", value)


def test_line_breaks_in_names_stay_on_one_line():
    with pytest.raises(OptionError, match=r"option `de\\npth`: unknown"):
        parse_options({"model": "m.N", "de\npth": 1})


@pytest.mark.parametrize(
    ("option", "value", "pasted", "means"),
    [
        ("direction", "lr", "LR", "LR"),
        ("direction", "vertical", "TB", "TB"),
        ("inputs", "1,8", "[1,8]", [1, 8]),
        ("inputs", "int64[1, 4]", "[{shape: [1, 4], dtype: int64}]", [{"shape": [1, 4], "dtype": "int64"}]),
        ("kwargs", "width=16, bias=False", "{width: 16, bias: False}", {"width": 16, "bias": False}),
        ("timeout", "5m", "300", 300),
        ("timeout", "90 s", "90", 90),
        ("memory", "4GB", "4", 4),
        ("device", "gpu", "cuda", "cuda"),
        ("align", "Left", "left", "left"),
    ],
)
def test_suggestions_can_be_pasted(option, value, pasted, means):
    with pytest.raises(OptionError) as error:
        parse_option(option, value)
    assert f"; did you mean {pasted}?" in str(error.value)
    assert parse_option(option, pasted) == means


def test_arguments_with_a_part_that_would_be_lost_get_no_suggestion():
    with pytest.raises(OptionError) as error:
        parse_option("kwargs", "size=1,2, bias=False")
    assert "did you mean" not in str(error.value)


def test_long_text_is_rejected_at_once():
    before = time.process_time()
    with pytest.raises(OptionError):
        parse_option("kwargs", "a" * 50_000)
    assert time.process_time() - before < 1


@pytest.mark.parametrize("value", ["all", "Full", -1, "-1", "*"])
def test_depth_without_a_limit_is_another_option(value):
    with pytest.raises(
        OptionError, match=r"option `depth`: .*; to expand all modules, write `expand: '\*'`\. "
    ) as error:
        parse_option("depth", value)
    pasted = yaml.safe_load(str(error.value).split("`")[3])
    assert parse_options({"model": "a.B", **pasted}).view.expand == ["*"]


@pytest.mark.parametrize(
    ("option", "value"), [("timeout", "soon"), ("timeout", "5 apples"), ("fit", "a5"), ("depth", 5000)]
)
def test_no_suggestion_if_nothing_is_similar(option, value):
    with pytest.raises(OptionError) as error:
        parse_option(option, value)
    assert "did you mean" not in str(error.value)
    assert "expand all" not in str(error.value)


def test_the_authors_options_and_those_of_the_site_are_told_apart():
    values, site = {"model": "a.B", "depth": 1}, {"depth": 3, "no-links": True, "timeout": 5}
    options = parse_options(values, site)
    assert (options.view.depth, options.figure.no_links, options.limits.timeout) == (1, True, 5)
    assert options.written == parse_options(values)
    assert options.written.written == options.written
