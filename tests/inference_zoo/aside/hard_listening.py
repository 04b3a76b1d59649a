"""Hard: speech and music from toolkits and papers: synthesis, recognition, compound tokens, separation.

Long because it is a list of models.
"""

import math
from collections import OrderedDict
from dataclasses import dataclass, field
from enum import Enum
from typing import Dict, List, Optional, Tuple, Union

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

__all__ = ["ASRModel", "AudioPretrainModel", "CompoundTransformer", "DiarizationModel", "DurationTTS"]


def get_mask_from_lengths(lengths, max_len=None):
    batch_size = lengths.shape[0]
    if max_len is None:
        max_len = torch.max(lengths).item()
    ids = torch.arange(0, max_len).unsqueeze(0).expand(batch_size, -1).to(lengths.device)
    return ids >= lengths.unsqueeze(1).expand(-1, max_len)


# ------------------------------------------------------------------ text to speech


def get_sinusoid_encoding_table(n_position, d_hid):
    pos = np.arange(n_position)[:, None] / np.power(10000, 2 * (np.arange(d_hid)[None] // 2) / d_hid)
    pos[:, 0::2] = np.sin(pos[:, 0::2])
    pos[:, 1::2] = np.cos(pos[:, 1::2])
    return torch.FloatTensor(pos)


class FFTBlock(nn.Module):
    def __init__(self, d_model, n_head, d_inner, kernel_size, dropout=0.1):
        super().__init__()
        self.slf_attn = nn.MultiheadAttention(d_model, n_head, dropout=dropout, batch_first=True)
        self.norm1 = nn.LayerNorm(d_model)
        self.w_1 = nn.Conv1d(d_model, d_inner, kernel_size[0], padding=(kernel_size[0] - 1) // 2)
        self.w_2 = nn.Conv1d(d_inner, d_model, kernel_size[1], padding=(kernel_size[1] - 1) // 2)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        a, _ = self.slf_attn(x, x, x, key_padding_mask=mask)
        x = self.norm1(x + a).masked_fill(mask.unsqueeze(-1), 0)
        y = self.w_2(F.relu(self.w_1(x.transpose(1, 2)))).transpose(1, 2)
        return self.norm2(x + y).masked_fill(mask.unsqueeze(-1), 0)


class Encoder(nn.Module):
    def __init__(self, config, n_vocab):
        super().__init__()
        c = config["transformer"]
        d = c["encoder_hidden"]
        self.src_word_emb = nn.Embedding(n_vocab, d, padding_idx=0)
        self.position_enc = nn.Parameter(
            get_sinusoid_encoding_table(config["max_seq_len"] + 1, d).unsqueeze(0), requires_grad=False
        )
        self.layer_stack = nn.ModuleList(
            [
                FFTBlock(d, c["encoder_head"], c["conv_filter_size"], c["conv_kernel_size"], c["encoder_dropout"])
                for _ in range(c["encoder_layer"])
            ]
        )

    def forward(self, src_seq, mask):
        out = self.src_word_emb(src_seq) + self.position_enc[:, : src_seq.shape[1]]
        for layer in self.layer_stack:
            out = layer(out, mask)
        return out


class VariancePredictor(nn.Module):
    """One value per phoneme"""

    def __init__(self, model_config):
        super().__init__()
        d = model_config["transformer"]["encoder_hidden"]
        f = model_config["variance_predictor"]["filter_size"]
        k = model_config["variance_predictor"]["kernel_size"]
        self.conv1, self.ln1 = nn.Conv1d(d, f, k, padding=(k - 1) // 2), nn.LayerNorm(f)
        self.conv2, self.ln2 = nn.Conv1d(f, f, k, padding=1), nn.LayerNorm(f)
        self.dropout = nn.Dropout(model_config["variance_predictor"]["dropout"])
        self.linear_layer = nn.Linear(f, 1)

    def forward(self, encoder_output, mask):
        out = self.dropout(self.ln1(F.relu(self.conv1(encoder_output.transpose(1, 2))).transpose(1, 2)))
        out = self.dropout(self.ln2(F.relu(self.conv2(out.transpose(1, 2))).transpose(1, 2)))
        out = self.linear_layer(out).squeeze(-1)
        if mask is not None:
            out = out.masked_fill(mask, 0.0)
        return out


class VarianceAdaptor(nn.Module):
    def __init__(self, preprocess_config, model_config):
        super().__init__()
        self.duration_predictor = VariancePredictor(model_config)
        self.pitch_predictor = VariancePredictor(model_config)
        self.energy_predictor = VariancePredictor(model_config)
        n_bins = model_config["variance_embedding"]["n_bins"]
        pitch_min, pitch_max = preprocess_config["stats"]["pitch"][:2]
        energy_min, energy_max = preprocess_config["stats"]["energy"][:2]
        if model_config["variance_embedding"]["pitch_quantization"] == "log":
            bins = torch.exp(torch.linspace(np.log(pitch_min), np.log(pitch_max), n_bins - 1))
        else:
            bins = torch.linspace(pitch_min, pitch_max, n_bins - 1)
        self.pitch_bins = nn.Parameter(bins, requires_grad=False)
        self.energy_bins = nn.Parameter(torch.linspace(energy_min, energy_max, n_bins - 1), requires_grad=False)
        hidden = model_config["transformer"]["encoder_hidden"]
        self.pitch_embedding = nn.Embedding(n_bins, hidden)
        self.energy_embedding = nn.Embedding(n_bins, hidden)

    def get_embedding(self, x, target, mask, control, predictor, bins, embedding):
        prediction = predictor(x, mask)
        if target is not None:
            return prediction, embedding(torch.bucketize(target, bins))
        prediction = prediction * control
        return prediction, embedding(torch.bucketize(prediction, bins))

    def length_regulate(self, x, duration, max_len):
        output, mel_len = [], []
        for batch, expand_target in zip(x, duration):
            expanded = torch.repeat_interleave(batch, expand_target.long().clamp(min=0), dim=0)
            output.append(expanded)
            mel_len.append(expanded.shape[0])
        out = pad_sequence(output, batch_first=True)
        if max_len is not None:
            out = F.pad(out, (0, 0, 0, max_len - out.size(1)))
        return out, torch.LongTensor(mel_len).to(x.device)

    def forward(self, x, src_mask, mel_mask=None, max_len=None, p_targets=None, e_targets=None, d_targets=None,
                p_control=1.0, e_control=1.0, d_control=1.0):  # fmt: skip
        log_d = self.duration_predictor(x, src_mask)
        p, emb = self.get_embedding(
            x, p_targets, src_mask, p_control, self.pitch_predictor, self.pitch_bins, self.pitch_embedding
        )
        x = x + emb
        e, emb = self.get_embedding(
            x, e_targets, src_mask, e_control, self.energy_predictor, self.energy_bins, self.energy_embedding
        )
        x = x + emb
        if d_targets is not None:
            x, mel_len = self.length_regulate(x, d_targets, max_len)
            d_rounded = d_targets
        else:
            d_rounded = torch.clamp(torch.round(torch.exp(log_d) - 1) * d_control, min=0)
            x, mel_len = self.length_regulate(x, d_rounded, max_len)
            mel_mask = get_mask_from_lengths(mel_len)
        return x, p, e, log_d, d_rounded, mel_len, mel_mask


class DurationTTS(nn.Module):
    def __init__(self, preprocess_config, model_config):
        super().__init__()
        self.model_config = model_config
        tf = model_config["transformer"]
        self.encoder = Encoder(model_config, preprocess_config["n_symbols"] + 1)
        self.variance_adaptor = VarianceAdaptor(preprocess_config, model_config)
        self.decoder = nn.ModuleList(
            [
                FFTBlock(
                    tf["decoder_hidden"],
                    tf["decoder_head"],
                    tf["conv_filter_size"],
                    tf["conv_kernel_size"],
                    tf["decoder_dropout"],
                )
                for _ in range(tf["decoder_layer"])
            ]
        )
        self.mel_linear = nn.Linear(tf["decoder_hidden"], preprocess_config["preprocessing"]["mel"]["n_mel_channels"])
        self.speaker_emb = None
        if model_config["multi_speaker"]:
            self.speaker_emb = nn.Embedding(preprocess_config["n_speaker"], tf["encoder_hidden"])

    def forward(
        self,
        speakers,
        texts,
        src_lens,
        max_src_len,
        mels=None,
        mel_lens=None,
        max_mel_len=None,
        p_targets=None,
        e_targets=None,
        d_targets=None,
        p_control=1.0,
        e_control=1.0,
        d_control=1.0,
    ):
        src_masks = get_mask_from_lengths(src_lens, max_src_len)
        mel_masks = get_mask_from_lengths(mel_lens, max_mel_len) if mel_lens is not None else None
        output = self.encoder(texts, src_masks)
        if self.speaker_emb is not None:
            output = output + self.speaker_emb(speakers).unsqueeze(1).expand(-1, max_src_len, -1)
        output, p_predictions, e_predictions, log_d_predictions, d_rounded, mel_lens, mel_masks = self.variance_adaptor(
            output, src_masks, mel_masks, max_mel_len, p_targets, e_targets, d_targets, p_control, e_control, d_control
        )
        for layer in self.decoder:
            output = layer(output, mel_masks)
        output = self.mel_linear(output)
        return (
            output,
            p_predictions,
            e_predictions,
            log_d_predictions,
            d_rounded,
            src_masks,
            mel_masks,
            src_lens,
            mel_lens,
        )


# ------------------------------------------------------------------ recognition toolkit


class AbsEncoder(nn.Module):
    def output_size(self) -> int:
        raise NotImplementedError


class Conv2dSubsampling(nn.Module):
    def __init__(self, idim, odim):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, odim, 3, 2), nn.ReLU(), nn.Conv2d(odim, odim, 3, 2), nn.ReLU())
        self.out = nn.Linear(odim * (((idim - 1) // 2 - 1) // 2), odim)

    def forward(self, x, x_mask):
        x = self.conv(x.unsqueeze(1))
        b, c, t, f = x.size()
        x = self.out(x.transpose(1, 2).contiguous().view(b, t, c * f))
        return x, x_mask[:, :-2:2][:, :-2:2]


class ConvModule(nn.Module):
    def __init__(self, channels, kernel_size):
        super().__init__()
        self.pointwise_conv1 = nn.Conv1d(channels, 2 * channels, 1)
        self.depthwise_conv = nn.Conv1d(
            channels, channels, kernel_size, padding=(kernel_size - 1) // 2, groups=channels
        )
        self.norm = nn.BatchNorm1d(channels)
        self.pointwise_conv2 = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        x = F.glu(self.pointwise_conv1(x.transpose(1, 2)), dim=1)
        return self.pointwise_conv2(F.silu(self.norm(self.depthwise_conv(x)))).transpose(1, 2)


class ConformerLayer(nn.Module):
    def __init__(self, size, heads, units, kernel, dropout):
        super().__init__()
        self.ff_macaron = nn.Sequential(
            nn.LayerNorm(size), nn.Linear(size, units), nn.SiLU(), nn.Dropout(dropout), nn.Linear(units, size)
        )
        self.ff = nn.Sequential(
            nn.LayerNorm(size), nn.Linear(size, units), nn.SiLU(), nn.Dropout(dropout), nn.Linear(units, size)
        )
        self.norm_mha, self.norm_conv, self.norm_final = nn.LayerNorm(size), nn.LayerNorm(size), nn.LayerNorm(size)
        self.self_attn = nn.MultiheadAttention(size, heads, dropout, batch_first=True)
        self.conv_module = ConvModule(size, kernel)

    def forward(self, x, pad_mask):
        x = x + 0.5 * self.ff_macaron(x)
        y = self.norm_mha(x)
        x = x + self.self_attn(y, y, y, key_padding_mask=pad_mask, need_weights=False)[0]
        x = x + self.conv_module(self.norm_conv(x).masked_fill(pad_mask.unsqueeze(-1), 0.0))
        return self.norm_final(x + 0.5 * self.ff(x))


class ConformerEncoder(AbsEncoder):
    def __init__(
        self,
        input_size: int,
        output_size: int = 256,
        attention_heads: int = 4,
        linear_units: int = 1024,
        num_blocks: int = 4,
        dropout_rate: float = 0.1,
        input_layer: Optional[str] = "conv2d",
        cnn_module_kernel: int = 31,
    ):
        super().__init__()
        self._output_size = output_size
        if input_layer == "conv2d":
            self.embed = Conv2dSubsampling(input_size, output_size)
        else:
            raise ValueError(f"input_layer={input_layer}")
        self.encoders = nn.ModuleList(
            [
                ConformerLayer(output_size, attention_heads, linear_units, cnn_module_kernel, dropout_rate)
                for _ in range(num_blocks)
            ]
        )

    def output_size(self) -> int:
        return self._output_size

    def forward(
        self, xs_pad: torch.Tensor, ilens: torch.Tensor
    ) -> Tuple[torch.Tensor, torch.Tensor, Optional[torch.Tensor]]:
        masks = ~get_mask_from_lengths(ilens, xs_pad.size(1))
        xs_pad, masks = self.embed(xs_pad, masks)
        for layer in self.encoders:
            xs_pad = layer(xs_pad, ~masks)
        return xs_pad, masks.sum(1), None


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size: int, encoder_output_size: int, attention_heads: int = 4, num_blocks: int = 2):
        super().__init__()
        d = encoder_output_size
        self.embed = nn.Embedding(vocab_size, d)
        layer = nn.TransformerDecoderLayer(d, attention_heads, 4 * d, batch_first=True, norm_first=True)
        self.decoders = nn.TransformerDecoder(layer, num_blocks, nn.LayerNorm(d))
        self.output_layer = nn.Linear(d, vocab_size)

    def forward(self, hs_pad, hlens, ys_in_pad, ys_in_lens):
        L = ys_in_pad.size(1)
        causal = torch.ones(L, L, dtype=torch.bool, device=ys_in_pad.device).triu(1)
        x = self.decoders(
            self.embed(ys_in_pad),
            hs_pad,
            tgt_mask=causal,
            tgt_key_padding_mask=get_mask_from_lengths(ys_in_lens, L),
            memory_key_padding_mask=get_mask_from_lengths(hlens, hs_pad.size(1)),
        )
        return self.output_layer(x), ys_in_lens


class CTC(nn.Module):
    def __init__(self, odim: int, encoder_output_size: int, dropout_rate: float = 0.0):
        super().__init__()
        self.ctc_lo = nn.Linear(encoder_output_size, odim)
        self.dropout_rate = dropout_rate

    def forward(self, hs_pad, hlens, ys_pad, ys_lens):
        ys_hat = self.ctc_lo(F.dropout(hs_pad, p=self.dropout_rate, training=self.training))
        ys_true = torch.cat([ys_pad[i, :l] for i, l in enumerate(ys_lens)])
        return F.ctc_loss(
            ys_hat.transpose(0, 1).log_softmax(2), ys_true, hlens, ys_lens, reduction="sum"
        ) / ys_hat.size(0)


def add_sos_eos(ys_pad: torch.Tensor, sos: int, eos: int, ignore_id: int):
    ys = [y[y != ignore_id] for y in ys_pad]
    _sos, _eos = ys_pad.new([sos]), ys_pad.new([eos])
    ys_in = [torch.cat([_sos, y], dim=0) for y in ys]
    ys_out = [torch.cat([y, _eos], dim=0) for y in ys]
    return pad_sequence(ys_in, True, eos), pad_sequence(ys_out, True, ignore_id)


class ASRModel(nn.Module):
    """Hybrid of CTC and attention; every part is built by the task."""

    def __init__(
        self,
        vocab_size: int,
        token_list: Union[Tuple[str, ...], List[str]],
        specaug: Optional[nn.Module],
        normalize: Optional[nn.Module],
        encoder: AbsEncoder,
        decoder: Optional[TransformerDecoder],
        ctc: CTC,
        ctc_weight: float = 0.5,
        ignore_id: int = -1,
        lsm_weight: float = 0.0,
    ):
        assert 0.0 <= ctc_weight <= 1.0, ctc_weight
        super().__init__()
        self.sos = vocab_size - 1
        self.eos = vocab_size - 1
        self.vocab_size = vocab_size
        self.ignore_id = ignore_id
        self.ctc_weight = ctc_weight
        self.token_list = list(token_list).copy()
        self.specaug = specaug
        self.normalize = normalize
        self.encoder = encoder
        self.decoder = decoder
        self.ctc = ctc
        self.criterion_att = nn.CrossEntropyLoss(ignore_index=ignore_id, label_smoothing=lsm_weight)

    def forward(
        self,
        speech: torch.Tensor,
        speech_lengths: torch.Tensor,
        text: torch.Tensor,
        text_lengths: torch.Tensor,
    ) -> Tuple[torch.Tensor, Dict[str, torch.Tensor], torch.Tensor]:
        """Losses of one batch.

        speech: (B, T, n_mels) with speech_lengths (B,)
        text: (B, L) token ids with text_lengths (B,)
        """
        assert text_lengths.dim() == 1, text_lengths.shape
        assert (
            speech.shape[0] == speech_lengths.shape[0] == text.shape[0] == text_lengths.shape[0]
        ), (speech.shape, speech_lengths.shape, text.shape, text_lengths.shape)  # fmt: skip
        batch_size = speech.shape[0]
        text = text[:, : text_lengths.max()]
        text = text.masked_fill(get_mask_from_lengths(text_lengths, text.size(1)), self.ignore_id)

        encoder_out, encoder_out_lens = self.encode(speech, speech_lengths)
        loss_ctc, loss_att = None, None
        if self.ctc_weight != 0.0:
            loss_ctc = self.ctc(encoder_out, encoder_out_lens, text, text_lengths)
        if self.ctc_weight != 1.0 and self.decoder is not None:
            ys_in, ys_out = add_sos_eos(text, self.sos, self.eos, self.ignore_id)
            decoder_out, _ = self.decoder(encoder_out, encoder_out_lens, ys_in, text_lengths + 1)
            loss_att = self.criterion_att(decoder_out.transpose(1, 2), ys_out)
        if loss_att is None:
            loss = loss_ctc
        elif loss_ctc is None:
            loss = loss_att
        else:
            loss = self.ctc_weight * loss_ctc + (1 - self.ctc_weight) * loss_att
        stats = dict(loss_ctc=loss_ctc, loss_att=loss_att, loss=loss.detach())
        return loss, stats, torch.tensor(batch_size)

    def encode(self, speech, speech_lengths):
        feats, feats_lengths = speech, speech_lengths
        if self.specaug is not None and self.training:
            feats, feats_lengths = self.specaug(feats, feats_lengths)
        if self.normalize is not None:
            feats, feats_lengths = self.normalize(feats, feats_lengths)
        encoder_out, encoder_out_lens, _ = self.encoder(feats, feats_lengths)
        return encoder_out, encoder_out_lens


# ------------------------------------------------------------------ music


D_MODEL = 512
N_LAYER = 4
N_HEAD = 8


class Embeddings(nn.Module):
    def __init__(self, n_token, d_model):
        super().__init__()
        self.lut = nn.Embedding(n_token, d_model)
        self.d_model = d_model

    def forward(self, x):
        return self.lut(x) * math.sqrt(self.d_model)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=20000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        self.register_buffer("pe", get_sinusoid_encoding_table(max_len, d_model).unsqueeze(0))

    def forward(self, x):
        return self.dropout(x + self.pe[:, : x.size(1), :])


class CompoundTransformer(nn.Module):
    """Every token has seven fields; the type is predicted first, the others given the type."""

    FIELDS = ("tempo", "chord", "barbeat", "type", "pitch", "duration", "velocity")
    TYPE = FIELDS.index("type")

    def __init__(self, n_token, is_training=True):
        super().__init__()
        self.n_token = n_token
        self.d_model = D_MODEL
        self.is_training = is_training
        self.emb_sizes = [128, 256, 64, 32, 512, 128, 128]
        self.loss_func = nn.CrossEntropyLoss(reduction="none")
        for name, n, size in zip(self.FIELDS, n_token, self.emb_sizes):
            setattr(self, "word_emb_" + name, Embeddings(n, size))
            setattr(self, "proj_" + name, nn.Linear(self.d_model, n))
        self.pos_emb = PositionalEncoding(self.d_model)
        self.in_linear = nn.Linear(int(np.sum(self.emb_sizes)), self.d_model)
        layer = nn.TransformerEncoderLayer(self.d_model, N_HEAD, 2048, 0.1, activation="gelu", batch_first=True)
        self.transformer_encoder = nn.TransformerEncoder(layer, N_LAYER)
        self.project_concat_type = nn.Linear(self.d_model + self.emb_sizes[self.TYPE], self.d_model)

    def compute_loss(self, predict, target, loss_mask):
        loss = self.loss_func(predict.transpose(1, 2), target) * loss_mask
        return loss.sum() / loss_mask.sum()

    def forward_hidden(self, x):
        embs = [getattr(self, "word_emb_" + name)(x[..., i]) for i, name in enumerate(self.FIELDS)]
        h = self.pos_emb(self.in_linear(torch.cat(embs, dim=-1)))
        attn_mask = torch.triu(torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device), 1)
        h = self.transformer_encoder(h, attn_mask)
        return h, self.proj_type(h)

    def forward_output(self, h, y):
        h = self.project_concat_type(torch.cat([h, self.word_emb_type(y[..., self.TYPE])], dim=-1))
        return {name: getattr(self, "proj_" + name)(h) for name in self.FIELDS if name != "type"}

    def forward(self, x, target, loss_mask):
        h, y_type = self.forward_hidden(x)
        ys = self.forward_output(h, target)
        ys["type"] = y_type
        losses = [self.compute_loss(ys[name], target[..., i], loss_mask) for i, name in enumerate(self.FIELDS)]
        return sum(losses) / len(losses), losses


# ------------------------------------------------------------------ self-supervision

MODEL_REGISTRY = {}


def register_model(name, dataclass=None):
    def register_model_cls(cls):
        if name in MODEL_REGISTRY:
            raise ValueError(f"model {name} is there already")
        MODEL_REGISTRY[name] = cls
        cls.__dataclass = dataclass
        return cls

    return register_model_cls


class ExtractorMode(str, Enum):
    default = "default"
    layer_norm = "layer_norm"


@dataclass
class AudioPretrainConfig:
    extractor_mode: ExtractorMode = field(
        default=ExtractorMode.default, metadata={"help": "where the convolutions have norms"}
    )
    encoder_layers: int = field(default=3, metadata={"help": "depth of the transformer"})
    encoder_embed_dim: int = 256
    encoder_ffn_embed_dim: int = 1024
    encoder_attention_heads: int = 4
    dropout: float = 0.1
    conv_feature_layers: str = field(
        default="[(128, 10, 5)] + [(128, 3, 2)] * 4 + [(128, 2, 2)] * 2",
        metadata={"help": "python: list of (channels, kernel, stride)"},
    )
    final_dim: int = 128
    mask_prob: float = 0.65
    mask_length: int = 10
    num_negatives: int = 20
    latent_vars: int = 64
    latent_groups: int = 2
    logit_temp: float = 0.1
    conv_pos: int = 64
    conv_pos_groups: int = 16


class ConvFeatureExtractionModel(nn.Module):
    def __init__(self, conv_layers: List[Tuple[int, int, int]], mode: str = "default"):
        super().__init__()
        assert mode in {"default", "layer_norm"}
        in_d = 1
        self.conv_layers = nn.ModuleList()
        for i, cl in enumerate(conv_layers):
            assert len(cl) == 3, f"bad layer {cl}"
            (dim, k, stride) = cl
            norm = nn.GroupNorm(dim, dim) if mode == "default" and i == 0 else nn.Sequential()
            self.conv_layers.append(nn.Sequential(nn.Conv1d(in_d, dim, k, stride=stride, bias=False), norm, nn.GELU()))
            in_d = dim

    def forward(self, x):
        x = x.unsqueeze(1)
        for conv in self.conv_layers:
            x = conv(x)
        return x


@register_model("audio_pretrain", dataclass=AudioPretrainConfig)
class AudioPretrainModel(nn.Module):
    def __init__(self, cfg: AudioPretrainConfig):
        super().__init__()
        self.cfg = cfg
        feature_enc_layers = eval(cfg.conv_feature_layers)  # noqa: S307
        self.embed = feature_enc_layers[-1][0]
        self.feature_extractor = ConvFeatureExtractionModel(feature_enc_layers, mode=cfg.extractor_mode.value)
        self.layer_norm = nn.LayerNorm(self.embed)
        self.post_extract_proj = (
            nn.Linear(self.embed, cfg.encoder_embed_dim) if self.embed != cfg.encoder_embed_dim else None
        )
        self.mask_emb = nn.Parameter(torch.FloatTensor(cfg.encoder_embed_dim).uniform_())
        self.codebook = nn.Parameter(
            torch.rand(cfg.latent_groups * cfg.latent_vars, cfg.final_dim // cfg.latent_groups)
        )
        self.weight_proj = nn.Linear(self.embed, cfg.latent_groups * cfg.latent_vars)
        self.project_q = nn.Linear(cfg.final_dim, cfg.final_dim)
        self.pos_conv = nn.Conv1d(
            cfg.encoder_embed_dim,
            cfg.encoder_embed_dim,
            cfg.conv_pos,
            padding=cfg.conv_pos // 2,
            groups=cfg.conv_pos_groups,
        )
        layer = nn.TransformerEncoderLayer(
            cfg.encoder_embed_dim, cfg.encoder_attention_heads, cfg.encoder_ffn_embed_dim, cfg.dropout, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, cfg.encoder_layers, enable_nested_tensor=False)
        self.final_proj = nn.Linear(cfg.encoder_embed_dim, cfg.final_dim)

    @classmethod
    def build_model(cls, cfg: AudioPretrainConfig, task=None):  # noqa: ARG003
        return cls(cfg)

    def apply_mask(self, x, mask_indices):
        if mask_indices is None:
            B, T, _C = x.shape
            starts = torch.rand(B, T, device=x.device) < self.cfg.mask_prob / self.cfg.mask_length
            starts[:, 0] |= ~starts.any(1)
            starts = F.pad(starts.float(), (self.cfg.mask_length - 1, 0))
            mask_indices = starts.unfold(1, self.cfg.mask_length, 1).amax(-1) > 0
        return torch.where(mask_indices.unsqueeze(-1), self.mask_emb, x), mask_indices

    def quantize(self, x):
        logits = self.weight_proj(x).view(-1, self.cfg.latent_vars)
        if self.training:
            probs = F.gumbel_softmax(logits, tau=2, hard=True)
        else:
            probs = F.one_hot(logits.argmax(-1), self.cfg.latent_vars).to(logits)
        probs = probs.view(x.size(0), x.size(1), self.cfg.latent_groups, self.cfg.latent_vars)
        codes = self.codebook.view(self.cfg.latent_groups, self.cfg.latent_vars, -1)
        return self.project_q(torch.einsum("btgv,gvd->btgd", probs, codes).flatten(2))

    def sample_negatives(self, y):
        B, T, C = y.shape
        idx = torch.randint(0, T, (B, T * self.cfg.num_negatives), device=y.device)
        negs = torch.gather(y, 1, idx.unsqueeze(-1).expand(-1, -1, C))
        return negs.view(B, T, self.cfg.num_negatives, C).permute(2, 0, 1, 3)

    def forward(self, source, padding_mask=None, mask=True, features_only=False, mask_indices=None):
        features = self.feature_extractor(source)
        features = self.layer_norm(features.transpose(1, 2))
        unmasked_features = features.clone()
        if padding_mask is not None and padding_mask.any():
            extra = padding_mask.size(1) % features.size(1)
            if extra > 0:
                padding_mask = padding_mask[:, :-extra]
            padding_mask = padding_mask.view(padding_mask.size(0), features.size(1), -1).all(-1)
        else:
            padding_mask = None
        if self.post_extract_proj is not None:
            features = self.post_extract_proj(features)
        x, mask_indices = self.apply_mask(features, mask_indices) if mask else (features, None)
        x_conv = F.gelu(self.pos_conv(x.transpose(1, 2))[..., : x.size(1)]).transpose(1, 2)
        x = self.encoder(x + x_conv, src_key_padding_mask=padding_mask)
        if features_only:
            return {"x": x, "padding_mask": padding_mask, "features": unmasked_features}
        y = self.quantize(unmasked_features)
        negs = self.sample_negatives(y)
        x = self.final_proj(x)
        targets = torch.cat([y.unsqueeze(0), negs], dim=0)
        logits = torch.cosine_similarity(x.float(), targets.float(), dim=-1) / self.cfg.logit_temp
        return {"x": logits, "padding_mask": padding_mask, "mask_indices": mask_indices}


# ------------------------------------------------------------------ who spoke when


class EncoderDecoderAttractor(nn.Module):
    def __init__(self, n_units, encoder_dropout=0.1, decoder_dropout=0.1):
        super().__init__()
        self.enc0_dropout = nn.Dropout(p=encoder_dropout)
        self.encoder = nn.LSTM(n_units, n_units, 1, batch_first=True)
        self.dec0_dropout = nn.Dropout(p=decoder_dropout)
        self.decoder = nn.LSTM(n_units, n_units, 1, batch_first=True)
        self.counter = nn.Linear(n_units, 1)
        self.n_units = n_units

    def forward_core(self, xs, zeros):
        ilens = torch.tensor([x.shape[0] for x in xs])
        xs = pad_sequence([self.enc0_dropout(x) for x in xs], batch_first=True)
        packed = nn.utils.rnn.pack_padded_sequence(xs, ilens, batch_first=True, enforce_sorted=False)
        _, (hx, cx) = self.encoder(packed)
        zlens = [z.shape[0] for z in zeros]
        zeros = pad_sequence([self.dec0_dropout(z) for z in zeros], batch_first=True)
        attractors, _ = self.decoder(zeros, (hx, cx))
        return [att[:zlen] for att, zlen in zip(attractors, zlens)]

    def forward(self, xs, n_speakers):
        zeros = [torch.zeros(n_spk + 1, self.n_units, device=xs[0].device) for n_spk in n_speakers]
        attractors = self.forward_core(xs, zeros)
        logit = [self.counter(att).squeeze(-1) for att in attractors]
        return [att[:-1] for att in attractors], logit


class DiarizationModel(nn.Module):
    def __init__(self, n_speakers, in_size, n_units, n_heads, n_layers, dropout=0.1, attractor_loss_ratio=1.0):
        super().__init__()
        self.n_speakers = n_speakers
        self.attractor_loss_ratio = attractor_loss_ratio
        self.linear_in = nn.Sequential(OrderedDict(linear=nn.Linear(in_size, n_units), lnorm=nn.LayerNorm(n_units)))
        layer = nn.TransformerEncoderLayer(n_units, n_heads, 4 * n_units, dropout, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
        self.eda = EncoderDecoderAttractor(n_units)

    def forward(self, xs, ts):
        """xs: list of (T_i, F) features; ts: list of (T_i, n_speakers) labels"""
        ilens = [x.shape[0] for x in xs]
        n_speakers = [t.shape[1] for t in ts]
        pad = pad_sequence(xs, batch_first=True, padding_value=-1)
        mask = get_mask_from_lengths(torch.tensor(ilens, device=pad.device), pad.shape[1])
        emb = self.enc(self.linear_in(pad), src_key_padding_mask=mask)
        emb = [e[:ilen] for e, ilen in zip(emb, ilens)]
        attractors, counts = self.eda(emb, n_speakers)
        ys = [torch.matmul(e, att.permute(1, 0)) for e, att in zip(emb, attractors)]
        loss = sum(F.binary_cross_entropy_with_logits(y, t.float()) for y, t in zip(ys, ts)) / len(ys)
        exist = [torch.cat([torch.ones(n), torch.zeros(1)]).to(c) for n, c in zip(n_speakers, counts)]
        att_loss = sum(F.binary_cross_entropy_with_logits(c, e) for c, e in zip(counts, exist)) / len(counts)
        return loss + self.attractor_loss_ratio * att_loss, ys
