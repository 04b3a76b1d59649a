"""What the outputs of a notebook hold; `tests/browser/test_notebook.py` shows what they look like."""

from __future__ import annotations

import json
import re
import sys
from types import SimpleNamespace
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest
import torch
from torch import nn

import modeldiagrams
import tinymodels
from modeldiagrams.api import notebook_viewer

VIEWER = "modelDiagramsNotebook('"


class Residual(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.norm, self.fc1, self.fc2 = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.fc2(torch.relu(self.fc1(self.norm(x))))


class Raises(nn.Module):
    def forward(self, x):
        raise ValueError(f"odd <width> {x.relu().shape[0]}")


MODELS = [
    (nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)), {}),
    (Residual(), {}),
    (nn.Sequential(Residual(), Residual(), Residual(), nn.Linear(8, 2)), {}),
    (nn.Sequential(Residual(), Residual(), Residual(), nn.Linear(8, 2)), {"direction": "LR", "depth": 2}),
    (nn.TransformerEncoderLayer(8, 2, 16), {}),
    (nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, enable_nested_tensor=False), {}),
    (nn.GRU(8, 4), {}),
    (nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Dropout(0.1), nn.Linear(8, 1), nn.Sigmoid()), {}),
]
"""Eight small ones, as people show them."""


@pytest.fixture
def kernel(monkeypatch):
    """A Jupyter kernel: call it to begin the execution of a cell."""
    request = {}
    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(get_parent=lambda: request))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setattr(notebook_viewer.OUTPUTS, "_each", False)
    monkeypatch.setattr(notebook_viewer.OUTPUTS, "_carrier", None)
    executions = iter(range(1000))

    def run(code: str, cell: str | None = None) -> None:
        metadata = {"cellId": cell} if cell else {}
        request.update(header={"msg_id": str(next(executions))}, metadata=metadata, content={"code": code})

    return run


@pytest.fixture(scope="module")
def shown():
    return modeldiagrams.diagram(Residual(), (torch.ones(1, 8),))


class Example(nn.Module):
    @staticmethod
    def modeldiagrams_example():
        return torch.ones(3, 8)

    def forward(self, x):
        return x.relu()


class Optional(Residual):
    def forward(self, x=None):
        if x is None:
            raise ValueError("no x")
        return super().forward(x)


@pytest.mark.parametrize(
    ("model", "shape"),
    [(Residual().train(), (1, 8)), (Residual().eval(), (1, 8)), (Example(), (3, 8)), (Optional(), (1, 8))],
)
def test_without_inputs_they_are_found_as_in_documentation(model, shape):
    before = model.training
    graph = modeldiagrams.diagram(model).graph
    assert (graph.status.state, graph.model.name, model.training) == ("complete", type(model).__name__, before)
    assert graph.tensors["input:x:0"].shape == shape
    assert graph.assumptions


def test_models_without_inputs_are_called_without_any():
    class Noise(nn.Module):
        def forward(self, size=3):
            return torch.zeros(size)

    graph = modeldiagrams.diagram(Noise()).graph
    assert (graph.status.state, graph.assumptions) == ("complete", ())


def test_a_diagram_keeps_its_overlay_and_further_annotations(tmp_path):
    model, args = Residual().eval(), (torch.ones(1, 8),)
    graph = modeldiagrams.trace(model, args)
    modeldiagrams.annotate(graph, "fc1", rename="Projection").save(tmp_path / "said.json")
    shown = modeldiagrams.diagram(model, args, overlay=modeldiagrams.Overlay.load(tmp_path / "said.json"))
    annotated = shown.annotate("fc2", text="Says something of a layer.")
    assert annotated.overlay.nodes["fc1"].rename == "Projection"
    assert [note.text for note in annotated.overlay.notes] == ["Says something of a layer."]
    assert "Projection" in annotated._repr_html_()
    with pytest.raises(modeldiagrams.OptionError, match=r"\.json files can't contain it"):
        annotated.save(tmp_path / "net.json")
    other = modeldiagrams.annotate(
        modeldiagrams.trace(tinymodels.Net(), (torch.ones(1, 4),)), "blocks.0", rename="Other"
    )
    with pytest.warns(UserWarning, match="Residual has no 'blocks.0'"):
        modeldiagrams.diagram(model, args, overlay=other)._repr_html_()


def test_model_without_found_inputs_shows_its_modules_and_a_hint():
    class Stubborn(Residual):
        def forward(self, key):  # noqa: ARG002  (a signature is what is tested)
            raise KeyError("vocabulary")

    with pytest.warns(UserWarning, match="most tries raised KeyError: 'vocabulary'. Its forward takes key: give the"):
        graph = modeldiagrams.diagram(Stubborn()).graph
    assert [node.id for node in graph.nodes] == ["norm", "fc1", "fc2"]


def carries(output) -> bool:
    return VIEWER in output._repr_html_()


