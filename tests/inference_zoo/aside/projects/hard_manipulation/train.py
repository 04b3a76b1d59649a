import argparse

import numpy as np
import torch
import yaml
import zarr
from model.obs_encoder import MultiImageObsEncoder, get_rgb_model
from model.schedule import DDPMScheduler
from policy.diffusion_image_policy import DiffusionImagePolicy
from torch.utils.data import DataLoader, Dataset


class PushImageDataset(Dataset):
    def __init__(self, path, shape_meta, horizon):
        root = zarr.open(path, "r")
        self.obs = {key: root["data"][key][:] for key in shape_meta["obs"]}
        self.types = {key: attr.get("type", "low_dim") for key, attr in shape_meta["obs"].items()}
        self.action = root["data"]["action"][:].astype(np.float32)
        self.horizon = horizon

    def __len__(self):
        return len(self.action) - self.horizon + 1

    def __getitem__(self, idx):
        window = slice(idx, idx + self.horizon)
        obs = {}
        for key, data in self.obs.items():
            sample = data[window].astype(np.float32)
            if self.types[key] == "rgb":
                sample = np.moveaxis(sample, -1, 1) / 255  # T,H,W,C -> T,C,H,W
            obs[key] = torch.from_numpy(sample)
        return {"obs": obs, "action": torch.from_numpy(self.action[window])}


def get_policy(cfg):
    encoder = MultiImageObsEncoder(
        cfg["shape_meta"],
        get_rgb_model(cfg["obs_encoder"]["feature_dim"]),
        crop_shape=cfg["obs_encoder"]["crop_shape"],
        share_rgb_model=cfg["obs_encoder"]["share_rgb_model"],
    )
    return DiffusionImagePolicy(
        shape_meta=cfg["shape_meta"],
        noise_scheduler=DDPMScheduler(**cfg["noise_scheduler"]),
        obs_encoder=encoder,
        horizon=cfg["horizon"],
        n_action_steps=cfg["n_action_steps"],
        n_obs_steps=cfg["n_obs_steps"],
        **cfg["policy"],
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="config/push_image.yaml")
    parser.add_argument("--dataset", default="data/push_image.zarr")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3050)
    parser.add_argument("--lr", type=float, default=1e-4)
    args = parser.parse_args()
    with open(args.config) as f:
        cfg = yaml.safe_load(f)

    policy = get_policy(cfg).cuda()
    dataset = PushImageDataset(args.dataset, cfg["shape_meta"], cfg["horizon"])
    optimizer = torch.optim.AdamW(policy.parameters(), lr=args.lr, betas=(0.95, 0.999), weight_decay=1e-6)
    for epoch in range(args.epochs):
        for batch in DataLoader(dataset, args.batch_size, shuffle=True, num_workers=8):
            sample = {
                "obs": {key: value.cuda() for key, value in batch["obs"].items()},
                "action": batch["action"].cuda(),
            }
            loss = policy(sample)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        print(f"{epoch}: {loss.item():.4f}")
        torch.save(policy.state_dict(), "latest.ckpt")


if __name__ == "__main__":
    main()
