"""Shapes that a reading says calls of PyTorch give, by those that PyTorch gives: no size and no rank may be another."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional
from torch.utils import _pytree as pytree

from modeldiagrams.target.inference.symbolic.handlers import HANDLERS
from modeldiagrams.target.inference.symbolic.kinds import Kind
from modeldiagrams.target.inference.symbolic.shapes import Dim, closed
from modeldiagrams.target.inference.symbolic.tensors import Reading

CALLS = {
    "dot": (torch.dot, (5,), (5,)),
    "outer": (torch.outer, (5,), (7,)),
    "mv": (torch.mv, (3, 5), (5,)),
    "addmm": (torch.addmm, (7,), (3, 5), (5, 7)),
    "baddbmm": (torch.baddbmm, (2, 3, 7), (2, 3, 5), (2, 5, 7)),
    "cross": (lambda a, b: torch.cross(a, b, dim=-1), (5, 3), (5, 3)),
    "cosine_similarity": (functional.cosine_similarity, (5, 7), (5, 7)),
    "cosine_similarity of the last": (lambda a, b: functional.cosine_similarity(a, b, dim=-1), (2, 5, 7), (2, 5, 7)),
    "pairwise_distance": (functional.pairwise_distance, (5, 7), (5, 7)),
    "det": (torch.det, (5, 3, 3)),
    "eigh": (torch.linalg.eigh, (5, 3, 3)),
    "svd": (lambda a: torch.linalg.svd(a, full_matrices=False), (5, 7, 3)),
    "solve": (torch.linalg.solve, (5, 3, 3), (5, 3, 2)),
    "nonzero": (torch.nonzero, (5, 7)),
    "nonzero, as a tuple": (lambda a: torch.nonzero(a, as_tuple=True), (5, 7)),
    "masked_select": (lambda a, b: a.masked_select(b > 0), (5, 7), (5, 7)),
    "unique": (lambda a: torch.unique(a, return_inverse=True, return_counts=True), (5, 7)),
    "bincount": (lambda a: torch.bincount(a.abs().long()), (5,)),
    "bucketize": (torch.bucketize, (5, 7), (3,)),
    "searchsorted": (torch.searchsorted, (5, 7), (5, 3)),
    "searchsorted in one row": (torch.searchsorted, (7,), (5, 3)),
    "multinomial": (lambda a: torch.multinomial(a.abs(), 2), (5, 7)),
    "unflatten": (lambda a: a.unflatten(1, (2, -1)), (5, 6, 7)),
    "narrow": (lambda a: a.narrow(1, 2, 3), (5, 6, 7)),
    "select": (lambda a: a.select(1, 2), (5, 6, 7)),
    "ravel": (lambda a: a.ravel(), (5, 6)),
    "movedim": (lambda a: a.movedim(1, -1), (5, 6, 7)),
    "movedim of two": (lambda a: a.movedim((0, 1), (-1, 0)), (5, 6, 7)),
    "hstack": (lambda a, b: torch.hstack([a, b]), (5, 6), (5, 7)),
    "hstack of vectors": (lambda a, b: torch.hstack([a, b]), (5,), (7,)),
    "vstack": (lambda a, b: torch.vstack([a, b]), (5, 6), (7, 6)),
    "reshape_as": (lambda a, b: a.reshape_as(b), (5, 6), (3, 10)),
    "broadcast_tensors": (torch.broadcast_tensors, (5, 1, 7), (6, 1)),
    "broadcast_to": (lambda a: a.broadcast_to(5, 6, 7), (6, 1)),
    "meshgrid": (lambda a, b: torch.meshgrid(a, b, indexing="ij"), (5,), (7,)),
    "meshgrid, sides changed": (lambda a, b: torch.meshgrid(a, b, indexing="xy"), (5,), (7,)),
    "diagonal": (lambda a: a.diagonal(dim1=-2, dim2=-1), (5, 3, 3)),
    "diag_embed": (torch.diag_embed, (5, 7)),
    "tensor_split": (lambda a: a.tensor_split(2, 1), (5, 6)),
    "grid_sample": (lambda a, b: functional.grid_sample(a, b, align_corners=False), (2, 3, 8, 9), (2, 4, 5, 2)),
    "affine_grid": (lambda a: functional.affine_grid(a, (2, 3, 8, 9), align_corners=False), (2, 2, 3)),
    "pixel_shuffle": (lambda a: functional.pixel_shuffle(a, 2), (2, 12, 4, 5)),
    "pixel_unshuffle": (lambda a: functional.pixel_unshuffle(a, 2), (2, 3, 8, 10)),
    "unfold of pictures": (lambda a: functional.unfold(a, 2), (2, 3, 8, 10)),
    "unfold of one dimension": (lambda a: a.unfold(1, 4, 4), (2, 12, 5)),
    "unfold that overlaps": (lambda a: a.unfold(1, 4, 2), (2, 12, 5)),
    "fold": (lambda a: functional.fold(a, (8, 10), 2, stride=2), (2, 12, 20)),
    "topk": (lambda a: a.topk(3, -1), (5, 7)),
}


@pytest.mark.parametrize("name", CALLS)
def test_shapes_are_those_that_pytorch_gives(name):
    call, *shapes = CALLS[name]
    torch.manual_seed(0)
    given = [torch.randn(shape) for shape in shapes]
    expected = [tuple(leaf.shape) for leaf in pytree.tree_leaves(call(*given))]
    reading = Reading(HANDLERS)
    read = [*tensors_in(call(*(reading.tensor(closed(*map(Dim, shape)), Kind("float32")) for shape in shapes)))]
    reading.solve()
    sizes = [[dim.end().value for dim in made.known.end().dims()] for made in read]
    assert list(map(len, sizes)) == list(map(len, expected))
    known = [
        tuple(size or real for size, real in zip(*pair, strict=True)) for pair in zip(sizes, expected, strict=True)
    ]
    assert known == expected


def tensors_in(value):
    return [leaf for item in value for leaf in tensors_in(item)] if isinstance(value, tuple) else [value]
