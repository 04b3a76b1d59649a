"""Every op and module torch tests itself with, and many architectures: all trace, all connected. Slow: `make zoo`."""

import warnings

import pytest
import torch
import transformers
from torch import nn

from modeldiagrams.graph import InputNode, OutputNode
from modeldiagrams.tracer import trace
from tracer import architectures
from tracer.seen import Seen

pytestmark = [pytest.mark.zoo, pytest.mark.filterwarnings("ignore")]

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.common_modules import module_db

NEEDS_GPU = ("jiterator",)
"""Prefixes of ops that run on no CPU."""
_NO_TENSOR_GIVEN = """
    arange broadcast_shapes empty empty_permuted empty_strided eye full linspace logspace normal ones randint randn
    scalar_tensor zeros
"""
NO_TENSOR_GIVEN = frozenset(_NO_TENSOR_GIVEN.split())
"""Factories: their outputs come from no tensor, so there is nothing to connect."""
NO_TENSOR_RETURNED = {"allclose", "broadcast_shapes", "equal", "item"}
"""Their values leave torch."""
WRONG_SAMPLE = {"nn.FractionalMaxPool2d", "nn.FractionalMaxPool3d"}
"""Modules whose plain forward raises on torch's own sample now and then: random samples of another dtype."""


def check_connected(graph, *, outputs=True):
    graph.check()
    assert graph.status.error is None
    assert graph.status.unseen == ()
    found = Seen(graph)
    assert bool(found.of(OutputNode)) == outputs
    reached = found.reached(node.id for node in found.of(InputNode))
    assert [node.id for node in found.of(OutputNode) if node.id not in reached] == []


@pytest.mark.parametrize("mode", ["real", "auto"])
@pytest.mark.parametrize("op", op_db, ids=lambda op: op.formatted_name)
def test_op(op, mode):
    if torch.float32 not in op.supported_dtypes("cpu") or op.name.startswith(NEEDS_GPU):
        pytest.skip("no float32 on the CPU")
    sample = next(iter(op.sample_inputs("cpu", torch.float32, requires_grad=False)))
    graph = trace(op.__call__, (sample.input, *sample.args), sample.kwargs, mode=mode)
    if op.name in NO_TENSOR_GIVEN or op.name.startswith("signal.windows"):
        assert graph.status.error is None
    else:
        check_connected(graph, outputs=op.name not in NO_TENSOR_RETURNED)


@pytest.mark.parametrize("mode", ["real", "auto"])
@pytest.mark.parametrize("info", module_db, ids=lambda info: info.formatted_name)
def test_module(info, mode):
    if info.name in WRONG_SAMPLE:
        pytest.skip("torch's own sample does not always run")
    sample = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=False)[0]
    module = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs).eval()
    check_connected(trace(module, sample.forward_input.args, sample.forward_input.kwargs, mode=mode))


@pytest.mark.parametrize(
    "name",
    [*architectures.TEXT, *architectures.ENCODER_DECODER, *architectures.VISION, *architectures.AUDIO],
)
def test_architecture(name):
    model, inputs = architectures.small(name)
    with torch.no_grad():
        check_connected(trace(model, (), inputs))


TOKENS = {"input_ids": torch.ones(1, 64, dtype=torch.long)}
PAIR = {**TOKENS, "decoder_input_ids": TOKENS["input_ids"]}
SOUND = {"input_features": torch.ones(1, 128, 3000), "decoder_input_ids": TOKENS["input_ids"]}
LLAMA_70B = {
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}
T5_11B = {"d_model": 1024, "d_ff": 65536, "num_layers": 24, "num_heads": 128, "d_kv": 128}
WHISPER = {
    "d_model": 1280,
    "encoder_layers": 32,
    "decoder_layers": 32,
    "num_mel_bins": 128,
    "vocab_size": 51866,
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 20),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 5120),
}


@pytest.mark.parametrize(
    ("name", "values", "inputs", "billions"),
    [
        ("LlamaForCausalLM", LLAMA_70B, TOKENS, 70),
        ("MixtralForCausalLM", {}, TOKENS, 46),
        ("DeepseekV3ForCausalLM", {}, TOKENS, 671),
        ("T5ForConditionalGeneration", T5_11B, PAIR, 11),
        ("WhisperForConditionalGeneration", WHISPER, SOUND, 1),
    ],
)
def test_full_size_on_meta(name, values, inputs, billions):
    class_ = getattr(transformers, name)
    with torch.device("meta"):
        model: nn.Module = class_(class_.config_class(**values)).to(torch.bfloat16).eval()
    inputs = {key: value.to(torch.bfloat16) if value.is_floating_point() else value for key, value in inputs.items()}
    graph = trace(model, (), inputs)
    check_connected(graph)
    assert graph.status.mode == "meta"
    assert graph.model.parameters.total // 10**9 == billions
