"""What classes offer themselves: examples, configurations, and what their libraries know of them."""

import torch
from torch import nn
from torch.nn import functional as F


class OwnExample(nn.Module):
    """Its own example comes before that of Lightning."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)
        self.example_input_array = torch.zeros(2, 3)

    @classmethod
    def modeldiagrams_example(cls):
        return {"query": {"points": [torch.zeros(1, 3)]}}

    def forward(self, query):
        return self.fc(next(iter(query.values()))[0])


class LightningStyle(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(11, 2)
        self.example_input_array = (torch.zeros(2, 11), torch.zeros(2, 1))

    def forward(self, x, weight):
        return self.fc(x) * weight


class TimmStyle(nn.Module):
    """Only the size of its configuration fits."""

    default_cfg = {"input_size": (3, 48, 48), "num_classes": 5}

    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Conv2d(3, 4, 16, 16), nn.Linear(4 * 9, 5)

    def forward(self, x):
        return self.head(self.stem(x).flatten(1))


class TorchvisionStyle(nn.Module):
    """A detector: a list of images of any size, resized inside."""

    def __init__(self):
        super().__init__()
        self.transform = nn.Identity()
        self.transform.image_mean, self.transform.min_size = [0.5, 0.5, 0.5], (40,)
        self.body = nn.Conv2d(3, 4, 3)

    def forward(self, images: list[torch.Tensor], targets=None):
        return self.body(F.interpolate(torch.stack(images), self.transform.min_size * 2))


class TextConfig:
    model_type = "text"

    def __init__(self, vocab_size=9, hidden_size=8, num_hidden_layers=6, max_position_embeddings=8):
        self.vocab_size, self.hidden_size = vocab_size, hidden_size
        self.num_hidden_layers, self.max_position_embeddings = num_hidden_layers, max_position_embeddings


class TransformersStyle(nn.Module):
    """All inputs are optional; the configuration says how many ids there are, and of how many positions."""

    config_class = TextConfig
    main_input_name = "input_ids"

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.positions = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layers = nn.ModuleList(
            nn.Linear(config.hidden_size, config.hidden_size) for _ in range(config.num_hidden_layers)
        )

    def forward(self, input_ids=None, inputs_embeds=None, attention_mask=None):
        if (input_ids is None) == (inputs_embeds is None):
            raise ValueError("You have to specify either input_ids or inputs_embeds")
        x = self.words(input_ids) if inputs_embeds is None else inputs_embeds
        x = x + self.positions(torch.arange(x.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return x


class TooDeep(TransformersStyle):
    """Stands for a model that is too large to run with its default number of layers."""

    def forward(self, input_ids=None):
        assert len(self.layers) < 4, "too deep"
        return super().forward(input_ids)


class BrokenExample(nn.Module):
    """What a class offers and can't be read is left out."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 2)

    @property
    def dummy_inputs(self):
        raise OSError("no network")

    def forward(self, x):
        return self.fc(x)
