"""Architectures of `transformers`: small ones as a reader's machine traces them, the biggest at full size on meta."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
import transformers

from modeldiagrams.ir import serialize
from modeldiagrams.tracer import trace
from tracer.flop_counter import counted
from zoo import architectures
from zoo.verdict import faults

pytestmark = pytest.mark.filterwarnings("ignore")  # transformers warns about itself

EXCEPTIONS = {
    "decision_transformer": ("unused input", "does not read the rewards: returns to go tell more"),
    "sam3_vision_model": ("output from nowhere", "position encodings come from sizes alone"),
    "unlimited_ocr": ("output from nowhere", "keys and values of a cache that is still empty"),
    "vit_mae": ("output from nowhere", "which patches are masked is random"),
}
"""Model type → the one fault its graph may have, and why."""


@pytest.fixture(scope="module", autouse=True)
def quiet():
    transformers.logging.set_verbosity_error()


@pytest.fixture(scope="module")
def modes(report):
    """How many models ran in which mode; printed at the end."""
    counted: Counter[str] = Counter()
    yield counted
    report(f"{counted.total()} architectures, by mode: {dict(counted)}")
    for kind, (fault, reason) in EXCEPTIONS.items():
        report(f"  {kind:32}{fault:24}{reason}")


@pytest.mark.parametrize("kind", architectures.KINDS)
def test_small_model_gives_a_whole_graph(kind, modes):
    if kind not in transformers.CONFIG_MAPPING:
        pytest.skip("not in this version of transformers")
    model, inputs = architectures.prepared(kind)
    with torch.no_grad():
        graph = trace(model, (), inputs)
        again = trace(model, (), inputs)
    modes[graph.status.mode] += 1
    expected = {EXCEPTIONS[kind][0]} if kind in EXCEPTIONS else set()
    assert faults(graph) == expected
    assert serialize.serialize(again) == serialize.serialize(graph)


@pytest.mark.parametrize("kind", architectures.KINDS)
def test_costs_are_those_that_torch_counts(kind):
    if kind not in transformers.CONFIG_MAPPING:
        pytest.skip("not in this version of transformers")
    model, inputs = architectures.prepared(kind)
    with torch.no_grad():
        torch.manual_seed(0)  # some draw how much they make
        graph = trace(model, (), inputs, mode="real")
        torch.manual_seed(0)
        assert (graph.model.flops or 0) == counted(model, **inputs)


@pytest.mark.parametrize("kind", architectures.FAILING)
def test_a_model_that_fails_by_itself_is_drawn_until_there(kind):
    model, inputs = architectures.prepared(kind)
    with torch.no_grad(), pytest.raises(Exception) as failure:  # noqa: PT011 - any, as transformers has it
        model(**inputs)
    graph = trace(model, (), inputs)
    assert faults(graph) == {f"raised {failure.type.__name__}: {failure.value}"}
    assert len(graph.nodes) > 10


def test_enough_architectures():
    assert len(architectures.KINDS) >= 60
    assert set(EXCEPTIONS) <= set(architectures.KINDS)


TOKENS = {"input_ids": architectures.tokens(64)}
PAIR = {**TOKENS, "decoder_input_ids": TOKENS["input_ids"]}
SOUND = {"input_features": torch.zeros(1, 128, 3000), "decoder_input_ids": TOKENS["input_ids"]}
LLAMA_3_70B = {
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}
T5_11B = {"d_model": 1024, "d_ff": 65536, "num_layers": 24, "num_heads": 128, "d_kv": 128}
WHISPER_LARGE = {
    "d_model": 1280,
    "encoder_layers": 32,
    "decoder_layers": 32,
    "num_mel_bins": 128,
    "vocab_size": 51866,
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 20),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 5120),
}


def on_meta(class_: Any, settings: dict[str, Any]) -> torch.nn.Module:
    """A model of full size without weights, in the format its weights are published in."""
    with torch.device("meta"):
        model: torch.nn.Module = class_(class_.config_class(**settings))
    return model.to(torch.bfloat16).eval()


@pytest.mark.parametrize(
    ("name", "settings", "inputs", "billions"),
    [
        ("LlamaForCausalLM", LLAMA_3_70B, TOKENS, 70),
        ("MixtralForCausalLM", {}, TOKENS, 46),
        ("DeepseekV3ForCausalLM", {}, TOKENS, 671),
        ("T5ForConditionalGeneration", T5_11B, PAIR, 11),
        ("WhisperForConditionalGeneration", WHISPER_LARGE, SOUND, 1),
    ],
)
def test_big_model_at_full_size(name, settings, inputs, billions):
    model = on_meta(getattr(transformers, name), settings)
    inputs = {key: value.to(torch.bfloat16) if value.is_floating_point() else value for key, value in inputs.items()}
    graph = trace(model, (), inputs)
    assert faults(graph) == set()
    assert graph.status.mode == "meta"
    assert graph.model.parameters.total // 10**9 == billions
    assert serialize.serialize(trace(model, (), inputs)) == serialize.serialize(graph)
