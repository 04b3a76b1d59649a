"""Hard, once aside: pictures with questions, words with voices, anything with a position."""

from __future__ import annotations

from math import pi

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["CaptionDecoder", "MulT", "Perceiver", "UpDownVQA"]


class WordEmbedding(nn.Module):
    def __init__(self, ntoken, emb_dim, dropout):
        super().__init__()
        self.emb = nn.Embedding(ntoken + 1, emb_dim, padding_idx=ntoken)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.dropout(self.emb(x))


class FCNet(nn.Module):
    def __init__(self, dims):
        super().__init__()
        layers = []
        for i in range(len(dims) - 1):
            layers += [nn.Linear(dims[i], dims[i + 1]), nn.ReLU()]
        self.main = nn.Sequential(*layers)

    def forward(self, x):
        return self.main(x)


class UpDownVQA(nn.Module):
    def __init__(self, dataset, num_hid):
        super().__init__()
        self.w_emb = WordEmbedding(dataset.dictionary.ntoken, 300, 0.0)
        self.q_emb = nn.GRU(300, num_hid, batch_first=True)
        self.v_att = nn.Sequential(FCNet([dataset.v_dim + num_hid, num_hid]), nn.Linear(num_hid, 1))
        self.q_net = FCNet([num_hid, num_hid])
        self.v_net = FCNet([dataset.v_dim, num_hid])
        self.classifier = nn.Sequential(
            nn.Linear(num_hid, 2 * num_hid), nn.ReLU(), nn.Linear(2 * num_hid, dataset.num_ans_candidates)
        )

    def forward(self, v, b, q, labels):
        """
        v: [batch, num_objs, obj_dim]
        b: [batch, num_objs, b_dim]
        q: [batch_size, seq_length]

        return: logits, not probs
        """
        q_emb = self.q_emb(self.w_emb(q))[0][:, -1]
        qs = q_emb.unsqueeze(1).repeat(1, v.size(1), 1)
        att = torch.softmax(self.v_att(torch.cat([v, qs], 2)), 1)
        v_emb = (att * v).sum(1)
        return self.classifier(self.q_net(q_emb) * self.v_net(v_emb))


class CrossmodalEncoder(nn.Module):
    def __init__(self, embed_dim, num_heads, layers, attn_dropout):
        super().__init__()
        self.layers = nn.ModuleList([nn.MultiheadAttention(embed_dim, num_heads, attn_dropout) for _ in range(layers)])
        self.norms = nn.ModuleList([nn.LayerNorm(embed_dim) for _ in range(layers)])

    def forward(self, x, x_k, x_v):
        for attn, norm in zip(self.layers, self.norms):
            x = norm(x + attn(x, x_k, x_v)[0])
        return x


class MulT(nn.Module):
    def __init__(self, hyp_params):
        super().__init__()
        self.orig_d_l, self.orig_d_a, self.orig_d_v = hyp_params.orig_d_l, hyp_params.orig_d_a, hyp_params.orig_d_v
        self.d = 30
        self.num_heads = hyp_params.num_heads
        self.layers = hyp_params.layers
        self.attn_dropout = hyp_params.attn_dropout
        self.embed_dropout = hyp_params.embed_dropout
        self.proj_l = nn.Conv1d(self.orig_d_l, self.d, kernel_size=1, bias=False)
        self.proj_a = nn.Conv1d(self.orig_d_a, self.d, kernel_size=1, bias=False)
        self.proj_v = nn.Conv1d(self.orig_d_v, self.d, kernel_size=1, bias=False)
        self.trans = nn.ModuleDict({pair: self.get_network() for pair in ("la", "lv", "al", "av", "vl", "va")})
        self.proj1 = nn.Linear(6 * self.d, 6 * self.d)
        self.out_layer = nn.Linear(6 * self.d, hyp_params.output_dim)

    def get_network(self):
        return CrossmodalEncoder(self.d, self.num_heads, self.layers, self.attn_dropout)

    def forward(self, x_l, x_a, x_v):
        """text, audio, and vision should have dimension [batch_size, seq_len, n_features]"""
        x_l = F.dropout(x_l.transpose(1, 2), p=self.embed_dropout, training=self.training)
        x_a, x_v = x_a.transpose(1, 2), x_v.transpose(1, 2)
        x = {
            "l": self.proj_l(x_l).permute(2, 0, 1),
            "a": self.proj_a(x_a).permute(2, 0, 1),
            "v": self.proj_v(x_v).permute(2, 0, 1),
        }
        last = torch.cat([net(x[p[0]], x[p[1]], x[p[1]])[-1] for p, net in self.trans.items()], dim=1)
        return self.out_layer(last + F.relu(self.proj1(last))), last


def fourier_encode(x, max_freq, num_bands):
    x = x.unsqueeze(-1)
    orig_x = x
    scales = torch.linspace(1.0, max_freq / 2, num_bands, device=x.device, dtype=x.dtype)
    x = x * scales * pi
    return torch.cat((torch.cat([x.sin(), x.cos()], dim=-1), orig_x), dim=-1)


class PreNormAttention(nn.Module):
    def __init__(self, dim, context_dim, heads):
        super().__init__()
        self.norm, self.norm_context = nn.LayerNorm(dim), nn.LayerNorm(context_dim)
        self.attn = nn.MultiheadAttention(dim, heads, kdim=context_dim, vdim=context_dim, batch_first=True)

    def forward(self, x, context, mask=None):
        context = self.norm_context(context)
        return self.attn(self.norm(x), context, context, key_padding_mask=None if mask is None else ~mask)[0]


