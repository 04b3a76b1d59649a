"""Hard: encoders, heads, tokenizers, vocabularies, losses and schedules that are handed in.

Long because it is a list of models.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "AdapterModel",
    "AttributeTagger",
    "CaptionWriter",
    "DiffusionTrainer",
    "FeatureDistiller",
    "FusedEnsemble",
    "MaskedTextModel",
    "PyramidDetector",
    "TripletModel",
]


class PyramidDetector(nn.Module):
    def __init__(self, backbone, neck, bbox_head, num_classes):
        super().__init__()
        self.backbone = backbone
        in_channels = backbone.out_channels
        self.lateral = nn.ModuleList(nn.Conv2d(c, 256, 1) for c in in_channels)
        self.neck = neck
        self.bbox_head = bbox_head
        self.cls = nn.Conv2d(256, num_classes, 3, padding=1)

    def forward(self, images):
        feats = self.backbone(images)
        feats = [lat(f) for lat, f in zip(self.lateral, feats)]
        if self.neck is not None:
            feats = self.neck(feats)
        return [self.cls(f) for f in feats], [self.bbox_head(f) for f in feats]


class CaptionWriter(nn.Module):
    """An image's features start an LSTM that writes words of ``vocab``."""

    def __init__(self, encoder, vocab, embed_size, hidden_size, num_layers, dropout):
        super().__init__()
        self.encoder = encoder
        for p in self.encoder.parameters():
            p.requires_grad_(False)
        self.vocab = vocab
        self.project = nn.Linear(encoder.num_features, embed_size)
        self.embed = nn.Embedding(len(vocab), embed_size, padding_idx=vocab.stoi["<PAD>"])
        self.lstm = nn.LSTM(embed_size, hidden_size, num_layers, batch_first=True, dropout=dropout)
        self.linear = nn.Linear(hidden_size, len(vocab))

    def forward(self, images, captions):
        features = self.project(self.encoder(images)).unsqueeze(1)
        x = torch.cat([features, self.embed(captions[:, :-1])], dim=1)
        return self.linear(self.lstm(x)[0])

    def generate(self, image, max_length=20):
        words = []
        h, states = self.project(self.encoder(image)).unsqueeze(1), None
        for _ in range(max_length):
            out, states = self.lstm(h, states)
            word = self.linear(out).argmax(-1)
            words.append(self.vocab.itos[word.item()])
            if words[-1] == "<EOS>":
                break
            h = self.embed(word)
        return words


