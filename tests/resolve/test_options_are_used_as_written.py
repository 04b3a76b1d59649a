from __future__ import annotations

import random
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import InputsError, loaded_sources, record, resolve
from modeldiagrams.resolve.code.user_code import seeded, user_code
from modeldiagrams.resolve.values.input_values import call_for_inputs, make_inputs

pytestmark = pytest.mark.usefixtures("project")


def target(model, **options):
    return resolve(parse_options({"model": model, **options}).call)


def given(inputs, model="mypkg.models.NoInputs"):
    """What the entries make, whatever the model takes."""
    return make_inputs(parse_options({"model": model, "inputs": inputs}).call.inputs)


@pytest.mark.parametrize("path", ["mypkg.Model", "mypkg.models.Model", "mypkg.models:Model", "mypkg:models.Model"])
def test_class_is_found_by_dotted_path_or_colon(path):
    assert type(target(path, inputs="[1, 4]").model).__name__ == "Model"


def test_function_that_hides_its_module_does_not_hide_what_is_in_it(tmp_path, monkeypatch):
    (tmp_path / "hiding").mkdir()
    (tmp_path / "hiding/net.py").write_text("from torch import nn\ndef net():\n    return nn.Linear(4, 2)\n")
    (tmp_path / "hiding/__init__.py").write_text("from .net import net\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert target("hiding.net.net", inputs="[[1, 4]]").model.in_features == 4
    assert target("hiding.net", inputs="[[1, 4]]").model.in_features == 4
    with pytest.raises(TargetError, match=r"'hiding\.net' has no attribute 'nett'; did you mean 'net'"):
        target("hiding.net.nett")


def test_message_about_a_forbidden_import_does_not_suggest_it(monkeypatch):
    """As after ``sys.modules["mypkg"] = None``."""
    monkeypatch.setitem(sys.modules, "mypkg", None)
    with pytest.raises(TargetError, match=r"no module named 'mypkg'; install it"):
        target("mypkg.Model")


def test_instance_is_put_into_eval_mode():
    assert not target("mypkg.ready", inputs="[1, 4]").model.training


def test_class_gets_args_and_kwargs():
    model = target("mypkg.Widths", args="[[4, 8, 2]]", kwargs="{bias: false}", inputs="[1, 4]").model
    assert [tuple(weight.shape) for weight in model.parameters()] == [(8, 4), (2, 8)]


def test_factory_is_called():
    assert target("mypkg:make_model", args=[3], kwargs={"bias": False}, inputs=[1, 3]).model.bias is None


def test_config_makes_the_configuration_object():
    assert target("mypkg.models.Configured", config="{vocab_size: 7}").model.embedding.num_embeddings == 7


def test_default_config_and_token_ids_are_assumptions():
    made = target("mypkg.models.Configured")
    assert made.kwargs["input_ids"].max() < 50
    assert [(item.subject, item.value) for item in made.assumptions] == [
        ("rule", "2 (offered by the class)"),
        ("config", "{}"),
        ("rule", "2 (offered by the class)"),
        ("inputs.input_ids", "{shape: [1, 16], dtype: int64, high: 50}"),
    ]


def test_forward_without_parameters_needs_no_inputs():
    made = target("mypkg.models.NoInputs")
    assert (made.args, made.kwargs) == ((), {})
    assert [item.subject for item in made.assumptions] == ["rule", "inputs"]


def test_weights_and_inputs_are_deterministic_and_random_state_is_restored():
    states = random.getstate(), torch.get_rng_state()
    first = target("mypkg.Model", inputs="[1, 4]")
    torch.rand(3)
    second = target("mypkg.Model", inputs="[1, 4]")
    assert torch.equal(first.args[0], second.args[0])
    assert torch.equal(first.model.linear.weight, second.model.linear.weight)
    torch.set_rng_state(states[1])
    target("mypkg.Model", inputs="[1, 4]")
    assert random.getstate() == states[0]
    assert torch.equal(torch.get_rng_state(), states[1])


@pytest.mark.skipif(torch.accelerator.current_accelerator() is not None, reason="its generators are seeded, too")
def test_seeding_does_not_format_the_stack_for_devices_that_are_not_there(monkeypatch):
    monkeypatch.setattr(traceback, "format_stack", lambda *_: pytest.fail("that takes longer than making many a model"))
    with seeded():
        assert torch.rand(1).item() == torch.rand(1, generator=torch.Generator().manual_seed(0)).item()


@pytest.mark.parametrize(
    ("written", "args", "kwargs"),
    [
        ("[1, 3, 8, 8]", [(1, 3, 8, 8)], {}),
        ("[[1, 16, 64], [1, 16]]", [(1, 16, 64), (1, 16)], {}),
        ("[[1, 4]]", [(1, 4)], {}),
        ("[]", [], {}),
        ("{x: [1, 4], mask: {shape: [4]}}", [], {"x": (1, 4), "mask": (4,)}),
        ("[{shape: []}]", [()], {}),
    ],
)
def test_inputs_are_one_shape_or_a_list_or_a_map(written, args, kwargs):
    made_args, made_kwargs = given(written)
    assert [tuple(value.shape) for value in made_args] == args
    assert {name: tuple(value.shape) for name, value in made_kwargs.items()} == kwargs
    assert all(value.dtype == torch.float32 for value in [*made_args, *made_kwargs.values()])


@pytest.mark.parametrize(
    "dtype",
    ["int64", "uint8", "bool", "float16", "bfloat16", "float64", "complex64", "torch.int32", "long"],
)
def test_entries_make_every_dtype(dtype):
    (value,), _ = given([{"shape": [3, 2], "dtype": dtype}])
    assert value.shape == (3, 2)
    assert value.dtype == getattr(torch, dtype.removeprefix("torch."))


@pytest.mark.parametrize(
    "written", ["{1: [1, 5], 0: [1, 4], scale: {value: 2}}", {"0": [1, 4], "1": [1, 5], "scale": {"value": 2}}]
)
def test_whole_numbers_as_keys_are_positions(written):
    args, kwargs = given(written)
    assert [tuple(value.shape) for value in args] == [(1, 4), (1, 5)]
    assert kwargs == {"scale": 2}


def test_integers_are_zero_or_one_without_a_range():
    (bits, ids, floats), _ = given(
        "[{shape: [200], dtype: int64}, {shape: [200], dtype: int64, low: 5, high: 9},"
        " {shape: [200], low: -2, high: -1.5}]"
    )
    assert set(bits.tolist()) == {0, 1}
    assert set(ids.tolist()) == {5, 6, 7, 8}
    assert floats.min() >= -2
    assert floats.max() <= -1.5


def test_entries_nest_and_plain_values_stay():
    _, kwargs = given("{batch: {0: [1, 4], low: [[2], {value: [1, 2]}]}, flag: {value: true}, none: {value: null}}")
    assert kwargs["flag"] is True
    assert kwargs["none"] is None
    assert kwargs["batch"][0].shape == (1, 4)
    assert kwargs["batch"]["low"][0].shape == (2,)
    assert kwargs["batch"]["low"][1] == [1, 2]


@pytest.mark.parametrize(("function", "args", "kwargs"), [("bare", 1, []), ("pair", 2, []), ("batch", 0, ["x"])])
def test_inputs_from_a_function(function, args, kwargs):
    made_args, made_kwargs = call_for_inputs(f"mypkg.models.{function}")
    assert (len(made_args), list(made_kwargs)) == (args, kwargs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "mypkg.Modl"}, "module 'mypkg' has no attribute 'Modl'; did you mean 'Model'?"),
        ({"model": "mypkg.model.Model"}, "module 'mypkg' has no attribute 'model'; did you mean 'models'?"),
        ({"model": "mypkgg.Model"}, "no module named 'mypkgg'; did you mean 'mypkg'?"),
        ({"model": "mypkg.model:Model"}, "no module named 'mypkg.model'; did you mean 'mypkg.models'?"),
        ({"model": "Zzqx"}, "no module named 'Zzqx'; if it is a class, write its module, too, such as `mypkg.Zzqx`"),
        (
            {"model": "mypkg.Model(width=8)"},
            "got 'mypkg.Model(width=8)'; name 'mypkg.Model' alone, and write its arguments with the options `args`",
        ),
        ({"model": "zzqx.Model"}, "no module named 'zzqx'; install it, or add its folder to the import path"),
        ({"model": "my pkg"}, "expected a dotted path such as `mypkg.Model` or `mypkg.mod:attr`, got 'my pkg'"),
        ({"model": "./mypkg/models.py:Model"}, "got './mypkg/models.py:Model'; did you mean 'mypkg.models:Model'?"),
        ({"model": "mypkg.py:Model"}, "got 'mypkg.py:Model'; did you mean 'mypkg:Model'?"),
        ({"model": "mypkg.sub.Model"}, "module 'mypkg' has no attribute 'sub'; did you mean 'mypkg.Model'?"),
        ({"model": "mypkg"}, "got the module mypkg; name one of its classes, such as mypkg."),
        ({"model": "mypkg.__doc__"}, "got mypkg.__doc__, the str '"),
        ({"model": "mypkg.models.make_nothing"}, "to make a torch.nn.Module, got the int "),
        ({"model": "mypkg.models.Secretive"}, "missing a required argument: 'secret' (its parameters: secret); write"),
        (
            {"model": "mypkg.Widths", "kwargs": "{width: [1]}"},
            "can't be called like this: got an unexpected keyword argument 'width'; did you mean 'widths'?",
        ),
        ({"model": "mypkg.ready", "args": "[1]"}, "is a model already, so option `args` has nothing to configure"),
        ({"model": "mypkg.Model", "config": "{a: 1}"}, "option `config` is for classes with a Hugging Face"),
        ({"model": "mypkg.models.Configured", "config": "{a: 1}"}, "making a Config from the option `config` raised"),
        ({"model": "mypkg.models.RaisesInInit"}, "calling mypkg.models.RaisesInInit raised ValueError: heads must"),
        ({"model": "mypkg.models.Exits"}, "calling mypkg.models.Exits raised SystemExit: no GPU here"),
    ],
)
def test_wrong_model_error_names_it_and_the_fix(options, message):
    with pytest.raises(TargetError) as caught:
        resolve(parse_options(options).call)
    assert message in str(caught.value)
    assert not isinstance(caught.value, InputsError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": "{y: [1, 4]}"}, "got an unexpected keyword argument 'y' (its parameters: x)"),
        ({"inputs": "[]"}, "missing a required argument: 'x' (its parameters: x)"),
        ({"inputs": "[[1, 4], [1, 4]]"}, "forward can't be called with these inputs: too many positional arguments"),
        ({"inputs": "{x: [1, four]}"}, "option `inputs`, x[0]: expected a shape such as"),
        ({"inputs": "[{shape: [1], dtype: flaot32}]"}, "did you mean 'float32'?"),
        (
            {"inputs": "[{shape: [1], dtype: int6}]"},
            "expected a dtype such as float32 or int64, got 'int6'; did you mean 'int",
        ),
        ({"inputs": "[{shape: [-1]}]"}, "for a plain value, got [-1]; a size can't be negative: -1"),
        ({"inputs": "[2, -3, -4]"}, "got [2, -3, -4]; a size can't be negative: -3"),
        ({"inputs": "[{shape: [1], dtpe: int64}]"}, "unknown key 'dtpe'; did you mean 'dtype'?"),
        ({"inputs": "[{shape: [1], dtype: int64, low: 3, high: 3}]"}, "expected `low` below `high`, got 3 and 3"),
        ({"inputs": "[{shape: [1], dtype: complex64, high: 3}]"}, "complex numbers have no"),
        ({"inputs": "{0: [1, 4], 2: [1, 4]}"}, "option `inputs`: expected the positions 0, 1, got 0, 2"),
        ({"inputs": "{shape: [1, 4], dtype: int64}"}, "a single tensor is written as a list"),
        ({"inputs": "[1, 4]", "inputs_from": "mypkg.models.bare"}, "got both; leave one out"),
        ({"inputs_from": "mypkg.models.bear"}, "did you mean 'bare'?"),
        ({"inputs_from": "mypkg.__doc__"}, "expected a callable for the option `inputs_from`"),
    ],
)
def test_wrong_inputs_error_names_them_and_the_fix(options, message):
    with pytest.raises(InputsError) as caught:
        target("mypkg.Model", **options)
    assert message in str(caught.value)


