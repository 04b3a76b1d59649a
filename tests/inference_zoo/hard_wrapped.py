"""Hard: models around models: contrastive learners, distillers, adapters, segmentation on given encoders, actors.

Long because it is a list of models.
"""

from __future__ import annotations

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "ActorCriticPolicy",
    "ContrastiveImageText",
    "EncoderDecoder",
    "FrozenWithLoRA",
    "LitSegmenter",
    "MoCo",
    "PerceptualDistiller",
    "SegmentationModel",
    "SharedTrunk",
    "TemporalSegments",
    "VectorQuantizedAutoencoder",
]


class MoCo(nn.Module):
    """Momentum contrast."""

    def __init__(self, base_encoder, dim=128, K=4096, m=0.999, T=0.07, mlp=False):
        super().__init__()
        self.K = K
        self.m = m
        self.T = T
        self.encoder_q = base_encoder(num_classes=dim)
        self.encoder_k = base_encoder(num_classes=dim)
        if mlp:
            dim_mlp = self.encoder_q.fc.weight.shape[1]
            self.encoder_q.fc = nn.Sequential(nn.Linear(dim_mlp, dim_mlp), nn.ReLU(), self.encoder_q.fc)
            self.encoder_k.fc = nn.Sequential(nn.Linear(dim_mlp, dim_mlp), nn.ReLU(), self.encoder_k.fc)
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data.copy_(param_q.data)
            param_k.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _update(self):
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data = param_k.data * self.m + param_q.data * (1.0 - self.m)

    @torch.no_grad()
    def _enqueue(self, keys):
        batch_size = keys.shape[0]
        ptr = int(self.queue_ptr)
        assert self.K % batch_size == 0
        self.queue[:, ptr : ptr + batch_size] = keys.T
        self.queue_ptr[0] = (ptr + batch_size) % self.K

    def forward(self, im_q, im_k):
        q = F.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            self._update()
            k = F.normalize(self.encoder_k(im_k), dim=1)
        l_pos = torch.einsum("nc,nc->n", [q, k]).unsqueeze(-1)
        l_neg = torch.einsum("nc,ck->nk", [q, self.queue.clone().detach()])
        logits = torch.cat([l_pos, l_neg], dim=1) / self.T
        labels = torch.zeros(logits.shape[0], dtype=torch.long, device=logits.device)
        self._enqueue(k)
        return logits, labels


class EncoderDecoder(nn.Module):
    """Any encoder and decoder of sequences, as in The Annotated Transformer."""

    def __init__(self, encoder, decoder, src_embed, tgt_embed, generator):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.src_embed = src_embed
        self.tgt_embed = tgt_embed
        self.generator = generator

    def forward(self, src, tgt, src_mask, tgt_mask):
        return self.decode(self.encode(src, src_mask), src_mask, tgt, tgt_mask)

    def encode(self, src, src_mask):
        return self.encoder(self.src_embed(src), src_mask)

    def decode(self, memory, src_mask, tgt, tgt_mask):
        return self.generator(self.decoder(self.tgt_embed(tgt), memory, src_mask, tgt_mask))


