"""Hard: constructors that are handed data and objects: datasets, spaces, alphabets, graphs, cells, managers.

Long because it is a list of models.
"""

from __future__ import annotations

import logging
from collections import namedtuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "BrainSeparator",
    "ClausePredictor",
    "GenotypeNet",
    "GlowSpeech",
    "GraphWave",
    "LightGraphRecommender",
    "ObservationEncoder",
    "ProteinLM",
    "QNetwork",
    "SequenceTagger",
    "SpacesExtractor",
    "TrafficGRU",
]


# ---- settings and facts of the data in two dicts


class AVWGCN(nn.Module):
    def __init__(self, dim_in, dim_out, cheb_k, embed_dim):
        super().__init__()
        self.cheb_k = cheb_k
        self.weights_pool = nn.Parameter(torch.empty(embed_dim, cheb_k, dim_in, dim_out))
        self.bias_pool = nn.Parameter(torch.empty(embed_dim, dim_out))
        nn.init.xavier_uniform_(self.weights_pool)
        nn.init.zeros_(self.bias_pool)

    def forward(self, x, node_embeddings):
        num_nodes = node_embeddings.shape[0]
        supports = F.softmax(F.relu(torch.mm(node_embeddings, node_embeddings.transpose(0, 1))), dim=1)
        support_set = [torch.eye(num_nodes).to(supports.device), supports]
        for _ in range(2, self.cheb_k):
            support_set.append(torch.matmul(2 * supports, support_set[-1]) - support_set[-2])
        supports = torch.stack(support_set, dim=0)
        weights = torch.einsum("nd,dkio->nkio", node_embeddings, self.weights_pool)
        bias = torch.matmul(node_embeddings, self.bias_pool)
        x_g = torch.einsum("knm,bmc->bknc", supports, x).permute(0, 2, 1, 3)
        return torch.einsum("bnki,nkio->bno", x_g, weights) + bias


class TrafficGRU(nn.Module):
    def __init__(self, config, data_feature):
        super().__init__()
        self.num_nodes = data_feature.get("num_nodes", 1)
        self.feature_dim = data_feature.get("feature_dim", 1)
        self.output_dim = data_feature.get("output_dim", 1)
        self._scaler = data_feature.get("scaler")
        self._logger = logging.getLogger()
        self.input_window = config.get("input_window", 12)
        self.output_window = config.get("output_window", 12)
        self.device = config.get("device", torch.device("cpu"))
        self.hidden_dim = config["rnn_units"]
        self.node_embeddings = nn.Parameter(torch.randn(self.num_nodes, config["embed_dim"]))
        both = self.feature_dim + self.hidden_dim
        self.gate = AVWGCN(both, 2 * self.hidden_dim, config["cheb_order"], config["embed_dim"])
        self.update = AVWGCN(both, self.hidden_dim, config["cheb_order"], config["embed_dim"])
        self.end_conv = nn.Conv2d(1, self.output_window * self.output_dim, kernel_size=(1, self.hidden_dim))
        self._logger.info("made a model of %d nodes", self.num_nodes)

    def forward(self, batch):
        source = batch["X"]
        state = torch.zeros(source.shape[0], self.num_nodes, self.hidden_dim, device=source.device)
        for t in range(self.input_window):
            step = source[:, t]
            z, r = torch.sigmoid(self.gate(torch.cat((step, state), -1), self.node_embeddings)).chunk(2, -1)
            candidate = torch.tanh(self.update(torch.cat((step, z * state), -1), self.node_embeddings))
            state = r * state + (1 - r) * candidate
        output = self.end_conv(state.unsqueeze(1))
        return output.reshape(-1, self.output_window, self.output_dim, self.num_nodes).permute(0, 1, 3, 2)

    def predict(self, batch):
        return self._scaler.inverse_transform(self.forward(batch)[..., : self.output_dim])


# ---- a dataset that is asked for its numbers and its interactions


class GeneralRecommender(nn.Module):
    def __init__(self, config, dataset):
        super().__init__()
        self.USER_ID = config["USER_ID_FIELD"]
        self.ITEM_ID = config["ITEM_ID_FIELD"]
        self.n_users = dataset.num(self.USER_ID)
        self.n_items = dataset.num(self.ITEM_ID)
        self.device = config["device"]


