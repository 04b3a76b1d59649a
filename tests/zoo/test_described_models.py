"""What readers ask of a model's text, answered from the text alone and a second time by hooks in a pass of PyTorch."""

from __future__ import annotations

import ast
import copy
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pytest
import torch
import transformers
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

import modeldiagrams
from gallery_models import IMAGE, MODELS, SMALL, TOKENS, Case

SPECTRUM = {"input_features": torch.zeros(1, 80, 200), "decoder_input_ids": TOKENS}
EXPERTS = {"n_routed_experts": 8, "n_group": 4, "topk_group": 2, "num_experts_per_tok": 4, "moe_intermediate_size": 16}
ASKED = {
    "gpt2": Case(
        lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=3, n_embd=32, n_head=4)),
        {"input_ids": TOKENS},
    ),
    "deepseek": Case(
        lambda: transformers.DeepseekV3ForCausalLM(
            transformers.DeepseekV3Config(
                **SMALL | EXPERTS | {"num_hidden_layers": 5, "num_key_value_heads": 4},
                kv_lora_rank=8,
                q_lora_rank=16,
                qk_rope_head_dim=4,
                v_head_dim=8,
                qk_nope_head_dim=8,
                vocab_size=100,
            )
        ),
        {"input_ids": TOKENS},
    ),
    "whisper": Case(
        lambda: transformers.WhisperForConditionalGeneration(
            transformers.WhisperConfig(
                d_model=32,
                encoder_layers=3,
                decoder_layers=2,
                max_source_positions=100,
                encoder_attention_heads=4,
                decoder_attention_heads=4,
            )
        ),
        SPECTRUM,
    ),
    "swin": Case(
        lambda: transformers.SwinForImageClassification(transformers.SwinConfig(embed_dim=24, num_heads=[1, 2, 4, 8])),
        {"pixel_values": torch.zeros(1, 3, 224, 224)},
    ),
    "unet": Case(MODELS["unet"].make, IMAGE),
}
DESCRIBED = {**MODELS, **ASKED}
FACTOR = {"": 1, "K": 1e3, "M": 1e6, "B": 1e9}
LINE = re.compile(
    r"(?P<indent> *)- (?P<name>\S+?)(?: … \S+?)?: (?P<class>\w+)(?:\([^←]*?\))?(?:, (?P<count>[\d.]+)(?P<unit>[KMB]?))?"
    r"(?:, (?P<file>[\w/.]*):(?P<line>\d+))?(?: ×(?P<times>\d+))?(?: ←(?P<reads>[^→;]*))?"
    r"(?: → (?P<shapes>[^;]*))?(?:;.*)?"
)


class Line(NamedTuple):
    """A module's line: its class, parameters, source, repeats, what it reads and makes."""

    class_: str
    parameters: float
    source: int | None
    times: int
    reads: list[str]
    shapes: list[str]


def read_modules(text: str) -> dict[str, Line]:
    """Path of a module → its line; the first of a row stands for all. Further calls are left out."""
    found, around = dict[str, Line](), list[str]()
    for line in text.splitlines():
        if not line.lstrip().startswith("- "):
            continue
        level = (len(line) - len(line.lstrip())) // 2
        match = LINE.fullmatch(line)
        name = match["name"].split("–")[0] if match else ""
        del around[level:]
        around.append(".".join([*around[-1:], name]) if level else name)
        if match and "#" not in around[level] and match["class"] != "function" and "(" not in around[level]:
            count = float(match["count"] or 0) * FACTOR[match["unit"] or ""]
            reads = [one.strip() for one in (match["reads"] or "").split(",") if one.strip()]
            number = int(match["line"]) if match["line"] else None
            shapes = (match["shapes"] or "").split(", ")
            found[around[level]] = Line(match["class"], count, number, int(match["times"] or 1), reads, shapes)
    return found


