"""Hard: models whose parts come from elsewhere: backbones, stages, flows, experts, heads from tables.

Long because it is a list of models.
"""

from __future__ import annotations

import copy
import math
from collections import OrderedDict
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = [
    "BYOL",
    "DETR",
    "FlowSequence",
    "GraphNetwork",
    "HeadedEncoder",
    "MultiCropWrapper",
    "RetinaNet",
    "SegmentationTask",
    "SparseExperts",
    "SpelledConvNet",
    "StagedNet",
    "TransferClassifier",
]


# -- self-supervised


def projection_mlp(dim, projection_size, hidden_size=256):
    return nn.Sequential(
        nn.Linear(dim, hidden_size),
        nn.BatchNorm1d(hidden_size),
        nn.ReLU(inplace=True),
        nn.Linear(hidden_size, projection_size),
    )


class EMA:
    def __init__(self, beta):
        self.beta = beta

    def update(self, old, new):
        return new if old is None else old * self.beta + (1 - self.beta) * new


def regression_loss(x, y):
    x = F.normalize(x, dim=-1, p=2)
    y = F.normalize(y, dim=-1, p=2)
    return 2 - 2 * (x * y).sum(dim=-1)


class BYOL(nn.Module):
    def __init__(self, net, feature_dim, projection_size=64, hidden_size=128, moving_average_decay=0.99):
        super().__init__()
        self.online_encoder = net
        self.online_projector = projection_mlp(feature_dim, projection_size, hidden_size)
        self.online_predictor = projection_mlp(projection_size, projection_size, hidden_size)
        self.target_encoder = copy.deepcopy(net)
        self.target_projector = copy.deepcopy(self.online_projector)
        for p in [*self.target_encoder.parameters(), *self.target_projector.parameters()]:
            p.requires_grad = False
        self.target_ema_updater = EMA(moving_average_decay)

    @torch.no_grad()
    def update_moving_average(self):
        for online, target in zip(self.online_encoder.parameters(), self.target_encoder.parameters(), strict=True):
            target.data = self.target_ema_updater.update(target.data, online.data)

    def forward(self, view_one, view_two):
        online_one = self.online_predictor(self.online_projector(self.online_encoder(view_one)))
        online_two = self.online_predictor(self.online_projector(self.online_encoder(view_two)))
        with torch.no_grad():
            target_one = self.target_projector(self.target_encoder(view_one)).detach()
            target_two = self.target_projector(self.target_encoder(view_two)).detach()
        loss = regression_loss(online_one, target_two) + regression_loss(online_two, target_one)
        return loss.mean()


class MultiCropWrapper(nn.Module):
    """Runs the backbone once per group of crops of equal resolution, the head on all of them."""

    def __init__(self, backbone, head):
        super().__init__()
        backbone.fc, backbone.head = nn.Identity(), nn.Identity()
        self.backbone = backbone
        self.head = head

    def forward(self, x):
        if not isinstance(x, list):
            x = [x]
        sizes = torch.tensor([crop.shape[-1] for crop in x])
        ends = torch.cumsum(torch.unique_consecutive(sizes, return_counts=True)[1], 0)
        start, output = 0, None
        for end in ends.tolist():
            out = self.backbone(torch.cat(x[start:end]))
            if isinstance(out, tuple):
                out = out[0]
            output = out if output is None else torch.cat((output, out))
            start = end
        return self.head(output)


class TransferClassifier(nn.Module):
    def __init__(self, backbone, num_classes, freeze=True):
        super().__init__()
        if freeze:
            for param in backbone.parameters():
                param.requires_grad = False
        in_features = backbone.fc.in_features
        backbone.fc = nn.Sequential(nn.Dropout(0.3), nn.Linear(in_features, num_classes))
        self.backbone = backbone

    def forward(self, images):
        return self.backbone(images)


# -- detection


