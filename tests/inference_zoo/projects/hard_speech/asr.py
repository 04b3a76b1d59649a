import torch
from torch import nn

from inference_zoo.projects.hard_speech.registry import build, register


@register("streaming")
class StreamingEncoder(nn.Module):
    def __init__(self, n_in, dim, layers, kernel):
        super().__init__()
        self.proj = nn.Linear(n_in, dim)
        self.convs = nn.ModuleList(nn.Conv1d(dim, dim, kernel, groups=dim) for _ in range(layers))
        self.left = kernel - 1
        self.dim = dim

    def init_cache(self, batch):
        return [torch.zeros(batch, self.dim, self.left) for _ in self.convs]

    def forward(self, feats, cache):
        x = self.proj(feats).transpose(1, 2)
        new = []
        for conv, past in zip(self.convs, cache, strict=True):
            full = torch.cat([past, x], dim=-1)
            new.append(full[..., -self.left :])
            x = x + torch.relu(conv(full))
        return x.transpose(1, 2), new


@register("recognizer")
class Recognizer(nn.Module):
    def __init__(self, cfg, n_mels):
        super().__init__()
        enc = cfg.encoder
        self.encoder = build(enc.kind, n_in=n_mels, dim=enc.dim, layers=enc.layers, kernel=enc.kernel)
        self.ctc = nn.Linear(enc.dim, cfg.vocab)
        self.blank = cfg.blank
        self.augment = build(cfg.specaugment) if cfg.specaugment is not None else None

    def forward(self, feats, feat_lengths, targets=None, target_lengths=None):
        if self.augment is not None and self.training:
            feats = self.augment(feats)
        x, _ = self.encoder(feats, self.encoder.init_cache(feats.size(0)))
        mask = torch.arange(x.size(1))[None, :] < feat_lengths[:, None]
        logits = self.ctc(x * mask[..., None]).log_softmax(-1)
        if targets is None:
            return logits, feat_lengths
        return nn.functional.ctc_loss(logits.transpose(0, 1), targets, feat_lengths, target_lengths, self.blank)