def find_class(class_: type) -> int:
    """The line of the statement, below decorators."""
    lines, first = inspect.getsourcelines(class_)
    return first + next(i for i, line in enumerate(lines) if line.startswith("class "))


class Pass(NamedTuple):
    """What hooks saw: path → the arguments and results of the first call."""

    arguments: dict[str, inspect.BoundArguments]
    given: dict[str, dict[str, torch.Tensor]]
    made: dict[str, list[torch.Tensor]]


def run(model: nn.Module, inputs: Mapping[str, Any]) -> Pass:
    seen = Pass({}, {}, {})

    def enter(path: str, module: nn.Module, args: tuple, kwargs: dict) -> None:
        bound = inspect.signature(module.forward).bind_partial(*args, **kwargs)
        seen.arguments.setdefault(path, copy.deepcopy(bound))
        given = {name: one for name, value in bound.arguments.items() for one in tensors(value)}
        seen.given.setdefault(path, given)

    for path, module in model.named_modules():
        module.register_forward_pre_hook(lambda *seen_, path=path: enter(path, *seen_), with_kwargs=True)
        module.register_forward_hook(lambda _, __, out, path=path: seen.made.setdefault(path, [*tensors(out)]) and None)
    with torch.no_grad():
        model(**inputs)
    for path, module in model.named_modules():
        if re.fullmatch(r"Identity|.*Drop(out|Path).*", type(module).__name__):
            seen.made.pop(path, None)  # what it returns, another module made
    return seen


def tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from tensors(one)


def is_named(reads: Iterable[str], names: Iterable[str]) -> bool:
    """Whether one of these names is read, perhaps as an argument, or one of its results."""
    values = [read.rpartition("=")[2] for read in reads]
    return any(value == name or value.startswith((f"{name}[", f"{name}.")) for value in values for name in names)


def depends(module: nn.Module, bound: inspect.BoundArguments, name: str) -> bool:
    """Whether a module computes with an argument, and doesn't only ask for its shape or type."""
    other = copy.deepcopy(bound)
    for one in tensors(other.arguments[name]):
        one.add_(1) if not one.is_floating_point() else one.add_(torch.rand_like(one))
    with torch.no_grad():
        results = [[*tensors(module.forward(*one.args, **one.kwargs))] for one in (copy.deepcopy(bound), other)]
    return not all(map(torch.equal, *results))


def check_reads(path: str, module: nn.Module, line: Line, seen: Pass) -> int:
    """Whether what a module got as it is, from a module beside it or from the call around it, is read by its line."""
    around, checked = path.rpartition(".")[0], 0
    while around and around not in seen.given:  # a list of modules
        around = around.rpartition(".")[0]
    prefix = f"{around}." if around else ""
    for argument, tensor in seen.given.get(path, {}).items():
        beside = [
            name.removeprefix(prefix)
            for name, made in seen.made.items()
            if name.startswith(prefix) and name != path and any(one is tensor for one in made)
        ]
        outer = [f"^{name}" for name, one in seen.given.get(around, {}).items() if one is tensor and around]
        if beside or outer:
            is_read = is_named(line.reads, [*beside, *outer])
            assert is_read or not depends(module, seen.arguments[path], argument), (path, line.reads, beside, outer)
            checked += 1
    return checked


@pytest.mark.parametrize("name", DESCRIBED)
def test_each_line_is_true(name):
    case = DESCRIBED[name]
    model = case.make().eval()
    text = modeldiagrams.describe(modeldiagrams.trace(model, (), case.inputs))
    seen = run(model, case.inputs)
    modules = dict(model.named_modules())
    total = sum(one.numel() for one in model.parameters())
    assert f", {total:,} parameters" in text
    found, checked = read_modules(text), 0
    for path, line in found.items():
        if path not in seen.made:
            continue
        module = modules[path]
        assert line.class_ == type(module).__name__
        assert line.parameters == pytest.approx(sum(one.numel() for one in module.parameters()), rel=0.006)
        if line.source is not None:
            assert line.source == find_class(type(module))
        shapes = {"×".join(map(str, one.shape)) or "scalar" for one in seen.made.get(path, ())}
        assert {re.sub(r"\d+ of | …", "", shape) for shape in line.shapes} <= shapes, path
        checked += check_reads(path, module, line, seen)
    assert checked >= len(found) // 3


