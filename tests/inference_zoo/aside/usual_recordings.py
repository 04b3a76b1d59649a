"""Usual: main models of repositories of speech, music, text and time, built with the sizes of their scripts.

Long because it is a list of models.
"""

from __future__ import annotations

import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

__all__ = ["BERTLM", "VDCNN", "ConvTasNet", "MultiStageModel", "PointerNet", "WaveRNN"]


# speech recognition


# source separation

EPS = 1e-8


def overlap_and_add(signal, frame_step):
    """signal: [M, C, frames, frame_length] -> [M, C, output_size]"""
    outer_dimensions = signal.size()[:-2]
    frames, frame_length = signal.size()[-2:]
    subframe_length = math.gcd(frame_length, frame_step)
    subframe_step = frame_step // subframe_length
    subframes_per_frame = frame_length // subframe_length
    output_size = frame_step * (frames - 1) + frame_length
    output_subframes = output_size // subframe_length
    subframe_signal = signal.view(*outer_dimensions, -1, subframe_length)
    frame = torch.arange(0, output_subframes).unfold(0, subframes_per_frame, subframe_step)
    frame = frame.contiguous().view(-1).to(signal.device)
    result = signal.new_zeros(*outer_dimensions, output_subframes, subframe_length)
    result.index_add_(-2, frame, subframe_signal)
    return result.view(*outer_dimensions, -1)


class GlobalLayerNorm(nn.Module):
    """Global Layer Normalization (gLN)"""

    def __init__(self, channel_size):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(1, channel_size, 1))  # [1, N, 1]
        self.beta = nn.Parameter(torch.zeros(1, channel_size, 1))  # [1, N, 1]

    def forward(self, y):
        mean = y.mean(dim=1, keepdim=True).mean(dim=2, keepdim=True)  # [M, 1, 1]
        var = (torch.pow(y - mean, 2)).mean(dim=1, keepdim=True).mean(dim=2, keepdim=True)
        return self.gamma * (y - mean) / torch.pow(var + EPS, 0.5) + self.beta


class TemporalBlock(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, dilation):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(in_channels, out_channels, 1, bias=False),
            nn.PReLU(),
            GlobalLayerNorm(out_channels),
            nn.Conv1d(
                out_channels,
                out_channels,
                kernel_size,
                padding=(kernel_size - 1) * dilation // 2,
                dilation=dilation,
                groups=out_channels,
                bias=False,
            ),
            nn.PReLU(),
            GlobalLayerNorm(out_channels),
            nn.Conv1d(out_channels, in_channels, 1, bias=False),
        )

    def forward(self, x):
        """x: [M, B, K]"""
        return self.net(x) + x