class RetinaHead(nn.Module):
    def __init__(self, in_channels, num_anchors, num_outputs):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(in_channels, in_channels, 3, padding=1), nn.ReLU())
        self.predict = nn.Conv2d(in_channels, num_anchors * num_outputs, 3, padding=1)
        self.num_outputs = num_outputs

    def forward(self, features):
        outs = []
        for feature in features:
            out = self.predict(self.conv(feature))
            n, _, h, w = out.shape
            out = out.view(n, -1, self.num_outputs, h, w).permute(0, 3, 4, 1, 2)
            outs.append(out.reshape(n, -1, self.num_outputs))
        return torch.cat(outs, dim=1)


class RetinaNet(nn.Module):
    def __init__(self, backbone, num_classes, num_anchors=9):
        super().__init__()
        if not hasattr(backbone, "out_channels"):
            raise ValueError(
                "backbone should contain an attribute out_channels specifying the number of output channels "
                "(assumed to be the same for all the levels)"
            )
        self.backbone = backbone
        self.classification = RetinaHead(backbone.out_channels, num_anchors, num_classes)
        self.regression = RetinaHead(backbone.out_channels, num_anchors, 4)

    def forward(self, images):
        features = self.backbone(images)
        if isinstance(features, Tensor):
            features = OrderedDict([("0", features)])
        features = list(features.values())
        return {"cls_logits": self.classification(features), "bbox_regression": self.regression(features)}


class PositionEmbeddingSine(nn.Module):
    def __init__(self, num_pos_feats=64, temperature=10000):
        super().__init__()
        self.num_pos_feats = num_pos_feats
        self.temperature = temperature

    def forward(self, x):
        ones = torch.ones(x.shape[0], x.shape[2], x.shape[3], device=x.device)
        dim_t = torch.arange(self.num_pos_feats, dtype=torch.float32, device=x.device)
        dim_t = self.temperature ** (2 * torch.div(dim_t, 2, rounding_mode="floor") / self.num_pos_feats)
        pos_x = ones.cumsum(2)[..., None] / dim_t
        pos_y = ones.cumsum(1)[..., None] / dim_t
        pos_x = torch.stack((pos_x[..., 0::2].sin(), pos_x[..., 1::2].cos()), dim=4).flatten(3)
        pos_y = torch.stack((pos_y[..., 0::2].sin(), pos_y[..., 1::2].cos()), dim=4).flatten(3)
        return torch.cat((pos_y, pos_x), dim=3).permute(0, 3, 1, 2)


class Joiner(nn.Sequential):
    """A backbone and a position embedding."""

    def __init__(self, backbone, position_embedding):
        super().__init__(backbone, position_embedding)
        self.num_channels = backbone.num_channels

    def forward(self, x):
        feature = self[0](x)
        return feature, self[1](feature).to(feature.dtype)


class ConvBackbone(nn.Module):
    def __init__(self, num_channels=256):
        super().__init__()
        self.num_channels = num_channels
        self.body = nn.Sequential(
            nn.Conv2d(3, 64, 7, stride=4, padding=3), nn.ReLU(), nn.Conv2d(64, num_channels, 3, stride=2, padding=1)
        )

    def forward(self, x):
        return self.body(x)


class Transformer(nn.Module):
    def __init__(self, d_model=128, nhead=8, num_encoder_layers=2, num_decoder_layers=2, dim_feedforward=256):
        super().__init__()
        layer = nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward)
        self.encoder = nn.TransformerEncoder(layer, num_encoder_layers, enable_nested_tensor=False)
        layer = nn.TransformerDecoderLayer(d_model, nhead, dim_feedforward)
        self.decoder = nn.TransformerDecoder(layer, num_decoder_layers)
        self.d_model = d_model

    def forward(self, src, query_embed, pos_embed):
        bs = src.shape[0]
        src = (src + pos_embed).flatten(2).permute(2, 0, 1)
        query_embed = query_embed.unsqueeze(1).repeat(1, bs, 1)
        memory = self.encoder(src)
        return self.decoder(query_embed, memory).transpose(0, 1)


