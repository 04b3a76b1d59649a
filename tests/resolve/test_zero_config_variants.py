"""What is tried where no pass gets through a model as it is by default, and when trying ends."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import InputsError, record, resolve
from modeldiagrams.resolve.inputs.budget import Budget
from modeldiagrams.resolve.inputs.candidate_search import search
from modeldiagrams.resolve.inputs.layers import layer_candidates
from modeldiagrams.resolve.libraries.factories import small_values
from modeldiagrams.resolve.libraries.huggingface import configured_candidates
from modeldiagrams.resolve.names.candidates import Candidate
from modeldiagrams.tracer import trace


class Config:
    model_type = "it"

    def __init__(self, vocab_size=9, num_hidden_layers=6, width=8):
        self.vocab_size = vocab_size
        self.num_hidden_layers = num_hidden_layers
        self.width = width


class Deep(nn.Module):
    """Stands for a model that is too large to be run."""

    config_class = Config
    main_input_name = "input_ids"

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.width)
        self.layers = nn.Sequential(*[nn.Linear(config.width, config.width) for _ in range(config.num_hidden_layers)])

    def forward(self, input_ids=None):
        assert len(self.layers) < 4, "too deep"
        return self.layers(self.embedding(input_ids))


class Unbuilt(Deep):
    def __init__(self, config):
        assert config.num_hidden_layers < 4, "too deep to be built"
        super().__init__(config)


class Broken(Deep):
    def __init__(self, config):
        raise ValueError(f"at any depth: {config.num_hidden_layers}")


class NeedsValues(Deep):
    """A large embedding is on the meta device, and numpy can't read that."""

    def forward(self, input_ids=None):
        states = self.embedding(input_ids)
        return states * float(states.detach().numpy().shape[0])


def target_of(model, **options):
    return resolve(parse_options({"model": f"{__name__}.{model.__name__}", **options}).call)


@pytest.mark.parametrize("model", [Deep, Unbuilt])
def test_configuration_gets_fewer_layers_where_the_default_one_fails(model):
    target = target_of(model)
    assert len(target.model.layers) == 2
    said = {item.subject: item for item in target.assumptions}
    assert said["config"].value == "{num_hidden_layers: 2}"
    assert "fewer layers than by default" in said["config"].reason
    assert target.tried[-1].startswith("with fewer layers: {'input_ids': ")
    assert record(target).graph.status.error is None


def test_working_default_configuration_keeps_its_size():
    class Shallow(Deep):
        def forward(self, input_ids=None):
            return self.layers(self.embedding(input_ids))

    globals()["Shallow"] = Shallow
    assert len(target_of(Shallow).model.layers) == 6


def test_authors_configuration_keeps_its_size():
    target = target_of(Deep, config={"num_hidden_layers": 5})
    assert len(target.model.layers) == 5
    assert target.note is not None


def test_failure_at_every_size_is_reported_of_the_default_one():
    with pytest.raises(TargetError, match="raised ValueError: at any depth: 6"):
        target_of(Broken)


def test_small_values_reduce_only_layers_also_in_nested_configurations():
    inside = SimpleNamespace(model_type="inner", depth=12, hidden_size=8)
    config = SimpleNamespace(
        num_hidden_layers=32,
        encoder_layers=1,
        num_experts=64,
        num_experts_per_tok=6,
        num_kv_shared_layers=15,
        num_attention_heads=8,
        output_layers=None,
        text_config=inside,
    )
    assert small_values(config) == {
        "num_hidden_layers": 2,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "text_config": {"model_type": "inner", "depth": 2},
    }
    assert small_values(SimpleNamespace(hidden_size=8)) == {}


@pytest.mark.parametrize("options", [{}, {"inputs": {"input_ids": {"shape": [1, 4], "dtype": "int64"}}}])
def test_large_model_that_needs_values_gets_memory(options, monkeypatch):
    monkeypatch.setattr("modeldiagrams.resolve.models.LARGE", 10)
    monkeypatch.setattr(Config.__init__, "__defaults__", (9, 1, 8))
    assert target_of(Deep, config={}).model.embedding.weight.is_meta
    target = target_of(NeedsValues, **options)
    assert not target.model.embedding.weight.is_meta
    assert record(target).graph.status.mode == "real"