class ConvTasNet(nn.Module):
    def __init__(self, N, L, B, H, P, X, R, C, norm_type="gLN", causal=False, mask_nonlinear="relu"):
        """
        Args:
            N: Number of filters in autoencoder
            L: Length of the filters (in samples)
            B: Number of channels in bottleneck 1 × 1-conv block
            H: Number of channels in convolutional blocks
            P: Kernel size in convolutional blocks
            X: Number of convolutional blocks in each repeat
            R: Number of repeats
            C: Number of speakers
        """
        super().__init__()
        self.N, self.L, self.C = N, L, C
        self.norm_type = norm_type
        self.causal = causal
        self.mask_nonlinear = mask_nonlinear
        self.conv1d_U = nn.Conv1d(1, N, kernel_size=L, stride=L // 2, bias=False)
        repeats = []
        for _ in range(R):
            repeats += [TemporalBlock(B, H, P, dilation=2**x) for x in range(X)]
        self.separator = nn.Sequential(
            nn.GroupNorm(1, N), nn.Conv1d(N, B, 1, bias=False), *repeats, nn.Conv1d(B, C * N, 1, bias=False)
        )
        self.basis_signals = nn.Linear(N, L, bias=False)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_normal_(p)

    def forward(self, mixture):
        """
        Args:
            mixture: [M, T], M is batch size, T is #samples
        Returns:
            est_source: [M, C, T]
        """
        mixture_w = F.relu(self.conv1d_U(torch.unsqueeze(mixture, 1)))  # [M, N, K]
        M, N, K = mixture_w.size()
        score = self.separator(mixture_w).view(M, self.C, N, K)
        if self.mask_nonlinear == "softmax":
            est_mask = F.softmax(score, dim=1)
        elif self.mask_nonlinear == "relu":
            est_mask = F.relu(score)
        else:
            raise ValueError("Unsupported mask non-linear function")
        source_w = torch.unsqueeze(mixture_w, 1) * est_mask  # [M, C, N, K]
        source_w = torch.transpose(source_w, 2, 3)  # [M, C, K, N]
        est_source = self.basis_signals(source_w)  # [M, C, K, L]
        est_source = overlap_and_add(est_source, self.L // 2)

        # T changed after conv1d in encoder, fix it here
        T_origin = mixture.size(-1)
        T_conv = est_source.size(-1)
        return F.pad(est_source, (0, T_origin - T_conv))


# piano transcription


# segmentation of actions in long videos


class MultiStageModel(nn.Module):
    def __init__(self, num_stages, num_layers, num_f_maps, dim, num_classes):
        super().__init__()
        self.stage1 = SingleStageModel(num_layers, num_f_maps, dim, num_classes)
        self.stages = nn.ModuleList(
            [
                copy.deepcopy(SingleStageModel(num_layers, num_f_maps, num_classes, num_classes))
                for s in range(num_stages - 1)
            ]
        )

    def forward(self, x, mask):
        out = self.stage1(x, mask)
        outputs = out.unsqueeze(0)
        for s in self.stages:
            out = s(F.softmax(out, dim=1) * mask[:, 0:1, :], mask)
            outputs = torch.cat((outputs, out.unsqueeze(0)), dim=0)
        return outputs


class SingleStageModel(nn.Module):
    def __init__(self, num_layers, num_f_maps, dim, num_classes):
        super().__init__()
        self.conv_1x1 = nn.Conv1d(dim, num_f_maps, 1)
        self.layers = nn.ModuleList(
            [copy.deepcopy(DilatedResidualLayer(2**i, num_f_maps, num_f_maps)) for i in range(num_layers)]
        )
        self.conv_out = nn.Conv1d(num_f_maps, num_classes, 1)

    def forward(self, x, mask):
        out = self.conv_1x1(x)
        for layer in self.layers:
            out = layer(out, mask)
        out = self.conv_out(out) * mask[:, 0:1, :]
        return out


class DilatedResidualLayer(nn.Module):
    def __init__(self, dilation, in_channels, out_channels):
        super().__init__()
        self.conv_dilated = nn.Conv1d(in_channels, out_channels, 3, padding=dilation, dilation=dilation)
        self.conv_1x1 = nn.Conv1d(out_channels, out_channels, 1)
        self.dropout = nn.Dropout()

    def forward(self, x, mask):
        out = F.relu(self.conv_dilated(x))
        out = self.conv_1x1(out)
        out = self.dropout(out)
        return (x + out) * mask[:, 0:1, :]


# combinatorial problems


class Attention(nn.Module):
    def __init__(self, input_dim, hidden_dim):
        super().__init__()
        self.input_linear = nn.Linear(input_dim, hidden_dim)
        self.context_linear = nn.Conv1d(input_dim, hidden_dim, 1, 1)
        self.V = Parameter(torch.empty(hidden_dim).uniform_(-1, 1), requires_grad=True)

    def forward(self, input, context, mask):
        # (batch, hidden_dim, seq_len)
        inp = self.input_linear(input).unsqueeze(2)
        ctx = self.context_linear(context.permute(0, 2, 1))
        V = self.V.unsqueeze(0).expand(context.size(0), -1).unsqueeze(1)
        att = torch.bmm(V, torch.tanh(inp + ctx)).squeeze(1)
        att = att.masked_fill(mask == 0, float("-inf"))
        alpha = F.softmax(att, dim=-1)
        hidden_state = torch.bmm(ctx, alpha.unsqueeze(2)).squeeze(2)
        return hidden_state, alpha


class PointerNet(nn.Module):
    """Pointer-Net"""

    def __init__(self, embedding_dim, hidden_dim, lstm_layers, dropout, bidir=False):
        """
        :param int embedding_dim: Number of embbeding channels
        :param int hidden_dim: Encoder's number of hidden units
        :param int lstm_layers: Number of layers for LSTMs
        :param float dropout: Float between 0-1
        :param bool bidir: Bidirectional
        """
        super().__init__()
        self.embedding_dim = embedding_dim
        self.bidir = bidir
        hidden = hidden_dim // 2 if bidir else hidden_dim
        self.embedding = nn.Linear(2, embedding_dim)
        self.encoder = nn.LSTM(
            embedding_dim, hidden, lstm_layers, batch_first=True, dropout=dropout, bidirectional=bidir
        )
        self.cell = nn.LSTMCell(embedding_dim, hidden_dim)
        self.att = Attention(hidden_dim, hidden_dim)
        self.hidden_out = nn.Linear(hidden_dim * 2, hidden_dim)
        self.decoder_input0 = Parameter(torch.empty(embedding_dim).uniform_(-1, 1), requires_grad=False)

    def forward(self, inputs):
        """
        :param Tensor inputs: Input sequence, (batch, seq_len, 2)
        :return: Pointers probabilities and indices
        """
        batch_size = inputs.size(0)
        input_length = inputs.size(1)

        embedded = self.embedding(inputs)
        encoder_outputs, (h_n, c_n) = self.encoder(embedded)
        if self.bidir:
            h, c = torch.cat((h_n[-2], h_n[-1]), dim=-1), torch.cat((c_n[-2], c_n[-1]), dim=-1)
        else:
            h, c = h_n[-1], c_n[-1]

        decoder_input = self.decoder_input0.unsqueeze(0).expand(batch_size, -1)
        mask = torch.ones(batch_size, input_length, device=inputs.device)
        runner = torch.arange(input_length, device=inputs.device).unsqueeze(0)
        outputs, pointers = [], []
        for _ in range(input_length):
            h_t, c = self.cell(decoder_input, (h, c))
            attn, outs = self.att(h_t, encoder_outputs, mask)
            h = torch.tanh(self.hidden_out(torch.cat((attn, h_t), 1)))
            masked_outs = outs * mask
            _, indices = masked_outs.max(1)
            one_hot_pointers = (runner == indices.unsqueeze(1)).float()
            mask = mask * (1 - one_hot_pointers)
            decoder_input = (embedded * one_hot_pointers.unsqueeze(2)).sum(1)
            outputs.append(outs.unsqueeze(0))
            pointers.append(indices.unsqueeze(1))
        return torch.cat(outputs).permute(1, 0, 2), torch.cat(pointers, 1)


# masked language model


class PositionalEmbedding(nn.Module):
    def __init__(self, d_model, max_len=512):
        super().__init__()
        # Compute the positional encodings once in log space.
        pe = torch.zeros(max_len, d_model).float()
        position = torch.arange(0, max_len).float().unsqueeze(1)
        div_term = (torch.arange(0, d_model, 2).float() * -(math.log(10000.0) / d_model)).exp()
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return self.pe[:, : x.size(1)]


class BERTEmbedding(nn.Module):
    """
    BERT Embedding: sum of token, position and segment embeddings
    """

    def __init__(self, vocab_size, embed_size, dropout=0.1):
        super().__init__()
        self.token = nn.Embedding(vocab_size, embed_size, padding_idx=0)
        self.position = PositionalEmbedding(d_model=embed_size)
        self.segment = nn.Embedding(3, embed_size, padding_idx=0)
        self.dropout = nn.Dropout(p=dropout)
        self.embed_size = embed_size

    def forward(self, sequence, segment_label):
        x = self.token(sequence) + self.position(sequence) + self.segment(segment_label)
        return self.dropout(x)


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        # We assume d_v always equals d_k
        self.d_k = d_model // h
        self.h = h
        self.linear_layers = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(3)])
        self.output_linear = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        batch_size = query.size(0)
        query, key, value = [
            l(x).view(batch_size, -1, self.h, self.d_k).transpose(1, 2)
            for l, x in zip(self.linear_layers, (query, key, value))
        ]
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        p_attn = self.dropout(F.softmax(scores, dim=-1))
        x = torch.matmul(p_attn, value)
        x = x.transpose(1, 2).contiguous().view(batch_size, -1, self.h * self.d_k)
        return self.output_linear(x)


