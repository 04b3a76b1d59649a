import pytest
import torch
from detector import SIZES, Detector


@pytest.fixture(params=["s", "m"])
def size(request):
    return request.param


@pytest.fixture
def net(size):
    return Detector(**SIZES[size], num_classes=4).eval()


def test_boxes(net):
    out = net([torch.rand(3, 64, 64)])
    assert out["boxes"].shape[-1] == 4
