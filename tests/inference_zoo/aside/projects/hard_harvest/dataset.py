import json
from pathlib import Path

import numpy as np
import torch
from torch.utils import data


class PixelSetData(data.Dataset):
    """One .npy per parcel, T x C x S; sampled to npixel pixels."""

    def __init__(self, root, npixel, lms, extra_feature=None):
        self.folder, self.npixel, self.lms = Path(root), npixel, lms
        with open(self.folder / "META" / "labels.json") as f:
            self.labels = json.load(f)
        with open(self.folder / "META" / "dates.json") as f:
            self.dates = torch.tensor(json.load(f))[:lms]
        self.extra = None
        if extra_feature is not None:
            with open(self.folder / "META" / f"{extra_feature}.json") as f:
                self.extra = json.load(f)
        self.pid = sorted(self.labels)

    def __len__(self):
        return len(self.pid)

    def __getitem__(self, item):
        pid = self.pid[item]
        x0 = np.load(self.folder / "DATA" / f"{pid}.npy")
        n = x0.shape[-1]
        idx = np.random.choice(n, self.npixel, replace=n < self.npixel)
        mask = np.ones(self.npixel)
        mask[n:] = 0
        x = torch.from_numpy(x0[..., idx].astype(np.float32))
        mask = torch.from_numpy(np.stack([mask] * x.shape[0])).float()
        sample = (x, mask)
        if self.extra is not None:
            ef = torch.tensor(self.extra[pid]).float()
            sample = (sample, ef[None].repeat(x.shape[0], 1))
        return sample, self.dates, torch.tensor(self.labels[pid])