class ConvBlock(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(out_channels)

    def forward(self, x, skip=None):
        x = F.interpolate(x, scale_factor=2, mode="nearest")
        if skip is not None:
            x = torch.cat([x, skip], dim=1)
        return F.relu(self.bn(self.conv(x)))


class SegmentationModel(nn.Module):
    """A U-Net over whatever encoder it is given."""

    def __init__(self, encoder, decoder_channels=(64, 32, 16), classes=1):
        super().__init__()
        self.encoder = encoder
        channels = list(encoder.out_channels)[::-1]
        ins = [channels[0], *decoder_channels[:-1]]
        skips = [*channels[1:], 0]
        self.blocks = nn.ModuleList(ConvBlock(i + s, o) for i, s, o in zip(ins, skips, decoder_channels))
        self.segmentation_head = nn.Conv2d(decoder_channels[-1], classes, 3, padding=1)

    def forward(self, x):
        features = self.encoder(x)[::-1]
        x = features[0]
        for index, block in enumerate(self.blocks):
            skip = features[index + 1] if index + 1 < len(features) else None
            x = block(x, skip)
        return self.segmentation_head(x)


class PerceptualDistiller(nn.Module):
    """A student that learns to make the maps of its teacher."""

    def __init__(self, student, teacher, student_channels, teacher_channels, temperature=4.0):
        super().__init__()
        self.student = student
        self.teacher = teacher
        for p in self.teacher.parameters():
            p.requires_grad = False
        self.temperature = temperature
        self.align = nn.ModuleList(nn.Conv2d(s, t, 1) for s, t in zip(student_channels, teacher_channels))

    def forward(self, images):
        student_maps = self.student(images)
        with torch.no_grad():
            teacher_maps = self.teacher(images)
        losses = []
        for align, s, t in zip(self.align, student_maps, teacher_maps):
            aligned = align(s)
            b, c, h, w = aligned.shape
            log_p = F.log_softmax(aligned.view(b, c, h * w) / self.temperature, dim=-1)
            q = F.softmax(t.view(b, c, h * w) / self.temperature, dim=-1)
            losses.append(F.kl_div(log_p, q, reduction="none").sum(-1).mean())
        return sum(losses)


class LoRALinear(nn.Module):
    def __init__(self, linear: nn.Linear, r: int, alpha: float):
        super().__init__()
        self.linear = linear
        self.lora_a = nn.Parameter(torch.empty(r, linear.in_features))
        self.lora_b = nn.Parameter(torch.zeros(linear.out_features, r))
        nn.init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        return self.linear(x) + self.scaling * (x @ self.lora_a.T @ self.lora_b.T)


class FrozenWithLoRA(nn.Module):
    """A frozen model whose linear layers get small trainable ones."""

    def __init__(self, base_model, num_labels, r=4, alpha=8):
        super().__init__()
        self.base_model = base_model
        for p in self.base_model.parameters():
            p.requires_grad_(False)
        for _, module in list(self.base_model.named_modules()):
            for child_name, child in list(module.named_children()):
                if isinstance(child, nn.Linear):
                    setattr(module, child_name, LoRALinear(child, r, alpha))
        self.classifier = nn.Linear(base_model.config.hidden_size, num_labels)

    def forward(self, input_ids, attention_mask):
        hidden = self.base_model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).float()
        pooled = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-6)
        return self.classifier(pooled)


class SharedTrunk(nn.Module):
    """One trunk and a head for each task."""

    def __init__(self, trunk: nn.Module, heads: dict[str, nn.Module], trunk_dim: int, dropout: float = 0.1):
        super().__init__()
        self.trunk = trunk
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(trunk_dim)
        self.heads = nn.ModuleDict(heads)

    def forward(self, image: torch.Tensor) -> dict[str, torch.Tensor]:
        features = self.norm(self.dropout(self.trunk(image)))
        return {name: head(features) for name, head in self.heads.items()}


class VectorQuantizedAutoencoder(nn.Module):
    """A VQ-VAE with networks and a codebook from outside."""

    def __init__(self, encoder, decoder, codebook, beta=0.25):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.codebook = codebook
        self.beta = beta

    def quantize(self, z):
        b, c, h, w = z.shape
        flat = z.permute(0, 2, 3, 1).reshape(-1, c)
        distances = torch.cdist(flat, self.codebook.weight)
        codes = distances.argmin(1)
        q = self.codebook(codes).view(b, h, w, c).permute(0, 3, 1, 2)
        loss = F.mse_loss(q, z.detach()) + self.beta * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss, codes.view(b, h, w)

    def forward(self, images):
        z = self.encoder(images)
        q, loss, codes = self.quantize(z)
        return self.decoder(q), loss, codes


