"""What kernels refuse is refused in fake mode, too: torch's own real pass is the oracle."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (torch's own name for it)
from torch import nn

from modeldiagrams.tracer import trace
from tracer.traced_graph import Lambda

IMAGE = (1, 2, 4, 4)
CALLS = {
    "linear": lambda x: F.linear(x(1, 4), torch.zeros(3, 4), torch.zeros(3)),
    "linear without bias": lambda x: F.linear(x(2, 3, 4), torch.zeros(3, 4)),
    "matmul": lambda x: x(5, 2, 3) @ torch.zeros(3, 4),
    "mm": lambda x: x(2, 3) @ torch.zeros(3, 4),
    "mv": lambda x: x(2, 3) @ torch.zeros(3),
    "conv1d": lambda x: F.conv1d(x(1, 2, 9), torch.zeros(4, 2, 3)),
    "conv_transpose2d": lambda x: F.conv_transpose2d(x(*IMAGE), torch.zeros(2, 4, 3, 3)),
    "attention": lambda x: nn.MultiheadAttention(4, 2)(x(2, 4), x(2, 4), x(2, 4))[0],
    "encoder layer": lambda x: nn.TransformerEncoderLayer(4, 2, 8)(x(2, 4)),
    "softmax": lambda x: F.softmax(x(2, 4), -1),
    "softmax of floats": lambda x: F.softmax(x(2, 4), -1, dtype=torch.float32),
    "log_softmax": lambda x: F.log_softmax(x(2, 4), -1),
    "gelu": lambda x: F.gelu(x(2, 4)),
    "silu": lambda x: F.silu(x(2, 4)),
    "mish": lambda x: F.mish(x(2, 4)),
    "softplus": lambda x: F.softplus(x(2, 4)),
    "hardswish": lambda x: F.hardswish(x(2, 4)),
    "relu": lambda x: F.relu(x(2, 4)),
    "sigmoid": lambda x: x(2, 4).sigmoid(),
    "batch_norm": lambda x: F.batch_norm(x(2, 4), torch.zeros(4), torch.ones(4)),
    "batch_norm in training": lambda x: F.batch_norm(x(2, 4), None, None, training=True),
    "layer_norm": lambda x: F.layer_norm(x(2, 4), (4,)),
    "var": lambda x: x(3).var(),
    "pool": lambda x: F.adaptive_avg_pool2d(x(*IMAGE), 2),
    "max_pool": lambda x: F.max_pool2d(x(*IMAGE), 2),
    "nearest": lambda x: F.interpolate(x(*IMAGE), scale_factor=2),
    "bilinear": lambda x: F.interpolate(x(*IMAGE), scale_factor=2, mode="bilinear"),
    "grid_sample": lambda x: F.grid_sample(x(*IMAGE), torch.zeros(1, 2, 2, 2), align_corners=False),
    "unfold": lambda x: F.unfold(x(*IMAGE), 2),
    "embedding": lambda x: F.embedding(x(2), torch.zeros(4, 3)),
    "add": lambda x: x(2) + torch.zeros(2),
    "and": lambda x: x(2) & x(2),
    "and of masks": lambda x: (x(2) > 0) & (x(2) > 1),
    "silu in place": lambda x: F.silu(x(2, 4), inplace=True),
    "softmax of nothing": lambda x: F.softmax(x(0, 4), -1),
    "pool of nothing": lambda x: F.adaptive_avg_pool2d(x(0, 2, 4, 4), 2),
}


CASES = [
    *((call, torch.int64) for call in CALLS),
    *(("linear", dtype) for dtype in (torch.float16, torch.float32)),
    ("conv1d", torch.float16),
    ("and", torch.float32),
    *(("unfold", dtype) for dtype in (torch.bool, torch.int32)),
]


@pytest.mark.parametrize(("call", "dtype"), CASES, ids=str)
def test_fake_mode_refuses_dtypes_as_a_real_pass_does(call, dtype):
    def forward(_self, start):
        return CALLS[call](lambda *shape: start.new_zeros(shape))

    given = torch.zeros(1, dtype=dtype)
    real, fake = (trace(Lambda(forward), (given,), mode=mode).status.state for mode in ("real", "fake"))
    assert fake == real


def test_autocast_brings_factors_to_one_dtype():
    def forward(self, half):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.a(half)

    model = Lambda(forward, a=nn.Linear(4, 2))
    assert trace(model, (torch.zeros(1, 4, dtype=torch.bfloat16),), mode="fake").status.state == "complete"


PLACES = {
    "index": lambda h, ids: h[ids],
    "second index": lambda h, ids: h[:, ids],
    "index of a row": lambda h, ids: h[0][ids],
    "index_select": lambda h, ids: h.index_select(0, ids),
    "gather": lambda h, ids: h.gather(1, ids.expand(3, 2)),
    "embedding": lambda h, ids: F.embedding(ids, h),
    "index_add": lambda h, ids: h.index_add(0, ids, h[:2]),
    "index_put": lambda h, ids: h.clone().index_put((ids,), torch.zeros(2, 3)),
    "scatter": lambda h, ids: h.scatter_add(1, ids.expand(3, 2), h),
    "written": lambda h, ids: h.clone().index_fill_(0, ids, 1.0),
    "written to nothing": lambda h, ids: h[:, :0].index_fill(0, ids, 1.0),
    "put into nothing": lambda h, ids: h[:, :0].index_put((ids,), torch.zeros(2, 0)),
    "number": lambda h, ids: h.sum().index_fill(0, ids.clamp(max=0), 1.0),
    "sparse": lambda h, ids: h.to_sparse().index_select(0, ids).to_dense(),
}


@pytest.mark.parametrize("ids", [(0, 2), (0, 3), (-3, 0), (-4, 0)], ids=str)
@pytest.mark.parametrize("place", PLACES)
def test_fake_mode_refuses_known_positions_as_a_real_pass_does(place, ids):
    def forward(_self, h, ids):
        return PLACES[place](h, ids + 0)

    given = (torch.zeros(3, 3), torch.tensor(ids))
    real, fake = (trace(Lambda(forward), given, mode=mode).status.state for mode in ("real", "fake"))
    assert fake == real