class Perceiver(nn.Module):
    def __init__(
        self, *, num_freq_bands, depth, max_freq, input_channels=3, input_axis=2, num_latents=64, latent_dim=128,
        cross_heads=1, latent_heads=8, num_classes=1000, fourier_encode_data=True,
    ):  # fmt: skip
        super().__init__()
        self.input_axis, self.max_freq, self.num_freq_bands = input_axis, max_freq, num_freq_bands
        self.fourier_encode_data = fourier_encode_data
        fourier_channels = (input_axis * ((num_freq_bands * 2) + 1)) if fourier_encode_data else 0
        input_dim = fourier_channels + input_channels
        self.latents = nn.Parameter(torch.randn(num_latents, latent_dim))
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(
                nn.ModuleList(
                    [
                        PreNormAttention(latent_dim, input_dim, cross_heads),
                        nn.Sequential(nn.LayerNorm(latent_dim), nn.Linear(latent_dim, latent_dim), nn.GELU()),
                        PreNormAttention(latent_dim, latent_dim, latent_heads),
                    ]
                )
            )
        self.to_logits = nn.Sequential(nn.LayerNorm(latent_dim), nn.Linear(latent_dim, num_classes))

    def forward(self, data, mask=None, return_embeddings=False):
        b, *axis = data.shape[:-1]
        assert len(axis) == self.input_axis, "input data must have the right number of axis"
        if self.fourier_encode_data:
            axis_pos = [torch.linspace(-1.0, 1.0, steps=size, device=data.device) for size in axis]
            pos = torch.stack(torch.meshgrid(*axis_pos, indexing="ij"), dim=-1)
            enc_pos = fourier_encode(pos, self.max_freq, self.num_freq_bands).flatten(-2)
            data = torch.cat((data, enc_pos.expand(b, *enc_pos.shape)), dim=-1)
        data = data.flatten(1, -2)
        x = self.latents.expand(b, -1, -1)
        for cross_attn, cross_ff, self_attn in self.layers:
            x = cross_attn(x, context=data, mask=mask) + x
            x = cross_ff(x) + x
            x = self_attn(x, context=x) + x
        return x if return_embeddings else self.to_logits(x.mean(1))


class SoftAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        self.encoder_att = nn.Linear(encoder_dim, attention_dim)
        self.decoder_att = nn.Linear(decoder_dim, attention_dim)
        self.full_att = nn.Linear(attention_dim, 1)

    def forward(self, encoder_out, decoder_hidden):
        att = self.full_att(
            F.relu(self.encoder_att(encoder_out) + self.decoder_att(decoder_hidden).unsqueeze(1))
        ).squeeze(2)
        alpha = F.softmax(att, dim=1)
        return (encoder_out * alpha.unsqueeze(2)).sum(dim=1), alpha


class CaptionDecoder(nn.Module):
    """Show, attend and tell."""

    def __init__(self, attention_dim, embed_dim, decoder_dim, vocab_size, encoder_dim=512, dropout=0.5):
        super().__init__()
        self.vocab_size = vocab_size
        self.attention = SoftAttention(encoder_dim, decoder_dim, attention_dim)
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.dropout = nn.Dropout(p=dropout)
        self.decode_step = nn.LSTMCell(embed_dim + encoder_dim, decoder_dim, bias=True)
        self.init_h = nn.Linear(encoder_dim, decoder_dim)
        self.init_c = nn.Linear(encoder_dim, decoder_dim)
        self.f_beta = nn.Linear(decoder_dim, encoder_dim)
        self.fc = nn.Linear(decoder_dim, vocab_size)

    def forward(self, encoder_out, encoded_captions, caption_lengths):
        """
        :param encoder_out: encoded images, of dimension (batch_size, enc_image_size, enc_image_size, encoder_dim)
        :param encoded_captions: encoded captions, a tensor of dimension (batch_size, max_caption_length)
        :param caption_lengths: caption lengths, a tensor of dimension (batch_size, 1)
        """
        batch_size, encoder_dim = encoder_out.size(0), encoder_out.size(-1)
        encoder_out = encoder_out.view(batch_size, -1, encoder_dim)
        caption_lengths, sort_ind = caption_lengths.squeeze(1).sort(dim=0, descending=True)
        encoder_out, encoded_captions = encoder_out[sort_ind], encoded_captions[sort_ind]
        embeddings = self.embedding(encoded_captions)
        mean = encoder_out.mean(dim=1)
        h, c = self.init_h(mean), self.init_c(mean)
        decode_lengths = (caption_lengths - 1).tolist()
        predictions = torch.zeros(batch_size, max(decode_lengths), self.vocab_size)
        for t in range(max(decode_lengths)):
            batch_size_t = sum(length > t for length in decode_lengths)
            awe, _ = self.attention(encoder_out[:batch_size_t], h[:batch_size_t])
            awe = torch.sigmoid(self.f_beta(h[:batch_size_t])) * awe
            h, c = self.decode_step(
                torch.cat([embeddings[:batch_size_t, t, :], awe], dim=1), (h[:batch_size_t], c[:batch_size_t])
            )
            predictions[:batch_size_t, t, :] = self.fc(self.dropout(h))
        return predictions, encoded_captions, decode_lengths, sort_ind
