"""Found by what failed passes ask for, the kind of failure in each docstring."""

import torch
from torch import nn
from torch.nn import functional as F


class AlexLike(nn.Module):
    """Only 224 × 224 or so fits."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 11, stride=4, padding=2),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(8, 8, 5, padding=2),
            nn.MaxPool2d(3, 2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(8 * 13 * 13, 10))

    def forward(self, x):
        return self.classifier(self.features(x))


class FrameWise(nn.Module):
    """A film goes frame by frame through a 2D encoder, then through an LSTM."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.lstm = nn.LSTM(8, 16, batch_first=True)

    def forward(self, frames):
        batch, steps, *image = frames.shape
        return self.lstm(self.encoder(frames.reshape(batch * steps, *image)).view(batch, steps, -1))[0]


class ChannelsLast(nn.Module):
    """Takes images as height, width, channels."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(5, 4, 3)

    def forward(self, x):
        assert x.shape[-1] == 5, "channels come last"
        return self.conv(x.permute(0, 3, 1, 2))


class Spectral(nn.Module):
    """A short-time Fourier transform comes before the first layer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.conv = nn.Conv1d(33, 8, 3)

    def forward(self, audio):
        spectrum = torch.stft(audio, 64, 16, window=self.window, return_complex=True)
        return self.conv(spectrum.abs())


class Selective(nn.Module):
    """A state space model: a loop over time with parameters of its own."""

    def __init__(self, dim=6, states=4):
        super().__init__()
        self.a, self.b, self.c = (nn.Parameter(torch.randn(dim, states)) for _ in range(3))
        self.gate = nn.Linear(dim, dim)

    def forward(self, x):
        state = torch.zeros(x.shape[0], *self.a.shape)
        outputs = []
        for step in x.unbind(1):
            state = state * self.a.sigmoid() + step[..., None] * self.b
            outputs.append((state * self.c).sum(-1) * self.gate(step).sigmoid())
        return torch.stack(outputs, 1)


class DeepAndCross(nn.Module):
    """Dense features and one id for each category."""

    def __init__(self, cardinalities=(5, 9, 3)):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size, 4) for size in cardinalities)
        self.top = nn.Linear(4 * len(cardinalities) + 6, 1)

    def forward(self, dense, sparse):
        found = [table(sparse[:, i]) for i, table in enumerate(self.tables)]
        return self.top(torch.cat([dense, *found], dim=1))


class Radiance(nn.Module):
    """Points and directions of view."""

    def __init__(self):
        super().__init__()
        self.density, self.colour = nn.Linear(3 * 8, 16), nn.Linear(16 + 3, 3)

    def forward(self, points, directions):
        scaled = torch.cat([f(points * 2**i) for i in range(4) for f in (torch.sin, torch.cos)], dim=-1)
        hidden = self.density(scaled).relu()
        return self.colour(torch.cat([hidden, directions], dim=-1))


class Discriminator(nn.Module):
    """Only 64 × 64 fits."""

    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.utils.parametrizations.spectral_norm(nn.Conv2d(3, 8, 4, 4)), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 16)
        )

    def forward(self, input):
        return self.main(input).view(-1, 1).squeeze(1)


class DeepSet(nn.Module):
    def __init__(self):
        super().__init__()
        self.phi, self.rho = nn.Linear(3, 8), nn.Linear(8, 1)

    def forward(self, points):
        return self.rho(self.phi(points).relu().sum(dim=1))


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


class AnswerTracer(nn.Module):
    def __init__(self, n_skill, n_part, max_seq, embed_dim, nhead):
        super().__init__()
        self.n_skill = n_skill
        self.inter_emb = nn.Embedding(2 * n_skill + 1, embed_dim)
        self.e_emb = nn.Embedding(n_skill + 1, embed_dim)
        self.part_emb = nn.Embedding(n_part + 1, embed_dim)
        self.pos_emb = nn.Embedding(max_seq - 1, embed_dim)
        self.att = nn.MultiheadAttention(embed_dim, nhead, dropout=0.2)
        self.ln = nn.LayerNorm(embed_dim)
        self.pred = nn.Linear(embed_dim, 1)

    def forward(self, past_ids, past_correct, next_ids, next_part):
        x = past_ids + self.n_skill * past_correct
        n = x.size(1)
        x = self.inter_emb(x) + self.pos_emb(torch.arange(n, device=x.device)).unsqueeze(0)
        q = self.e_emb(next_ids) + self.part_emb(next_part)
        x, q = x.permute(1, 0, 2), q.permute(1, 0, 2)
        future = torch.triu(torch.ones(n, n, device=x.device), 1).bool()
        att, w = self.att(q, x, x, attn_mask=future)
        return self.pred(self.ln(att + q).permute(1, 0, 2)).squeeze(-1), w


class NeRF(nn.Module):
    def __init__(self, pos_freqs, dir_freqs, width):
        super().__init__()
        self.pos_freqs, self.dir_freqs = pos_freqs, dir_freqs
        self.a = nn.Linear(3 + 6 * pos_freqs, width)
        self.b = nn.Linear(width + 3 + 6 * dir_freqs, 3)
        self.sigma = nn.Linear(width, 1)

    def encode(self, x, n):
        out = [x]
        for i in range(n):
            out += [torch.sin(2**i * x), torch.cos(2**i * x)]
        return torch.cat(out, -1)

    def forward(self, xyz, viewdirs):
        h = F.relu(self.a(self.encode(xyz, self.pos_freqs)))
        return torch.sigmoid(self.b(torch.cat([h, self.encode(viewdirs, self.dir_freqs)], -1))), self.sigma(h)


class DecisionTransformer(nn.Module):
    def __init__(self, state_dim, act_dim, hidden_size, max_length=None, max_ep_len=1000, action_tanh=True, **kwargs):
        super().__init__()
        self.state_dim, self.act_dim, self.hidden_size = state_dim, act_dim, hidden_size
        layer = nn.TransformerEncoderLayer(hidden_size, kwargs.get("n_head", 1), 4 * hidden_size, batch_first=True)
        self.transformer = nn.TransformerEncoder(layer, kwargs.get("n_layer", 2), enable_nested_tensor=False)
        self.embed_timestep = nn.Embedding(max_ep_len, hidden_size)
        self.embed_return = nn.Linear(1, hidden_size)
        self.embed_state = nn.Linear(state_dim, hidden_size)
        self.embed_action = nn.Linear(act_dim, hidden_size)
        self.embed_ln = nn.LayerNorm(hidden_size)
        self.predict_action = nn.Sequential(nn.Linear(hidden_size, act_dim), *([nn.Tanh()] if action_tanh else []))

    def forward(self, states, actions, returns_to_go, timesteps, attention_mask=None):
        batch_size, seq_length = states.shape[0], states.shape[1]
        if attention_mask is None:
            attention_mask = torch.ones((batch_size, seq_length), dtype=torch.long, device=states.device)
        time = self.embed_timestep(timesteps)
        tokens = [self.embed_return(returns_to_go), self.embed_state(states), self.embed_action(actions)]
        stacked = torch.stack([t + time for t in tokens], dim=1).permute(0, 2, 1, 3)
        stacked = self.embed_ln(stacked.reshape(batch_size, 3 * seq_length, self.hidden_size))
        pad = attention_mask.repeat_interleave(3, dim=1) == 0
        x = self.transformer(stacked, src_key_padding_mask=pad)
        return self.predict_action(x.reshape(batch_size, seq_length, 3, self.hidden_size)[:, :, 1])
