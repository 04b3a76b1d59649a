"""python train.py --config configs/small.yaml"""

import argparse

import torch
import yaml
from contact_model import ProteinContactModel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="configs/small.yaml")
    args = parser.parse_args()
    with open(args.config) as f:
        cfg = yaml.safe_load(f)
    torch.manual_seed(cfg["seed"])
    model = ProteinContactModel(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["optim"]["lr"])
    for tokens, contacts in load_batches(cfg):
        out = model(tokens)
        loss = torch.nn.functional.binary_cross_entropy(out["contacts"], contacts)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def load_batches(cfg):
    raise SystemExit("put the alignments into data/ first")


if __name__ == "__main__":
    main()
