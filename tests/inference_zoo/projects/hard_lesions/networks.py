import torch
from torch import nn

NORMS = {"bn": nn.BatchNorm2d, "in": nn.InstanceNorm2d, "gn": lambda c: nn.GroupNorm(8, c)}


class ConvBlock(nn.Module):
    def __init__(self, cin, cout, opt):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(cin, cout, opt.ksize, padding=opt.ksize // 2), NORMS[opt.norm](cout), nn.LeakyReLU(opt.slope)
        )

    def forward(self, x):
        return self.body(x)


class LesionUNet(nn.Module):
    def __init__(self, opt, n_modalities):
        super().__init__()
        self.opt = opt
        widths = list(opt.filters)
        self.down = nn.ModuleList(ConvBlock(a, b, opt) for a, b in zip([n_modalities, *widths], widths))
        self.pool = nn.MaxPool2d(2)
        rev = widths[::-1]
        self.up = nn.ModuleList(ConvBlock(a + b, b, opt) for a, b in zip(rev, rev[1:]))
        self.out = nn.Conv2d(widths[0], opt.n_labels, 1)
        self.deep = nn.ModuleList(nn.Conv2d(c, opt.n_labels, 1) for c in rev[1:]) if opt.deep_supervision else None

    def forward(self, scan):
        skips = []
        x = scan
        for block in self.down:
            x = block(x)
            skips.append(x)
            x = self.pool(x)
        x, outs = skips.pop(), []
        for i, block in enumerate(self.up):
            x = nn.functional.interpolate(x, scale_factor=2)
            x = block(torch.cat([x, skips.pop()], 1))
            if self.deep is not None:
                outs.append(self.deep[i](x))
        return [self.out(x), *outs]