class LightGraphRecommender(GeneralRecommender):
    def __init__(self, config, dataset):
        super().__init__(config, dataset)
        self.interaction_matrix = dataset.inter_matrix(form="coo").astype(np.float32)
        self.latent_dim = config["embedding_size"]
        self.n_layers = config["n_layers"]
        self.reg_weight = config["reg_weight"]
        self.require_pow = config["require_pow"]
        self.user_embedding = nn.Embedding(self.n_users, self.latent_dim)
        self.item_embedding = nn.Embedding(self.n_items, self.latent_dim)
        self.norm_adj_matrix = self.get_norm_adj_mat().to(self.device)

    def get_norm_adj_mat(self):
        row = torch.as_tensor(self.interaction_matrix.row, dtype=torch.long)
        col = torch.as_tensor(self.interaction_matrix.col, dtype=torch.long) + self.n_users
        index = torch.stack((torch.cat((row, col)), torch.cat((col, row))))
        size = self.n_users + self.n_items
        degree = torch.zeros(size).scatter_add_(0, index[0], torch.ones(index.shape[1])) + 1e-7
        values = degree[index[0]].pow(-0.5) * degree[index[1]].pow(-0.5)
        return torch.sparse_coo_tensor(index, values, (size, size))

    def forward(self, user, item):
        embeddings = torch.cat([self.user_embedding.weight, self.item_embedding.weight], dim=0)
        all_layers = [embeddings]
        for _ in range(self.n_layers):
            embeddings = torch.sparse.mm(self.norm_adj_matrix, embeddings)
            all_layers.append(embeddings)
        mean = torch.stack(all_layers, dim=1).mean(dim=1)
        users, items = torch.split(mean, [self.n_users, self.n_items])
        return (users[user] * items[item]).sum(dim=1)


# ---- environments and spaces


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, bias_const)
    return layer


class QNetwork(nn.Module):
    """A critic of quantiles over the actions of several environments at once."""

    def __init__(self, env, n_atoms=51, v_min=-100, v_max=100):
        super().__init__()
        self.env = env
        self.n_atoms = n_atoms
        self.register_buffer("atoms", torch.linspace(v_min, v_max, steps=n_atoms))
        self.n = env.single_action_space.n
        self.network = nn.Sequential(
            layer_init(nn.Linear(np.array(env.single_observation_space.shape).prod(), 120)),
            nn.ReLU(),
            layer_init(nn.Linear(120, 84)),
            nn.ReLU(),
            layer_init(nn.Linear(84, self.n * n_atoms)),
        )

    def forward(self, x):
        logits = self.network(x)
        pmfs = torch.softmax(logits.view(len(x), self.n, self.n_atoms), dim=2)
        q_values = (pmfs * self.atoms).sum(2)
        return torch.argmax(q_values, 1), pmfs


def is_image_space(space):
    return len(space.shape) == 3 and space.dtype == np.uint8


class SpacesExtractor(nn.Module):
    def __init__(self, observation_space, cnn_output_dim=64, normalized_image=False):
        super().__init__()
        extractors = {}
        total_concat_size = 0
        for key, subspace in observation_space.spaces.items():
            if is_image_space(subspace):
                channels = subspace.shape[0]
                extractors[key] = nn.Sequential(
                    nn.Conv2d(channels, 16, 8, stride=4),
                    nn.ReLU(),
                    nn.AdaptiveAvgPool2d(2),
                    nn.Flatten(),
                    nn.Linear(64, cnn_output_dim),
                )
                total_concat_size += cnn_output_dim
            else:
                extractors[key] = nn.Flatten()
                total_concat_size += int(np.prod(subspace.shape))
        self.extractors = nn.ModuleDict(extractors)
        self.normalized_image = normalized_image
        self._features_dim = total_concat_size
        self.latent = nn.Linear(total_concat_size, 64)

    def forward(self, observations):
        encoded = [extractor(observations[key]) for key, extractor in self.extractors.items()]
        return torch.tanh(self.latent(torch.cat(encoded, dim=1)))


# ---- embeddings and dictionaries of a tagger