def test_loaded_sources_are_user_files_of_the_named_packages(project):
    target("mypkg.Model", inputs="[1, 4]")
    files = loaded_sources(["mypkg.Model", "torch.ones"])
    assert files == (str(project / "mypkg" / "__init__.py"), str(project / "mypkg" / "models.py"))


@pytest.mark.parametrize("text", ["def f(:", "raise ValueError"])
def test_loaded_sources_include_a_file_whose_import_failed(text, tmp_path, monkeypatch):
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "__init__.py").touch()
    (tmp_path / "half" / "broken.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    options = parse_options({"model": "half.broken.Net"})
    with pytest.raises(TargetError) as error:
        resolve(options.call)
    files = loaded_sources([options.call.model], error.value)
    assert {Path(file).name for file in files} > {"__init__.py", "broken.py"}


def test_frames_are_user_code_relative_to_the_project():
    with pytest.raises(TargetError) as caught:
        target("mypkg.models.RaisesInInit")
    assert caught.value.frames == ("mypkg/models.py:46 in __init__",)


@pytest.mark.parametrize(
    ("source", "message", "frames"),
    [
        (
            "import einopss\n",
            "importing 'broken' raised ModuleNotFoundError: No module named 'einopss'",
            ["broken.py:1 in <module>"],
        ),
        ("def f(:\n", "importing 'broken' raised SyntaxError: invalid syntax", ["broken.py:1 in <module>"]),
        ("\nraise SystemExit\n", "importing 'broken' raised SystemExit", ["broken.py:2 in <module>"]),
    ],
)
def test_import_error_shows_its_line(tmp_path, monkeypatch, source, message, frames):
    (tmp_path / "broken.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(TargetError) as caught:
        target("broken.Model")
    assert str(caught.value).startswith(message)
    assert list(caught.value.frames) == frames


def test_numpy_gives_user_code_the_same_numbers_every_time():
    before = np.random.get_state()[1].tolist()  # noqa: NPY002  (what models use)
    drawn = []
    for _ in range(2):
        with user_code("drawing"):
            drawn.append(np.random.rand(3).tolist())  # noqa: NPY002  (what models use)
    assert drawn[0] == drawn[1]
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002  (what models use)


class Chosen(nn.Module):
    """Values decide how many rows it computes."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        x = self.layer(x)
        return self.layer(x[x.sum(1) > 0])


def test_mode_fake_has_no_costs_of_a_real_pass():
    made = target(f"{__name__}.Chosen", inputs=[32, 4])
    assert record(made).graph.status.costs_of_input
    fake = record(made, "fake").graph
    assert not fake.status.costs_of_input
    assert fake.model.flops == 2 * 32 * 4 * 4 * 2