class DETR(nn.Module):
    def __init__(self, backbone, transformer, num_classes, num_queries):
        super().__init__()
        self.num_queries = num_queries
        self.transformer = transformer
        hidden_dim = transformer.d_model
        self.class_embed = nn.Linear(hidden_dim, num_classes + 1)
        self.bbox_embed = nn.Sequential(nn.Linear(hidden_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, 4))
        self.query_embed = nn.Embedding(num_queries, hidden_dim)
        self.input_proj = nn.Conv2d(backbone.num_channels, hidden_dim, kernel_size=1)
        self.backbone = backbone

    def forward(self, samples):
        features, pos = self.backbone(samples)
        hs = self.transformer(self.input_proj(features), self.query_embed.weight, pos)
        return {"pred_logits": self.class_embed(hs), "pred_boxes": self.bbox_embed(hs).sigmoid()}


# -- flows


class Flow(nn.Module):
    """Maps x to z; returns z and the logarithm of the determinant of the Jacobian."""

    def forward(self, x):
        raise NotImplementedError

    def inverse(self, z):
        raise NotImplementedError


class ActNorm(Flow):
    def __init__(self, dim):
        super().__init__()
        self.s = nn.Parameter(torch.zeros(1, dim))
        self.t = nn.Parameter(torch.zeros(1, dim))

    def forward(self, x):
        return x * self.s.exp() + self.t, self.s.sum(dim=1).expand(x.shape[0])


class AffineCoupling(Flow):
    def __init__(self, dim, hidden=64, flip=False):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(
            nn.Linear(dim // 2, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, 2 * (dim - dim // 2))
        )

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, dim=1)
        b = b * s.tanh().exp() + t
        z = torch.cat([b, a] if self.flip else [a, b], dim=1)
        return z, s.tanh().sum(dim=1)


class FlowSequence(nn.Module):
    def __init__(self, prior, flows):
        super().__init__()
        self.prior = prior
        self.flows = nn.ModuleList(flows)

    def forward(self, x):
        m, _ = x.shape
        log_det = torch.zeros(m, device=x.device)
        zs = [x]
        for flow in self.flows:
            x, ld = flow(x)
            log_det = log_det + ld
            zs.append(x)
        prior_logprob = self.prior.log_prob(x).view(m, -1).sum(dim=1)
        return zs, prior_logprob, log_det


# -- strings and tables


class SpelledConvNet(nn.Module):
    """A network from a string such as ``"C64-P-C128-P-F256"``: convolution, pooling, dense."""

    def __init__(self, layers, in_channels=3, num_classes=10):
        super().__init__()
        features, dense = [], []
        channels = in_channels
        for token in layers.split("-"):
            kind, width = token[0], token[1:]
            if kind == "C":
                features += [nn.Conv2d(channels, int(width), 3, padding=1), nn.BatchNorm2d(int(width)), nn.ReLU()]
                channels = int(width)
            elif kind == "P":
                features.append(nn.MaxPool2d(2))
            elif kind == "F":
                dense.append(int(width))
            else:
                raise ValueError(f"unknown layer {token!r}")
        self.features = nn.Sequential(*features, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        head = []
        for width in dense:
            head += [nn.Linear(channels, width), nn.ReLU(), nn.Dropout(0.5)]
            channels = width
        self.head = nn.Sequential(*head, nn.Linear(channels, num_classes))

    def forward(self, x):
        return self.head(self.features(x))


class ConvBNAct(nn.Sequential):
    def __init__(self, c_in, c_out, stride=1):
        super().__init__(nn.Conv2d(c_in, c_out, 3, stride, 1, bias=False), nn.BatchNorm2d(c_out), nn.SiLU())


class Residual(nn.Module):
    def __init__(self, c_in, c_out, stride=1):
        super().__init__()
        self.conv1 = ConvBNAct(c_in, c_out, stride)
        self.conv2 = ConvBNAct(c_out, c_out)
        self.skip = nn.Identity() if c_in == c_out and stride == 1 else nn.Conv2d(c_in, c_out, 1, stride)

    def forward(self, x):
        return self.conv2(self.conv1(x)) + self.skip(x)


BLOCKS = {"conv": ConvBNAct, "res": Residual}


class StagedNet(nn.Module):
    def __init__(self, stages, num_classes):
        super().__init__()
        self.stem = ConvBNAct(3, stages[0][2], stride=2)
        width = stages[0][2]
        blocks = []
        for kind, repeats, out, stride in stages:
            for i in range(repeats):
                blocks.append(BLOCKS[kind](width, out, stride if i == 0 else 1))
                width = out
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(width, num_classes)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.fc(x.mean((2, 3)))


class HeadedEncoder(nn.Module):
    """One encoder, heads from a dictionary: ``{"age": {"type": "regression"}, "sex": {"type": …, "classes": 2}}``."""

    def __init__(self, encoder, heads):
        super().__init__()
        self.encoder = encoder
        dim = encoder.num_features
        self.heads = nn.ModuleDict()
        for name, spec in heads.items():
            if spec["type"] == "regression":
                self.heads[name] = nn.Linear(dim, 1)
            elif spec["type"] == "classification":
                self.heads[name] = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, spec["classes"]))
            else:
                raise ValueError(f"Unknown head type: {spec['type']}")

    def forward(self, x):
        features = self.encoder(x)
        return {name: head(features) for name, head in self.heads.items()}