def test_eight_small_diagrams_take_less_than_658_kb(kernel):
    sizes = []
    for number, (model, view) in enumerate(MODELS):
        kernel(f"diagram({number})")
        output = modeldiagrams.diagram(model, (torch.ones(2, 8),), **view)._repr_mimebundle_()
        sizes.append(len(json.dumps(output, ensure_ascii=False).encode()))
    # 645 kB with two per cent of room; 510 kB are the viewer, of which names of sizes took 30 kB
    assert sum(sizes) < 658_000
    assert max(sizes[1:]) < 60_000


def test_output_is_html_with_a_picture_as_fallback(shown):
    output = shown._repr_mimebundle_()
    assert list(output) == ["text/html", "image/svg+xml", "text/plain"]
    picture = ET.fromstring(output["image/svg+xml"])  # noqa: S314  (our own picture)
    # nothing that a site removes, or that depends on its styles
    assert not {"style", "script", "title"} & {element.tag.rpartition("}")[2] for element in picture.iter()}
    assert not [name for element in picture.iter() for name in element.attrib if name in {"class", "style"}]


def test_without_scripts_and_attributes_picture_and_text_remain(shown):
    """As in notebooks that are not trusted, and on GitHub."""
    output = re.sub("<script>.*?</script>", "", shown._repr_html_(), flags=re.DOTALL)
    (source,) = re.findall("<img alt=\"Architecture of Residual[^\"]*\" src='data:image/svg\\+xml,([^']*)'", output)
    assert unquote(source) == shown._repr_mimebundle_()["image/svg+xml"]
    assert "To open modules, trust this notebook." in output


def test_error_of_the_model_is_text_in_the_output():
    with pytest.warns(UserWarning, match="odd"):
        output = modeldiagrams.diagram(Raises(), (torch.ones(3),))._repr_html_()
    text = re.sub("<script>.*?</script>", "", output, flags=re.DOTALL)
    assert re.search(r"Raises raised ValueError: odd &lt;width&gt; 3\n  .*test_notebook.py:\d+ in Raises.forward", text)


def test_first_output_contains_the_viewer_for_all(kernel, shown):
    kernel("first")
    assert carries(shown)
    assert not carries(shown), "the second output of one cell"
    kernel("second")
    assert not carries(shown)


def test_viewer_stays_with_its_cell(kernel, shown):
    """The output that held it is gone when its cell runs again; cells are run in any order."""
    kernel("diagram(model)", cell="a")
    assert carries(shown)
    kernel("diagram(model)", cell="b")
    assert not carries(shown)
    kernel("diagram(model)  # edited", cell="a")
    assert carries(shown)


def test_notebook_chooses_another_output_for_the_viewer(kernel, shown):
    kernel("first")
    assert carries(shown)
    kernel("modeldiagrams.notebook()")
    viewer = modeldiagrams.notebook()
    assert carries(viewer)
    assert "This output contains the viewer" in viewer._repr_html_()
    kernel("first")
    assert not carries(shown)


def test_each_output_contains_the_viewer_if_outputs_are_isolated(kernel, shown, monkeypatch):
    assert modeldiagrams.notebook("each") is None
    for cell in ("first", "second"):
        kernel(cell)
        assert carries(shown)
    monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace())
    assert notebook_viewer.Outputs()._each
    monkeypatch.delitem(sys.modules, "google.colab")
    assert not notebook_viewer.Outputs()._each


def test_each_output_contains_the_viewer_without_a_kernel(shown):
    assert carries(shown)
    assert carries(shown)


def test_unknown_viewer_mode_is_an_option_error():
    with pytest.raises(modeldiagrams.OptionError, match="option `viewer`: expected 'once' or 'each', got 'never'"):
        modeldiagrams.notebook("never")


class Modes(nn.Module):
    def forward(self, x):
        return x.relu() if self.training else x.sigmoid()


@pytest.mark.parametrize(("training", "op"), [(None, "relu"), (True, "relu"), (False, "sigmoid")])
def test_training_is_for_the_pass_only(training, op):
    model = nn.Sequential(Modes(), nn.Linear(4, 4).eval())
    graph = modeldiagrams.diagram(model, (torch.zeros(1, 4),), training=training, mode="real").graph
    assert next(node.name for node in graph.nodes if node.kind == "op").endswith(op)
    assert graph.status.mode == "real"
    assert [module.training for module in model.modules()] == [True, True, False]


def test_a_named_class_runs_in_eval_mode_unless_training(monkeypatch):
    monkeypatch.setattr(nn.Identity, "forward", Modes.forward)
    for training, op in ((None, "sigmoid"), (True, "relu")):
        graph = modeldiagrams.diagram("torch.nn.Identity", (torch.zeros(1, 4),), training=training).graph
        assert next(node.name for node in graph.nodes if node.kind == "op").endswith(op)


def test_training_needs_a_module():
    with pytest.raises(TypeError, match="`training`: expected a module or the name of a class"):
        modeldiagrams.diagram(torch.relu, (torch.zeros(1, 4),), training=True)