@pytest.fixture(scope="module")
def asked() -> dict[str, tuple[nn.Module, str]]:
    """The models of the questions, and their texts."""
    models = {name: case.make().eval() for name, case in ASKED.items()}
    return {
        name: (model, modeldiagrams.describe(modeldiagrams.trace(model, (), ASKED[name].inputs)))
        for name, model in models.items()
    }


def section(text: str, path: str) -> list[str]:
    """The lines directly in a module."""
    found = text.splitlines()
    for level, name in enumerate(path.split("/")):
        start = next(i for i, line in enumerate(found) if re.match(f"{'  ' * level}- {re.escape(name)}(?=[:–])", line))
        end = next((i for i in range(start + 1, len(found)) if not found[i].startswith("  " * (level + 1))), len(found))
        found = found[start + 1 : end]
    return [line.strip(" -") for line in found if line.startswith(f"{'  ' * path.count('/')}  - ")]


def lines_of_sums(module: nn.Module) -> set[int]:
    """The lines of a forward that add two of its variables."""
    source, first = inspect.getsourcelines(type(module).forward)
    tree = ast.walk(ast.parse(textwrap.dedent("".join(source))))
    sums = [one for one in tree if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add)]
    return {
        first + one.lineno - 1 for one in sums if isinstance(one.left, ast.Name) and isinstance(one.right, ast.Name)
    }


def test_gpt2(asked):
    model, text = asked["gpt2"]
    block = model.transformer.h[0]
    assert f"h.0–{len(model.transformer.h) - 1}: GPT2Block" in text
    sums = [line for line in section(text, "transformer/h.0") if line.startswith("add")]
    where = [int(re.search(r":(\d+)", line)[1]) for line in sums]
    assert {*where} < lines_of_sums(block)  # the third is that of cross-attention
    assert [line.partition("← ")[2].partition(" →")[0] for line in sums] == ["attn, ^hidden_states", "add, mlp"]
    pointers = {}
    for name, one in model.named_parameters(remove_duplicate=False):
        pointers.setdefault(one.data_ptr(), []).append(name)
    (tied,) = [sorted(names) for names in pointers.values() if len(names) > 1]
    assert f"Shared weights: {'/'.join(tied)}." in text
    with torch.no_grad(), FlopCounterMode(display=False) as counter:  # it doesn't know the attention of CPUs
        copy.deepcopy(model).to("meta")(TOKENS.to("meta"))
    assert f"{counter.get_total_flops() / 1e6:.3g} M FLOPs" in text
    assert re.search(r"return cache.layers\[0\].keys … .* \(3\) ← transformer.h.0–2.attn/cat\n", text)


def test_deepseek(asked):
    model, text = asked["deepseek"]
    dense = [type(layer.mlp).__name__ == "DeepseekV3MLP" for layer in model.model.layers]
    first, last = dense.count(True), len(dense)
    assert f"layers.0–{first - 1}: " in text
    assert f"layers.{first}–{last - 1}: " in text
    gate = section(text, f"model/layers.{first}/mlp/gate")
    (chosen,) = [line for line in gate if line.startswith("topk#3")]
    assert f", k={model.config.num_experts_per_tok} →" in chosen
    assert any(line.startswith("mul") and f", {model.config.routed_scaling_factor:g} →" in line for line in gate)
    assert chosen.endswith(f"→ 2 of {TOKENS.numel()}×{model.config.num_experts_per_tok}")
    mlp = section(text, f"model/layers.{first}/mlp")
    assert [line.partition(" ← ")[2].partition(" →")[0] for line in mlp if line.startswith(("add", "shared"))] == [
        "^hidden_states",
        "experts, shared_experts",
    ]
    experts = section(text, f"model/layers.{first}/mlp/experts")
    assert sum("_grouped_mm" in line.partition(",")[0] for line in experts) == 2
    attention = section(text, "model/layers.0/self_attn")
    config = model.config
    (split,) = [line for line in attention if line.startswith("split#2")]
    assert split.endswith(f"×{config.kv_lora_rank}, 1×{TOKENS.numel()}×{config.qk_rope_head_dim}")