class TransformerBlock(nn.Module):
    """
    Bidirectional Encoder = Transformer (self-attention)
    """

    def __init__(self, hidden, attn_heads, feed_forward_hidden, dropout):
        super().__init__()
        self.attention = MultiHeadedAttention(h=attn_heads, d_model=hidden)
        self.feed_forward = nn.Sequential(
            nn.Linear(hidden, feed_forward_hidden),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(feed_forward_hidden, hidden),
        )
        self.norm1 = nn.LayerNorm(hidden)
        self.norm2 = nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, mask):
        y = self.norm1(x)
        x = x + self.dropout(self.attention(y, y, y, mask=mask))
        x = x + self.dropout(self.feed_forward(self.norm2(x)))
        return self.dropout(x)


class BERT(nn.Module):
    """
    BERT model : Bidirectional Encoder Representations from Transformers.
    """

    def __init__(self, vocab_size, hidden=768, n_layers=12, attn_heads=12, dropout=0.1):
        """
        :param vocab_size: vocab_size of total words
        :param hidden: BERT model hidden size
        :param n_layers: numbers of Transformer blocks(layers)
        :param attn_heads: number of attention heads
        :param dropout: dropout rate
        """
        super().__init__()
        self.hidden = hidden
        self.n_layers = n_layers
        self.attn_heads = attn_heads
        self.feed_forward_hidden = hidden * 4
        self.embedding = BERTEmbedding(vocab_size=vocab_size, embed_size=hidden)
        self.transformer_blocks = nn.ModuleList(
            [TransformerBlock(hidden, attn_heads, hidden * 4, dropout) for _ in range(n_layers)]
        )

    def forward(self, x, segment_info):
        # attention masking for padded token
        # torch.ByteTensor([batch_size, 1, seq_len, seq_len)
        mask = (x > 0).unsqueeze(1).repeat(1, x.size(1), 1).unsqueeze(1)
        x = self.embedding(x, segment_info)
        for transformer in self.transformer_blocks:
            x = transformer.forward(x, mask)
        return x


