from __future__ import annotations

import subprocess
import sys
import types

import pytest
import torch
from torch import nn

import modeldiagrams
from graphs import small_graph
from modeldiagrams import OptionError
from modeldiagrams.api.export import check_format


def test_package_import_loads_neither_torch_nor_submodules():
    script = (
        "import sys, modeldiagrams\n"
        "print([n for n in sys.modules if n.split('.')[0] in {'torch', 'msgspec', 'modeldiagrams'}])"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "['modeldiagrams']\n"


def test_trace_without_inputs_finds_them_as_diagram_does():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Conv2d(3, 8, 3)

        def forward(self, image):
            return self.body(image).relu()

    for mode in ("auto", "real"):
        graph = modeldiagrams.trace(Net(), mode=mode)
        assert graph.status.state == "complete"
        assert any(assumption.subject == "inputs.image" for assumption in graph.assumptions)
        assert graph.nodes == modeldiagrams.diagram(Net()).graph.nodes
    given = modeldiagrams.trace(Net(), (torch.zeros(1, 3, 8, 8),))
    assert given.assumptions == ()
    assert modeldiagrams.trace(lambda image: image).status.error.type == "TypeError"
    assert modeldiagrams.trace(Net(), (torch.zeros(7),)).status.error.type == "RuntimeError"


def test_all_lists_exactly_the_public_names():
    assert modeldiagrams.__all__ == sorted(modeldiagrams.__all__)
    for name in modeldiagrams.__all__:
        assert getattr(modeldiagrams, name) is not None
    public = {
        name
        for name, value in vars(modeldiagrams).items()
        if not name.startswith("_")
        and not isinstance(value, types.ModuleType)
        and name not in {"TYPE_CHECKING", "Any", "annotations"}
    }
    assert public | {"__version__"} == set(modeldiagrams.__all__)
    assert dir(modeldiagrams) == modeldiagrams.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        modeldiagrams.nothing  # noqa: B018


def test_reprs_are_short():
    """Prompts and notebooks show the repr of an expression; a graph has megabytes of fields."""
    graph = small_graph()
    assert repr(graph) == f"<graph of {graph.model.name}: {len(graph.nodes)} nodes, complete>"
    difference = modeldiagrams.diff(graph, graph)
    assert repr(difference) == difference.to_text()


@pytest.mark.parametrize("ask", ["from modeldiagrams import trace", "modeldiagrams.diagram(None)"])
def test_without_torch_an_error_says_what_to_install(ask):
    script = f"import sys\nsys.modules['torch'] = None\nimport modeldiagrams\n{ask}"
    done = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "modeldiagrams.errors.ModelDiagramsError: PyTorch is not installed here: pip install torch."
        " `load` reads graphs traced elsewhere."
    )


@pytest.mark.parametrize("draw", [modeldiagrams.to_svg, modeldiagrams.to_html, modeldiagrams.to_png])
def test_unknown_view_keyword_is_an_option_error(draw):
    with pytest.raises(OptionError, match="option `detph`: unknown here; did you mean 'depth'"):
        draw(small_graph(), detph=1)


def test_diagram_saves_by_suffix(tmp_path):
    shown = modeldiagrams.diagram(nn.Linear(4, 2), (torch.ones(1, 4),), direction="LR")
    assert "Linear" in repr(shown)
    for name in ("a.json", "a.svg", "a.html"):
        shown.save(tmp_path / name)
    assert modeldiagrams.load(tmp_path / "a.json") == shown.graph
    assert (tmp_path / "a.svg").read_text("utf-8") == modeldiagrams.to_svg(shown.graph, direction="LR")
    assert (tmp_path / "a.html").read_text("utf-8").lstrip().lower().startswith("<!doctype html>")
    with pytest.raises(OptionError, match=r"ending in \.json, \.svg, \.png, \.pdf, \.html, \.dot, \.mmd, got 'a\.gif'"):
        shown.save(tmp_path / "a.gif")
    with pytest.raises(OptionError):
        modeldiagrams.diagram(nn.Linear(4, 2), (torch.ones(1, 4),), deep=1)


class Raises(nn.Module):
    def forward(self, x):
        raise ValueError(f"odd width {x.shape[0]}")


def test_error_of_the_model_is_a_warning_and_in_the_file():
    with pytest.warns(UserWarning, match="the forward pass of Raises raised ValueError: odd width 1\n  .*test_api.py:"):
        shown = modeldiagrams.diagram(Raises(), (torch.ones(1),))
    # with the attribute: the bare class name also stands in the style sheet
    assert 'class="mg-problem"' in modeldiagrams.to_html(shown.graph)


@pytest.mark.parametrize(
    ("model", "args", "message"),
    [
        (17, (), "model: expected a model or a function, got int 17"),
        (nn.Linear, (), r"model: expected a model, got the class Linear; make one of it: Linear\(…\)"),
        (nn.Identity(), torch.ones(1), r"args: expected a tuple of arguments, got a tensor; write \(x,\)"),
        (nn.Identity(), {"x": torch.ones(1)}, r"args: expected a tuple of arguments, got dict; write \(x,\)"),
    ],
)
def test_objects_that_cannot_be_called_are_a_type_error(model, args, message):
    for function in (modeldiagrams.trace, modeldiagrams.diagram):
        with pytest.raises(TypeError, match=message):
            function(model, args)


class RaisesMuch(nn.Module):
    def forward(self, x):
        raise ValueError("\x1b[31m" + f"wide {x.shape} " * 10_000)


def test_warning_of_a_diagram_is_short_and_printable():
    with pytest.warns(UserWarning, match="RaisesMuch raised ValueError") as caught:
        modeldiagrams.diagram(RaisesMuch(), (torch.ones(3),))
    (message,) = [str(warning.message) for warning in caught]
    assert len(message) <= 1000
    assert message.replace("\n", "").isprintable()


def test_text_formats_name_their_options():
    with pytest.raises(OptionError, match=r"\.mmd files take depth, expand, collapse, direction and functions only"):
        check_format("net.mmd", view=["fit"])
