"""A model whose boxes cost different amounts, and the file that the table of costs saves."""

import csv

import torch
from torch import nn

from browser.controls import button


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


class Net(nn.Module):
    """Three equal blocks between two layers."""

    def __init__(self, block=Block, width=16, classes=100):
        super().__init__()
        self.embed, self.head = nn.Linear(8, width), nn.Linear(width, classes)
        self.blocks = nn.Sequential(*(block(width) for _ in range(3)))

    def forward(self, x):
        return self.head(self.blocks(self.embed(x)))


def saved_rows(reader, tmp_path):
    """Id of a node → its row in the file."""
    with reader.page.expect_download() as download:
        button(reader, "Save as CSV").click()
    path = tmp_path / "costs.csv"
    download.value.save_as(path)
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}
