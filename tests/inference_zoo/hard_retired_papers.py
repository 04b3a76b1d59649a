"""Hard, once aside: repositories of papers with statistics, boxes, trees, memories, several modalities and time steps.

Long because it is a list of models.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "DETR",
    "GRUD",
    "AttentionClassifier",
    "ConditionalUnet",
    "LASModel",
    "MemoryTransformer",
    "MultimodalFusion",
    "PointerNetwork",
    "RoIHead",
    "SASRec",
    "TreeLSTM",
    "WaveNetModel",
]


class GRUD(nn.Module):
    def __init__(self, input_size, hidden_size, output_size, x_mean):
        super().__init__()
        self.hidden_size = hidden_size
        self.register_buffer("x_mean", torch.as_tensor(x_mean))
        self.gamma_x = nn.Linear(input_size, input_size)
        self.gamma_h = nn.Linear(input_size, hidden_size)
        self.cell = nn.GRUCell(2 * input_size, hidden_size)
        self.out = nn.Linear(hidden_size, output_size)

    def forward(self, X, X_last, Mask, Delta):
        h = X.new_zeros(X.size(0), self.hidden_size)
        for t in range(X.size(1)):
            x, m, d = X[:, t], Mask[:, t], Delta[:, t]
            gx, gh = torch.exp(-F.relu(self.gamma_x(d))), torch.exp(-F.relu(self.gamma_h(d)))
            x = m * x + (1 - m) * (gx * X_last[:, t] + (1 - gx) * self.x_mean)
            h = self.cell(torch.cat([x, m], 1), gh * h)
        return self.out(h)


class SASRec(nn.Module):
    def __init__(self, user_num, item_num, args):
        super().__init__()
        self.item_emb = nn.Embedding(item_num + 1, args.hidden_units, padding_idx=0)
        self.pos_emb = nn.Embedding(args.maxlen, args.hidden_units)
        self.emb_dropout = nn.Dropout(p=args.dropout_rate)
        self.attention_layers = nn.ModuleList()
        for _ in range(args.num_blocks):
            self.attention_layers.append(nn.MultiheadAttention(args.hidden_units, args.num_heads, args.dropout_rate))
        self.last_layernorm = nn.LayerNorm(args.hidden_units, eps=1e-8)

    def log2feats(self, log_seqs):
        seqs = self.item_emb(log_seqs) * self.item_emb.embedding_dim**0.5
        positions = torch.arange(log_seqs.shape[1]).expand_as(log_seqs)
        seqs = self.emb_dropout(seqs + self.pos_emb(positions))
        seqs = seqs * ~(log_seqs == 0).unsqueeze(-1)
        tl = seqs.shape[1]
        attention_mask = ~torch.tril(torch.ones((tl, tl), dtype=torch.bool))
        for layer in self.attention_layers:
            seqs = seqs.transpose(0, 1)
            seqs = (seqs + layer(seqs, seqs, seqs, attn_mask=attention_mask)[0]).transpose(0, 1)
        return self.last_layernorm(seqs)

    def forward(self, user_ids, log_seqs, pos_seqs, neg_seqs):
        log_feats = self.log2feats(log_seqs)
        pos_logits = (log_feats * self.item_emb(pos_seqs)).sum(dim=-1)
        return pos_logits, (log_feats * self.item_emb(neg_seqs)).sum(dim=-1)


class AttentionClassifier(nn.Module):
    def __init__(self, batch_size, output_size, hidden_size, vocab_size, embedding_length, weights):
        super().__init__()
        self.batch_size, self.hidden_size = batch_size, hidden_size
        self.word_embeddings = nn.Embedding(vocab_size, embedding_length)
        self.word_embeddings.weight = nn.Parameter(weights, requires_grad=False)
        self.lstm = nn.LSTM(embedding_length, hidden_size)
        self.label = nn.Linear(hidden_size, output_size)

    def forward(self, input_sentences, batch_size=None):
        input = self.word_embeddings(input_sentences).permute(1, 0, 2)
        size = self.batch_size if batch_size is None else batch_size
        h_0, c_0 = torch.zeros(1, size, self.hidden_size), torch.zeros(1, size, self.hidden_size)
        output, (final_hidden, _) = self.lstm(input, (h_0, c_0))
        output = output.permute(1, 0, 2)
        weights = torch.softmax(torch.bmm(output, final_hidden[0].unsqueeze(2)).squeeze(2), 1)
        return self.label(torch.bmm(output.transpose(1, 2), weights.unsqueeze(2)).squeeze(2))


class Listener(nn.Module):
    def __init__(self, input_dim, hidden):
        super().__init__()
        self.rnn = nn.LSTM(input_dim * 2, hidden, batch_first=True, bidirectional=True)

    def forward(self, x, lengths):
        b, t, d = x.shape
        x = x[:, : t // 2 * 2].reshape(b, t // 2, d * 2)
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths // 2, batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]


class LASModel(nn.Module):
    def __init__(self, n_mels, enc_hidden, vocab_size, dec_hidden, sos_id):
        super().__init__()
        self.listener = Listener(n_mels, enc_hidden)
        self.embed = nn.Embedding(vocab_size, dec_hidden)
        self.cell = nn.LSTMCell(dec_hidden + 2 * enc_hidden, dec_hidden)
        self.query = nn.Linear(dec_hidden, 2 * enc_hidden)
        self.out = nn.Linear(dec_hidden, vocab_size)
        self.sos_id = sos_id

    def forward(self, spectrograms, lengths, targets):
        memory = self.listener(spectrograms, lengths)
        token = torch.full((memory.size(0),), self.sos_id, dtype=torch.long)
        state, logits = None, []
        for step in range(targets.size(1)):
            h = torch.zeros(memory.size(0), self.cell.hidden_size) if state is None else state[0]
            scores = (memory @ self.query(h).unsqueeze(-1)).softmax(1)
            state = self.cell(torch.cat([self.embed(token), (scores * memory).sum(1)], -1), state)
            logits.append(self.out(state[0]))
            token = targets[:, step]
        return torch.stack(logits, 1)


class RoIHead(nn.Module):
    def __init__(self, in_channels, pooled_size, spatial_scale, num_classes):
        super().__init__()
        self.pooled_size, self.spatial_scale = pooled_size, spatial_scale
        self.fc6 = nn.Linear(in_channels * pooled_size * pooled_size, 128)
        self.cls_score = nn.Linear(128, num_classes)
        self.bbox_pred = nn.Linear(128, num_classes * 4)

    def forward(self, features, rois):
        pooled = []
        for roi in rois:
            index = int(roi[0])
            x1, y1, x2, y2 = (roi[1:5] * self.spatial_scale).round().long().tolist()
            crop = features[index : index + 1, :, y1 : max(y2, y1 + 1), x1 : max(x2, x1 + 1)]
            pooled.append(F.adaptive_max_pool2d(crop, self.pooled_size))
        x = F.relu(self.fc6(torch.cat(pooled).flatten(1)))
        return self.cls_score(x), self.bbox_pred(x)


class MultimodalFusion(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.modalities = opt.modalities
        self.encoders = nn.ModuleDict({m: nn.Linear(opt.feature_dims[m], opt.fusion_dim) for m in opt.modalities})
        self.attn = nn.MultiheadAttention(opt.fusion_dim, opt.n_heads, dropout=opt.drop, batch_first=True)
        self.cls = nn.Linear(opt.fusion_dim, 1 if opt.task == "regression" else opt.n_class)

    def forward(self, features):
        tokens = torch.stack([self.encoders[m](features[m]) for m in self.modalities], dim=1)
        fused, weights = self.attn(tokens, tokens, tokens)
        return self.cls(fused.mean(1)), weights


class TreeLSTM(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.out_features = out_features
        self.W_iou = nn.Linear(in_features, 3 * out_features)
        self.U_iou = nn.Linear(out_features, 3 * out_features, bias=False)
        self.W_f = nn.Linear(in_features, out_features)
        self.U_f = nn.Linear(out_features, out_features, bias=False)

    def forward(self, features, node_order, adjacency_list, edge_order):
        h = torch.zeros(node_order.shape[0], self.out_features)
        c = torch.zeros(node_order.shape[0], self.out_features)
        for n in range(int(node_order.max()) + 1):
            nodes = node_order == n
            x = features[nodes]
            if n == 0:
                iou = self.W_iou(x)
                below = 0
            else:
                parents, children = adjacency_list[edge_order == n].unbind(1)
                total = torch.zeros_like(h).index_add_(0, parents, h[children])
                iou = self.W_iou(x) + self.U_iou(total[nodes])
                f = torch.sigmoid(self.W_f(features[parents]) + self.U_f(h[children]))
                below = torch.zeros_like(c).index_add_(0, parents, f * c[children])[nodes]
            i, o, u = iou.chunk(3, 1)
            c[nodes] = torch.sigmoid(i) * torch.tanh(u) + below
            h[nodes] = torch.sigmoid(o) * torch.tanh(c[nodes])
        return h, c


class DETR(nn.Module):
    def __init__(self, backbone, transformer, num_classes, num_queries, hidden_dim):
        super().__init__()
        self.backbone = backbone
        self.transformer = transformer
        self.input_proj = nn.LazyConv2d(hidden_dim, 1)
        self.query_embed = nn.Embedding(num_queries, hidden_dim)
        self.class_embed = nn.Linear(hidden_dim, num_classes + 1)
        self.bbox_embed = nn.Linear(hidden_dim, 4)

    def forward(self, samples):
        memory = self.input_proj(self.backbone(samples)).flatten(2).permute(2, 0, 1)
        queries = self.query_embed.weight.unsqueeze(1).repeat(1, memory.shape[1], 1)
        hs = self.transformer(memory, queries)
        return {"pred_logits": self.class_embed(hs), "pred_boxes": self.bbox_embed(hs).sigmoid()}


class MemoryTransformer(nn.Module):
    def __init__(self, n_token, n_layer, n_head, d_model, d_inner, mem_len):
        super().__init__()
        self.emb = nn.Embedding(n_token, d_model)
        self.layers = nn.ModuleList(nn.TransformerDecoderLayer(d_model, n_head, d_inner) for _ in range(n_layer))
        self.mem_len, self.n_layer = mem_len, n_layer
        self.out = nn.Linear(d_model, n_token)

    def forward(self, data, target, *mems):
        mems = mems or [torch.zeros(0, data.size(1), self.emb.embedding_dim) for _ in range(self.n_layer + 1)]
        h = self.emb(data)
        new_mems = [h]
        for layer, mem in zip(self.layers, mems, strict=False):
            h = layer(h, torch.cat([mem, h], 0))
            new_mems.append(h)
        logits = self.out(h)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), target.view(-1), reduction="none")
        return [loss.view(target.shape), *(m[-self.mem_len :].detach() for m in new_mems)]


class SinusoidalPosEmb(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, t):
        half = self.dim // 2
        freqs = torch.exp(torch.arange(half) * -(math.log(10000) / (half - 1)))
        angles = t[:, None] * freqs[None, :]
        return torch.cat((angles.sin(), angles.cos()), dim=-1)


class CondBlock(nn.Module):
    def __init__(self, dim, dim_out, time_dim, groups):
        super().__init__()
        self.mlp = nn.Linear(time_dim, dim_out * 2)
        self.proj = nn.Conv2d(dim, dim_out, 3, padding=1)
        self.norm = nn.GroupNorm(groups, dim_out)

    def forward(self, x, t):
        scale, shift = self.mlp(F.silu(t))[..., None, None].chunk(2, dim=1)
        return F.silu(self.norm(self.proj(x)) * (scale + 1) + shift)


class ConditionalUnet(nn.Module):
    def __init__(self, dim, dim_mults, channels, cond_dim, resnet_block_groups):
        super().__init__()
        dims = [dim, *(dim * m for m in dim_mults)]
        time_dim = dim * 4
        self.init_conv = nn.Conv2d(channels, dim, 7, padding=3)
        self.time_mlp = nn.Sequential(SinusoidalPosEmb(dim), nn.Linear(dim, time_dim), nn.GELU())
        self.cond_mlp = nn.Linear(cond_dim, time_dim)
        pairs = list(zip(dims[:-1], dims[1:], strict=True))
        self.downs = nn.ModuleList(CondBlock(a, b, time_dim, resnet_block_groups) for a, b in pairs)
        self.ups = nn.ModuleList(CondBlock(b * 2, a, time_dim, resnet_block_groups) for a, b in reversed(pairs))
        self.final = nn.Conv2d(dim, channels, 1)

    def forward(self, x, time, cond):
        t = self.time_mlp(time) + self.cond_mlp(cond)
        x, skips = self.init_conv(x), []
        for block in self.downs:
            x = block(x, t)
            skips.append(x)
            x = F.avg_pool2d(x, 2)
        for block in self.ups:
            x = F.interpolate(x, scale_factor=2)
            x = block(torch.cat((x, skips.pop()), dim=1), t)
        return self.final(x)


class PointerNetwork(nn.Module):
    def __init__(self, embedding_dim, hidden_dim, max_seq_len):
        super().__init__()
        self.embed = nn.Linear(2, embedding_dim)
        self.encoder = nn.LSTM(embedding_dim, hidden_dim, batch_first=True)
        self.decoder = nn.LSTMCell(embedding_dim, hidden_dim)
        self.W1, self.W2 = nn.Linear(hidden_dim, hidden_dim), nn.Linear(hidden_dim, hidden_dim)
        self.V = nn.Linear(hidden_dim, 1)
        self.max_seq_len = max_seq_len

    def forward(self, coords):
        batch, length, _ = coords.shape
        assert length == self.max_seq_len, f"expected {self.max_seq_len} points, got {length}"
        embedded = self.embed(coords)
        outputs, (h, c) = self.encoder(embedded)
        h, c, x, pointers = h[0], c[0], embedded.mean(1), []
        for _ in range(length):
            h, c = self.decoder(x, (h, c))
            scores = self.V(torch.tanh(self.W1(outputs) + self.W2(h).unsqueeze(1))).squeeze(-1)
            pointers.append(F.log_softmax(scores, -1))
            x = embedded[torch.arange(batch), scores.argmax(-1)]
        return torch.stack(pointers, 1)


class WaveNetModel(nn.Module):
    def __init__(self, layers, blocks, dilation_channels, residual_channels, skip_channels, classes, kernel_size):
        super().__init__()
        self.start_conv = nn.Conv1d(classes, residual_channels, 1)
        self.filters, self.gates, self.residuals, self.skips = (nn.ModuleList() for _ in range(4))
        self.receptive_field = 1
        for _ in range(blocks):
            for layer in range(layers):
                dilation = 2**layer
                self.filters.append(nn.Conv1d(residual_channels, dilation_channels, kernel_size, dilation=dilation))
                self.gates.append(nn.Conv1d(residual_channels, dilation_channels, kernel_size, dilation=dilation))
                self.residuals.append(nn.Conv1d(dilation_channels, residual_channels, 1))
                self.skips.append(nn.Conv1d(dilation_channels, skip_channels, 1))
                self.receptive_field += (kernel_size - 1) * dilation
        self.end_conv = nn.Conv1d(skip_channels, classes, 1)

    def forward(self, input):
        if input.size(2) < self.receptive_field:
            raise ValueError(f"the input is shorter than the receptive field of {self.receptive_field}")
        x, skip = self.start_conv(input), 0
        for conv_filter, gate, residual, skip_conv in zip(
            self.filters, self.gates, self.residuals, self.skips, strict=True
        ):
            y = torch.tanh(conv_filter(x)) * torch.sigmoid(gate(x))
            s = skip_conv(y)
            skip = s if isinstance(skip, int) else skip[:, :, -s.size(2) :] + s
            x = residual(y) + x[:, :, -y.size(2) :]
        return self.end_conv(F.relu(skip))