class SequenceTagger(nn.Module):
    def __init__(self, embeddings, tag_dictionary, tag_type, hidden_size=128, rnn_layers=1, reproject_embeddings=True):
        super().__init__()
        self.embeddings = embeddings
        self.tag_dictionary = tag_dictionary
        self.tag_type = tag_type
        self.tagset_size = len(tag_dictionary)
        self.start = tag_dictionary.get_idx_for_item("<START>")
        self.stop = tag_dictionary.get_idx_for_item("<STOP>")
        embedding_dim = embeddings.embedding_length
        if reproject_embeddings:
            self.embedding2nn = nn.Linear(embedding_dim, embedding_dim)
        self.reproject_embeddings = reproject_embeddings
        self.rnn = nn.LSTM(embedding_dim, hidden_size, num_layers=rnn_layers, bidirectional=True, batch_first=True)
        self.linear = nn.Linear(hidden_size * 2, self.tagset_size)
        self.transitions = nn.Parameter(torch.randn(self.tagset_size, self.tagset_size))
        self.transitions.detach()[self.start, :] = -10000
        self.transitions.detach()[:, self.stop] = -10000

    def forward(self, sentence_tensor):
        if self.reproject_embeddings:
            sentence_tensor = self.embedding2nn(sentence_tensor)
        rnn_output, _ = self.rnn(sentence_tensor)
        features = self.linear(rnn_output)
        return features.unsqueeze(-1) + self.transitions.t().unsqueeze(0).unsqueeze(0)


# ---- shapes of observations and actions


class ObservationEncoder(nn.Module):
    def __init__(self, shape_meta: dict, feature_dim: int = 64, share_rgb_model: bool = False):
        super().__init__()
        rgb_keys, low_dim_keys = [], []
        self.key_model_map = nn.ModuleDict()
        self.key_shape_map = {}
        for key, attr in shape_meta["obs"].items():
            shape = tuple(attr["shape"])
            kind = attr.get("type", "low_dim")
            self.key_shape_map[key] = shape
            if kind == "rgb":
                rgb_keys.append(key)
                self.key_model_map[key] = nn.Sequential(
                    nn.Conv2d(shape[0], 32, 3, 2, 1),
                    nn.ReLU(),
                    nn.Conv2d(32, feature_dim, 3, 2, 1),
                    nn.AdaptiveMaxPool2d(1),
                    nn.Flatten(),
                )
            elif kind == "low_dim":
                low_dim_keys.append(key)
            else:
                raise RuntimeError(f"Unsupported obs type: {kind}")
        self.rgb_keys, self.low_dim_keys = sorted(rgb_keys), sorted(low_dim_keys)
        width = feature_dim * len(rgb_keys) + sum(self.key_shape_map[key][0] for key in low_dim_keys)
        self.head = nn.Linear(width, shape_meta["action"]["shape"][0])

    def forward(self, obs_dict):
        features = []
        for key in self.rgb_keys:
            image = obs_dict[key]
            assert image.shape[1:] == self.key_shape_map[key]
            features.append(self.key_model_map[key](image))
        for key in self.low_dim_keys:
            data = obs_dict[key]
            assert data.shape[1:] == self.key_shape_map[key]
            features.append(data)
        return self.head(torch.cat(features, dim=-1))


# ---- a cell that a search has found

Genotype = namedtuple("Genotype", "normal normal_concat reduce reduce_concat")

OPS = {
    "max_pool_3x3": lambda C, stride: nn.MaxPool2d(3, stride=stride, padding=1),
    "skip_connect": lambda C, stride: nn.Identity() if stride == 1 else nn.Conv2d(C, C, 1, stride),
    "sep_conv_3x3": lambda C, stride: nn.Sequential(
        nn.ReLU(), nn.Conv2d(C, C, 3, stride, 1, groups=C), nn.Conv2d(C, C, 1)
    ),
    "dil_conv_3x3": lambda C, stride: nn.Sequential(
        nn.ReLU(), nn.Conv2d(C, C, 3, stride, 2, 2, groups=C), nn.Conv2d(C, C, 1)
    ),
}


