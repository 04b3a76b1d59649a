"""A site's settings are checked once, for all hosts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from modeldiagrams.errors import SettingError
from modeldiagrams.options.settings import Settings, format_style_rule, list_setting_help, parse_settings

GITHUB = "https://github.com/org/project"


@pytest.mark.parametrize(
    ("values", "setting", "says"),
    [
        ({"defaults": {"dept": 1}}, "defaults", "did you mean 'depth'"),
        ({"defaults": {"caption": "x"}}, "defaults", "every diagram has its own"),
        ({"defaults": {"palette": {"linear": "#ff0"}}}, "defaults", "option `palette`: linear: text on #ffff00"),
        ({"on_error": "ignore"}, "on_error", "got 'ignore'"),
        ({"timeout": "long"}, "timeout", "expected a number above 0, got 'long'"),
        ({"timeout": 0}, "timeout", "above 0"),
        ({"memory": -1}, "memory", "got -1"),
        ({"static_only": "yes"}, "static_only", "no scripts are added"),
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


def test_limits_of_a_site_are_defaults_of_options() -> None:
    settings = parse_settings({"python": "py", "timeout": 5, "defaults": {"timeout": 9, "depth": 1}})
    assert settings.options == {"python": "py", "timeout": 9, "depth": 1}


def test_paths_and_text_are_converted() -> None:
    settings = parse_settings({"cache_dir": Path("a/b"), "timeout": "5", "static_only": "true"})
    assert settings == Settings(cache_dir="a/b", timeout=5.0, static_only=True)


def test_every_setting_is_documented() -> None:
    helps = list_setting_help()
    assert list(helps) == list(Settings.__struct_fields__)
    assert all(text.endswith(".") for text in helps.values())


def test_a_palette_becomes_css_variables_unless_the_site_sets_them() -> None:
    css, palette = {"--mg-hue-loss": "var(--x)"}, {"loss": "#b00", "linear": "#00b"}
    settings = parse_settings({"defaults": {"palette": palette}, "css_variables": css})
    assert settings.variables == {"--mg-hue-loss": "var(--x)", "--mg-hue-linear": "#0000bb"}


def test_css_variables_become_one_rule() -> None:
    assert format_style_rule({}) == ""
    assert format_style_rule({"--mg-b": "2px", "--mg-a": "var(--x)"}) == "\nmodel-graph{--mg-a:var(--x);--mg-b:2px;}\n"
