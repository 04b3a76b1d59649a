"""Hard: Speech, translation, dialogue and time series, as papers' repositories write them.

Long because it is a list of models.
"""

from __future__ import annotations

from typing import NamedTuple, Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

__all__ = [
    "AttentiveSpeller",
    "CodeSwitchTransducer",
    "CovariateForecaster",
    "DialogueRanker",
    "DualPathSeparator",
    "DurationTTS",
    "EntityMemory",
    "HierarchicalReviewer",
    "PackedTranslator",
    "PointerGenerator",
    "SpanReader",
]


def lengths_to_mask(lengths, max_len=None):
    max_len = max_len or int(lengths.max())
    return torch.arange(max_len, device=lengths.device)[None] < lengths[:, None]


class PackedTranslator(nn.Module):
    """Seq2seq as in tutorials: packed source, attention, teacher forcing, time first."""

    def __init__(self, input_dim=300, output_dim=400, emb_dim=32, hid_dim=48):
        super().__init__()
        self.src_emb = nn.Embedding(input_dim, emb_dim, padding_idx=1)
        self.trg_emb = nn.Embedding(output_dim, emb_dim)
        self.enc = nn.GRU(emb_dim, hid_dim, bidirectional=True)
        self.bridge = nn.Linear(2 * hid_dim, hid_dim)
        self.attn = nn.Linear(3 * hid_dim, hid_dim)
        self.v = nn.Linear(hid_dim, 1, bias=False)
        self.dec = nn.GRU(2 * hid_dim + emb_dim, hid_dim)
        self.out = nn.Linear(3 * hid_dim + emb_dim, output_dim)
        self.pad_idx = 1

    def forward(self, src, src_len, trg, teacher_forcing_ratio=0.5):
        packed = pack_padded_sequence(self.src_emb(src), src_len.to("cpu"), enforce_sorted=False)
        outputs, hidden = self.enc(packed)
        outputs, _ = pad_packed_sequence(outputs)
        hidden = torch.tanh(self.bridge(torch.cat((hidden[-2], hidden[-1]), dim=1)))
        mask = (src != self.pad_idx).permute(1, 0)[:, : outputs.size(0)]
        tok, logits = trg[0], []
        for t in range(1, trg.size(0)):
            emb = self.trg_emb(tok.unsqueeze(0))
            h = hidden.unsqueeze(1).expand(-1, outputs.size(0), -1)
            e = self.v(torch.tanh(self.attn(torch.cat((h, outputs.permute(1, 0, 2)), dim=2)))).squeeze(2)
            a = F.softmax(e.masked_fill(mask == 0, -1e10), dim=1).unsqueeze(1)
            w = torch.bmm(a, outputs.permute(1, 0, 2)).permute(1, 0, 2)
            o, h = self.dec(torch.cat((emb, w), dim=2), hidden.unsqueeze(0))
            hidden = h.squeeze(0)
            pred = self.out(torch.cat((o.squeeze(0), w.squeeze(0), emb.squeeze(0)), dim=1))
            logits.append(pred)
            tok = trg[t] if torch.rand(()).item() < teacher_forcing_ratio else pred.argmax(1)
        return torch.stack(logits)


