import torch
import torch.nn.functional as F
from torch import nn


class SpatialAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} is not a multiple of {heads} heads")
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x):
        b, c, h, w = x.shape
        y = x.flatten(2).transpose(1, 2)
        return x + self.attn(y, y, y, need_weights=False)[0].transpose(1, 2).reshape(b, c, h, w)


class SpectralUNet(nn.Module):
    def __init__(self, in_bands, n_classes, widths, norm, attention_at, heads):
        super().__init__()
        self.in_bands = in_bands
        self.down, self.attention = nn.ModuleList(), nn.ModuleDict()
        prev = in_bands
        for i, width in enumerate(widths):
            self.down.append(nn.Sequential(nn.Conv2d(prev, width, 3, padding=1), norm(width), nn.SiLU()))
            if i in attention_at:
                self.attention[str(i)] = SpatialAttention(width, heads)
            prev = width
        self.up = nn.ModuleList(
            nn.Conv2d(a + b, b, 3, padding=1) for a, b in zip(widths[:0:-1], widths[-2::-1], strict=True)
        )
        self.out = nn.Conv2d(widths[0], n_classes, 1)

    def forward(self, bands):
        assert bands.shape[1] == self.in_bands, f"expected {self.in_bands} bands, got {bands.shape[1]}"
        skips, x = [], bands
        for i, down in enumerate(self.down):
            x = down(F.max_pool2d(x, 2) if i else x)
            if str(i) in self.attention:
                x = self.attention[str(i)](x)
            skips.append(x)
        skips.pop()
        for up in self.up:
            skip = skips.pop()
            x = F.silu(up(torch.cat([F.interpolate(x, size=skip.shape[-2:]), skip], 1)))
        return self.out(x)


class LandCoverModule(nn.Module):
    def __init__(self, net, optimizer, class_names, ignore_index):
        super().__init__()
        self.net, self.optimizer = net, optimizer
        self.class_names = list(class_names)
        self.criterion = nn.CrossEntropyLoss(ignore_index=ignore_index)
        self.register_buffer("confusion", torch.zeros(len(self.class_names), len(self.class_names)))

    def forward(self, batch):
        logits = self.net(batch["image"])
        out = {"logits": logits, "prediction": logits.argmax(1)}
        if "mask" in batch:
            out["loss"] = self.criterion(logits, batch["mask"])
        return out

    def configure_optimizers(self):
        return self.optimizer(self.parameters())
