import torch
import torch.nn as nn


class LinearNormalizer(nn.Module):
    """Scales and offsets per key; identity until `fit` was called."""

    def __init__(self):
        super().__init__()
        self.params_dict = nn.ParameterDict()

    @torch.no_grad()
    def fit(self, data, output_min=-1.0, output_max=1.0):
        for key, value in data.items():
            flat = value.reshape(-1, value.shape[-1])
            low, high = flat.min(0).values, flat.max(0).values
            scale = (output_max - output_min) / (high - low).clamp(min=1e-4)
            self.params_dict[f"{key}_scale"] = nn.Parameter(scale, requires_grad=False)
            self.params_dict[f"{key}_offset"] = nn.Parameter(output_min - scale * low, requires_grad=False)

    def normalize(self, x):
        if isinstance(x, dict):
            return {key: self._one(key, value) for key, value in x.items()}
        return self._one("action", x)

    def unnormalize_action(self, x):
        if "action_scale" not in self.params_dict:
            return x
        return (x - self.params_dict["action_offset"]) / self.params_dict["action_scale"]

    def _one(self, key, value):
        if f"{key}_scale" not in self.params_dict:
            return value
        return value * self.params_dict[f"{key}_scale"] + self.params_dict[f"{key}_offset"]