def test_whisper(asked):
    model, text = asked["whisper"]
    decoder = section(text, "model/decoder/layers.0")
    assert any(
        line.startswith("encoder_attn: ") and "key_value_states=^encoder_hidden_states" in line for line in decoder
    )
    cross = section(text, "model/decoder/layers.0/encoder_attn")
    readers = {line.partition(":")[0]: re.search(r"← (\S+)", line)[1] for line in cross if "_proj: " in line}
    assert readers == {
        "q_proj": "^hidden_states",
        "k_proj": "^key_value_states",
        "v_proj": "^key_value_states",
        "out_proj": "scaled_dot_product_attention",
    }
    assert "encoder_hidden_states=encoder" in next(
        line for line in section(text, "model") if line.startswith("decoder")
    )
    assert f"layers.0–{len(model.model.encoder.layers) - 1}: WhisperEncoderLayer" in text
    (file,) = {line.split(", ")[1].split(" ")[0] for line in cross if line.startswith("scaled_dot")}
    (path,) = [one for one in re.search("Source: (.*)\\.", text)[1].split(", ") if one.endswith(file.split(":")[0])]
    found = inspect.getsource(__import__(path.removesuffix(".py").replace("/", "."), fromlist=["x"])).splitlines()
    assert "scaled_dot_product_attention(" in found[int(file.split(":")[1]) - 1]


def test_unet(asked):
    _, text = asked["unet"]
    top = [line.strip(" -") for line in text.splitlines() if line.startswith("- ")]
    joined = [line.partition("← ")[2].partition(" →")[0] for line in top if line.startswith("cat")]
    assert joined == ["down.1, up.0", "down.0, up.1", "inner, up.2"]


def test_swin(asked):
    model, text = asked["swin"]
    for i, stage in enumerate(model.swin.encoder.layers):
        for j, block in enumerate(stage.blocks):
            name = f"blocks.{j}" if i < 3 else "blocks.0"  # the last stage is one window, and its blocks are equal
            (line,) = [one for one in section(text, f"swin/encoder/layers.{i}") if re.match(rf"{name}\b", one)]
            lines = text.splitlines()
            while refers := re.search("; (?:same as|like) ([^,]+)", line):
                *around, last = re.fullmatch(r"(swin)\.(encoder)\.(layers\.\d)\.(blocks\.\d)", refers[1]).groups()
                (line,) = [one for one in section(text, "/".join(around)) if one.startswith(last)]
            at = next(k for k, one in enumerate(lines) if one.strip(" -") == line)
            inside = [one for one in lines[at + 1 : at + 4] if one.startswith("        - ")]
            shift = block.shift_size if i < 3 else 0
            assert any(f", shifts={[-shift] * 2} " in one for one in inside) == (shift > 0)


def test_texts_of_the_largest_models_are_short():
    for name, most in (("GPT2LMHeadModel", 4_096), ("DeepseekV3ForCausalLM", 12_288)):
        class_ = getattr(transformers, name)
        with torch.device("meta"):
            model = class_(class_.config_class()).eval()
        graph = modeldiagrams.trace(model, (torch.zeros(1, 16, dtype=torch.int64, device="meta"),), mode="meta")
        assert len(modeldiagrams.describe(graph).encode()) <= most
