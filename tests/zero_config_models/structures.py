"""Inputs in dicts, lists, tuples and several places; and classes that say themselves what they take."""

import torch
from torch import nn
from torch.nn import functional as F


class TakesBatch(nn.Module):
    def __init__(self):
        super().__init__()
        self.image_encoder = nn.Conv2d(3, 8, 4, 4)
        self.text_encoder = nn.Embedding(60, 8)

    def forward(self, batch):
        image = self.image_encoder(batch["image"]).mean((2, 3))
        return F.cosine_similarity(image, self.text_encoder(batch["text_ids"]).mean(1))


class TakesPair(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(5, 4), nn.Linear(6, 4)

    def forward(self, inputs):
        left, right = inputs
        return self.left(left) + self.right(right)


class TakesAny(nn.Module):
    """Any number of inputs by position."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(7, 3)

    def forward(self, *xs):
        return torch.stack([self.proj(x) for x in xs]).sum(0)


class TakesList(nn.Module):
    """A pyramid of features."""

    def __init__(self):
        super().__init__()
        self.laterals = nn.ModuleList(nn.Conv2d(8, 4, 1) for _ in range(2))

    def forward(self, features: list[torch.Tensor]):
        return [lateral(feature) for lateral, feature in zip(self.laterals, features, strict=True)]


class Multimodal(nn.Module):
    def __init__(self):
        super().__init__()
        self.vision = nn.Sequential(nn.Conv2d(3, 8, 16, 16), nn.Flatten(2))
        self.language = nn.Embedding(90, 8)
        self.fusion = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, image, input_ids, attention_mask=None):
        words, patches = self.language(input_ids), self.vision(image).transpose(1, 2)
        return self.fusion(words, patches, patches)[0]


class KeywordOnly(nn.Module):
    def __init__(self):
        super().__init__()
        self.audio, self.text = nn.Conv1d(1, 8, 10, 5), nn.Embedding(30, 8)

    def forward(self, *, audio, text):
        return self.audio(audio).mean(-1) + self.text(text).mean(1)


class Flags(nn.Module):
    """Plain numbers beside a tensor."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(9, 9)

    def forward(self, x: torch.Tensor, steps: int, scale: float, normalise: bool):
        for _ in range(steps):
            x = self.fc(x) * scale
        return F.normalize(x) if normalise else x


class SaysItself(nn.Module):
    """`modeldiagrams_example` tells what no rule could find."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    @classmethod
    def modeldiagrams_example(cls):
        return {"query": {"points": [torch.zeros(1, 3)]}}

    def forward(self, query):
        return self.fc(next(iter(query.values()))[0])


class LightningStyle(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(11, 2)
        self.example_input_array = torch.zeros(2, 11)

    def forward(self, x):
        return self.fc(x)


class TimmStyle(nn.Module):
    """Only the size of its configuration fits."""

    default_cfg = {"input_size": (3, 48, 48), "num_classes": 5}

    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Conv2d(3, 4, 16, 16), nn.Linear(4 * 9, 5)

    def forward(self, x):
        return self.head(self.stem(x).flatten(1))


class Nothing(nn.Module):
    """Every input is optional."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x=None, mask=None):
        if x is None:
            raise ValueError("you have to specify x")
        x = self.fc(x)
        return x if mask is None else x * mask