class DiagGaussian(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.mean = nn.Linear(inputs, outputs)
        self.log_std = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return torch.distributions.Normal(self.mean(x), self.log_std.exp())


class Categorical(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x):
        return torch.distributions.Categorical(logits=self.linear(x))


class ActorCriticPolicy(nn.Module):
    """PPO's policy over a features extractor and the spaces of an environment."""

    def __init__(self, observation_space, action_space, features_extractor_class, hidden_size=64):
        super().__init__()
        self.features_extractor = features_extractor_class(observation_space)
        features_dim = self.features_extractor.features_dim
        self.shared = nn.Sequential(nn.Linear(features_dim, hidden_size), nn.Tanh())
        if action_space.__class__.__name__ == "Discrete":
            self.dist = Categorical(hidden_size, action_space.n)
        else:
            self.dist = DiagGaussian(hidden_size, action_space.shape[0])
        self.value = nn.Linear(hidden_size, 1)

    def forward(self, obs, deterministic=False):
        latent = self.shared(self.features_extractor(obs))
        distribution = self.dist(latent)
        action = distribution.mean if deterministic else distribution.sample()
        log_prob = distribution.log_prob(action)
        return action, self.value(latent), log_prob


class FlattenExtractor(nn.Module):
    def __init__(self, observation_space):
        super().__init__()
        self.features_dim = math.prod(observation_space.shape)

    def forward(self, observations):
        return observations.flatten(1).float()


class ProjectionHead(nn.Module):
    def __init__(self, embedding_dim, projection_dim, dropout=0.1):
        super().__init__()
        self.projection = nn.Linear(embedding_dim, projection_dim)
        self.fc = nn.Linear(projection_dim, projection_dim)
        self.dropout = nn.Dropout(dropout)
        self.layer_norm = nn.LayerNorm(projection_dim)

    def forward(self, x):
        projected = self.projection(x)
        x = self.dropout(self.fc(F.gelu(projected)))
        return self.layer_norm(x + projected)


class ContrastiveImageText(nn.Module):
    """CLIP with encoders from anywhere."""

    def __init__(self, image_encoder, text_encoder, image_embedding, text_embedding, projection_dim=64):
        super().__init__()
        self.image_encoder = image_encoder
        self.text_encoder = text_encoder
        self.image_projection = ProjectionHead(image_embedding, projection_dim)
        self.text_projection = ProjectionHead(text_embedding, projection_dim)
        self.logit_scale = nn.Parameter(torch.ones([]) * math.log(1 / 0.07))

    def forward(self, batch):
        image_features = self.image_encoder(batch["image"])
        text_features = self.text_encoder(
            input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
        ).last_hidden_state[:, 0, :]
        images = F.normalize(self.image_projection(image_features), dim=-1)
        texts = F.normalize(self.text_projection(text_features), dim=-1)
        logits = self.logit_scale.exp() * texts @ images.T
        targets = torch.arange(len(logits), device=logits.device)
        return (F.cross_entropy(logits, targets) + F.cross_entropy(logits.T, targets)) / 2


class LitSegmenter(nn.Module):
    """The manner of a LightningModule, without the library."""

    def __init__(self, model: nn.Module, loss_fn, optimizer, metrics=None, lr=1e-3):
        super().__init__()
        self.model = model
        self.loss_fn = loss_fn
        self.optimizer = optimizer
        self.metrics = metrics
        self.lr = lr

    def forward(self, image):
        assert image.ndim == 4
        h, w = image.shape[2:]
        mask = self.model(image)
        return F.interpolate(mask, size=(h, w), mode="bilinear", align_corners=False)

    def training_step(self, batch, batch_idx):
        image, target = batch
        return self.loss_fn(self(image), target)

    def configure_optimizers(self):
        return self.optimizer(self.parameters(), lr=self.lr)


class TemporalSegments(nn.Module):
    """TSN: a picture network over a few frames of a video, whose last layer is replaced."""

    def __init__(self, num_class, num_segments, base_model, consensus="avg", dropout=0.5):
        super().__init__()
        self.num_segments = num_segments
        self.consensus = consensus
        self.base_model = copy.deepcopy(base_model)
        feature_dim = self.base_model.fc.in_features
        self.base_model.fc = nn.Dropout(p=dropout)
        self.new_fc = nn.Linear(feature_dim, num_class)

    def forward(self, input):
        sample_len = 3
        base_out = self.base_model(input.view((-1, sample_len) + input.size()[-2:]))
        base_out = self.new_fc(base_out)
        base_out = base_out.view((-1, self.num_segments) + base_out.size()[1:])
        if self.consensus == "avg":
            return base_out.mean(dim=1)
        return base_out.max(dim=1).values
