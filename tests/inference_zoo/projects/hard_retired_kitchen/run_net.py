"""Train the video models."""

import argparse

import torch
from config.defaults import get_cfg
from datasets import loader
from models import build_model


def load_config():
    parser = argparse.ArgumentParser(description="Provide video training and testing pipeline.")
    parser.add_argument("--cfg", dest="cfg_file", default="configs/EPIC-KITCHENS/SLOWFAST_8x8_R50_112.yaml")
    parser.add_argument("opts", default=None, nargs=argparse.REMAINDER)
    args = parser.parse_args()
    cfg = get_cfg()
    if args.cfg_file is not None:
        cfg.merge_from_file(args.cfg_file)
    if args.opts is not None:
        cfg.merge_from_list(args.opts)
    return cfg


def pack_pathway_output(cfg, frames):
    """
    Prepare output as a list of tensors. Each tensor corresponding to a unique pathway.
    Args:
        frames (tensor): frames of images sampled from the video, `channel` x `num frames` x `height` x `width`.
    """
    fast_pathway = frames
    # Perform temporal sampling from the fast pathway.
    slow_pathway = torch.index_select(
        frames, 1, torch.linspace(0, frames.shape[1] - 1, frames.shape[1] // cfg.SLOWFAST.ALPHA).long()
    )
    return [slow_pathway, fast_pathway]


def train(cfg):
    torch.manual_seed(cfg.RNG_SEED)
    model = build_model(cfg)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for inputs, labels in loader.construct_loader(cfg, "train"):
        verb, noun = model(inputs)
        loss = torch.nn.functional.cross_entropy(verb, labels["verb"])
        loss = loss + torch.nn.functional.cross_entropy(noun, labels["noun"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train(load_config())
