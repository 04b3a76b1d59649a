from typing import Dict

import torch
import torch.nn as nn
import torch.nn.functional as F

from inference_zoo.aside.projects.hard_manipulation.model.conditional_unet1d import ConditionalUnet1D
from inference_zoo.aside.projects.hard_manipulation.model.normalizer import LinearNormalizer
from inference_zoo.aside.projects.hard_manipulation.model.obs_encoder import MultiImageObsEncoder
from inference_zoo.aside.projects.hard_manipulation.model.schedule import DDPMScheduler


def dict_apply(x, func):
    return {key: dict_apply(value, func) if isinstance(value, dict) else func(value) for key, value in x.items()}


class DiffusionImagePolicy(nn.Module):
    def __init__(
        self,
        shape_meta: dict,
        noise_scheduler: DDPMScheduler,
        obs_encoder: MultiImageObsEncoder,
        horizon,
        n_action_steps,
        n_obs_steps,
        num_inference_steps=None,
        obs_as_global_cond=True,
        diffusion_step_embed_dim=256,
        down_dims=(256, 512, 1024),
        kernel_size=5,
        n_groups=8,
        cond_predict_scale=True,
    ):
        super().__init__()
        # parse shapes
        action_shape = shape_meta["action"]["shape"]
        assert len(action_shape) == 1
        action_dim = action_shape[0]
        # get feature dim
        obs_feature_dim = obs_encoder.output_shape()[0]

        if not obs_as_global_cond:
            raise NotImplementedError("inpainting was removed, use obs_as_global_cond")
        self.model = ConditionalUnet1D(
            input_dim=action_dim,
            global_cond_dim=obs_feature_dim * n_obs_steps,
            diffusion_step_embed_dim=diffusion_step_embed_dim,
            down_dims=down_dims,
            kernel_size=kernel_size,
            n_groups=n_groups,
            cond_predict_scale=cond_predict_scale,
        )
        self.obs_encoder = obs_encoder
        self.noise_scheduler = noise_scheduler
        self.normalizer = LinearNormalizer()
        self.horizon = horizon
        self.obs_feature_dim = obs_feature_dim
        self.action_dim = action_dim
        self.n_action_steps = n_action_steps
        self.n_obs_steps = n_obs_steps
        if num_inference_steps is None:
            num_inference_steps = noise_scheduler.num_train_timesteps
        self.num_inference_steps = num_inference_steps

    def set_normalizer(self, normalizer: LinearNormalizer):
        self.normalizer.load_state_dict(normalizer.state_dict())

    def encode_obs(self, nobs, batch_size):
        # reshape B, T, ... to B*T
        this_nobs = dict_apply(nobs, lambda x: x[:, : self.n_obs_steps, ...].reshape(-1, *x.shape[2:]))
        nobs_features = self.obs_encoder(this_nobs)
        # reshape back to B, Do
        return nobs_features.reshape(batch_size, -1)

    @torch.no_grad()
    def predict_action(self, obs_dict: Dict[str, torch.Tensor]) -> Dict[str, torch.Tensor]:
        """
        obs_dict: must include "obs" key
        result: must include "action" key
        """
        nobs = self.normalizer.normalize(obs_dict)
        value = next(iter(nobs.values()))
        global_cond = self.encode_obs(nobs, value.shape[0])
        trajectory = torch.randn(value.shape[0], self.horizon, self.action_dim, device=value.device)
        stride = self.noise_scheduler.num_train_timesteps // self.num_inference_steps
        for t in range(self.noise_scheduler.num_train_timesteps - 1, -1, -stride):
            trajectory = self.noise_scheduler.step(self.model(trajectory, t, global_cond=global_cond), t, trajectory)
        action_pred = self.normalizer.unnormalize_action(trajectory)
        start = self.n_obs_steps - 1
        return {"action": action_pred[:, start : start + self.n_action_steps], "action_pred": action_pred}

    def forward(self, batch):
        # normalize input
        assert "valid_mask" not in batch
        nobs = self.normalizer.normalize(batch["obs"])
        nactions = self.normalizer.normalize(batch["action"])
        batch_size, horizon = nactions.shape[0], nactions.shape[1]
        assert horizon == self.horizon
        global_cond = self.encode_obs(nobs, batch_size)

        # Sample noise that we'll add to the images
        noise = torch.randn(nactions.shape, device=nactions.device)
        # Sample a random timestep for each image
        timesteps = torch.randint(0, self.noise_scheduler.num_train_timesteps, (batch_size,), device=nactions.device)
        # (this is the forward diffusion process)
        noisy_trajectory = self.noise_scheduler.add_noise(nactions, noise, timesteps)
        pred = self.model(noisy_trajectory, timesteps, global_cond=global_cond)

        pred_type = self.noise_scheduler.prediction_type
        if pred_type == "epsilon":
            target = noise
        elif pred_type == "sample":
            target = nactions
        else:
            raise ValueError(f"Unsupported prediction type {pred_type}")
        loss = F.mse_loss(pred, target, reduction="none")
        return loss.flatten(1).mean(1).mean()