class MaskedTextModel(nn.Module):
    def __init__(self, tokenizer, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.tokenizer = tokenizer
        self.pad_id = tokenizer.pad_token_id
        self.mask_id = tokenizer.convert_tokens_to_ids("[MASK]")
        self.tok = nn.Embedding(tokenizer.vocab_size, d_model, padding_idx=self.pad_id)
        self.pos = nn.Embedding(max_len, d_model)
        self.register_buffer("ids", torch.arange(max_len)[None], persistent=False)
        block = nn.TransformerEncoderLayer(d_model, n_heads, batch_first=True)
        self.encoder = nn.TransformerEncoder(block, n_layers, enable_nested_tensor=False)
        self.bias = nn.Parameter(torch.zeros(tokenizer.vocab_size))

    def forward(self, input_ids, attention_mask=None):
        if attention_mask is None:
            attention_mask = input_ids != self.pad_id
        x = self.tok(input_ids) + self.pos(self.ids[:, : input_ids.shape[1]])
        x = self.encoder(x, src_key_padding_mask=~attention_mask.bool())
        return x @ self.tok.weight.T + self.bias


class AttributeTagger(nn.Module):
    """One head for each attribute of a garment: ``tasks`` maps its name to the names of its values."""

    def __init__(self, backbone: nn.Module, feature_dim: int, tasks: dict[str, list[str]], dropout: float):
        super().__init__()
        self.backbone = backbone
        self.heads = nn.ModuleDict(
            {
                name: nn.Sequential(nn.Dropout(dropout), nn.Linear(feature_dim, len(labels)))
                for name, labels in tasks.items()
            }
        )
        self.tasks = tasks

    def forward(self, pixel_values):
        features = self.backbone(pixel_values)
        if features.ndim == 4:
            features = F.adaptive_avg_pool2d(features, 1).flatten(1)
        return {name: self.heads[name](features) for name in self.tasks}


class FusedEnsemble(nn.Module):
    """The third place's blend."""

    def __init__(self, models, num_classes, fusion):
        super().__init__()
        assert fusion in ("mean", "mlp"), fusion
        self.models = nn.ModuleList(models)
        self.fusion = fusion
        width = sum(m.num_features for m in models)
        for m in self.models:
            m.reset_classifier(0)
        self.bn = nn.BatchNorm1d(width)
        self.fc = nn.Sequential(nn.Linear(width, 512), nn.PReLU(), nn.Linear(512, num_classes))

    def forward(self, x):
        feats = torch.cat([m(x) for m in self.models], dim=1)
        return self.fc(self.bn(feats))


class FeatureDistiller(nn.Module):
    def __init__(self, student, teacher, student_channels, teacher_channels, temperature, alpha):
        super().__init__()
        self.student, self.teacher = student, teacher
        self.teacher.eval()
        for p in self.teacher.parameters():
            p.requires_grad = False
        assert len(student_channels) == len(teacher_channels)
        self.adapters = nn.ModuleList(nn.Conv2d(s, t, 1) for s, t in zip(student_channels, teacher_channels))
        self.temperature, self.alpha = temperature, alpha

    def forward(self, x):
        s_feats = self.student(x)
        with torch.no_grad():
            t_feats = self.teacher(x)
        loss = 0.0
        for adapt, s, t in zip(self.adapters, s_feats, t_feats):
            loss = loss + self.alpha * F.mse_loss(F.adaptive_avg_pool2d(adapt(s), 4), F.adaptive_avg_pool2d(t, 4))
        return loss / self.temperature


class TripletModel(nn.Module):
    def __init__(self, base, in_features, emb_dim, loss_fn, margin):
        super().__init__()
        self.base = base
        self.embed = nn.Sequential(nn.Linear(in_features, emb_dim), nn.BatchNorm1d(emb_dim))
        self.loss_fn = loss_fn
        self.margin = margin

    def encode(self, x):
        return F.normalize(self.embed(self.base(x).flatten(1)), dim=1)

    def forward(self, anchor, positive, negative):
        a, p, n = self.encode(anchor), self.encode(positive), self.encode(negative)
        pos, neg = (a - p).pow(2).sum(1), (a - n).pow(2).sum(1)
        return F.relu(pos - neg + self.margin).mean()


class DiffusionTrainer(nn.Module):
    def __init__(self, model, betas, loss_type, prediction_type):
        super().__init__()
        self.model = model
        betas = np.array(betas, dtype=np.float64)
        assert len(betas.shape) == 1, "betas must be 1-D"
        assert (betas > 0).all() and (betas <= 1).all()
        self.num_timesteps = int(betas.shape[0])
        alphas_cumprod = np.cumprod(1.0 - betas, axis=0)
        self.register_buffer("sqrt_ac", torch.tensor(np.sqrt(alphas_cumprod), dtype=torch.float32))
        self.register_buffer("sqrt_omac", torch.tensor(np.sqrt(1.0 - alphas_cumprod), dtype=torch.float32))
        if loss_type == "l1":
            self.loss = F.l1_loss
        elif loss_type == "l2":
            self.loss = F.mse_loss
        else:
            raise NotImplementedError(f"unknown loss type {loss_type}")
        assert prediction_type in {"epsilon", "x0"}
        self.prediction_type = prediction_type

    def forward(self, x_start, t, noise):
        shape = (-1, *([1] * (x_start.ndim - 1)))
        x_t = self.sqrt_ac[t].view(shape) * x_start + self.sqrt_omac[t].view(shape) * noise
        target = noise if self.prediction_type == "epsilon" else x_start
        return self.loss(self.model(x_t, t), target)


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r, alpha, dropout):
        super().__init__()
        self.base = base
        self.a = nn.Linear(base.in_features, r, bias=False)
        self.b = nn.Linear(r, base.out_features, bias=False)
        self.scale, self.dropout = alpha / r, nn.Dropout(dropout)

    def forward(self, x):
        return self.base(x) + self.scale * self.b(self.a(self.dropout(x)))


class AdapterModel(nn.Module):
    """Low-rank adapters for a text encoder that is made here."""

    def __init__(self, encoder_layer: type, dim: int, depth: int, lora: dict, num_labels: int, vocab):
        super().__init__()
        if lora["r"] <= 0:
            raise ValueError(f"`r` should be a positive integer value but the value passed is {lora['r']}")
        self.embed = nn.Embedding(len(vocab), dim, padding_idx=vocab.pad_id)
        self.layers = nn.ModuleList(encoder_layer(dim, dim) for _ in range(depth))
        for layer in self.layers:
            for name in lora["target_modules"]:
                child = getattr(layer, name, None)
                if isinstance(child, nn.Linear):
                    setattr(layer, name, LoRALinear(child, lora["r"], lora["alpha"], lora.get("dropout", 0.0)))
        self.classifier = LoRALinear(nn.Linear(dim, num_labels), lora["r"], lora["alpha"], 0.0)

    def forward(self, input_ids):
        x = self.embed(input_ids)
        for layer in self.layers:
            x = layer(x)
        return self.classifier(x.mean(1))
