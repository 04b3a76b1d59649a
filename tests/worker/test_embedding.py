"""Functions that make images of a model, its inputs and its outputs: in a worker, with the limits of models."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from modeldiagrams.engine.builder import DiagramBuilder, Session
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.worker import process
from samples import png

MODELS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x, *, scale=1.0, **more):
        return {"y": self.fc(x) * scale, "more": more}
"""

SHOWN = """
import os
import time

import torch

def table(model, inputs, outputs):
    assert not outputs["y"].requires_grad and not model.training
    same = torch.equal(outputs["y"], model(**inputs)["y"])
    return {"inputs": " ".join(inputs), "type": type(model).__name__, "same": same, "sum": outputs["y"].sum()}

def picture(model, inputs, outputs):
    return '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="a()"><rect width="3"/></svg>'

def reads(model, inputs, outputs):
    with open(os.path.join(os.path.dirname(__file__), "head.txt")) as file:
        return [[file.read()]]

def raises(model, inputs, outputs):
    raise KeyError("heads")

def hangs(model, inputs, outputs):
    time.sleep(1000)

def eats(model, inputs, outputs):
    return bytearray(10**12)

def dies(model, inputs, outputs):
    os._exit(3)

def returns_a_tensor(model, inputs, outputs):
    return outputs["y"]

def too_large(model, inputs, outputs):
    return b"x" * 600_000

def changes(model, inputs, outputs):
    model.fc.weight.fill_(7)
    return [["changed"]]

number = 3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "pictured_models.py").write_text(MODELS)
    (folder / "shown.py").write_text(SHOWN)
    (folder / "map.png").write_bytes(png())
    return folder


@pytest.fixture(scope="module")
def builder(folder, worker):
    session = Session()
    session.workers._workers[None, False] = worker
    yield DiagramBuilder(folder / "cache", folder=folder, paths=[folder], session=session)
    session.drawer.close()


def make(builder, embed, **options):
    said = {"model": "pictured_models.Net", "inputs": {"x": [1, 4], "scale": {"value": 2.0}, "extra": [3]}}
    return builder.build(parse_options({**said, "embed": embed, **options}))


def text(image) -> str:
    return base64.b64decode(image.source.partition(",")[2]).decode()


def test_functions_get_a_model_its_inputs_by_name_and_what_it_returns(builder, folder):
    made = make(builder, {"fc": {"image": "shown:table", "alt": "A table"}, "x": "shown:picture"})
    assert made.problem is None
    table, picture = made.overlay.images
    assert table.alt == "A table"
    for cell in ("x scale extra", "Net", "True"):
        assert f">{cell}<" in text(table)
    assert (picture.width, "onload" in text(picture)) == (9, False)
    assert made.picture.svg.count("<image ") == 2
    assert {str(folder / name) for name in ("shown.py", "pictured_models.py")} <= set(made.sources)


def test_an_image_is_made_anew_when_a_file_has_changed_that_its_function_reads(builder, folder):
    for word in ("first", "second"):
        (folder / "head.txt").write_text(word)
        (image,) = make(builder, {"fc": "shown:reads"}).overlay.images
        assert f">{word}<" in text(image)


def test_values_of_tensors_are_only_in_what_a_function_makes(builder):
    (image,) = make(builder, {"fc": "shown:table"}).overlay.images
    value = text(image).partition(">sum<")[2].partition('">')[2].partition("<")[0]
    assert float(value)
    assert value.encode() not in make(builder, {"fc": "shown:picture"}).picture.svg.encode()


def test_same_model_gives_the_same_image_in_another_process(builder, folder):
    first = make(builder, {"fc": "shown:table"})
    with DiagramBuilder(None, folder=folder, paths=[folder]) as other:
        assert make(other, {"fc": "shown:table"}).overlay == first.overlay


def test_images_are_kept_until_their_function_changes(builder, folder, monkeypatch):
    first = make(builder, {"fc": "shown:picture"})
    monkeypatch.setattr(process, "spawned", None)
    with DiagramBuilder(folder / "cache", folder=folder, paths=[folder]) as again:
        assert make(again, {"fc": "shown:picture"}) == first
    monkeypatch.undo()
    later = SHOWN.replace('width="9"', 'width="11"')
    (folder / "shown.py").write_text(later)
    os.utime(folder / "shown.py", ns=(1, 1))  # never newer than the next trace
    try:
        assert make(builder, {"fc": "shown:picture"}).overlay.images[0].width == 11
    finally:
        (folder / "shown.py").write_text(SHOWN)
        os.utime(folder / "shown.py", ns=(2, 2))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("shown:raises", r"calling shown:raises raised KeyError: 'heads' (shown.py:20 in raises)"),
        ("shown:hangs", "calling shown:hangs took longer than 5 s and was stopped (option `timeout`)"),
        ("shown:eats", "(it may take 1 GB, see the option `memory`)"),
        ("shown:dies", "calling shown:dies ended the tracing process with exit status 3"),
        ("shown:returns_a_tensor", "expected a Matplotlib figure, a PIL image"),
        ("shown:too_large", "expected a picture of up to 500 kB, got 600 kB"),
        ("shown:tabel", "module 'shown' has no attribute 'tabel'; did you mean 'table'?"),
        ("shown:number", "expected a function of model, inputs and outputs, got int"),
        ("gone:table", "no module named 'gone'"),
        ("gone.png", "gone.png: No such file or directory; expected the path of a PNG, JPEG or SVG file"),
        ("shown.py", "shown.py: expected a PNG, JPEG or SVG file, got something else"),
    ],
)
def test_what_fails_costs_its_thumbnail_and_one_problem(builder, function, message):
    limits = {"timeout": 5} if function == "shown:hangs" else {}
    made = make(builder, {"fc": function, "x": "map.png"}, memory=1, **limits)
    assert made.problem.kind == "option"
    assert made.problem.message.startswith("option `embed`: ")
    assert made.problem.message.count(function) == 1
    assert message in made.problem.message
    assert "\n" not in made.problem.message.strip()
    assert [image.nodes for image in made.overlay.images] == [("input:x",)]
    assert made.picture.svg.count("<image ") == 1
    assert made.graph.status.state == "complete"


def test_what_a_function_does_to_a_model_ends_with_it(builder):
    assert (
        make(builder, {"fc": "shown:changes", "x": "shown:table"}).overlay.images[1]
        == (make(builder, {"x": "shown:table"}).overlay.images[0])
    )


def test_graph_files_have_no_model_to_call(builder, folder):
    made = make(builder, {"fc": "map.png"})
    (folder / "net.json").write_bytes(serialize(made.graph))
    read = builder.build(parse_options({"model": "net.json", "embed": {"fc": "shown:table", "x": "map.png"}}))
    assert "a graph file has no model to call a function with" in read.problem.message
    assert len(read.overlay.images) == 1
