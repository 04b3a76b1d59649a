import argparse

import torch
import yaml
from torch import nn

from .dataset import PixelSetData
from .models import get_model


def recursive_todevice(x, device):
    if isinstance(x, torch.Tensor):
        return x.to(device)
    return [recursive_todevice(c, device) for c in x]


def train_epoch(model, optimizer, criterion, loader, device):
    model.train()
    for i, (x, dates, y) in enumerate(loader):
        inputs = recursive_todevice(x, device)
        optimizer.zero_grad()
        out = model(inputs, dates.to(device))
        loss = criterion(out, y.to(device).long())
        loss.backward()
        optimizer.step()
        if i % 50 == 0:
            print(f"step {i}/{len(loader)} loss {loss.item():.4f}")


def main(config):
    torch.manual_seed(config["seed"])
    device = torch.device(config["device"])
    dataset = PixelSetData(**config["data"])
    loader = torch.utils.data.DataLoader(dataset, shuffle=True, **config["loader"])
    model = get_model(config["model"]).to(device)
    model.param_ratio()
    optimizer = torch.optim.Adam(model.parameters(), lr=config["optim"]["lr"])
    criterion = nn.CrossEntropyLoss()
    for epoch in range(config["optim"]["epochs"]):
        print(f"EPOCH {epoch + 1}")
        train_epoch(model, optimizer, criterion, loader, device)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="configs/pse_ltae.yaml")
    parser.add_argument("--device", default=None)
    args = parser.parse_args()
    with open(args.config) as f:
        config = yaml.safe_load(f)
    if args.device:
        config["device"] = args.device
    main(config)