class PyramidBLSTM(nn.Module):
    def __init__(self, i, h):
        super().__init__()
        self.rnn = nn.LSTM(i * 2, h, bidirectional=True, batch_first=True)

    def forward(self, x, lens):
        b, t, f = x.shape
        if t % 2:
            x = x[:, :-1]
            t -= 1
        x = x.reshape(b, t // 2, f * 2)
        lens = torch.div(lens, 2, rounding_mode="floor").clamp(min=1)
        packed = pack_padded_sequence(x, lens.cpu(), batch_first=True, enforce_sorted=False)
        y, _ = self.rnn(packed)
        y, lens = pad_packed_sequence(y, batch_first=True)
        return y, lens


class AttentiveSpeller(nn.Module):
    """Listen, attend and spell: log-mel frames with lengths, characters to be spelt."""

    def __init__(self, n_mels=40, enc_dim=32, vocab=30, emb=16):
        super().__init__()
        self.listen = nn.ModuleList([PyramidBLSTM(n_mels, enc_dim), PyramidBLSTM(2 * enc_dim, enc_dim)])
        self.embed = nn.Embedding(vocab, emb)
        self.cell = nn.LSTMCell(emb + 2 * enc_dim, 2 * enc_dim)
        self.query = nn.Linear(2 * enc_dim, 2 * enc_dim)
        self.char = nn.Linear(4 * enc_dim, vocab)

    def forward(self, audio, audio_lens, chars):
        for layer in self.listen:
            audio, audio_lens = layer(audio, audio_lens)
        mask = lengths_to_mask(audio_lens, audio.size(1)).to(audio.device)
        ctx = audio.mean(1)
        state = None
        outs = []
        for t in range(chars.size(1)):
            state = self.cell(torch.cat([self.embed(chars[:, t]), ctx], -1), state)
            energy = torch.einsum("bd,btd->bt", self.query(state[0]), audio)
            w = energy.masked_fill(~mask, float("-inf")).softmax(-1)
            ctx = torch.einsum("bt,btd->bd", w, audio)
            outs.append(self.char(torch.cat([state[0], ctx], -1)))
        return torch.stack(outs, 1)


class CodeSwitchTransducer(nn.Module):
    """RNN-T: acoustic frames (B, T, F), label prefix, lengths of both, language id per utterance."""

    def __init__(self, feat_dim=80, vocab_size=128, joint_dim=64, langs=3, blank=0):
        super().__init__()
        self.blank = blank
        self.sub = nn.Sequential(nn.Conv2d(1, 8, 3, 2), nn.ReLU(), nn.Conv2d(8, 8, 3, 2), nn.ReLU())
        sub = ((feat_dim - 1) // 2 - 1) // 2
        self.enc_in = nn.Linear(8 * sub, joint_dim)
        self.enc = nn.TransformerEncoderLayer(joint_dim, 4, 128, batch_first=True)
        self.lang = nn.Embedding(langs, joint_dim)
        self.pred_emb = nn.Embedding(vocab_size, joint_dim)
        self.pred = nn.LSTM(joint_dim, joint_dim, batch_first=True)
        self.joint = nn.Linear(joint_dim, vocab_size)

    def forward(self, feats: Tensor, feat_lens: Tensor, labels: Tensor, label_lens: Tensor, lang_id: Tensor):
        x = self.sub(feats.unsqueeze(1))
        b, c, t, f = x.size()
        x = self.enc_in(x.transpose(1, 2).reshape(b, t, c * f))
        out_lens = torch.div(torch.div(feat_lens - 1, 2, rounding_mode="floor") - 1, 2, rounding_mode="floor")
        pad = ~lengths_to_mask(out_lens.clamp(1, t), t)
        enc = self.enc(x + self.lang(lang_id)[:, None], src_key_padding_mask=pad)
        prefix = F.pad(labels, (1, 0), value=self.blank)
        pred, _ = self.pred(self.pred_emb(prefix))
        keep = lengths_to_mask(label_lens + 1, prefix.size(1)).unsqueeze(-1)
        logits = self.joint(torch.tanh(enc.unsqueeze(2) + (pred * keep).unsqueeze(1)))
        return logits.log_softmax(-1), out_lens


class DurationTTS(nn.Module):
    """FastSpeech-like: phonemes, speaker, ground-truth durations, pitch per phoneme; length regulator."""

    def __init__(self, n_phones=80, n_speakers=10, d=64, n_mels=80):
        super().__init__()
        self.phone = nn.Embedding(n_phones, d, padding_idx=0)
        self.speaker = nn.Embedding(n_speakers, d)
        self.enc = nn.TransformerEncoderLayer(d, 2, 128, batch_first=True)
        self.dur = nn.Sequential(nn.Conv1d(d, d, 3, padding=1), nn.ReLU(), nn.Conv1d(d, 1, 1))
        self.pitch = nn.Conv1d(1, d, 3, padding=1)
        self.dec = nn.GRU(d, d, batch_first=True)
        self.mel = nn.Linear(d, n_mels)

    def forward(self, phonemes, speaker_ids, durations, pitch):
        pad = phonemes.eq(0)
        h = self.enc(self.phone(phonemes) + self.speaker(speaker_ids).unsqueeze(1), src_key_padding_mask=pad)
        log_dur = self.dur(h.transpose(1, 2)).squeeze(1)
        h = h + self.pitch(pitch.unsqueeze(1)).transpose(1, 2)
        expanded = [torch.repeat_interleave(s, d, dim=0) for s, d in zip(h, durations)]
        frames = nn.utils.rnn.pad_sequence(expanded, batch_first=True)
        y, _ = self.dec(frames)
        return self.mel(y), log_dur


class DualPathSeparator(nn.Module):
    """Target speaker extraction: mixture waveform, enrolment waveform, its length."""

    def __init__(self, n_filters=32, kernel=16, chunk=20, spk_dim=32, n_src=1):
        super().__init__()
        self.chunk = chunk
        self.encoder = nn.Conv1d(1, n_filters, kernel, stride=kernel // 2, bias=False)
        self.spk = nn.GRU(n_filters, spk_dim, batch_first=True)
        self.film = nn.Linear(spk_dim, 2 * n_filters)
        self.intra = nn.GRU(n_filters, n_filters, batch_first=True)
        self.inter = nn.GRU(n_filters, n_filters, batch_first=True)
        self.mask = nn.Conv1d(n_filters, n_filters, 1)
        self.decoder = nn.ConvTranspose1d(n_filters, 1, kernel, stride=kernel // 2, bias=False)

    def forward(self, mixture, enrollment, enroll_len):
        w = F.relu(self.encoder(mixture.unsqueeze(1)))
        e = F.relu(self.encoder(enrollment.unsqueeze(1))).transpose(1, 2)
        frames = (enroll_len.float() / enrollment.size(-1) * e.size(1)).long().clamp(1, e.size(1))
        y, _ = self.spk(e)
        emb = y[torch.arange(y.size(0)), frames - 1]
        scale, shift = self.film(emb).unsqueeze(-1).chunk(2, dim=1)
        x = w * scale + shift
        b, n, t = x.shape
        gap = (-t) % self.chunk
        x = F.pad(x, (0, gap)).view(b, n, -1, self.chunk).permute(0, 2, 3, 1)
        s = x.size(1)
        x = x + self.intra(x.reshape(b * s, self.chunk, n))[0].view(b, s, self.chunk, n)
        z = x.transpose(1, 2).reshape(b * self.chunk, s, n)
        x = x + self.inter(z)[0].view(b, self.chunk, s, n).transpose(1, 2)
        x = x.permute(0, 3, 1, 2).reshape(b, n, -1)[..., :t]
        return self.decoder(w * torch.sigmoid(self.mask(x))).squeeze(1)


class ForecastBatch(NamedTuple):
    past_target: Tensor
    past_observed: Tensor
    static_cat: Tensor
    known_future: Tensor


class CovariateForecaster(nn.Module):
    """Probabilistic forecasts with lags, static categories and covariates known in advance."""

    def __init__(self, horizon=6, context=24, cardinality=(50, 5), emb=8, n_cov=4, hidden=32, lags=(1, 2, 7)):
        super().__init__()
        self.horizon, self.context, self.lags = horizon, context, lags
        self.embeds = nn.ModuleList(nn.Embedding(c, emb) for c in cardinality)
        self.rnn = nn.GRU(len(lags) + n_cov + emb * len(cardinality), hidden, batch_first=True)
        self.params = nn.Linear(hidden, 3)

    def forward(self, batch: ForecastBatch):
        scale = (batch.past_target.abs() * batch.past_observed).sum(1, keepdim=True) / batch.past_observed.sum(
            1, keepdim=True
        ).clamp(min=1)
        z = batch.past_target / scale.clamp(min=1e-4)
        z = F.pad(z, (max(self.lags), self.horizon))
        steps = self.context + self.horizon
        lagged = torch.stack([z[:, max(self.lags) - lag : max(self.lags) - lag + steps] for lag in self.lags], -1)
        static = torch.cat([e(batch.static_cat[:, i]) for i, e in enumerate(self.embeds)], -1)
        static = static.unsqueeze(1).expand(-1, steps, -1)
        out, _ = self.rnn(torch.cat([lagged, batch.known_future, static], -1))
        df, loc, sc = self.params(out[:, -self.horizon :]).unbind(-1)
        return 2 + F.softplus(df), loc * scale, F.softplus(sc) * scale


class PointerGenerator(nn.Module):
    """Summaries: ids with an extended vocabulary, zeros for words out of it, coverage."""

    def __init__(self, vocab_size=400, emb_dim=32, hidden_dim=32):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_dim)
        self.encoder = nn.LSTM(emb_dim, hidden_dim, batch_first=True, bidirectional=True)
        self.reduce = nn.Linear(2 * hidden_dim, hidden_dim)
        self.decoder = nn.LSTMCell(emb_dim, hidden_dim)
        self.w_h = nn.Linear(2 * hidden_dim, hidden_dim, bias=False)
        self.w_s = nn.Linear(hidden_dim, hidden_dim)
        self.w_c = nn.Linear(1, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)
        self.p_gen = nn.Linear(3 * hidden_dim + emb_dim, 1)
        self.vocab = nn.Linear(3 * hidden_dim, vocab_size)

    def forward(self, enc_batch, enc_padding_mask, enc_batch_extend_vocab, extra_zeros, dec_batch):
        enc, (h, c) = self.encoder(self.embedding(enc_batch))
        s = self.reduce(torch.cat([h[0], h[1]], -1)), self.reduce(torch.cat([c[0], c[1]], -1))
        coverage = enc.new_zeros(enc.shape[:2])
        dists = []
        for y in dec_batch.t():
            x = self.embedding(y)
            s = self.decoder(x, s)
            e = torch.tanh(self.w_h(enc) + self.w_s(s[0]).unsqueeze(1) + self.w_c(coverage.unsqueeze(-1)))
            a = F.softmax(self.v(e).squeeze(-1), dim=1) * enc_padding_mask
            a = a / a.sum(1, keepdim=True).clamp(min=1e-6)
            coverage = coverage + a
            ctx = torch.bmm(a.unsqueeze(1), enc).squeeze(1)
            gen = torch.sigmoid(self.p_gen(torch.cat([ctx, s[0], x], 1)))
            p = F.softmax(self.vocab(torch.cat([s[0], ctx], 1)), dim=1) * gen
            p = torch.cat([p, extra_zeros], 1)
            dists.append(p.scatter_add(1, enc_batch_extend_vocab, (1 - gen) * a))
        return torch.stack(dists, 1)


class HierarchicalReviewer(nn.Module):
    """Words in sentences in documents, with the number of words per sentence and sentences per document."""

    def __init__(self, vocab_size=300, emb_size=32, word_rnn=24, sent_rnn=24, n_classes=5):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, emb_size)
        self.word_rnn = nn.GRU(emb_size, word_rnn, bidirectional=True, batch_first=True)
        self.word_att = nn.Linear(2 * word_rnn, 1)
        self.sent_rnn = nn.GRU(2 * word_rnn, sent_rnn, bidirectional=True, batch_first=True)
        self.sent_att = nn.Linear(2 * sent_rnn, 1)
        self.fc = nn.Linear(2 * sent_rnn, n_classes)

    def forward(self, documents, sentences_per_document, words_per_sentence):
        packed = pack_padded_sequence(
            documents, lengths=sentences_per_document.tolist(), batch_first=True, enforce_sorted=False
        )
        words = pack_padded_sequence(
            words_per_sentence, lengths=sentences_per_document.tolist(), batch_first=True, enforce_sorted=False
        )
        w = pack_padded_sequence(self.emb(packed.data), words.data.cpu(), batch_first=True, enforce_sorted=False)
        h, lens = pad_packed_sequence(self.word_rnn(w)[0], batch_first=True)
        att = self.word_att(h).squeeze(2).masked_fill(~lengths_to_mask(lens, h.size(1)), -1e9).softmax(1)
        sents = (h * att.unsqueeze(2)).sum(1)
        s, _ = self.sent_rnn(packed._replace(data=sents))
        s, slens = pad_packed_sequence(s, batch_first=True)
        satt = self.sent_att(s).squeeze(2).masked_fill(~lengths_to_mask(slens, s.size(1)), -1e9).softmax(1)
        return self.fc((s * satt.unsqueeze(2)).sum(1)), att, satt


class EntityMemory(nn.Module):
    """End-to-end memory network with keys: story (B, S, W), query (B, W), times of sentences."""

    def __init__(self, num_vocab=120, embedding_dim=20, sentence_size=6, max_hops=3, memory_size=10):
        super().__init__()
        self.hops = max_hops
        self.A = nn.ModuleList(nn.Embedding(num_vocab, embedding_dim, padding_idx=0) for _ in range(max_hops + 1))
        self.T = nn.Parameter(torch.randn(memory_size, embedding_dim) * 0.1)
        enc = torch.ones(sentence_size, embedding_dim)
        for i in range(sentence_size):
            for j in range(embedding_dim):
                enc[i, j] += (
                    4
                    * (i + 1 - (sentence_size + 1) / 2)
                    * (j + 1 - (embedding_dim + 1) / 2)
                    / (sentence_size * embedding_dim)
                )
        self.register_buffer("encoding", enc)

    def forward(self, story, query):
        bs, slots = story.size(0), story.size(1)
        u = torch.sum(self.A[0](query) * self.encoding, 1)
        for hop in range(self.hops):
            m = self.A[hop](story.view(bs, -1)).view(*story.size(), -1)
            m = torch.sum(m * self.encoding, 2) + self.T[:slots]
            p = torch.softmax((m * u.unsqueeze(1)).sum(2), 1)
            c = self.A[hop + 1](story.view(bs * slots, -1)).view(*story.size(), -1).sum(2)
            u = u + (c * p.unsqueeze(2)).sum(1)
        return F.log_softmax(u @ self.A[self.hops].weight.t(), dim=-1)


class DialogueRanker(nn.Module):
    """Contexts and candidate responses; speakers alternate; one candidate is true."""

    def __init__(self, vocab: int = 500, dim: int = 32, max_turns: int = 8):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim, padding_idx=0)
        self.turn = nn.Embedding(max_turns, dim)
        self.spk = nn.Embedding(2, dim)
        self.utt = nn.GRU(dim, dim, batch_first=True)
        self.ctx = nn.GRU(dim, dim, batch_first=True)
        self.bilinear = nn.Parameter(torch.eye(dim))

    def _encode(self, ids: Tensor) -> Tensor:
        flat = ids.reshape(-1, ids.size(-1))
        _, h = self.utt(self.tok(flat))
        return h[-1].view(*ids.shape[:-1], -1)

    def forward(
        self, context: Tensor, speakers: Tensor, candidates: Tensor, labels: Optional[Tensor] = None
    ) -> dict[str, Tensor]:
        turns = self._encode(context)
        turns = turns + self.spk(speakers) + self.turn(torch.arange(turns.size(1), device=turns.device))
        _, c = self.ctx(turns)
        scores = torch.einsum("bd,de,bne->bn", c[-1], self.bilinear, self._encode(candidates))
        out = {"scores": scores}
        if labels is not None:
            out["loss"] = F.cross_entropy(scores, labels)
        return out


class SpanReader(nn.Module):
    """Reading comprehension with chars: words (B, L), chars (B, L, C), for context and question."""

    def __init__(self, n_words=300, n_chars=60, w_dim=32, c_dim=8, hidden=32, max_char_len=12):
        super().__init__()
        self.max_char_len = max_char_len
        self.word = nn.Embedding(n_words, w_dim, padding_idx=0)
        self.char = nn.Embedding(n_chars, c_dim, padding_idx=0)
        self.char_cnn = nn.Conv2d(1, 16, (c_dim, 5))
        self.rnn = nn.LSTM(w_dim + 16, hidden, batch_first=True, bidirectional=True)
        self.sim = nn.Linear(6 * hidden, 1)
        self.start = nn.Linear(8 * hidden, 1)
        self.end = nn.Linear(8 * hidden, 1)

    def embed(self, w, ch):
        b, length = w.shape
        c = self.char(ch).view(-1, self.max_char_len, self.char.embedding_dim).transpose(1, 2).unsqueeze(1)
        c = self.char_cnn(c).squeeze(2).max(-1)[0].view(b, length, -1)
        return self.rnn(torch.cat([self.word(w), c], -1))[0]

    def forward(self, c_words, c_chars, q_words, q_chars):
        c_mask, q_mask = c_words != 0, q_words != 0
        c, q = self.embed(c_words, c_chars), self.embed(q_words, q_chars)
        n, m = c.size(1), q.size(1)
        cc, qq = c.unsqueeze(2).expand(-1, -1, m, -1), q.unsqueeze(1).expand(-1, n, -1, -1)
        s = self.sim(torch.cat([cc, qq, cc * qq], -1)).squeeze(-1).masked_fill(~q_mask[:, None], -1e9)
        c2q = torch.bmm(s.softmax(2), q)
        q2c = torch.bmm(s.max(2)[0].softmax(1).unsqueeze(1), c).expand(-1, n, -1)
        g = torch.cat([c, c2q, c * c2q, c * q2c], -1)
        start = self.start(g).squeeze(-1).masked_fill(~c_mask, -1e9)
        end = self.end(g).squeeze(-1).masked_fill(~c_mask, -1e9)
        return start.log_softmax(-1), end.log_softmax(-1)
