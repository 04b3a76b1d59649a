"""Helpers that remember their results, in a file without a model."""

import functools

import torch


@functools.lru_cache(maxsize=4)
def positions(n):
    return torch.arange(n).float()


def twice(n):
    return positions(n) * 2
