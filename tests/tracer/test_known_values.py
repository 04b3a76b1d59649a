"""Passes without values know those of small tensors of whole numbers, whatever is written into them."""

import pytest
import torch
from torch import nn

from modeldiagrams.tracer import trace
from tracer.traced_graph import Lambda, linear, x


def fill_diagonal(_self, _h, mask):
    mask.fill_diagonal_(0)
    return mask.nonzero()


def write_row(_self, _h, mask):
    mask[0] = 0
    return torch.where(mask)[0]


def write_to_view(_self, _h, mask):
    column = mask[:, 1]
    rows = mask.view(-1)[3:9]
    column -= 1
    rows[2] = 0
    mask[mask > 5] = 0
    return mask.nonzero(), rows.nonzero(), column.nonzero()


def write_through_out(_self, _h, mask):
    row = mask[2]
    torch.mul(row, 0, out=row)
    torch._foreach_zero_([mask[0], mask[1, :2]])
    return mask.nonzero()


def write_to_copies_only(_self, _h, mask):
    mask.clone().zero_()
    mask.to(torch.int32).zero_()
    mask.flatten()[::2].clone().fill_(0)
    return mask.nonzero()


def write_buffer(self, _h, mask):
    self.counts[0] = 0
    self.counts[1:].add_(2)
    return torch.arange(int(self.counts.sum())), mask.nonzero()


@pytest.mark.parametrize(
    "forward",
    [fill_diagonal, write_row, write_to_view, write_through_out, write_to_copies_only, write_buffer],
)
def test_sizes_after_a_write_are_those_of_a_real_pass(forward):
    model = Lambda(forward, a=linear())
    model.register_buffer("counts", torch.tensor([3, 4, 5]))
    mask = torch.arange(20).view(4, 5) % 7
    before = mask.clone()
    fake, real = (trace(model, (x(), mask), mode=mode) for mode in ("fake", "real"))
    assert fake.status.error is real.status.error is None
    assert fake.status.guesses == ()
    assert fake.tensors == real.tensors
    assert torch.equal(mask, before)
    assert model.counts.tolist() == [3, 4, 5]


def test_constant_of_the_program_is_not_written():
    table = torch.tensor([1, 2, 3])

    def forward(self, h):
        row = table[:2]
        row.zero_()
        return self.a(h)

    trace(Lambda(forward, a=linear()), (x(),), mode="fake")
    assert table.tolist() == [1, 2, 3]


def test_unknown_value_makes_all_views_unknown():
    def forward(self, h, mask):
        mask.view(-1)[0] = self.a(h).argmax()
        return mask.nonzero()

    graph = trace(Lambda(forward, a=linear()), (x(), torch.eye(3, dtype=torch.int64)), mode="fake")
    assert [guess.value for guess in graph.status.guesses] == ["every element"]


def test_write_of_an_assumed_value_is_assumed_in_all_views():
    def forward(self, h, counts):
        counts[0] = self.a(h).sum().long()
        return torch.zeros(int(counts[1])), torch.zeros(int(counts[0]))

    graph = trace(Lambda(forward, a=linear()), (x(), torch.tensor([3, 4])), mode="fake")
    assert graph.status.error is None
    assert len(graph.status.guesses) == 2


def test_two_inputs_in_one_memory():
    def forward(_self, first, second):
        first[0] = 0
        return second.nonzero()

    both = torch.ones(6, dtype=torch.int64)
    graph = trace(Lambda(forward), (both[:4], both[0:2]), mode="fake")
    assert graph.tensors["/nonzero:0"].shape == (2, 1)
    assert [guess.value for guess in graph.status.guesses] == ["every element"]


def test_weights_of_whole_numbers_are_known():
    model = Lambda(lambda self, h: (h, self.kept[self.kept > 1]))
    model.kept = nn.Parameter(torch.tensor([1, 2, 3]), requires_grad=False)
    assert trace(model, (x(),), mode="fake").tensors["/getitem:0"].shape == (2,)


def test_replaced_data_is_not_taken_for_what_was_there():
    def forward(_self, h, mask):
        row = mask[0]
        row.data = torch.zeros(3, dtype=torch.int64)
        return h, row.nonzero()

    graph = trace(Lambda(forward), (x(), torch.eye(3, dtype=torch.int64)), mode="fake")
    assert [guess.value for guess in graph.status.guesses] == ["every element"]
