"""Hard: graphs, scans, series, clicks, speech and pictures, whose batches are made of parts that belong together.

Long because it is a list of models.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

__all__ = [
    "AttributeGIN",
    "BehaviorMultiInterest",
    "CTCRecognizer",
    "ConditionedLatentUNet",
    "CrossRecommender",
    "DiffPoolNet",
    "LSTMTranslationModel",
    "ProbabilisticForecaster",
    "RandLASegmenter",
    "SeriesDecompositionFormer",
    "TargetSpeakerExtractor",
    "VariationalSynthesizer",
]


def scatter_sum(values, index, size):
    out = values.new_zeros(size, values.size(-1))
    return out.index_add(0, index, values)


class AtomEncoder(nn.Module):
    def __init__(self, hidden, sizes=(119, 5, 12, 12, 10, 6, 6, 2, 2)):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(n, hidden) for n in sizes)

    def forward(self, x):
        out = 0
        for i in range(x.shape[1]):
            out = out + self.tables[i](x[:, i])
        return out


class AttributeGINLayer(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.bonds = nn.ModuleList(nn.Embedding(n, hidden) for n in (5, 6, 2))
        self.mlp = nn.Sequential(
            nn.Linear(hidden, 2 * hidden), nn.BatchNorm1d(2 * hidden), nn.ReLU(), nn.Linear(2 * hidden, hidden)
        )
        self.eps = nn.Parameter(torch.zeros(1))

    def forward(self, x, edge_index, edge_attr):
        bond = sum(table(edge_attr[:, i]) for i, table in enumerate(self.bonds))
        source, target = edge_index
        messages = F.relu(x[source] + bond)
        return self.mlp((1 + self.eps) * x + scatter_sum(messages, target, x.size(0)))


class AttributeGIN(nn.Module):
    """Graphs of atoms in one batch, with a node that all atoms of a molecule talk to."""

    def __init__(self, num_tasks=12, num_layers=4, emb_dim=128, drop_ratio=0.5, JK="last"):
        super().__init__()
        self.drop_ratio = drop_ratio
        self.JK = JK
        self.atom_encoder = AtomEncoder(emb_dim)
        self.virtual = nn.Embedding(1, emb_dim)
        self.convs = nn.ModuleList(AttributeGINLayer(emb_dim) for _ in range(num_layers))
        self.norms = nn.ModuleList(nn.BatchNorm1d(emb_dim) for _ in range(num_layers))
        self.virtual_mlp = nn.ModuleList(
            nn.Sequential(nn.Linear(emb_dim, emb_dim), nn.ReLU()) for _ in range(num_layers - 1)
        )
        self.head = nn.Linear(emb_dim, num_tasks)

    def forward(self, batched_data):
        x, edge_index, edge_attr, batch = (
            batched_data.x,
            batched_data.edge_index,
            batched_data.edge_attr,
            batched_data.batch,
        )
        graphs = batched_data.num_graphs
        virtual = self.virtual(torch.zeros(graphs, dtype=torch.long, device=x.device))
        states = [self.atom_encoder(x)]
        for i, conv in enumerate(self.convs):
            h = states[-1] + virtual[batch]
            h = self.norms[i](conv(h, edge_index, edge_attr))
            if i < len(self.convs) - 1:
                h = F.relu(h)
                virtual = virtual + self.virtual_mlp[i](scatter_sum(h, batch, graphs))
            states.append(F.dropout(h, self.drop_ratio, training=self.training))
        nodes = states[-1] if self.JK == "last" else torch.stack(states).sum(0)
        counts = torch.bincount(batch, minlength=graphs).clamp(min=1).unsqueeze(-1)
        return self.head(scatter_sum(nodes, batch, graphs) / counts)


class DenseSAGE(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lin_rel = nn.Linear(in_channels, out_channels, bias=False)
        self.lin_root = nn.Linear(in_channels, out_channels)

    def forward(self, x, adj, mask=None):
        out = torch.matmul(adj, x) / adj.sum(dim=-1, keepdim=True).clamp(min=1)
        out = F.normalize(self.lin_rel(out) + self.lin_root(x), p=2, dim=-1)
        if mask is not None:
            batch, nodes, _ = x.size()
            out = out * mask.view(batch, nodes, 1).to(x.dtype)
        return out


class DiffPoolNet(nn.Module):
    """Coarsens dense graphs by learnt assignments, and says how good these are."""

    def __init__(self, num_features, num_classes, max_nodes=60, hidden=64):
        super().__init__()
        clusters = math.ceil(0.25 * max_nodes)
        self.assign1 = DenseSAGE(num_features, clusters)
        self.embed1 = DenseSAGE(num_features, hidden)
        self.assign2 = DenseSAGE(hidden, math.ceil(0.25 * clusters))
        self.embed2 = DenseSAGE(hidden, hidden)
        self.final = DenseSAGE(hidden, hidden)
        self.lin = nn.Linear(hidden, num_classes)

    def pool(self, x, adj, s, mask=None):
        s = torch.softmax(s, dim=-1)
        if mask is not None:
            x, s = x * mask.unsqueeze(-1), s * mask.unsqueeze(-1)
        out = torch.matmul(s.transpose(1, 2), x)
        coarse = torch.matmul(torch.matmul(s.transpose(1, 2), adj), s)
        link = torch.norm(adj - torch.matmul(s, s.transpose(1, 2)), p=2) / adj.numel()
        entropy = (-s * torch.log(s + 1e-15)).sum(dim=-1).mean()
        return out, coarse, link, entropy

    def forward(self, x, adj, mask):
        s = self.assign1(x, adj, mask)
        x = self.embed1(x, adj, mask)
        x, adj, l1, e1 = self.pool(x, adj, s, mask)
        s = self.assign2(x, adj)
        x = F.relu(self.embed2(x, adj))
        x, adj, l2, e2 = self.pool(x, adj, s)
        x = self.final(x, adj).mean(dim=1)
        return F.log_softmax(self.lin(x), dim=-1), l1 + l2, e1 + e2


def gather_neighbour(points, index):
    batch, channels, _ = points.shape
    k = index.shape[-1]
    flat = index.reshape(batch, 1, -1).expand(-1, channels, -1)
    return torch.gather(points, 2, flat).reshape(batch, channels, -1, k)


class LocalAggregation(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.mlp1 = nn.Conv2d(d_in, d_out // 2, 1)
        self.position = nn.Conv2d(10, d_out // 2, 1)
        self.score = nn.Conv2d(d_out, d_out, 1, bias=False)
        self.mlp2 = nn.Conv2d(d_out, d_out, 1)
        self.shortcut = nn.Conv2d(d_in, d_out, 1)

    def relative(self, xyz, index):
        neighbours = gather_neighbour(xyz.transpose(1, 2), index)
        centre = xyz.transpose(1, 2).unsqueeze(-1).expand_as(neighbours)
        offset = centre - neighbours
        distance = offset.pow(2).sum(1, keepdim=True).sqrt()
        return torch.cat([distance, offset, centre, neighbours], dim=1)

    def forward(self, feature, xyz, index):
        encoded = self.position(self.relative(xyz, index))
        nearby = gather_neighbour(self.mlp1(feature).squeeze(-1), index)
        both = torch.cat([nearby, encoded], dim=1)
        pooled = (both * F.softmax(self.score(both), dim=3)).sum(3, keepdim=True)
        return F.leaky_relu(self.mlp2(pooled) + self.shortcut(feature), 0.2)


class RandLASegmenter(nn.Module):
    """Large scans, whose neighbours, samples and interpolations were looked up by the loader for each layer."""

    def __init__(self, d_feature=6, num_classes=13, d_out=(16, 64, 128)):
        super().__init__()
        self.fc0 = nn.Linear(d_feature, 8)
        sizes = [8, *d_out]
        self.encoder = nn.ModuleList(LocalAggregation(a, b) for a, b in zip(sizes[:-1], sizes[1:]))
        self.middle = nn.Conv2d(d_out[-1], d_out[-1], 1)
        skip = [d_out[0], *d_out]
        current, decoder = d_out[-1], []
        for i in range(len(d_out)):
            decoder.append(nn.Conv2d(current + skip[-i - 2], skip[-i - 2], 1))
            current = skip[-i - 2]
        self.decoder = nn.ModuleList(decoder)
        self.classifier = nn.Conv2d(current, num_classes, 1)

    @staticmethod
    def sample(feature, pool_index):
        feature = feature.squeeze(3)
        return gather_neighbour(feature, pool_index).max(dim=3, keepdim=True)[0]

    @staticmethod
    def interpolate(feature, up_index):
        feature = feature.squeeze(3)
        batch, points = feature.shape[0], up_index.shape[1]
        up_index = up_index.reshape(batch, 1, points).expand(-1, feature.shape[1], -1)
        return torch.gather(feature, 2, up_index).unsqueeze(3)

    def forward(self, end_points):
        feature = self.fc0(end_points["features"]).transpose(1, 2).unsqueeze(3)
        skips = []
        for i, layer in enumerate(self.encoder):
            encoded = layer(feature, end_points["xyz"][i], end_points["neigh_idx"][i])
            feature = self.sample(encoded, end_points["sub_idx"][i])
            if i == 0:
                skips.append(encoded)
            skips.append(feature)
        feature = self.middle(skips[-1])
        for j, layer in enumerate(self.decoder):
            up = self.interpolate(feature, end_points["interp_idx"][-j - 1])
            feature = F.leaky_relu(layer(torch.cat([skips[-j - 2], up], dim=1)), 0.2)
        end_points["logits"] = self.classifier(feature).squeeze(3)
        return end_points


class CalendarEmbedding(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.hour = nn.Embedding(24, d_model)
        self.weekday = nn.Embedding(7, d_model)
        self.day = nn.Embedding(32, d_model)
        self.month = nn.Embedding(13, d_model)

    def forward(self, x):
        x = x.long()
        return self.hour(x[:, :, 3]) + self.weekday(x[:, :, 2]) + self.day(x[:, :, 1]) + self.month(x[:, :, 0])


class ValueEmbedding(nn.Module):
    def __init__(self, c_in, d_model):
        super().__init__()
        self.conv = nn.Conv1d(c_in, d_model, 3, padding=1, padding_mode="circular", bias=False)
        self.calendar = CalendarEmbedding(d_model)

    def forward(self, x, x_mark):
        return self.conv(x.permute(0, 2, 1)).transpose(1, 2) + self.calendar(x_mark)


class MovingAverage(nn.Module):
    def __init__(self, kernel_size):
        super().__init__()
        self.kernel_size = kernel_size
        self.avg = nn.AvgPool1d(kernel_size, stride=1)

    def forward(self, x):
        front = x[:, :1, :].repeat(1, (self.kernel_size - 1) // 2, 1)
        end = x[:, -1:, :].repeat(1, (self.kernel_size - 1) // 2, 1)
        trend = self.avg(torch.cat([front, x, end], dim=1).permute(0, 2, 1)).permute(0, 2, 1)
        return x - trend, trend


class SeriesDecompositionFormer(nn.Module):
    """Seasons and trends apart, with the calendar of what was and of what will be."""

    def __init__(self, enc_in=7, dec_in=7, c_out=7, label_len=48, pred_len=96, d_model=64, n_heads=4, moving_avg=25):
        super().__init__()
        self.label_len, self.pred_len = label_len, pred_len
        self.decomp = MovingAverage(moving_avg)
        self.enc_embedding = ValueEmbedding(enc_in, d_model)
        self.dec_embedding = ValueEmbedding(dec_in, d_model)
        self.encoder = nn.TransformerEncoderLayer(d_model, n_heads, 4 * d_model, batch_first=True)
        self.decoder = nn.TransformerDecoderLayer(d_model, n_heads, 4 * d_model, batch_first=True)
        self.trend = nn.Linear(d_model, c_out)
        self.projection = nn.Linear(d_model, c_out)

    def forward(self, x_enc, x_mark_enc, x_dec, x_mark_dec, enc_self_mask=None, dec_self_mask=None):
        mean = torch.mean(x_enc, dim=1).unsqueeze(1).repeat(1, self.pred_len, 1)
        zeros = torch.zeros([x_dec.shape[0], self.pred_len, x_dec.shape[2]], device=x_enc.device)
        seasonal, trend = self.decomp(x_enc)
        trend = torch.cat([trend[:, -self.label_len :, :], mean], dim=1)
        seasonal = torch.cat([seasonal[:, -self.label_len :, :], zeros], dim=1)
        memory = self.encoder(self.enc_embedding(x_enc, x_mark_enc), src_mask=enc_self_mask)
        hidden = self.decoder(self.dec_embedding(seasonal, x_mark_dec), memory, tgt_mask=dec_self_mask)
        hidden, rest = self.decomp(hidden)
        out = self.projection(hidden) + trend + self.trend(rest)
        return out[:, -self.pred_len :, :]


class ProbabilisticForecaster(nn.Module):
    """A recurrent net over lags, covariates and statics; parameters of a Student's t come out."""

    def __init__(
        self,
        context_length=48,
        prediction_length=24,
        num_feat_dynamic_real=4,
        num_feat_static_real=1,
        cardinality=(321,),
        embedding_dimension=(10,),
        hidden_size=40,
        lags_seq=(1, 2, 3, 7, 14),
    ):
        super().__init__()
        self.context_length, self.prediction_length = context_length, prediction_length
        self.lags_seq = list(lags_seq)
        self.embedder = nn.ModuleList(nn.Embedding(c, d) for c, d in zip(cardinality, embedding_dimension))
        features = sum(embedding_dimension) + num_feat_dynamic_real + num_feat_static_real + 1
        self.rnn = nn.LSTM(len(lags_seq) + features, hidden_size, num_layers=2, batch_first=True)
        self.df, self.loc, self.scale = (nn.Linear(hidden_size, 1) for _ in range(3))

    @property
    def past_length(self):
        return self.context_length + max(self.lags_seq)

    def lagged(self, prior, sequence):
        full = torch.cat((prior, sequence), dim=1)
        total, length = full.shape[1], sequence.shape[1]
        return torch.stack([full[:, total - lag - length : total - lag] for lag in self.lags_seq], dim=-1)

    def forward(
        self,
        feat_static_cat,
        feat_static_real,
        past_time_feat,
        past_target,
        past_observed_values,
        future_time_feat,
        future_target,
    ):
        context = past_target[:, -self.context_length :]
        observed = past_observed_values[:, -self.context_length :]
        scale = (context.abs() * observed).sum(1, keepdim=True) / observed.sum(1, keepdim=True).clamp(min=1)
        scale = scale.clamp(min=1e-5)
        prior = past_target[:, : -self.context_length] / scale
        sequence = torch.cat((context / scale, future_target[:, :-1] / scale), dim=1)
        embedded = torch.cat(
            [e(c.squeeze(-1)) for e, c in zip(self.embedder, feat_static_cat.split(1, dim=-1))], dim=-1
        )
        static = torch.cat((embedded, feat_static_real, scale.log()), dim=-1)
        static = static.unsqueeze(1).expand(-1, sequence.shape[1], -1)
        time = torch.cat((past_time_feat[:, -self.context_length + 1 :], future_time_feat), dim=1)
        time = time[:, : sequence.shape[1]]
        out, _ = self.rnn(torch.cat((self.lagged(prior, sequence), static, time), dim=-1))
        return F.softplus(self.df(out)) + 2, self.loc(out) * scale.unsqueeze(-1), F.softplus(self.scale(out))


