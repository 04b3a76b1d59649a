from collections import Counter

import torch
from captioner import Captioner
from settings import CaptionerSettings, DecoderSettings, EncoderSettings
from vocab import Vocab


def make_vocab(n=30):
    return Vocab(Counter({f"w{i}": 9 for i in range(n)}))


def test_caption():
    settings = CaptionerSettings(
        encoder=EncoderSettings(name="conv", out_dim=32), decoder=DecoderSettings(kind="gru", hidden=24)
    )
    model = Captioner(settings, make_vocab())
    out = model(torch.rand(2, 3, 64, 64), torch.randint(0, 30, (2, 5)), torch.tensor([6, 4]))
    assert out.shape == (10, len(make_vocab()))
