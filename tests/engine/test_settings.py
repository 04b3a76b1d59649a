"""What a site says about all its diagrams: checked once, the same for every host."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from graphs import small_graph
from modeldiagrams.errors import SettingError
from modeldiagrams.settings import Settings, parse_settings, setting_help, style_rule
from modeldiagrams.sitedata import Listed, graph_files, index_file, shared_files

GITHUB = "https://github.com/org/project"


@pytest.mark.parametrize(
    ("values", "setting", "says"),
    [
        ({"defaults": {"dept": 1}}, "defaults", "did you mean 'depth'"),
        ({"defaults": {"caption": "x"}}, "defaults", "every diagram has its own"),
        ({"on_error": "ignore"}, "on_error", "got 'ignore'"),
        ({"timeout": "long"}, "timeout", "Expected `float | null`, got `str`"),
        ({"timeout": 0}, "timeout", "> 0"),
        ({"memory": -1}, "memory", "got -1"),
        ({"static_only": "yes"}, "static_only", "the site carries no script"),
        ({"cache_dir": 3}, "cache_dir", "Folder for traced graphs"),
        ({"repository_url": "github.com/org"}, "repository_url", "https://github.com/org/project"),
        ({"repository_url": "https://git.example.org/x"}, "repository_url", "write `source_link` instead"),
        ({"repository_url": {"a": "https://git.example.org/x"}}, "repository_url", "write `source_link` instead"),
        ({"source_link": GITHUB}, "source_link", "{path}"),
        ({"source_link": {"mypkg": GITHUB}}, "source_link", "with the path from the repository's root"),
        ({"source_link": "javascript:{path}"}, "source_link", "got 'javascript:{path}'"),
        ({"css_variables": {"color": "red"}}, "css_variables", "--mg-hue-linear"),
        ({"css_variables": {"--mg-line": "red} body{color:red"}}, "css_variables", "one CSS value"),
    ],
)
def test_wrong_settings_say_what_is_expected(values: dict[str, Any], setting: str, says: str) -> None:
    with pytest.raises(SettingError) as caught:
        parse_settings(values)
    assert caught.value.setting == setting
    assert says in str(caught.value)


def test_settings_of_a_site_are_defaults_of_options() -> None:
    settings = parse_settings({"python": "py", "timeout": 5, "defaults": {"timeout": 9, "depth": 1}})
    assert settings.options == {"python": "py", "timeout": 9, "depth": 1}


def test_paths_and_text_from_a_command_line_are_fine() -> None:
    settings = parse_settings({"cache_dir": Path("a/b"), "timeout": "5", "static_only": "true"})
    assert settings == Settings(cache_dir="a/b", timeout=5.0, static_only=True)


def test_every_setting_is_documented() -> None:
    helps = setting_help()
    assert list(helps) == list(Settings.__struct_fields__)
    assert all(text.endswith(".") for text in helps.values())


def test_css_variables_become_one_rule() -> None:
    assert style_rule({}) == ""
    assert style_rule({"--mg-b": "2px", "--mg-a": "var(--x)"}) == "\nmodel-graph{--mg-a:var(--x);--mg-b:2px;}\n"


def test_a_static_site_carries_no_script() -> None:
    variables = {"--mg-line": "red"}
    files = shared_files(parse_settings({"static_only": True, "css_variables": variables}), [])
    assert sorted(files) == ["index.json", "model-graph.css"]
    assert files["model-graph.css"].endswith(b"\nmodel-graph{--mg-line:red;}\n")
    assert "model-graph.js" in shared_files(parse_settings({}), [])


def test_site_data_is_sorted_and_complete() -> None:
    first, second = (Listed(id=name, model=name, page=f"{name}.html#a") for name in ("a.A", "b.B"))
    index = json.loads(index_file([second, first, second]))
    assert index["format"] == "modeldiagrams-index"
    assert [item["id"] for item in index["diagrams"]] == ["a.A", "b.B"]
    files = graph_files([SimpleNamespace(id="a.A", graph=small_graph()), SimpleNamespace(id="b.B", graph=None)])
    assert list(files) == ["a.A.json"]
    assert json.loads(files["a.A.json"])["format"] == "modeldiagrams"