class CrossRecommender(nn.Module):
    """Clicks with dense columns and bags of ids, each with offsets, and interactions of all pairs."""

    def __init__(self, m_spa=16, ln_emb=(1000, 200, 5000, 40), ln_bot=(13, 64, 16), ln_top=(64, 1)):
        super().__init__()
        self.emb_l = nn.ModuleList(nn.EmbeddingBag(n, m_spa, mode="sum") for n in ln_emb)
        self.bot_l = self.create_mlp(ln_bot)
        fields = len(ln_emb) + 1
        self.top_l = self.create_mlp((fields * (fields - 1) // 2 + ln_bot[-1], *ln_top), sigmoid=len(ln_top) - 1)

    @staticmethod
    def create_mlp(sizes, sigmoid=-1):
        layers = nn.ModuleList()
        for i in range(len(sizes) - 1):
            layers.append(nn.Linear(sizes[i], sizes[i + 1]))
            layers.append(nn.Sigmoid() if i == sigmoid else nn.ReLU())
        return nn.Sequential(*layers)

    def apply_emb(self, lS_o, lS_i):
        ly = []
        for k, indices in enumerate(lS_i):
            ly.append(self.emb_l[k](indices, lS_o[k]))
        return ly

    def interact_features(self, x, ly):
        batch, d = x.shape
        T = torch.cat([x, *ly], dim=1).view((batch, -1, d))
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        _, ni, nj = Z.shape
        li = torch.tensor([i for i in range(ni) for j in range(i)])
        lj = torch.tensor([j for i in range(nj) for j in range(i)])
        return torch.cat([x, Z[:, li, lj]], dim=1)

    def forward(self, dense_x, lS_o, lS_i):
        x = self.bot_l(dense_x)
        ly = self.apply_emb(lS_o, lS_i)
        return self.top_l(self.interact_features(x, ly))


class BehaviorMultiInterest(nn.Module):
    """Interests of a user as capsules, of which the one that fits a target item counts."""

    def __init__(self, item_count=50000, cate_count=800, user_count=10000, embed_dim=32, interest_num=4, routing=3):
        super().__init__()
        self.item_emb = nn.Embedding(item_count, embed_dim, padding_idx=0)
        self.cate_emb = nn.Embedding(cate_count, embed_dim, padding_idx=0)
        self.user_emb = nn.Embedding(user_count, embed_dim)
        self.interest_num, self.routing = interest_num, routing
        self.bilinear = nn.Linear(2 * embed_dim, 2 * embed_dim, bias=False)
        self.tower = nn.Sequential(nn.Linear(3 * embed_dim + 2, 64), nn.ReLU(), nn.Linear(64, 2 * embed_dim))

    def item(self, iid, cid):
        return torch.cat([self.item_emb(iid), self.cate_emb(cid)], dim=-1)

    def capsules(self, history, mask):
        batch, length, dim = history.shape
        low = self.bilinear(history)
        logits = torch.zeros(batch, self.interest_num, length, device=history.device)
        for _ in range(self.routing):
            weight = logits.softmax(dim=1).masked_fill(~mask.unsqueeze(1), 0.0)
            high = torch.matmul(weight, low)
            norm = high.pow(2).sum(-1, keepdim=True)
            high = norm / (1 + norm) * high / (norm + 1e-9).sqrt()
            logits = logits + torch.matmul(high, low.transpose(1, 2))
        return high

    def forward(self, features):
        history = self.item(features["hist_item_id"], features["hist_cate_id"])
        length = features["hist_len"]
        mask = torch.arange(history.size(1), device=history.device)[None, :] < length[:, None]
        interests = self.capsules(history, mask)
        user = torch.cat([self.user_emb(features["user_id"]), features["dense"]], dim=-1)
        user = user.unsqueeze(1).expand(-1, self.interest_num, -1)
        interests = self.tower(torch.cat([interests, user], dim=-1))
        target = self.item(features["target_item_id"], features["target_cate_id"])
        scores = torch.matmul(interests, target.unsqueeze(-1)).squeeze(-1)
        best = scores.argmax(dim=1)
        chosen = interests[torch.arange(interests.size(0)), best]
        negatives = self.item(features["neg_item_id"], features["neg_cate_id"])
        return torch.cat(
            [(chosen * target).sum(-1, keepdim=True), torch.matmul(negatives, chosen.unsqueeze(-1)).squeeze(-1)], dim=1
        )


class LSTMTranslationModel(nn.Module):
    """Translates with attention over packed sources; each step of the decoder is fed with the context before it."""

    def __init__(self, src_vocab, tgt_vocab, embed_dim=64, hidden_size=128, padding_idx=1):
        super().__init__()
        self.padding_idx = padding_idx
        self.hidden_size = hidden_size
        self.src_embed = nn.Embedding(src_vocab, embed_dim, padding_idx)
        self.tgt_embed = nn.Embedding(tgt_vocab, embed_dim, padding_idx)
        self.encoder = nn.LSTM(embed_dim, hidden_size // 2, bidirectional=True)
        self.cell = nn.LSTMCell(embed_dim + hidden_size, hidden_size)
        self.attn_in = nn.Linear(hidden_size, hidden_size, bias=False)
        self.attn_out = nn.Linear(2 * hidden_size, hidden_size, bias=False)
        self.fc_out = nn.Linear(hidden_size, tgt_vocab)

    def encode(self, src_tokens, src_lengths):
        bsz, seqlen = src_tokens.size()
        x = self.src_embed(src_tokens).transpose(0, 1)
        packed = pack_padded_sequence(x, src_lengths.cpu(), enforce_sorted=False)
        h0 = x.new_zeros(2, bsz, self.hidden_size // 2)
        outs, (hidden, cell) = self.encoder(packed, (h0, h0))
        outs, _ = pad_packed_sequence(outs, padding_value=0.0, total_length=seqlen)
        hidden, cell = (state.transpose(0, 1).reshape(bsz, -1) for state in (hidden, cell))
        return outs, hidden, cell, src_tokens.eq(self.padding_idx).t()

    def forward(self, src_tokens, src_lengths, prev_output_tokens, incremental_state=None):
        memory, hidden, cell, padding = self.encode(src_tokens, src_lengths)
        if incremental_state is not None:
            prev_output_tokens = prev_output_tokens[:, -1:]
            hidden, cell = incremental_state
        x = self.tgt_embed(prev_output_tokens).transpose(0, 1)
        feed = x.new_zeros(x.size(1), self.hidden_size)
        outs = []
        for step in range(x.size(0)):
            hidden, cell = self.cell(torch.cat([x[step], feed], dim=1), (hidden, cell))
            scores = (memory * self.attn_in(hidden).unsqueeze(0)).sum(dim=2)
            scores = scores.float().masked_fill(padding, float("-inf")).softmax(dim=0)
            context = (scores.unsqueeze(2) * memory).sum(dim=0)
            feed = torch.tanh(self.attn_out(torch.cat([context, hidden], dim=1)))
            outs.append(feed)
        return self.fc_out(torch.stack(outs).transpose(0, 1))


class CTCRecognizer(nn.Module):
    """From signal to characters: features are computed inside, frames are counted along, and the loss comes out too."""

    def __init__(self, vocabulary_size=29, n_mels=64, d_model=144, n_layers=2, n_window=400, hop=160):
        super().__init__()
        self.n_window, self.hop = n_window, hop
        self.register_buffer("window", torch.hann_window(n_window), persistent=False)
        self.register_buffer("filterbank", torch.rand(n_mels, n_window // 2 + 1), persistent=False)
        self.subsample = nn.Conv1d(n_mels, d_model, 3, stride=2, padding=1)
        layer = nn.TransformerEncoderLayer(d_model, 4, 4 * d_model, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
        self.decoder = nn.Conv1d(d_model, vocabulary_size, 1)
        self.loss = nn.CTCLoss(blank=vocabulary_size - 1, zero_infinity=True)

    def preprocess(self, signal, length):
        signal = torch.cat([signal[:, :1], signal[:, 1:] - 0.97 * signal[:, :-1]], dim=1)
        spectrum = torch.stft(signal, self.n_window, self.hop, window=self.window, return_complex=True)
        mel = torch.log(torch.matmul(self.filterbank, spectrum.abs().pow(2)) + 1e-6)
        frames = torch.div(length, self.hop, rounding_mode="floor") + 1
        mask = torch.arange(mel.size(-1), device=mel.device)[None] < frames[:, None]
        mean = (mel * mask.unsqueeze(1)).sum(-1, keepdim=True) / frames.view(-1, 1, 1)
        return (mel - mean) * mask.unsqueeze(1), frames

    def forward(self, input_signal, input_signal_length, transcript, transcript_length):
        features, lengths = self.preprocess(input_signal, input_signal_length)
        encoded = F.relu(self.subsample(features)).transpose(1, 2)
        lengths = torch.div(lengths - 1, 2, rounding_mode="floor") + 1
        padding = torch.arange(encoded.size(1), device=encoded.device)[None] >= lengths[:, None]
        encoded = self.encoder(encoded, src_key_padding_mask=padding)
        log_probs = F.log_softmax(self.decoder(encoded.transpose(1, 2)).transpose(1, 2), dim=-1)
        greedy = log_probs.argmax(dim=-1)
        loss = self.loss(log_probs.transpose(0, 1), transcript, lengths, transcript_length)
        return log_probs, greedy, loss


class TargetSpeakerExtractor(nn.Module):
    """Keeps one voice of a mixture: that of a second recording, of which several are in a batch with their lengths."""

    def __init__(self, n_fft=512, hop=128, channels=96, emb=128, n_speakers=251, layers=3):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        bins = n_fft // 2 + 1
        self.register_buffer("window", torch.hamming_window(n_fft))
        self.speaker = nn.GRU(bins, emb, batch_first=True, bidirectional=True)
        self.speaker_proj = nn.Linear(2 * emb, emb)
        self.classify = nn.Linear(emb, n_speakers)
        self.inp = nn.Conv2d(2, channels, 3, padding=1)
        self.film = nn.ModuleList(nn.Linear(emb, 2 * channels) for _ in range(layers))
        self.blocks = nn.ModuleList(
            nn.Conv2d(channels, channels, 3, padding=(2**i, 1), dilation=(2**i, 1)) for i in range(layers)
        )
        self.out = nn.Conv2d(channels, 2, 1)

    def stft(self, wav):
        return torch.stft(wav, self.n_fft, self.hop, window=self.window, return_complex=True)

    def enroll(self, enrollment, enrollment_len):
        frames = (enrollment_len // self.hop).clamp(min=1).cpu()
        spectrum = self.stft(enrollment).abs().transpose(1, 2)
        packed = pack_padded_sequence(spectrum, frames, batch_first=True, enforce_sorted=False)
        _, hidden = self.speaker(packed)
        return F.normalize(self.speaker_proj(torch.cat([hidden[0], hidden[1]], dim=-1)), dim=-1)

    def forward(self, mixture, enrollment, enrollment_len):
        who = self.enroll(enrollment, enrollment_len)
        noisy = self.stft(mixture)
        x = self.inp(torch.stack([noisy.real, noisy.imag], dim=1))
        for film, block in zip(self.film, self.blocks):
            gamma, beta = film(who).chunk(2, dim=-1)
            x = x + F.elu(block(x) * gamma[..., None, None] + beta[..., None, None])
        mask = torch.tanh(self.out(x))
        real = noisy.real * mask[:, 0] - noisy.imag * mask[:, 1]
        imag = noisy.real * mask[:, 1] + noisy.imag * mask[:, 0]
        wav = torch.istft(torch.complex(real, imag), self.n_fft, self.hop, window=self.window, length=mixture.shape[-1])
        return wav, self.classify(who)


def sequence_mask(length, max_length):
    return torch.arange(max_length, dtype=length.dtype, device=length.device).unsqueeze(0) < length.unsqueeze(1)


class PosteriorEncoder(nn.Module):
    def __init__(self, in_channels, out_channels, hidden, gin_channels):
        super().__init__()
        self.pre = nn.Conv1d(in_channels, hidden, 1)
        self.conv = nn.Conv1d(hidden, 2 * hidden, 5, padding=2)
        self.cond = nn.Conv1d(gin_channels, 2 * hidden, 1)
        self.proj = nn.Conv1d(hidden, 2 * out_channels, 1)

    def forward(self, x, x_lengths, g):
        mask = sequence_mask(x_lengths, x.size(2)).unsqueeze(1).to(x.dtype)
        a, b = (self.conv(self.pre(x) * mask) + self.cond(g)).chunk(2, dim=1)
        mean, log_std = (self.proj(torch.tanh(a) * torch.sigmoid(b)) * mask).chunk(2, dim=1)
        return (mean + torch.randn_like(mean) * torch.exp(log_std)) * mask, mean, log_std, mask


class VariationalSynthesizer(nn.Module):
    """Text and spectrum of the same sentences, aligned within; a slice of the latents becomes a waveform."""

    def __init__(
        self,
        n_vocab,
        spec_channels=513,
        segment_size=32,
        inter_channels=64,
        hidden_channels=64,
        n_speakers=10,
        gin_channels=32,
    ):
        super().__init__()
        self.segment_size = segment_size
        self.emb = nn.Embedding(n_vocab, hidden_channels)
        self.text = nn.Conv1d(hidden_channels, hidden_channels, 5, padding=2)
        self.stats = nn.Conv1d(hidden_channels, 2 * inter_channels, 1)
        self.enc_q = PosteriorEncoder(spec_channels, inter_channels, hidden_channels, gin_channels)
        self.emb_g = nn.Embedding(n_speakers, gin_channels)
        self.dec = nn.Sequential(
            nn.ConvTranspose1d(inter_channels, 32, 16, 8, 4),
            nn.LeakyReLU(0.1),
            nn.ConvTranspose1d(32, 1, 16, 8, 4),
            nn.Tanh(),
        )
        self.duration = nn.Conv1d(hidden_channels, 1, 3, padding=1)

    def forward(self, x, x_lengths, y, y_lengths, sid):
        x_mask = sequence_mask(x_lengths, x.size(1)).unsqueeze(1)
        h = self.text(self.emb(x).transpose(1, 2) * x_mask) * x_mask
        m_p, logs_p = self.stats(h).chunk(2, dim=1)
        g = self.emb_g(sid).unsqueeze(-1)
        z, m_q, logs_q, y_mask = self.enc_q(y, y_lengths, g)
        with torch.no_grad():
            precision = torch.exp(-2 * logs_p)
            score = torch.matmul((z**2).transpose(1, 2), -0.5 * precision) + torch.matmul(
                z.transpose(1, 2), m_p * precision
            )
            score = score.masked_fill(~x_mask, -1e9)
        attn = F.softmax(score, dim=-1) * y_mask.transpose(1, 2)
        m_p = torch.matmul(attn, m_p.transpose(1, 2)).transpose(1, 2)
        logs_p = torch.matmul(attn, logs_p.transpose(1, 2)).transpose(1, 2)
        durations = self.duration(h) * x_mask - torch.log(attn.sum(1, keepdim=True) + 1e-6) * x_mask
        piece = z[:, :, : self.segment_size]
        return self.dec(piece), durations.pow(2).sum(), attn, (z, m_p, logs_p, m_q, logs_q)


def timestep_embedding(timesteps, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(half, dtype=torch.float32) / half).to(timesteps.device)
    args = timesteps[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class SpatialCross(nn.Module):
    def __init__(self, channels, context_dim, heads=4):
        super().__init__()
        self.norm = nn.GroupNorm(8, channels)
        self.attn = nn.MultiheadAttention(channels, heads, kdim=context_dim, vdim=context_dim, batch_first=True)

    def forward(self, x, context):
        b, c, h, w = x.shape
        tokens = self.norm(x).reshape(b, c, h * w).transpose(1, 2)
        tokens, _ = self.attn(tokens, context, context, need_weights=False)
        return x + tokens.transpose(1, 2).reshape(b, c, h, w)


class ConditionedLatentUNet(nn.Module):
    """Predicts the noise of latents, with text to attend to and a picture to go beside; guided where asked for."""

    def __init__(self, in_channels=8, out_channels=4, model_channels=32, context_dim=64):
        super().__init__()
        self.model_channels = model_channels
        ch = model_channels
        self.time_embed = nn.Sequential(nn.Linear(ch, 4 * ch), nn.SiLU(), nn.Linear(4 * ch, 4 * ch))
        self.conv_in = nn.Conv2d(in_channels, ch, 3, padding=1)
        self.down = nn.Conv2d(ch, 2 * ch, 3, stride=2, padding=1)
        self.emb_down = nn.Linear(4 * ch, 2 * ch)
        self.cross = SpatialCross(2 * ch, context_dim)
        self.up = nn.ConvTranspose2d(2 * ch, ch, 2, stride=2)
        self.out = nn.Sequential(nn.GroupNorm(8, 2 * ch), nn.SiLU(), nn.Conv2d(2 * ch, out_channels, 3, padding=1))

    def denoise(self, x, t, context):
        emb = self.time_embed(timestep_embedding(t, self.model_channels))
        skip = self.conv_in(x)
        h = F.silu(self.down(skip)) + self.emb_down(emb)[:, :, None, None]
        h = self.up(self.cross(h, context))
        return self.out(torch.cat([h, skip], dim=1))

    def forward(self, x_noisy, t, cond, guidance_scale=1.0):
        x = torch.cat([x_noisy] + cond["c_concat"], dim=1)
        context = torch.cat(cond["c_crossattn"], dim=1)
        eps = self.denoise(x, t, context)
        if guidance_scale != 1.0:
            empty = self.denoise(x, t, torch.zeros_like(context))
            eps = empty + guidance_scale * (eps - empty)
        return eps
