import torch
from torch import nn


class HoloClassifier(nn.Module):
    def __init__(self, trunk, taxa, embedding, views, share_trunk):
        super().__init__()
        make = trunk if callable(trunk) else TRUNKS[trunk]
        self.trunks = nn.ModuleList(
            [make(embedding)] * views if share_trunk else [make(embedding) for _ in range(views)]
        )
        self.mix = nn.Linear(embedding * views, embedding)
        self.taxa = list(taxa)
        self.out = nn.Linear(embedding, len(self.taxa))

    def forward(self, holograms):
        """holograms: batch, views, height, width."""
        parts = [trunk(holograms[:, i : i + 1]) for i, trunk in enumerate(self.trunks)]
        return self.out(torch.relu(self.mix(torch.cat(parts, 1))))


def small(embedding):
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, 3), nn.ReLU(), nn.Conv2d(16, embedding, 3, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    )


TRUNKS = {"small": small}
