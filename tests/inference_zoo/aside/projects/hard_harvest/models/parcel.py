from torch import nn

from .ltae import LTAE
from .pse import PixelSetEncoder


def get_decoder(n_neurons):
    layers = []
    for i in range(len(n_neurons) - 1):
        layers.append(nn.Linear(n_neurons[i], n_neurons[i + 1]))
        if i < (len(n_neurons) - 2):
            layers.extend([nn.BatchNorm1d(n_neurons[i + 1]), nn.ReLU()])
    return nn.Sequential(*layers)


class ParcelClassifier(nn.Module):
    """Pixel-Set encoder, temporal attention, MLP decoder"""

    def __init__(self, cfg):
        super().__init__()
        self.spatial_encoder = PixelSetEncoder(
            cfg["input_dim"],
            mlp1=cfg["mlp1"],
            pooling=cfg["pooling"],
            mlp2=cfg["mlp2"],
            with_extra=cfg["with_extra"],
            extra_size=cfg["extra_size"],
        )
        self.temporal_encoder = LTAE(in_channels=cfg["mlp2"][-1], **cfg["temporal"])
        self.decoder = get_decoder([*cfg["mlp4"], cfg["num_classes"]])
        self.return_att = cfg.get("return_att", False)

    def forward(self, input, dates, pad_mask=None):
        """
        input: ((pixels, mask), extra), or (pixels, mask) without extra features
        dates: days since the season began, batch x dates
        """
        out = self.spatial_encoder(input)
        out, att = self.temporal_encoder(out, dates, pad_mask)
        out = self.decoder(out)
        if self.return_att:
            return out, att
        return out

    def param_ratio(self):
        total = sum(p.numel() for p in self.parameters() if p.requires_grad)
        s = sum(p.numel() for p in self.spatial_encoder.parameters() if p.requires_grad)
        print(f"{total} parameters, {s / total:.0%} of them spatial")
