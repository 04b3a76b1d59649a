"""Usual, once aside: main models of repositories about text, speech and recommendation."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = [
    "BiLSTMTagger",
    "DeepSpeechLite",
    "MiniGPT",
    "NeuMF",
    "SASRec",
    "TextCNN",
    "TransformerTranslator",
    "TwoTower",
]


class BiLSTMTagger(nn.Module):
    def __init__(self, vocab_size, tagset_size, embedding_dim, hidden_dim, pad_idx=0):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.word_embeds = nn.Embedding(vocab_size, embedding_dim, padding_idx=pad_idx)
        self.dropout = nn.Dropout(0.3)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, num_layers=1, bidirectional=True, batch_first=True)
        self.hidden2tag = nn.Linear(hidden_dim, tagset_size)

    def forward(self, sentences):
        embeds = self.dropout(self.word_embeds(sentences))
        lstm_out, _ = self.lstm(embeds)
        return F.log_softmax(self.hidden2tag(lstm_out), dim=-1)


class TextCNN(nn.Module):
    """Kim (2014)."""

    def __init__(self, n_vocab, embed_dim, kernel_sizes, num_filters, n_classes, dropout=0.5):
        super().__init__()
        self.embedding = nn.Embedding(n_vocab, embed_dim)
        self.convs = nn.ModuleList([nn.Conv2d(1, num_filters, (k, embed_dim)) for k in kernel_sizes])
        self.dropout = nn.Dropout(dropout)
        self.fc = nn.Linear(num_filters * len(kernel_sizes), n_classes)

    def conv_and_pool(self, x, conv):
        x = F.relu(conv(x)).squeeze(3)
        return F.max_pool1d(x, x.size(2)).squeeze(2)

    def forward(self, x):
        out = self.embedding(x).unsqueeze(1)
        out = torch.cat([self.conv_and_pool(out, conv) for conv in self.convs], 1)
        return self.fc(self.dropout(out))


class PositionalEncoding(nn.Module):
    def __init__(self, emb_size, dropout, maxlen=5000):
        super().__init__()
        den = torch.exp(-torch.arange(0, emb_size, 2) * math.log(10000) / emb_size)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        pos_embedding = torch.zeros((maxlen, emb_size))
        pos_embedding[:, 0::2] = torch.sin(pos * den)
        pos_embedding[:, 1::2] = torch.cos(pos * den)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pos_embedding", pos_embedding.unsqueeze(0))

    def forward(self, token_embedding):
        return self.dropout(token_embedding + self.pos_embedding[:, : token_embedding.size(1)])


class TransformerTranslator(nn.Module):
    def __init__(
        self,
        num_encoder_layers,
        num_decoder_layers,
        emb_size,
        nhead,
        src_vocab_size,
        tgt_vocab_size,
        dim_feedforward=512,
        dropout=0.1,
    ):
        super().__init__()
        self.transformer = nn.Transformer(
            d_model=emb_size, nhead=nhead, num_encoder_layers=num_encoder_layers, num_decoder_layers=num_decoder_layers,
            dim_feedforward=dim_feedforward, dropout=dropout, batch_first=True,
        )  # fmt: skip
        self.emb_size = emb_size
        self.generator = nn.Linear(emb_size, tgt_vocab_size)
        self.src_tok_emb = nn.Embedding(src_vocab_size, emb_size)
        self.tgt_tok_emb = nn.Embedding(tgt_vocab_size, emb_size)
        self.positional_encoding = PositionalEncoding(emb_size, dropout=dropout)

    def forward(self, src, trg):
        tgt_mask = nn.Transformer.generate_square_subsequent_mask(trg.size(1))
        src_emb = self.positional_encoding(self.src_tok_emb(src) * math.sqrt(self.emb_size))
        tgt_emb = self.positional_encoding(self.tgt_tok_emb(trg) * math.sqrt(self.emb_size))
        outs = self.transformer(src_emb, tgt_emb, tgt_mask=tgt_mask)
        return self.generator(outs)


class Block(nn.Module):
    def __init__(self, n_embd, n_head, block_size):
        super().__init__()
        assert n_embd % n_head == 0
        self.n_head = n_head
        self.key = nn.Linear(n_embd, n_embd)
        self.query = nn.Linear(n_embd, n_embd)
        self.value = nn.Linear(n_embd, n_embd)
        self.proj = nn.Linear(n_embd, n_embd)
        self.ln1 = nn.LayerNorm(n_embd)
        self.ln2 = nn.LayerNorm(n_embd)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))
        self.register_buffer("mask", torch.tril(torch.ones(block_size, block_size)).view(1, 1, block_size, block_size))

    def forward(self, x):
        B, T, C = x.size()
        h = self.ln1(x)
        k = self.key(h).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = self.query(h).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.value(h).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = F.softmax(att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf")), dim=-1)
        x = x + self.proj((att @ v).transpose(1, 2).contiguous().view(B, T, C))
        return x + self.mlp(self.ln2(x))


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, block_size, n_layer, n_head, n_embd):
        super().__init__()
        self.block_size = block_size
        self.tok_emb = nn.Embedding(vocab_size, n_embd)
        self.pos_emb = nn.Parameter(torch.zeros(1, block_size, n_embd))
        self.blocks = nn.Sequential(*[Block(n_embd, n_head, block_size) for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd)
        self.head = nn.Linear(n_embd, vocab_size, bias=False)

    def forward(self, idx, targets=None):
        _, t = idx.size()
        assert t <= self.block_size, "Cannot forward, model block size is exhausted."
        x = self.tok_emb(idx) + self.pos_emb[:, :t, :]
        logits = self.head(self.ln_f(self.blocks(x)))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss


class Tower(nn.Module):
    def __init__(self, n, dim, hidden=(128, 64)):
        super().__init__()
        self.emb = nn.Embedding(n, dim)
        sizes = [dim, *hidden]
        self.mlp = nn.Sequential(*[layer for a, b in zip(sizes, sizes[1:]) for layer in (nn.Linear(a, b), nn.ReLU())])

    def forward(self, ids):
        return F.normalize(self.mlp(self.emb(ids)), dim=-1)


class TwoTower(nn.Module):
    def __init__(self, n_users, n_items, dim, temperature=0.05):
        super().__init__()
        self.user_tower = Tower(n_users, dim)
        self.item_tower = Tower(n_items, dim)
        self.temperature = temperature

    def forward(self, user_ids, item_ids):
        u, v = self.user_tower(user_ids), self.item_tower(item_ids)
        return u @ v.t() / self.temperature


class NeuMF(nn.Module):
    def __init__(self, num_users, num_items, mf_dim, layers):
        super().__init__()
        self.embed_user_GMF = nn.Embedding(num_users, mf_dim)
        self.embed_item_GMF = nn.Embedding(num_items, mf_dim)
        self.embed_user_MLP = nn.Embedding(num_users, layers[0] // 2)
        self.embed_item_MLP = nn.Embedding(num_items, layers[0] // 2)
        self.fc_layers = nn.ModuleList()
        for in_size, out_size in zip(layers[:-1], layers[1:]):
            self.fc_layers.append(nn.Linear(in_size, out_size))
        self.predict_layer = nn.Linear(mf_dim + layers[-1], 1)

    def forward(self, user, item):
        output_GMF = self.embed_user_GMF(user) * self.embed_item_GMF(item)
        vector = torch.cat((self.embed_user_MLP(user), self.embed_item_MLP(item)), -1)
        for layer in self.fc_layers:
            vector = F.relu(layer(vector))
        prediction = self.predict_layer(torch.cat((output_GMF, vector), -1))
        return prediction.view(-1)


class CNNLayerNorm(nn.Module):
    def __init__(self, n_feats):
        super().__init__()
        self.layer_norm = nn.LayerNorm(n_feats)

    def forward(self, x):
        # x (batch, channel, feature, time)
        return self.layer_norm(x.transpose(2, 3).contiguous()).transpose(2, 3).contiguous()


class DeepSpeechLite(nn.Module):
    def __init__(self, n_cnn_layers, n_rnn_layers, rnn_dim, n_class, n_feats, stride=2, dropout=0.1):
        super().__init__()
        n_feats = n_feats // 2
        self.cnn = nn.Conv2d(1, 32, 3, stride=stride, padding=3 // 2)
        self.rescnn_layers = nn.Sequential(
            *[
                nn.Sequential(CNNLayerNorm(n_feats), nn.GELU(), nn.Dropout(dropout), nn.Conv2d(32, 32, 3, 1, 1))
                for _ in range(n_cnn_layers)
            ]
        )
        self.fully_connected = nn.Linear(n_feats * 32, rnn_dim)
        self.birnn_layers = nn.ModuleList(
            [
                nn.GRU(rnn_dim if i == 0 else rnn_dim * 2, rnn_dim, batch_first=True, bidirectional=True)
                for i in range(n_rnn_layers)
            ]
        )
        self.classifier = nn.Linear(rnn_dim * 2, n_class)

    def forward(self, x):
        x = self.rescnn_layers(self.cnn(x))
        sizes = x.size()
        x = x.view(sizes[0], sizes[1] * sizes[2], sizes[3])  # (batch, feature, time)
        x = self.fully_connected(x.transpose(1, 2))
        for rnn in self.birnn_layers:
            x, _ = rnn(x)
        return self.classifier(x)


class SASRec(nn.Module):
    def __init__(self, item_num, maxlen, hidden_units, num_blocks, num_heads, dropout_rate):
        super().__init__()
        self.item_emb = nn.Embedding(item_num + 1, hidden_units, padding_idx=0)
        self.pos_emb = nn.Embedding(maxlen, hidden_units)
        self.emb_dropout = nn.Dropout(p=dropout_rate)
        self.attention_layernorms = nn.ModuleList()
        self.attention_layers = nn.ModuleList()
        self.forward_layers = nn.ModuleList()
        for _ in range(num_blocks):
            self.attention_layernorms.append(nn.LayerNorm(hidden_units, eps=1e-8))
            self.attention_layers.append(nn.MultiheadAttention(hidden_units, num_heads, dropout_rate, batch_first=True))
            self.forward_layers.append(
                nn.Sequential(nn.Linear(hidden_units, hidden_units), nn.ReLU(), nn.Linear(hidden_units, hidden_units))
            )
        self.last_layernorm = nn.LayerNorm(hidden_units, eps=1e-8)

    def forward(self, log_seqs):
        seqs = self.item_emb(log_seqs)
        seqs = seqs * self.item_emb.embedding_dim**0.5
        positions = torch.tensor(np.tile(np.arange(log_seqs.shape[1]), [log_seqs.shape[0], 1]))
        seqs = self.emb_dropout(seqs + self.pos_emb(positions))
        timeline_mask = (log_seqs == 0).unsqueeze(-1)
        seqs = seqs.masked_fill(timeline_mask, 0.0)
        tl = seqs.shape[1]
        attention_mask = ~torch.tril(torch.ones((tl, tl), dtype=torch.bool))
        for norm, attention, ff in zip(self.attention_layernorms, self.attention_layers, self.forward_layers):
            mha_outputs, _ = attention(norm(seqs), seqs, seqs, attn_mask=attention_mask)
            seqs = seqs + mha_outputs
            seqs = (seqs + ff(seqs)).masked_fill(timeline_mask, 0.0)
        log_feats = self.last_layernorm(seqs)
        return log_feats @ self.item_emb.weight.t()
