import math

import torch


class DDPMScheduler:
    def __init__(
        self,
        num_train_timesteps=1000,
        beta_start=0.0001,
        beta_end=0.02,
        beta_schedule="linear",
        clip_sample=True,
        prediction_type="epsilon",
    ):
        self.num_train_timesteps = num_train_timesteps
        self.clip_sample = clip_sample
        self.prediction_type = prediction_type
        if beta_schedule == "linear":
            betas = torch.linspace(beta_start, beta_end, num_train_timesteps)
        elif beta_schedule == "squaredcos_cap_v2":
            bar = [
                math.cos((i / num_train_timesteps + 0.008) / 1.008 * math.pi / 2) ** 2
                for i in range(num_train_timesteps + 1)
            ]
            betas = torch.tensor([min(1 - bar[i + 1] / bar[i], 0.999) for i in range(num_train_timesteps)])
        else:
            raise NotImplementedError(f"{beta_schedule} is not implemented")
        self.alphas_cumprod = torch.cumprod(1.0 - betas, dim=0)

    def add_noise(self, original_samples, noise, timesteps):
        alphas = self.alphas_cumprod.to(original_samples.device)[timesteps]
        while alphas.dim() < original_samples.dim():
            alphas = alphas.unsqueeze(-1)
        return alphas.sqrt() * original_samples + (1 - alphas).sqrt() * noise

    def step(self, model_output, t, sample):
        alpha = self.alphas_cumprod[t]
        prev = self.alphas_cumprod[t - 1] if t > 0 else torch.tensor(1.0)
        start = (sample - (1 - alpha).sqrt() * model_output) / alpha.sqrt()
        if self.clip_sample:
            start = start.clamp(-1, 1)
        return prev.sqrt() * start + (1 - prev).sqrt() * model_output