class BERTLM(nn.Module):
    """
    BERT Language Model
    Next Sentence Prediction Model + Masked Language Model
    """

    def __init__(self, bert: BERT, vocab_size):
        """
        :param bert: BERT model which should be trained
        :param vocab_size: total vocab size for masked_lm
        """
        super().__init__()
        self.bert = bert
        self.next_sentence = nn.Linear(self.bert.hidden, 2)
        self.mask_lm = nn.Linear(self.bert.hidden, vocab_size)

    def forward(self, x, segment_label):
        x = self.bert(x, segment_label)
        return F.log_softmax(self.next_sentence(x[:, 0]), dim=-1), F.log_softmax(self.mask_lm(x), dim=-1)


# vocoder


class MelResNet(nn.Module):
    def __init__(self, res_blocks, in_dims, compute_dims, res_out_dims, pad):
        super().__init__()
        self.conv_in = nn.Conv1d(in_dims, compute_dims, kernel_size=pad * 2 + 1, bias=False)
        self.batch_norm = nn.BatchNorm1d(compute_dims)
        self.layers = nn.ModuleList()
        for _ in range(res_blocks):
            self.layers.append(
                nn.Sequential(
                    nn.Conv1d(compute_dims, compute_dims, kernel_size=1, bias=False),
                    nn.BatchNorm1d(compute_dims),
                    nn.ReLU(),
                    nn.Conv1d(compute_dims, compute_dims, kernel_size=1, bias=False),
                    nn.BatchNorm1d(compute_dims),
                )
            )
        self.conv_out = nn.Conv1d(compute_dims, res_out_dims, kernel_size=1)

    def forward(self, x):
        x = F.relu(self.batch_norm(self.conv_in(x)))
        for f in self.layers:
            x = x + f(x)
        return self.conv_out(x)


