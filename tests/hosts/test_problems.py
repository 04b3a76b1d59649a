"""Bad input in every host gives one located warning and a visible note, and changes nothing else."""

from __future__ import annotations

import pytest

BAD = {
    "model": "model: tinymodels.Missing\ninputs: [1, 4]",
    "module": "nosuchpackage.Model",
    "init": "model: tinymodels.RaisesInInit\ninputs: [1, 4]",
    "forward": "model: tinymodels.RaisesInForward\ninputs: [1, 4]",
    "inputs": "model: tinymodels.Net\ninputs: [1, 5]\nno-index: true",
    "inputs-form": "model: tinymodels.Net\ninputs: {x: {shape: [1, -4]}}\nno-index: true",
    "graph-file": "broken.json",
    "graph-missing": "missing.json",
    "option": "model: tinymodels.Net\ninptus: [1, 4]\nname: anchored\ncaption: Here",
    "value": "model: tinymodels.Net\ndepth: deep",
    "coloured": "model: net.json\npalette: {linear: '#00b'}",
    "hidden": "model: net.json\nhide: [rleu, x]",
    "noted": "model: net.json\nnotes: {rleu: Text}",
    "empty": "",
    "bare": "tinymodels.Net\ninputs: [1, 4]",
    "twice": "model: tinymodels.Net\ndepth: 1\nkwargs: {a: 1, b: 2, a: 3}",
    "floats": "model: tinymodels.Net\ninputs: {x: {shape: [1, 4], dtype: int64}}\nno-index: true",
    "body": "model: tinymodels.Net\ninputs: [1,",
    # the last page by its name: this model ends the tracing process, and starting another takes seconds
    "worker": "model: tinymodels.Exits\ninputs: [1, 4]",
}
GOOD = "model: tinymodels.Net\ninputs: [1, 4]\ncaption: Good"


@pytest.fixture(scope="module")
def site(build_site):
    """A page for every kind of bad input, and one without."""
    return build_site({**{name: [body] for name, body in BAD.items()}, "index": [GOOD]})


def warnings_of(log: str, location: str) -> list[str]:
    return [line for line in log.splitlines() if f"{location}model-graph: " in line]


@pytest.mark.parametrize("name", BAD)
def test_one_located_warning_and_a_note(name, site, host):
    assert len(warnings_of(site.log, host.location(name))) == 1
    page = site.page(name)
    assert page.count('class="mg-problem"') == 1
    assert "Before." in page
    assert "After." in page


def test_build_goes_on(site):
    assert not site.has_failed
    assert "Traceback (most" not in site.log


def test_unknown_option_suggests_the_one_meant(site):
    assert "option `inptus`: unknown; did you mean 'inputs'?" in site.log


@pytest.mark.parametrize(
    "said",
    [
        "(line 2, `inputs: [1, 4]`): mapping values are not allowed here; if options follow, the model needs a key",
        "the body: is not valid YAML (line 3, `kwargs: {a: 1, b: 2, a: 3}`): the key 'a' is given twice",
        "the body: is not valid YAML (line 2, `inputs: [1,`): ",
        "; the input `x` is int64, expected float32: write `inputs: {x: [1, 4]}`",
    ],
)
def test_problem_says_how_to_fix_it(said, site):
    assert said in site.log


def test_a_palette_in_a_diagram_is_an_error(site):
    assert "option `palette`: belongs to the whole site: write it in the setting `defaults`" in site.log


def test_pattern_without_a_match_suggests_the_nearest_name(site):
    assert "option `hide`: nothing matches 'rleu'; did you mean 'relu'?" in site.log
    assert "Text" in site.page("noted")
    assert 'data-id="input:x"' not in site.page("hidden")


def test_figure_stays_if_an_option_is_wrong(site):
    page = site.page("option")
    assert 'id="anchored"' in page
    assert "Here" in page


def test_partial_diagram_is_shown_with_its_note(site):
    page = site.page("forward")
    assert "half way through" in page
    assert "<svg" in page


def test_model_that_ends_the_process_is_located_in_its_source(site):
    assert "tracing tinymodels.Exits ended the tracing process with exit status 3" in site.log
    assert "tinymodels/__init__.py:" in site.log


def test_good_page_is_untouched(site, host):
    assert not warnings_of(site.log, host.location("index"))
    page = site.page("index")
    assert "mg-problem" not in page
    assert "<svg" in page
