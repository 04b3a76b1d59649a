"""Hard, once aside: speech, with lengths, hyperparameters and parts.

Long because it is a list of models.
"""

from __future__ import annotations

import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["ECAPA", "AcousticModel", "ConformerEncoder", "HiFiGenerator", "Transducer"]


def make_pad_mask(lengths: torch.Tensor, max_len: int = 0) -> torch.Tensor:
    max_len = max_len if max_len > 0 else int(lengths.max())
    seq_range = torch.arange(0, max_len, dtype=torch.int64, device=lengths.device)
    return seq_range.unsqueeze(0).expand(lengths.size(0), max_len) >= lengths.unsqueeze(-1)


class Conv2dSubsampling4(nn.Module):
    def __init__(self, idim: int, odim: int):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, odim, 3, 2), nn.ReLU(), nn.Conv2d(odim, odim, 3, 2), nn.ReLU())
        self.out = nn.Linear(odim * (((idim - 1) // 2 - 1) // 2), odim)

    def forward(self, x, x_mask):
        x = self.conv(x.unsqueeze(1))
        b, c, t, f = x.size()
        x = self.out(x.transpose(1, 2).contiguous().view(b, t, c * f))
        return x, x_mask[:, :, :-2:2][:, :, :-2:2]


class LinearNoSubsampling(nn.Module):
    def __init__(self, idim: int, odim: int):
        super().__init__()
        self.out = nn.Sequential(nn.Linear(idim, odim), nn.LayerNorm(odim), nn.Dropout(0.1))

    def forward(self, x, x_mask):
        return self.out(x), x_mask


class ConvolutionModule(nn.Module):
    def __init__(self, channels: int, kernel_size: int):
        super().__init__()
        assert (kernel_size - 1) % 2 == 0
        self.pointwise_conv1 = nn.Conv1d(channels, 2 * channels, 1)
        self.depthwise_conv = nn.Conv1d(
            channels, channels, kernel_size, padding=(kernel_size - 1) // 2, groups=channels
        )
        self.norm = nn.BatchNorm1d(channels)
        self.pointwise_conv2 = nn.Conv1d(channels, channels, 1)

    def forward(self, x, mask_pad):
        x = x.transpose(1, 2).masked_fill(~mask_pad, 0.0)
        x = F.glu(self.pointwise_conv1(x), dim=1)
        x = self.pointwise_conv2(F.silu(self.norm(self.depthwise_conv(x))))
        return x.masked_fill(~mask_pad, 0.0).transpose(1, 2)


class ConformerLayer(nn.Module):
    def __init__(self, size: int, heads: int, units: int, kernel_size: int):
        super().__init__()
        self.ff1 = nn.Sequential(nn.LayerNorm(size), nn.Linear(size, units), nn.SiLU(), nn.Linear(units, size))
        self.norm_mha = nn.LayerNorm(size)
        self.self_attn = nn.MultiheadAttention(size, heads, batch_first=True)
        self.norm_conv = nn.LayerNorm(size)
        self.conv_module = ConvolutionModule(size, kernel_size)
        self.ff2 = nn.Sequential(nn.LayerNorm(size), nn.Linear(size, units), nn.SiLU(), nn.Linear(units, size))
        self.norm_final = nn.LayerNorm(size)

    def forward(self, x, mask):
        x = x + 0.5 * self.ff1(x)
        h = self.norm_mha(x)
        x = x + self.self_attn(h, h, h, key_padding_mask=~mask.squeeze(1), need_weights=False)[0]
        x = x + self.conv_module(self.norm_conv(x), mask)
        return self.norm_final(x + 0.5 * self.ff2(x))


class ConformerEncoder(nn.Module):
    def __init__(
        self,
        input_size: int,
        output_size: int,
        attention_heads: int,
        linear_units: int,
        num_blocks: int,
        input_layer: str,
        cnn_module_kernel: int = 15,
    ):
        super().__init__()
        if input_layer == "linear":
            subsampling_class = LinearNoSubsampling
        elif input_layer == "conv2d":
            subsampling_class = Conv2dSubsampling4
        else:
            raise ValueError("unknown input_layer: " + input_layer)
        self.embed = subsampling_class(input_size, output_size)
        self.encoders = nn.ModuleList(
            [ConformerLayer(output_size, attention_heads, linear_units, cnn_module_kernel) for _ in range(num_blocks)]
        )
        self.after_norm = nn.LayerNorm(output_size)

    def forward(self, xs: torch.Tensor, xs_lens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        masks = ~make_pad_mask(xs_lens, xs.size(1)).unsqueeze(1)  # (B, 1, T)
        xs, masks = self.embed(xs, masks)
        for layer in self.encoders:
            xs = layer(xs, masks)
        return self.after_norm(xs), masks


class AcousticModel(nn.Module):
    """Text to mel spectrogram, teacher-forced."""

    def __init__(self, hparams):
        super().__init__()
        self.n_mel_channels = hparams.n_mel_channels
        self.mask_padding = hparams.mask_padding
        self.embedding = nn.Embedding(hparams.n_symbols, hparams.symbols_embedding_dim)
        std = math.sqrt(2.0 / (hparams.n_symbols + hparams.symbols_embedding_dim))
        self.embedding.weight.data.uniform_(-math.sqrt(3.0) * std, math.sqrt(3.0) * std)
        dim, k = hparams.symbols_embedding_dim, hparams.encoder_kernel_size
        self.convolutions = nn.ModuleList(
            [nn.Conv1d(dim, dim, k, padding=(k - 1) // 2) for _ in range(hparams.encoder_n_convolutions)]
        )
        self.lstm = nn.LSTM(dim, dim // 2, 1, batch_first=True, bidirectional=True)
        self.prenet = nn.Sequential(nn.Linear(hparams.n_mel_channels, hparams.prenet_dim), nn.ReLU())
        self.query = nn.Linear(hparams.prenet_dim, dim)
        self.decoder_rnn = nn.LSTM(hparams.prenet_dim + dim, hparams.decoder_rnn_dim, batch_first=True)
        self.linear_projection = nn.Linear(hparams.decoder_rnn_dim, hparams.n_mel_channels)
        self.gate_layer = nn.Linear(hparams.decoder_rnn_dim, 1)

    def forward(self, inputs):
        text_inputs, text_lengths, mels, output_lengths = inputs
        text_lengths, output_lengths = text_lengths.data, output_lengths.data
        x = self.embedding(text_inputs).transpose(1, 2)
        for conv in self.convolutions:
            x = F.dropout(F.relu(conv(x)), 0.5, self.training)
        packed = nn.utils.rnn.pack_padded_sequence(
            x.transpose(1, 2), text_lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        memory, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        # (B, n_mel_channels, T_out) -> (B, T_out, n_mel_channels), shifted by a go frame
        frames = F.pad(mels.transpose(1, 2)[:, :-1], (0, 0, 1, 0))
        frames = self.prenet(frames)
        energies = self.query(frames) @ memory.transpose(1, 2)
        energies = energies.masked_fill(make_pad_mask(text_lengths).unsqueeze(1), -float("inf"))
        context = energies.softmax(-1) @ memory
        decoded, _ = self.decoder_rnn(torch.cat((frames, context), -1))
        mel_outputs = self.linear_projection(decoded).transpose(1, 2)
        gate_outputs = self.gate_layer(decoded).squeeze(-1)
        if self.mask_padding:
            mask = make_pad_mask(output_lengths, mels.size(2))
            mel_outputs = mel_outputs.masked_fill(mask.unsqueeze(1), 0.0)
            gate_outputs = gate_outputs.masked_fill(mask, 1e3)
        return [mel_outputs, gate_outputs, energies]


LRELU_SLOPE = 0.1


def get_padding(kernel_size, dilation=1):
    return int((kernel_size * dilation - dilation) / 2)


class ResBlock1(nn.Module):
    def __init__(self, h, channels, kernel_size=3, dilation=(1, 3, 5)):
        super().__init__()
        self.h = h
        self.convs1 = nn.ModuleList(
            [nn.Conv1d(channels, channels, kernel_size, 1, get_padding(kernel_size, d), d) for d in dilation]
        )
        self.convs2 = nn.ModuleList(
            [nn.Conv1d(channels, channels, kernel_size, 1, get_padding(kernel_size, 1)) for _ in dilation]
        )

    def forward(self, x):
        for c1, c2 in zip(self.convs1, self.convs2):
            xt = c1(F.leaky_relu(x, LRELU_SLOPE))
            x = c2(F.leaky_relu(xt, LRELU_SLOPE)) + x
        return x


class ResBlock2(nn.Module):
    def __init__(self, h, channels, kernel_size=3, dilation=(1, 3)):
        super().__init__()
        self.h = h
        self.convs = nn.ModuleList(
            [nn.Conv1d(channels, channels, kernel_size, 1, get_padding(kernel_size, d), d) for d in dilation]
        )

    def forward(self, x):
        for c in self.convs:
            x = c(F.leaky_relu(x, LRELU_SLOPE)) + x
        return x


class HiFiGenerator(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.h = h
        self.num_kernels = len(h.resblock_kernel_sizes)
        self.num_upsamples = len(h.upsample_rates)
        self.conv_pre = nn.Conv1d(h.num_mels, h.upsample_initial_channel, 7, 1, padding=3)
        resblock = ResBlock1 if h.resblock == "1" else ResBlock2
        self.ups = nn.ModuleList()
        for i, (u, k) in enumerate(zip(h.upsample_rates, h.upsample_kernel_sizes)):
            c_in = h.upsample_initial_channel // (2**i)
            self.ups.append(nn.ConvTranspose1d(c_in, c_in // 2, k, u, padding=(k - u) // 2))
        self.resblocks = nn.ModuleList()
        for i in range(len(self.ups)):
            ch = h.upsample_initial_channel // (2 ** (i + 1))
            for k, d in zip(h.resblock_kernel_sizes, h.resblock_dilation_sizes):
                self.resblocks.append(resblock(h, ch, k, d))
        self.conv_post = nn.Conv1d(ch, 1, 7, 1, padding=3)

    def forward(self, x):
        x = self.conv_pre(x)
        for i in range(self.num_upsamples):
            x = self.ups[i](F.leaky_relu(x, LRELU_SLOPE))
            xs = None
            for j in range(self.num_kernels):
                y = self.resblocks[i * self.num_kernels + j](x)
                xs = y if xs is None else xs + y
            x = xs / self.num_kernels
        return torch.tanh(self.conv_post(F.leaky_relu(x)))


class AudioEncoder(nn.Module):
    def __init__(self, input_dim, hidden_dim, output_dim, num_layers=2):
        super().__init__()
        self.rnn = nn.LSTM(input_dim, hidden_dim, num_layers, batch_first=True)
        self.linear = nn.Linear(hidden_dim, output_dim)

    def forward(self, x, x_lens):
        packed = nn.utils.rnn.pack_padded_sequence(x, x_lens.cpu(), batch_first=True, enforce_sorted=False)
        out, lens = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.linear(out), lens


class Predictor(nn.Module):
    def __init__(self, vocab_size, embed_dim, output_dim, blank_id=0):
        super().__init__()
        self.blank_id = blank_id
        self.embedding = nn.Embedding(vocab_size, embed_dim, padding_idx=blank_id)
        self.rnn = nn.LSTM(embed_dim, output_dim, batch_first=True)

    def forward(self, y):
        return self.rnn(self.embedding(y))[0]


class Joiner(nn.Module):
    def __init__(self, joint_dim, vocab_size):
        super().__init__()
        self.output_linear = nn.Linear(joint_dim, vocab_size)

    def forward(self, encoder_out, decoder_out):
        return self.output_linear(torch.tanh(encoder_out.unsqueeze(2) + decoder_out.unsqueeze(1)))


class Transducer(nn.Module):
    def __init__(self, encoder: AudioEncoder, predictor: Predictor, joiner: Joiner):
        super().__init__()
        self.encoder = encoder
        self.predictor = predictor
        self.joiner = joiner

    def forward(self, x: torch.Tensor, x_lens: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """
        Args:
          x: features of shape (N, T, C)
          x_lens: number of frames of each, before padding
          y: ids of the transcripts, of shape (N, U)
        """
        encoder_out, _ = self.encoder(x, x_lens)
        sos_y = F.pad(y, (1, 0), value=self.predictor.blank_id)
        return self.joiner(encoder_out, self.predictor(sos_y))


class PreEmphasis(nn.Module):
    def __init__(self, coef: float = 0.97):
        super().__init__()
        self.register_buffer("flipped_filter", torch.FloatTensor([-coef, 1.0]).unsqueeze(0).unsqueeze(0))

    def forward(self, input):
        return F.conv1d(F.pad(input.unsqueeze(1), (1, 0), "reflect"), self.flipped_filter).squeeze(1)


class FbankAug(nn.Module):
    """SpecAugment: a band of frequencies is masked."""

    def forward(self, x):
        width = torch.randint(0, 10, (x.shape[0], 1, 1))
        bands = torch.arange(x.shape[1]).view(1, -1, 1)
        return x.masked_fill(bands < width, 0.0)


class ECAPA(nn.Module):
    def __init__(self, C, n_classes):
        super().__init__()
        self.preemph = PreEmphasis()
        self.register_buffer("window", torch.hann_window(400))
        self.specaug = FbankAug()
        self.conv1 = nn.Conv1d(257, C, 5, padding=2)
        self.bn1 = nn.BatchNorm1d(C)
        self.layers = nn.ModuleList([nn.Conv1d(C, C, 3, dilation=d, padding=d) for d in (2, 3, 4)])
        self.layer4 = nn.Conv1d(3 * C, 1536, 1)
        self.attention = nn.Sequential(
            nn.Conv1d(1536, 256, 1), nn.ReLU(), nn.Tanh(), nn.Conv1d(256, 1536, 1), nn.Softmax(dim=2)
        )
        self.fc6 = nn.Linear(3072, 192)
        self.head = nn.Linear(192, n_classes)

    def forward(self, x, aug):
        with torch.no_grad():
            spec = torch.stft(self.preemph(x), 512, 160, 400, self.window, return_complex=True).abs() + 1e-6
            spec = spec.log()
            spec = spec - torch.mean(spec, dim=-1, keepdim=True)
            if aug == True:  # noqa: E712
                spec = self.specaug(spec)
        x = self.bn1(F.relu(self.conv1(spec)))
        outs = []
        for layer in self.layers:
            x = F.relu(layer(x)) + x
            outs.append(x)
        x = F.relu(self.layer4(torch.cat(outs, dim=1)))
        w = self.attention(x)
        mu = torch.sum(x * w, dim=2)
        sg = torch.sqrt((torch.sum((x**2) * w, dim=2) - mu**2).clamp(min=1e-4))
        return self.head(self.fc6(torch.cat((mu, sg), 1)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="ECAPA_trainer")
    parser.add_argument(
        "--num_frames", type=int, default=200, help="Duration of the input segments, eg: 200 for 2 second"
    )
    parser.add_argument("--C", type=int, default=1024, help="Channel size for the speaker encoder")
    parser.add_argument("--n_class", type=int, default=5994, help="Number of speakers")
    args = parser.parse_args()
    model = ECAPA(C=args.C, n_classes=args.n_class)
    segments = torch.randn(4, args.num_frames * 160 + 240)
    print(model.forward(segments, aug=True).shape)
