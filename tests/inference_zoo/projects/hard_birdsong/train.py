import pandas as pd
import torch
from config import CFG
from model import SongNet as Net
from model import SongPair
from torch import nn


def make_act(cfg):
    return {"silu": nn.SiLU(), "relu": nn.ReLU()}[cfg.act]


def main():
    table = pd.read_csv("train.csv")
    weights = torch.tensor(table.label.value_counts().values)
    model = Net(CFG.n_mels, make_act(CFG), CFG.width, 4, class_weights=weights)
    pair = SongPair(nn.Linear(CFG.chunk, 8), CFG.chunk, 0.2)
    return model, pair


if __name__ == "__main__":
    main()