class SearchedCell(nn.Module):
    def __init__(self, genotype, widths, C, reduction, reduction_prev):
        super().__init__()
        self.preprocess0 = nn.Conv2d(widths[0], C, 1, 2 if reduction_prev else 1)
        self.preprocess1 = nn.Conv2d(widths[1], C, 1)
        if reduction:
            op_names, indices = zip(*genotype.reduce)
            concat = genotype.reduce_concat
        else:
            op_names, indices = zip(*genotype.normal)
            concat = genotype.normal_concat
        assert len(op_names) == len(indices)
        self._steps = len(op_names) // 2
        self._concat = concat
        self.multiplier = len(concat)
        self._ops = nn.ModuleList()
        for name, index in zip(op_names, indices):
            self._ops.append(OPS[name](C, 2 if reduction and index < 2 else 1))
        self._indices = indices

    def forward(self, s0, s1):
        states = [self.preprocess0(s0), self.preprocess1(s1)]
        for i in range(self._steps):
            h1 = self._ops[2 * i](states[self._indices[2 * i]])
            h2 = self._ops[2 * i + 1](states[self._indices[2 * i + 1]])
            states.append(h1 + h2)
        return torch.cat([states[i] for i in self._concat], dim=1)


class GenotypeNet(nn.Module):
    def __init__(self, C, num_classes, layers, genotype, stem_multiplier=3):
        super().__init__()
        C_curr = stem_multiplier * C
        self.stem = nn.Sequential(nn.Conv2d(3, C_curr, 3, padding=1, bias=False), nn.BatchNorm2d(C_curr))
        C_prev_prev, C_prev, C_curr = C_curr, C_curr, C
        self.cells = nn.ModuleList()
        reduction_prev = False
        for i in range(layers):
            reduction = i in (layers // 3, 2 * layers // 3)
            if reduction:
                C_curr *= 2
            cell = SearchedCell(genotype, (C_prev_prev, C_prev), C_curr, reduction, reduction_prev)
            reduction_prev = reduction
            self.cells.append(cell)
            C_prev_prev, C_prev = C_prev, cell.multiplier * C_curr
        self.global_pooling = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(C_prev, num_classes)

    def forward(self, image):
        s0 = s1 = self.stem(image)
        for cell in self.cells:
            s0, s1 = s1, cell(s0, s1)
        return self.classifier(self.global_pooling(s1).flatten(1))


# ---- modules and hyperparameters of a recipe, as dicts


class BrainSeparator(nn.Module):
    """A recipe hands in its parts by name; the mixture is masked for each speaker."""

    def __init__(self, modules, hparams, run_opts=None):
        super().__init__()
        self.mods = nn.ModuleDict(modules)
        for name, value in hparams.items():
            setattr(self, f"hp_{name}", value)
        self.device = (run_opts or {}).get("device", "cpu")
        self.num_spks = hparams["num_spks"]
        self.n_out = hparams["encoder_out"]
        self.project = nn.Conv1d(self.n_out, self.n_out * self.num_spks, 1)

    def forward(self, mixture):
        w = self.mods["encoder"](mixture)
        mask = self.mods["masknet"](w)
        masks = self.project(mask).view(w.shape[0], self.num_spks, self.n_out, -1)
        separated = w.unsqueeze(1) * torch.sigmoid(masks)
        return torch.stack([self.mods["decoder"](separated[:, i]) for i in range(self.num_spks)], dim=-1)


# ---- matrices of a graph, and a device


class DiffusedConv(nn.Module):
    def __init__(self, c_in, c_out, dropout, support_len, order):
        super().__init__()
        self.mlp = nn.Conv2d((order * support_len + 1) * c_in, c_out, kernel_size=(1, 1))
        self.dropout = dropout
        self.order = order

    def forward(self, x, support):
        out = [x]
        for a in support:
            x1 = torch.einsum("ncvl,vw->ncwl", x, a)
            out.append(x1)
            for _ in range(2, self.order + 1):
                x1 = torch.einsum("ncvl,vw->ncwl", x1, a)
                out.append(x1)
        return F.dropout(self.mlp(torch.cat(out, dim=1)), self.dropout, training=self.training)


class GraphWave(nn.Module):
    def __init__(self, device, num_nodes, supports, aptinit, dropout=0.3, in_dim=2, out_dim=12, channels=16, layers=2):
        super().__init__()
        self.layers = layers
        self.supports = supports
        self.start_conv = nn.Conv2d(in_dim, channels, kernel_size=(1, 1))
        if aptinit is None:
            self.nodevec1 = nn.Parameter(torch.randn(num_nodes, 10).to(device))
            self.nodevec2 = nn.Parameter(torch.randn(10, num_nodes).to(device))
        else:
            m, p, n = torch.svd(aptinit)
            self.nodevec1 = nn.Parameter(torch.mm(m[:, :10], torch.diag(p[:10] ** 0.5)).to(device))
            self.nodevec2 = nn.Parameter(torch.mm(torch.diag(p[:10] ** 0.5), n[:, :10].t()).to(device))
        self.filter_convs, self.gate_convs, self.gconv = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        self.receptive_field = 1
        for i in range(layers):
            self.filter_convs.append(nn.Conv2d(channels, channels, (1, 2), dilation=2**i))
            self.gate_convs.append(nn.Conv2d(channels, channels, (1, 2), dilation=2**i))
            self.gconv.append(DiffusedConv(channels, channels, dropout, len(supports) + 1, 2))
            self.receptive_field += 2**i
        self.end_conv = nn.Conv2d(channels, out_dim, kernel_size=(1, 1))

    def forward(self, input):
        in_len = input.size(3)
        x = F.pad(input, (self.receptive_field - in_len, 0, 0, 0)) if in_len < self.receptive_field else input
        x = self.start_conv(x)
        adp = F.softmax(F.relu(torch.mm(self.nodevec1, self.nodevec2)), dim=1)
        supports = [*self.supports, adp]
        for i in range(self.layers):
            residual = x
            x = torch.tanh(self.filter_convs[i](x)) * torch.sigmoid(self.gate_convs[i](x))
            x = self.gconv[i](x, supports) + residual[:, :, :, -x.size(3) :]
        return self.end_conv(F.relu(x))


# ---- an alphabet that knows its special letters


class LearnedPositions(nn.Embedding):
    def __init__(self, num_embeddings, embedding_dim, padding_idx):
        super().__init__(num_embeddings + padding_idx + 1, embedding_dim, padding_idx)
        self.max_positions = num_embeddings

    def forward(self, tokens):
        if tokens.size(1) > self.max_positions:
            raise ValueError(f"Sequence length {tokens.size(1)} above maximum sequence length of {self.max_positions}")
        mask = tokens.ne(self.padding_idx).int()
        positions = (torch.cumsum(mask, dim=1).type_as(mask) * mask).long() + self.padding_idx
        return F.embedding(positions, self.weight, self.padding_idx)


class ProteinLM(nn.Module):
    def __init__(self, args, alphabet):
        super().__init__()
        self.args = args
        self.alphabet_size = len(alphabet)
        self.padding_idx = alphabet.padding_idx
        self.mask_idx = alphabet.mask_idx
        self.cls_idx = alphabet.cls_idx
        self.prepend_bos = alphabet.prepend_bos
        self.embed_tokens = nn.Embedding(self.alphabet_size, args.embed_dim, padding_idx=self.padding_idx)
        if self.args.arch == "roberta_large":
            self.embed_positions = LearnedPositions(args.max_positions, args.embed_dim, self.padding_idx)
            self.embed_scale = 1
        else:
            self.embed_positions = None
            self.embed_scale = args.embed_dim**0.5
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(args.embed_dim, args.attention_heads, args.ffn_embed_dim, batch_first=True)
            for _ in range(args.layers)
        )
        self.lm_head = nn.Linear(args.embed_dim, self.alphabet_size)
        if getattr(args, "token_dropout", False):
            self.token_dropout = True

    def forward(self, tokens):
        padding_mask = tokens.eq(self.padding_idx)
        x = self.embed_scale * self.embed_tokens(tokens)
        x = x.masked_fill((tokens == self.mask_idx).unsqueeze(-1), 0.0)
        if self.embed_positions is not None:
            x = x + self.embed_positions(tokens)
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=padding_mask)
        return self.lm_head(x)


