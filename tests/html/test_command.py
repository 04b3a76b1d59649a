"""`modeldiagrams show` reads the line that a diagram offers its readers as the options of the diagram."""

import shlex

import pytest

from modeldiagrams.cli.commands import main
from modeldiagrams.html.command import build_command, build_view_flags
from modeldiagrams.options.parsing import parse_option, parse_options


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"inputs": [1, 3, 224, 224], "kwargs": {"name": "it's “ü”", "on": True}, "args": ["a b", None, 1.5]},
        {"rename": {"*.attn": "Attention"}, "hide": ["input:mask"], "group": {"Both": ["a", "b"]}, "highlight": ["a"]},
        {"depth": 0, "expand": ["h.0", "*.attn"], "collapse": ["LayerNorm"], "direction": {"*": "TB", "*.attn": "LR"}},
        {"direction": "LR", "fit": "a4", "shapes": "none", "functions": False, "legend": False, "device": "cpu"},
    ],
)
def test_line_gives_the_options_of_the_page(content):
    options = parse_options({"model": "pkg.Net", **content})
    line = f"{build_command(options)} {build_view_flags(options)}"
    program, command, *rest = shlex.split(line)
    assert (program, command) == ("modeldiagrams", "show")
    given = {
        name: value
        for name, value in main.get_command(None, command).make_context(command, rest).params.items()
        if value
    }
    target = given.pop("target")
    read = {name: parse_option(name, text) for name, text in given.items()}
    assert parse_options({"model": target, **read}) == options


def test_graph_file_is_rendered():
    options = parse_options({"model": "graphs/net file.json", "depth": 1})
    line = f"{build_command(options)} {build_view_flags(options)}"
    assert line == "modeldiagrams render 'graphs/net file.json' -o 'net file.html' --depth 1"
    _, command, *rest = shlex.split(line)
    given = main.get_command(None, command).make_context(command, rest).params
    assert (given["graph"].name, given["output"].name, given["depth"]) == ("net file.json", "net file.html", "1")


def test_picture_files_are_left_out():
    file = parse_options({"model": "pkg.Net", "embed": {"fc": "images/map.png"}})
    assert build_command(file) == "modeldiagrams show pkg.Net"