def test_wrong_inputs_of_the_author_do_not_change_the_model(monkeypatch):
    monkeypatch.setattr("modeldiagrams.resolve.models.LARGE", 10)
    monkeypatch.setattr("modeldiagrams.resolve.models.HUGE", 10)
    target = target_of(Deep, inputs={"input_ids": [1, 4]})  # of floats
    assert len(target.model.layers) == 6
    assert record(target).graph.status.error.message


def test_graph_comes_from_the_pass_that_found_the_inputs():
    target = target_of(Deep)
    assert record(target) is target.trace
    assert record(target, "real").graph.status.mode == "real"
    assert trace(target.model, target.args, target.kwargs) == target.trace.graph


# what a class candidates, and can't be used


class Failing(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    @property
    def dummy_inputs(self):
        raise OSError("no network")

    def forward(self, x):
        return self.fc(x)


class Unfit(Failing):
    @staticmethod
    def modeldiagrams_example():
        return torch.zeros(1, 4), torch.zeros(1, 4)


class AlsoUnfit(Failing):
    example_input_array = (torch.zeros(1, 4), torch.zeros(1, 4))


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (Failing, "reading Failing.dummy_inputs raised OSError: no network"),
        (AlsoUnfit, "example_input_array: too many positional arguments (its parameters: x)"),
    ],
)
def test_unusable_example_is_logged_and_the_next_rule_applies(model, told):
    target = target_of(model)
    assert target.kwargs["x"].shape == (1, 4)
    assert told in target.tried


def test_modeldiagrams_example_that_does_not_fit_is_an_error():
    with pytest.raises(InputsError, match="too many positional arguments"):
        target_of(Unfit)


def test_parameters_without_a_shape_give_no_candidates():
    class Lazy(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.UninitializedParameter()

    assert layer_candidates(Lazy()) == []


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")
def test_compiled_code_is_called_by_its_signature():
    assert target_of(scripted).kwargs["input"].shape == (1, 4)


def scripted():
    return torch.jit.script(nn.Linear(4, 4))


# when trying ends


class Stubborn(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.weights = nn.ParameterList(torch.zeros(1) for _ in range(count))

    def forward(self, x):
        return x.missing


@pytest.mark.parametrize(("count", "tries"), [(1, 32), (500, 8)])
def test_repeated_failure_ends_the_search_in_a_large_model(count, tries):
    done = Budget()
    assert search(Stubborn(count), {"x": [Candidate([n], "") for n in range(1, 60)]}, done) is None
    assert len([line for line in done.lines if "(fake)" in line]) == tries


def test_large_models_get_fewer_passes():
    class Many(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = nn.ParameterList(torch.zeros(1) for _ in range(500))

        def forward(self, x):
            raise ValueError(len(x))

    tries = Budget(10)
    assert search(Many(), {"x": [Candidate([n], "") for n in range(1, 60)]}, tries) is None
    assert len(tries.lines) == 6


# candidates of configured models that refuse token ids, or want several at once


class Pretrained(nn.Module):
    main_input_name = "input_ids"

    def __init__(self, forward, **config):
        super().__init__()
        self.config = SimpleNamespace(model_type="it", **config)
        self.forward = forward


def test_embeddings_come_after_token_ids():
    def forward(input_ids=None, inputs_embeds=None): ...

    ids, embeddings = configured_candidates(Pretrained(forward, vocab_size=9, hidden_size=6))
    assert "inputs_embeds" not in ids
    assert list(embeddings) == ["inputs_embeds"]
    assert embeddings["inputs_embeds"][0].entry == [1, 16, 6]


def test_end_token_and_codebook_ids_are_candidates():
    def forward(input_ids=None): ...

    (candidates,) = configured_candidates(Pretrained(forward, vocab_size=9, eos_token_id=2, num_codebooks=3))
    entries = [candidate.entry for candidate in candidates["input_ids"]]
    assert {"shape": [1, 16], "dtype": "int64", "low": 2, "high": 3} in entries
    assert [entry["shape"] for entry in entries[1:5]] == [[1, 16, 3], [1, 3, 16], [1, 16, 4], [1, 4, 16]]