# ---- a configuration, an audio processor, a tokenizer and a manager of speakers


class BaseTTS(nn.Module):
    def __init__(self, config, ap, tokenizer=None, speaker_manager=None):
        super().__init__()
        self.config = config
        self.ap = ap
        self.tokenizer = tokenizer
        self.speaker_manager = speaker_manager
        self._set_model_args(config)

    def _set_model_args(self, config):
        if hasattr(config, "characters"):
            self.args = config.model_args
            num_chars = config.model_args.num_chars if self.tokenizer is None else self.tokenizer.characters.num_chars
            self.num_chars = num_chars
        else:
            raise ValueError("config must be either a *Config or *Args")


class GlowSpeech(BaseTTS):
    def __init__(self, config, ap, tokenizer, speaker_manager):
        super().__init__(config, ap, tokenizer, speaker_manager)
        hidden = self.args.hidden_channels
        self.embedded_speaker_dim = 0
        if self.args.use_speaker_embedding:
            self.num_speakers = self.speaker_manager.num_speakers
            self.embedded_speaker_dim = self.args.speaker_embedding_channels
            self.emb_g = nn.Embedding(self.num_speakers, self.embedded_speaker_dim)
        self.emb_t = nn.Embedding(self.num_chars, hidden)
        self.encoder = nn.ModuleList(
            nn.Conv1d(hidden, hidden, self.args.kernel_size, padding=self.args.kernel_size // 2)
            for _ in range(self.args.num_layers_encoder)
        )
        self.proj = nn.Conv1d(hidden + self.embedded_speaker_dim, ap.num_mels, 1)
        self.length_scale = self.args.length_scale

    def forward(self, x, x_lengths, speaker_ids):
        o = self.emb_t(x).transpose(1, 2)
        mask = torch.arange(x.shape[1], device=x.device)[None] < x_lengths[:, None]
        o = o * mask.unsqueeze(1)
        for layer in self.encoder:
            o = o + F.relu(layer(o))
        if self.args.use_speaker_embedding:
            g = self.emb_g(speaker_ids).unsqueeze(-1).expand(-1, -1, o.shape[-1])
            o = torch.cat((o, g), dim=1)
        return self.proj(o) * mask.unsqueeze(1)


# ---- a vocabulary with namespaces, and parameters that are popped


class Encoder(nn.Module):
    registry = {}

    def __init_subclass__(cls, name=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.registry[name] = cls

    @classmethod
    def from_params(cls, params, **extras):
        choice = params.pop("type")
        if choice not in cls.registry:
            raise ConfigurationError(f"{choice} is not a registered name for {cls.__name__}: {sorted(cls.registry)}")
        return cls.registry[choice](**params, **extras)


class ConfigurationError(Exception):
    pass


class BagOfEmbeddings(Encoder, name="boe"):
    def __init__(self, embedding_dim, averaged=False):
        super().__init__()
        self.embedding_dim = embedding_dim
        self.averaged = averaged

    def get_output_dim(self):
        return self.embedding_dim

    def forward(self, x, mask):
        x = (x * mask.unsqueeze(-1)).sum(1)
        return x / mask.sum(1, keepdim=True).clamp(min=1) if self.averaged else x


class CnnEncoder(Encoder, name="cnn"):
    def __init__(self, embedding_dim, num_filters, ngram_filter_sizes=(2, 3)):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv1d(embedding_dim, num_filters, n, padding=n - 1) for n in ngram_filter_sizes)
        self.output_dim = num_filters * len(ngram_filter_sizes)

    def get_output_dim(self):
        return self.output_dim

    def forward(self, x, mask):
        x = (x * mask.unsqueeze(-1)).transpose(1, 2)
        return torch.cat([F.relu(conv(x)).amax(2) for conv in self.convs], dim=1)


class ClausePredictor(nn.Module):
    def __init__(self, vocab, params):
        super().__init__()
        self.vocab = vocab
        embedding_dim = params.pop("embedding_dim")
        self.embedder = nn.Embedding(vocab.get_vocab_size("tokens"), embedding_dim)
        self.encoder = Encoder.from_params(params.pop("encoder"), embedding_dim=embedding_dim)
        self.dropout = nn.Dropout(params.pop("dropout", 0.0))
        self.num_labels = vocab.get_vocab_size(namespace="labels")
        self.classification_layer = nn.Linear(self.encoder.get_output_dim(), self.num_labels)
        self.label_namespace = params.pop("label_namespace", "labels")
        if params:
            raise ConfigurationError(f"Extra parameters passed to {type(self).__name__}: {params}")

    def forward(self, tokens):
        ids = tokens["tokens"]["tokens"]
        mask = (ids != 0).float()
        logits = self.classification_layer(self.dropout(self.encoder(self.embedder(ids), mask)))
        return {"logits": logits, "probs": F.softmax(logits, dim=-1)}