class Stretch2d(nn.Module):
    def __init__(self, x_scale, y_scale):
        super().__init__()
        self.x_scale = x_scale
        self.y_scale = y_scale

    def forward(self, x):
        b, c, h, w = x.size()
        x = x.unsqueeze(-1).unsqueeze(3)
        x = x.repeat(1, 1, 1, self.y_scale, 1, self.x_scale)
        return x.view(b, c, h * self.y_scale, w * self.x_scale)


class UpsampleNetwork(nn.Module):
    def __init__(self, feat_dims, upsample_scales, compute_dims, res_blocks, res_out_dims, pad):
        super().__init__()
        total_scale = 1
        for scale in upsample_scales:
            total_scale *= scale
        self.indent = pad * total_scale
        self.resnet = MelResNet(res_blocks, feat_dims, compute_dims, res_out_dims, pad)
        self.resnet_stretch = Stretch2d(total_scale, 1)
        self.up_layers = nn.ModuleList()
        for scale in upsample_scales:
            k_size = (1, scale * 2 + 1)
            conv = nn.Conv2d(1, 1, kernel_size=k_size, padding=(0, scale), bias=False)
            conv.weight.data.fill_(1.0 / k_size[1])
            self.up_layers.append(Stretch2d(scale, 1))
            self.up_layers.append(conv)

    def forward(self, m):
        aux = self.resnet(m).unsqueeze(1)
        aux = self.resnet_stretch(aux)
        aux = aux.squeeze(1)
        m = m.unsqueeze(1)
        for f in self.up_layers:
            m = f(m)
        m = m.squeeze(1)[:, :, self.indent : -self.indent]
        return m.transpose(1, 2), aux.transpose(1, 2)


class WaveRNN(nn.Module):
    def __init__(
        self,
        rnn_dims,
        fc_dims,
        bits,
        pad,
        upsample_factors,
        feat_dims,
        compute_dims,
        res_out_dims,
        res_blocks,
        hop_length,
        sample_rate,
        mode="RAW",
    ):
        super().__init__()
        self.mode = mode
        self.pad = pad
        if self.mode == "RAW":
            self.n_classes = 2**bits
        elif self.mode == "MOL":
            self.n_classes = 30
        else:
            raise RuntimeError("Unknown model mode value - ", self.mode)

        self.rnn_dims = rnn_dims
        self.aux_dims = res_out_dims // 4
        self.hop_length = hop_length
        self.sample_rate = sample_rate
        self.upsample = UpsampleNetwork(feat_dims, upsample_factors, compute_dims, res_blocks, res_out_dims, pad)
        self.I = nn.Linear(feat_dims + self.aux_dims + 1, rnn_dims)
        self.rnn1 = nn.GRU(rnn_dims, rnn_dims, batch_first=True)
        self.rnn2 = nn.GRU(rnn_dims + self.aux_dims, rnn_dims, batch_first=True)
        self.fc1 = nn.Linear(rnn_dims + self.aux_dims, fc_dims)
        self.fc2 = nn.Linear(fc_dims + self.aux_dims, fc_dims)
        self.fc3 = nn.Linear(fc_dims, self.n_classes)
        self.register_buffer("step", torch.zeros(1, dtype=torch.long))

    def forward(self, x, mels):
        if self.training:
            self.step += 1
        bsize = x.size(0)
        h1 = torch.zeros(1, bsize, self.rnn_dims, device=x.device)
        h2 = torch.zeros(1, bsize, self.rnn_dims, device=x.device)
        mels, aux = self.upsample(mels)

        aux_idx = [self.aux_dims * i for i in range(5)]
        a1 = aux[:, :, aux_idx[0] : aux_idx[1]]
        a2 = aux[:, :, aux_idx[1] : aux_idx[2]]
        a3 = aux[:, :, aux_idx[2] : aux_idx[3]]
        a4 = aux[:, :, aux_idx[3] : aux_idx[4]]

        x = torch.cat([x.unsqueeze(-1), mels, a1], dim=2)
        x = self.I(x)
        res = x
        x, _ = self.rnn1(x, h1)
        x = x + res
        res = x
        x = torch.cat([x, a2], dim=2)
        x, _ = self.rnn2(x, h2)
        x = x + res
        x = torch.cat([x, a3], dim=2)
        x = F.relu(self.fc1(x))
        x = torch.cat([x, a4], dim=2)
        x = F.relu(self.fc2(x))
        return self.fc3(x)


