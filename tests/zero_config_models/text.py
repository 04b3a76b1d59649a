"""Token ids and what goes with them."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class BagOfWords(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.EmbeddingBag(100, 16)
        self.fc = nn.Linear(16, 4)

    def forward(self, text, offsets):
        return self.fc(self.embedding(text, offsets))


class LstmTagger(nn.Module):
    def __init__(self, vocab_size=200, dim=16):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, dim)
        self.lstm = nn.LSTM(dim, dim)
        self.tags = nn.Linear(dim, 5)

    def forward(self, sentence):
        embeds = self.word_embeddings(sentence)
        out, _ = self.lstm(embeds.view(len(sentence), 1, -1))
        return F.log_softmax(self.tags(out.view(len(sentence), -1)), dim=1)


class PackedGru(nn.Module):
    """Lengths must not exceed the sequence."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 8)
        self.gru = nn.GRU(8, 8, batch_first=True)

    def forward(self, tokens, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        return self.gru(packed)[1]


class TextCnn(nn.Module):
    """Short sequences don't survive the widest kernel."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(300, 12)
        self.convs = nn.ModuleList(nn.Conv1d(12, 4, size) for size in (3, 5, 11))
        self.fc = nn.Linear(12, 2)

    def forward(self, x):
        x = self.embedding(x).transpose(1, 2)
        return self.fc(torch.cat([conv(x).amax(-1) for conv in self.convs], dim=1))


class NanoGpt(nn.Module):
    def __init__(self, n_embd=32, block_size=64):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(65, n_embd), nn.Embedding(block_size, n_embd)
        self.h = nn.ModuleList(nn.TransformerEncoderLayer(n_embd, 4, 64, batch_first=True) for _ in range(2))
        self.lm_head = nn.Linear(n_embd, 65, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, idx, targets=None):
        steps = idx.shape[1]
        x = self.wte(idx) + self.wpe(torch.arange(steps, device=idx.device))
        mask = nn.Transformer.generate_square_subsequent_mask(steps)
        for block in self.h:
            x = block(x, mask)
        logits = self.lm_head(x)
        loss = None if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss


class BertLike(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.types = nn.Embedding(120, 32), nn.Embedding(2, 32)
        self.norm = nn.LayerNorm(32)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)

    def forward(self, input_ids, attention_mask, token_type_ids):
        x = self.norm(self.words(input_ids) + self.types(token_type_ids))
        return self.layer(x, src_key_padding_mask=attention_mask == 0)


class Translator(nn.Module):
    """Source and target have vocabularies of their own."""

    def __init__(self, src_vocab=90, tgt_vocab=70, d_model=32):
        super().__init__()
        self.src_embed, self.tgt_embed = nn.Embedding(src_vocab, d_model), nn.Embedding(tgt_vocab, d_model)
        self.transformer = nn.Transformer(d_model, 4, 1, 1, 64, batch_first=True)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def forward(self, src, tgt, src_mask, tgt_mask):
        source, target = self.src_embed(src), self.tgt_embed(tgt)
        out = self.transformer(source, target, tgt_mask=tgt_mask.float(), src_key_padding_mask=src_mask == 0)
        return self.generator(out)


class ManualAttention(nn.Module):
    """Query, key and value as features, with a mask that is optional."""

    def __init__(self, d_model=24, heads=3):
        super().__init__()
        self.heads, self.width = heads, d_model // heads
        self.q, self.k, self.v, self.out = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        batch = query.shape[0]
        q, k, v = (
            layer(x).view(batch, -1, self.heads, self.width).transpose(1, 2)
            for layer, x in ((self.q, query), (self.k, key), (self.v, value))
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.width)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.center, self.context = nn.Embedding(80, 8), nn.Embedding(80, 8)

    def forward(self, center_words, context_words):
        return (self.center(center_words) * self.context(context_words)).sum(-1).sigmoid()


class Pointer(nn.Module):
    """Annotations are text."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(40, 8)
        self.encoder = nn.GRU(8, 8, batch_first=True, bidirectional=True)
        self.start = nn.Linear(16, 1)

    def forward(self, question_ids: "torch.LongTensor", temperature: float) -> "torch.Tensor":
        return self.start(self.encoder(self.embed(question_ids))[0]).squeeze(-1) / temperature
