"""Inputs at other sizes: models run with them for real."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from modeldiagrams.resolve.dimensions.moved_inputs import InputMover
from modeldiagrams.resolve.dimensions.naming import name_inputs

SIZES = (2, 3, 12, 5)
"""Factors: twice and three times as large; and sizes that are no multiples, larger and smaller."""


def mover_of(function: Any, *args: Any, dims: Any = None, inputs_from: str | None = None, **kwargs: Any) -> InputMover:
    return InputMover(args, kwargs, name_inputs(function, args, kwargs, dims, inputs_from), inputs_from, function)


def packed(x: Tensor, lengths: Tensor) -> Tensor:
    sequence = pack_padded_sequence(x, lengths, batch_first=True)
    return pad_packed_sequence(nn.GRU(8, 8, batch_first=True)(sequence)[0], batch_first=True)[0]


def messages(x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    assert (batch.diff() >= 0).all()
    n_nodes = int(edge_index.max()) + 1  # as PyTorch Geometric does
    assert n_nodes == len(x)
    return torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])


def bags(tokens: Tensor, offsets: Tensor) -> Tensor:
    return nn.EmbeddingBag(10, 8)(tokens, offsets)


def positions(input_ids: Tensor, position_ids: Tensor, mask: Tensor) -> Tensor:
    assert (position_ids == torch.arange(input_ids.shape[1])).all()
    ends = (input_ids == 9).nonzero()[:, 1].view(len(input_ids), -1)  # each row has as many end tokens
    return nn.Embedding(10, 8)(input_ids) * mask[..., None] + ends.sum()


def regions(image: Tensor, cu_seqlens: Tensor, tokens: Tensor) -> Tensor:
    assert int(cu_seqlens[-1]) == len(tokens)
    return image.mean() + tokens.float().mean()


ENDING = torch.tensor([[3, 4, 5, 6, 7, 8, 2, 1, 0, 9]]).repeat(3, 1)


@pytest.mark.parametrize(
    ("function", "args", "dims", "result"),
    [
        (packed, (torch.randn(3, 10, 8), torch.tensor([10, 7, 2])), None, "B T 8"),
        (messages, (torch.randn(10, 8), torch.tensor([[0, 4, 9], [9, 1, 3]]), torch.arange(10) // 5), None, "N 8"),
        (bags, (torch.tensor([0, 9, 3, 4, 5, 1]), torch.tensor([0, 2, 5])), None, "B 8"),
        (positions, (ENDING, torch.arange(10)[None], torch.ones(3, 10, dtype=torch.bool)), None, "B T 8"),
        (
            regions,
            (torch.randn(1, 3, 8, 8), torch.tensor([0, 2, 6]), torch.arange(6)),
            {"tokens": ["T"], "cu_seqlens": [3]},
            "",
        ),
    ],
)
def test_models_run_with_moved_inputs(function: Any, args: Any, dims: Any, result: str) -> None:
    before = [tensor.clone() for tensor in args]
    mover = mover_of(function, *args, dims=dims)
    base = mover.names.sizes
    for sizes in [{name: size * 2 for name, size in base.items()}, *({name: size} for name in base for size in SIZES)]:
        moved, _ = mover.move(sizes)
        named = {**base, **sizes}
        expected = [named[word] if word in named else int(word) for word in result.split()]
        if "B" in sizes and function is packed:
            assert sorted(moved[1].tolist(), reverse=True) == moved[1].tolist()
        assert [*function(*moved).shape] == expected
    assert all(torch.equal(one, other) for one, other in zip(args, before, strict=True))


@pytest.mark.parametrize(
    "make",
    [
        lambda b, t: torch.randn(b, t, 8),
        lambda b, t: torch.randn(b, t, 8, dtype=torch.float16, requires_grad=True),
        lambda b, t: torch.randn(t, b, 8).transpose(0, 1),
        lambda b, t: torch.randn(b, t + 3, 24)[:, 3:, 8:16],
        lambda b, t: torch.arange(t)[None, :, None].expand(b, t, 8),
        lambda b, t: torch.randn(b, 8, t).mT,
        lambda b, t: nn.Parameter(torch.randn(b, t, 8)),
        lambda b, t: torch.empty(b, t, 8, device="meta"),
    ],
)
def test_layouts_are_kept(make: Callable[[int, int], Tensor]) -> None:
    mover = mover_of(lambda x: x, make(2, 10), dims={"x": ["B", "T", 8]})
    assert mover.explain_fixed() == {}
    for sizes in ({"B": 4, "T": 20}, {"B": 3, "T": 7}, {"B": 1, "T": 33}):
        moved = mover.move(sizes)[0][0]
        fresh = make(*sizes.values())
        assert moved.shape == fresh.shape
        if sizes["B"] > 1:  # strides of single items are as they come
            assert moved.stride() == fresh.stride()
        facts = [(x.dtype, x.device, x.requires_grad, type(x), x.is_leaf) for x in (moved, fresh)]
        assert facts[0] == facts[1]


def test_images_keep_their_format() -> None:
    image = torch.randn(2, 3, 32, 48).to(memory_format=torch.channels_last)
    moved = mover_of(nn.Conv2d(3, 8, 3), image).move({"B": 3, "H": 64, "W": 16})[0][0]
    assert moved.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(moved[:2, :, :32, :15], image[..., :15])


def test_fake_tensors_stay_fake() -> None:
    with FakeTensorMode() as mode:
        x = torch.randn(2, 10, 8)
    moved = mover_of(lambda x: x, x).move({"B": 4, "T": 5})[0][0]
    assert isinstance(moved, FakeTensor)
    assert moved.fake_mode is mode
    assert moved.shape == (4, 5, 8)


def test_containers_objects_and_sharing_are_kept() -> None:
    ids = torch.zeros(2, 10, dtype=torch.int64)
    batch = SimpleNamespace(tokens=ids, again={"same": [ids]}, length=10, name="one")
    mover = mover_of(
        lambda batch, size: (batch, size), batch, (10, 7), dims={"batch.tokens": ["B", "T"], "size": ["T", "K"]}
    )
    (moved, size), _ = mover.move({"T": 20})
    assert moved is not batch
    assert moved.tokens.shape == (2, 20)
    assert moved.again["same"][0] is moved.tokens
    assert (moved.length, moved.name, size) == (10, "one", (20, 7))
    assert batch.tokens is ids
    assert ids.shape == (2, 10)


def test_modules_among_the_inputs_stay_the_same() -> None:
    layer = nn.Linear(8, 8)
    moved, _ = mover_of(lambda x, layers: layers[0](x), torch.zeros(2, 8), [layer]).move({"B": 4})
    assert moved[0].shape == (4, 8)
    assert moved[1][0] is layer


class Marked(Tensor):
    """A class of a user."""


@pytest.mark.parametrize(
    ("tensor", "reason"),
    [
        (torch.eye(10).to_sparse(), r"x is sparse \(torch.sparse_coo\)"),
        (torch.randn(10, 10).as_subclass(Marked), "x is a Marked"),
        (torch.randn(20).unfold(0, 10, 1)[:10], "x overlaps itself in memory"),
    ],
)
def test_what_can_not_move_is_told(tensor: Tensor, reason: str) -> None:
    fixed = mover_of(
        lambda x: x, tensor, dims={"x": ["T", "K"]} if reason[-1] == "y" else {"x": ["K", "K"]}
    ).explain_fixed()
    assert fixed.keys() >= {"K"}
    assert reason.replace("\\", "") in fixed.values()


def test_a_function_of_the_author_makes_its_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    def inputs(B: int = 2, T: int = 16) -> Any:  # noqa: N803
        if T > 64:
            raise ValueError("at most 64")
        return {"x": torch.full((B, T, 8), float(T)), "labels": torch.zeros(B, T - 1), "weights": torch.ones(4, 3)}

    made = ModuleType("made_inputs")
    monkeypatch.setattr(made, "inputs", inputs, raising=False)
    monkeypatch.setitem(sys.modules, "made_inputs", made)

    def model(x: Tensor, labels: Tensor, weights: Tensor) -> None: ...

    mover = mover_of(model, inputs_from="made_inputs.inputs", dims={"weights": ["K", 3]}, **inputs())
    _, moved = mover.move({"T": 20, "K": 8})
    assert {name: (*tensor.shape,) for name, tensor in moved.items()} == {
        "x": (2, 20, 8),
        "labels": (2, 19),
        "weights": (8, 3),
    }
    assert (moved["x"] == 20).all()  # the function made it
    with pytest.raises(Exception, match=r"calling made_inputs.inputs raised ValueError: at most 64"):
        mover.move({"T": 65})