# -- experts, graphs, tasks


class SparseExperts(nn.Module):
    def __init__(self, dim, num_experts, make_expert: Callable[[int], nn.Module], k=2):
        super().__init__()
        self.experts = nn.ModuleList([make_expert(dim) for _ in range(num_experts)])
        self.router = nn.Linear(dim, num_experts, bias=False)
        self.k = k

    def forward(self, x):
        weights, chosen = self.router(x).softmax(dim=-1).topk(self.k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        gates = torch.zeros(*x.shape[:-1], len(self.experts), device=x.device).scatter(-1, chosen, weights)
        outputs = torch.stack([expert(x) for expert in self.experts], dim=-2)
        return (gates.unsqueeze(-1) * outputs).sum(dim=-2)


def scatter_mean(src, index, size):
    out = torch.zeros(size, src.shape[1], device=src.device).index_add(0, index, src)
    count = torch.zeros(size, device=src.device).index_add(0, index, torch.ones_like(src[:, 0]))
    return out / count.clamp(min=1).unsqueeze(1)


class GraphNetwork(nn.Module):
    def __init__(self, edge_model, node_model, global_model=None):
        super().__init__()
        self.edge_model = edge_model
        self.node_model = node_model
        self.global_model = global_model

    def forward(self, x, edge_index, edge_attr):
        row, col = edge_index
        edge_attr = self.edge_model(torch.cat([x[row], x[col], edge_attr], dim=-1))
        aggregated = scatter_mean(edge_attr, col, x.size(0))
        x = self.node_model(torch.cat([x, aggregated], dim=-1))
        if self.global_model is not None:
            return self.global_model(x.mean(dim=0)), edge_attr
        return x, edge_attr


class SegmentationTask(nn.Module):
    def __init__(self, model, loss, optimizer, num_classes, learning_rate=1e-3):
        super().__init__()
        self.model = model
        self.num_classes = num_classes
        if loss == "ce":
            self.criterion = nn.CrossEntropyLoss()
        elif loss == "focal":
            self.criterion = lambda logits, y: (1 - math.exp(-1)) * F.cross_entropy(logits, y)
        else:
            raise ValueError(f"Loss type '{loss}' is not valid. Use 'ce' or 'focal'.")
        self.optimizer = getattr(torch.optim, optimizer)(self.model.parameters(), lr=learning_rate)

    def forward(self, image, mask=None):
        logits = self.model(image)
        if mask is None:
            return logits.softmax(dim=1)
        return self.criterion(logits, mask)
