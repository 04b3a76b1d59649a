import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class SpatialSoftmax(nn.Module):
    def forward(self, x):
        b, c, h, w = x.shape
        attention = x.flatten(2).softmax(-1).view(b, c, h, w)
        ys = torch.linspace(-1, 1, h, device=x.device)
        xs = torch.linspace(-1, 1, w, device=x.device)
        expected_y = (attention.sum(3) * ys).sum(-1)
        expected_x = (attention.sum(2) * xs).sum(-1)
        return torch.cat([expected_x, expected_y], dim=-1)


def get_rgb_model(feature_dim):
    return nn.Sequential(
        nn.Conv2d(3, 32, 7, stride=2, padding=3),
        nn.GroupNorm(4, 32),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2, padding=1),
        nn.GroupNorm(8, 64),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3, stride=2, padding=1),
        SpatialSoftmax(),
        nn.Linear(128, feature_dim),
    )


class MultiImageObsEncoder(nn.Module):
    """
    Assumes rgb input: B,C,H,W
    Assumes low_dim input: B,D
    """

    def __init__(self, shape_meta, rgb_model, crop_shape=None, share_rgb_model=False, imagenet_norm=False):
        super().__init__()
        rgb_keys = []
        low_dim_keys = []
        key_model_map = nn.ModuleDict()
        key_shape_map = {}
        if share_rgb_model:
            key_model_map["rgb"] = rgb_model
        for key, attr in shape_meta["obs"].items():
            shape = tuple(attr["shape"])
            type = attr.get("type", "low_dim")
            key_shape_map[key] = shape
            if type == "rgb":
                rgb_keys.append(key)
                if not share_rgb_model:
                    key_model_map[key] = copy.deepcopy(rgb_model)
            elif type == "low_dim":
                low_dim_keys.append(key)
            else:
                raise RuntimeError(f"Unsupported obs type: {type}")
        self.shape_meta = shape_meta
        self.key_model_map = key_model_map
        self.key_shape_map = key_shape_map
        self.share_rgb_model = share_rgb_model
        self.crop_shape = crop_shape
        self.imagenet_norm = imagenet_norm
        self.rgb_keys = sorted(rgb_keys)
        self.low_dim_keys = sorted(low_dim_keys)

    def _transform(self, img):
        if self.crop_shape is not None:
            h, w = self.crop_shape
            top = (img.shape[-2] - h) // 2
            left = (img.shape[-1] - w) // 2
            img = img[..., top : top + h, left : left + w]
        if self.imagenet_norm:
            mean = img.new_tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
            std = img.new_tensor([0.229, 0.224, 0.225]).view(3, 1, 1)
            img = (img - mean) / std
        return img

    def forward(self, obs_dict):
        batch_size = None
        features = []
        for key in self.rgb_keys:
            img = obs_dict[key]
            if batch_size is None:
                batch_size = img.shape[0]
            assert batch_size == img.shape[0]
            assert img.shape[1:] == self.key_shape_map[key]
            model = self.key_model_map["rgb" if self.share_rgb_model else key]
            features.append(F.relu(model(self._transform(img))))
        for key in self.low_dim_keys:
            data = obs_dict[key]
            assert data.shape[1:] == self.key_shape_map[key]
            features.append(data)
        return torch.cat(features, dim=-1)

    @torch.no_grad()
    def output_shape(self):
        example = {key: torch.zeros((1, *tuple(attr["shape"]))) for key, attr in self.shape_meta["obs"].items()}
        return self.forward(example).shape[1:]
