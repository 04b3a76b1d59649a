"""Hard, once aside: sequences of DNA and proteins, cells, drugs."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["CellExpressionTransformer", "GraphDTA", "SpliceNet"]


class ResidualUnit(nn.Module):
    def __init__(self, l, w, ar):
        super().__init__()
        self.batchnorm1 = nn.BatchNorm1d(l)
        self.conv1 = nn.Conv1d(l, l, w, dilation=ar, padding=(w - 1) * ar // 2)
        self.batchnorm2 = nn.BatchNorm1d(l)
        self.conv2 = nn.Conv1d(l, l, w, dilation=ar, padding=(w - 1) * ar // 2)

    def forward(self, x, y):
        out = self.conv1(torch.relu(self.batchnorm1(x)))
        out = self.conv2(torch.relu(self.batchnorm2(out)))
        return x + out, y


class SpliceNet(nn.Module):
    """Acceptor, donor or neither at every base, except for the flanks.

    L: number of channels; W: convolution window size in each residual unit; AR: atrous rate in each residual unit
    """

    def __init__(self, L, W, AR):
        super().__init__()
        assert len(W) == len(AR)
        self.CL = 2 * sum(ar * (w - 1) for ar, w in zip(AR, W))
        self.conv1 = nn.Conv1d(4, L, 1)
        self.skip1 = nn.Conv1d(L, L, 1)
        self.units = nn.ModuleList(ResidualUnit(L, w, ar) for w, ar in zip(W, AR))
        self.dense = nn.ModuleList(nn.Conv1d(L, L, 1) for i in range(len(W)) if (i + 1) % 4 == 0 or i + 1 == len(W))
        self.last = nn.Conv1d(L, 3, 1)

    def forward(self, x):
        x = self.conv1(x)
        skip = self.skip1(x)
        j = 0
        for i, unit in enumerate(self.units):
            x, skip = unit(x, skip)
            if (i + 1) % 4 == 0 or i + 1 == len(self.units):
                skip = skip + self.dense[j](x)
                j += 1
        skip = skip[:, :, self.CL // 2 : -(self.CL // 2)]
        return F.softmax(self.last(skip), dim=1)


class GeneEncoder(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.embedding = nn.Embedding(num_embeddings, embedding_dim, padding_idx=padding_idx)
        self.enc_norm = nn.LayerNorm(embedding_dim)

    def forward(self, x):
        return self.enc_norm(self.embedding(x))


class ContinuousValueEncoder(nn.Module):
    def __init__(self, d_model, max_value=512):
        super().__init__()
        self.linear1 = nn.Linear(1, d_model)
        self.linear2 = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.max_value = max_value

    def forward(self, x):
        x = torch.clamp(x.unsqueeze(-1), max=self.max_value)
        return self.norm(self.linear2(F.relu(self.linear1(x))))


class CellExpressionTransformer(nn.Module):
    def __init__(self, ntoken, d_model, nhead, d_hid, nlayers, vocab, pad_token="<pad>", n_batch_labels=None):
        super().__init__()
        self.encoder = GeneEncoder(ntoken, d_model, padding_idx=vocab[pad_token])
        self.value_encoder = ContinuousValueEncoder(d_model)
        self.batch_encoder = nn.Embedding(n_batch_labels, d_model) if n_batch_labels else None
        layer = nn.TransformerEncoderLayer(d_model, nhead, d_hid, batch_first=True)
        self.transformer_encoder = nn.TransformerEncoder(layer, nlayers, enable_nested_tensor=False)
        self.expr_decoder = nn.Sequential(nn.Linear(d_model, d_model), nn.LeakyReLU(), nn.Linear(d_model, 1))
        self.cls_decoder = nn.Linear(d_model, 16)

    def forward(self, src, values, src_key_padding_mask, batch_labels=None):
        """
        Args:
            src: token ids, shape [batch_size, seq_len]
            values: token values, shape [batch_size, seq_len]
            src_key_padding_mask: mask for src, shape [batch_size, seq_len]
        """
        total = self.encoder(src) + self.value_encoder(values)
        if self.batch_encoder is not None:
            total = total + self.batch_encoder(batch_labels).unsqueeze(1)
        hidden = self.transformer_encoder(total, src_key_padding_mask=src_key_padding_mask)
        return {"mlm_output": self.expr_decoder(hidden).squeeze(-1), "cls_output": self.cls_decoder(hidden[:, 0])}


class GCNLayer(nn.Module):
    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.lin = nn.Linear(in_dim, out_dim)

    def forward(self, x, edge_index):
        src, dst = edge_index
        h = self.lin(x)
        agg = torch.zeros_like(h).index_add_(0, dst, h[src])
        return F.relu(h + agg)


class GraphDTA(nn.Module):
    """How strongly does a drug (a graph) bind to a protein (a sequence)?"""

    def __init__(
        self, num_features_xd=78, num_features_xt=25, n_filters=32, embed_dim=128, output_dim=128, dropout=0.2
    ):
        super().__init__()
        self.conv1 = GCNLayer(num_features_xd, num_features_xd)
        self.conv2 = GCNLayer(num_features_xd, num_features_xd * 2)
        self.fc_g1 = nn.Linear(num_features_xd * 2, output_dim)
        self.embedding_xt = nn.Embedding(num_features_xt + 1, embed_dim)
        self.conv_xt_1 = nn.Conv1d(in_channels=1000, out_channels=n_filters, kernel_size=8)
        self.fc1_xt = nn.Linear(32 * 121, output_dim)
        self.fc1 = nn.Linear(2 * output_dim, 1024)
        self.out = nn.Linear(1024, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, data):
        x, edge_index, batch = data.x, data.edge_index, data.batch
        target = data.target
        x = self.conv2(self.conv1(x, edge_index), edge_index)
        pooled = torch.zeros(target.shape[0], x.shape[1]).index_add_(0, batch, x)
        x = self.dropout(F.relu(self.fc_g1(pooled)))
        xt = self.conv_xt_1(self.embedding_xt(target))
        xt = self.fc1_xt(xt.view(-1, 32 * 121))
        xc = torch.cat((x, xt), 1)
        return self.out(self.dropout(F.relu(self.fc1(xc))))