# text from characters


class ConvBlock(nn.Module):
    def __init__(
        self, input_dim=128, n_filters=256, kernel_size=3, padding=1, stride=1, shortcut=False, downsampling=None
    ):
        super().__init__()
        self.downsampling = downsampling
        self.shortcut = shortcut
        self.conv1 = nn.Conv1d(input_dim, n_filters, kernel_size=kernel_size, padding=padding, stride=stride)
        self.batchnorm1 = nn.BatchNorm1d(n_filters)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv1d(n_filters, n_filters, kernel_size=kernel_size, padding=padding, stride=stride)
        self.batchnorm2 = nn.BatchNorm1d(n_filters)
        self.relu2 = nn.ReLU()

    def forward(self, input):
        residual = input
        output = self.conv1(input)
        output = self.batchnorm1(output)
        output = self.relu1(output)
        output = self.conv2(output)
        output = self.batchnorm2(output)
        if self.shortcut:
            if self.downsampling is not None:
                residual = self.downsampling(input)
            output += residual
        output = self.relu2(output)
        return output


class VDCNN(nn.Module):
    def __init__(self, n_classes, table_in, table_out, depth="9", n_fc_neurons=2048, shortcut=False):
        super().__init__()
        layers = []
        fc_layers = []
        n_conv = {"9": (1, 1, 1, 1), "17": (2, 2, 2, 2), "29": (5, 5, 2, 2), "49": (8, 8, 5, 3)}[depth]
        self.embed = nn.Embedding(table_in, table_out, padding_idx=0, max_norm=None)
        layers.append(nn.Conv1d(table_out, 64, kernel_size=3, padding=1))

        width = 64
        for i, n in enumerate(n_conv):
            out = 64 * 2**i
            down = nn.Sequential(nn.Conv1d(width, out, 1, bias=False), nn.BatchNorm1d(out)) if width != out else None
            layers.append(ConvBlock(width, out, shortcut=shortcut, downsampling=down))
            for _ in range(n - 1):
                layers.append(ConvBlock(out, out, shortcut=shortcut))
            layers.append(nn.MaxPool1d(kernel_size=3, stride=2, padding=1) if i < 3 else nn.AdaptiveMaxPool1d(8))
            width = out

        fc_layers.extend([nn.Linear(8 * 512, n_fc_neurons), nn.ReLU()])
        fc_layers.extend([nn.Linear(n_fc_neurons, n_fc_neurons), nn.ReLU()])
        fc_layers.extend([nn.Linear(n_fc_neurons, n_classes)])
        self.layers = nn.Sequential(*layers)
        self.fc_layers = nn.Sequential(*fc_layers)

    def forward(self, x):
        output = self.embed(x)
        output = output.transpose(1, 2)
        output = self.layers(output)
        output = output.view(output.size(0), -1)
        return self.fc_layers(output)
