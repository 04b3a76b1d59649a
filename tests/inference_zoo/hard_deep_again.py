"""Hard: deep and slow models once more: fixed points, codecs, search of trees, long contexts, volumes over time.

Long because it is a list of models.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

__all__ = [
    "ConsistencyCodec",
    "DeepEquilibrium",
    "GreedyTransducer",
    "HamiltonianSimulator",
    "LongContextReader",
    "RecurrentMRI",
]


class DeepEquilibrium(nn.Module):
    """A block that is iterated to a fixed point, with Anderson's acceleration."""

    def __init__(self, channels=48, inner=64, num_groups=8, m=5, max_iter=25, tol=1e-3, num_classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, channels, 3, padding=1), nn.GroupNorm(num_groups, channels))
        self.conv1, self.conv2 = nn.Conv2d(channels, inner, 3, padding=1), nn.Conv2d(inner, channels, 3, padding=1)
        self.norm1, self.norm2 = nn.GroupNorm(num_groups, inner), nn.GroupNorm(num_groups, channels)
        self.pool, self.fc = nn.AvgPool2d(8, 8), nn.Linear(channels * 16, num_classes)
        self.m, self.max_iter, self.tol = m, max_iter, tol

    def cell(self, z, x):
        return self.norm2(F.relu(z + x + self.conv2(self.norm1(F.relu(self.conv1(z))))))

    def forward(self, img):
        x = self.stem(img)
        bsz, d, h, w = x.shape
        history = torch.zeros(bsz, self.m, d * h * w)
        images = torch.zeros(bsz, self.m, d * h * w)
        z = torch.zeros_like(x)
        for k in range(self.max_iter):
            fz = self.cell(z, x)
            history[:, k % self.m], images[:, k % self.m] = z.flatten(1), fz.flatten(1)
            n = min(k + 1, self.m)
            residual = images[:, :n] - history[:, :n]
            gram = residual @ residual.transpose(1, 2) + 1e-4 * torch.eye(n)
            alpha = torch.linalg.solve(gram, torch.ones(bsz, n, 1))
            alpha = alpha / alpha.sum(1, keepdim=True)
            z = (alpha.transpose(1, 2) @ images[:, :n]).view_as(x)
            if (fz - z).norm().item() / (1e-5 + fz.norm().item()) < self.tol:
                break
        return self.fc(self.pool(z).flatten(1))


class GreedyTransducer(nn.Module):
    """RNN-T: every frame may emit several labels, until a blank."""

    def __init__(self, input_dim, num_classes, encoder_dim=96, pred_dim=64, joint_dim=64, max_symbols=3, blank=0):
        super().__init__()
        self.subsample = nn.Sequential(nn.Conv2d(1, 16, 3, 2), nn.ReLU(), nn.Conv2d(16, 16, 3, 2), nn.ReLU())
        self.proj = nn.Linear(16 * (((input_dim - 1) // 2 - 1) // 2), encoder_dim)
        self.encoder = nn.LSTM(encoder_dim, encoder_dim, 4, batch_first=True)
        self.embed = nn.Embedding(num_classes, pred_dim, padding_idx=blank)
        self.predictor = nn.GRUCell(pred_dim, pred_dim)
        self.joint = nn.Sequential(
            nn.Linear(encoder_dim + pred_dim, joint_dim), nn.Tanh(), nn.Linear(joint_dim, num_classes)
        )
        self.max_symbols, self.blank, self.pred_dim = max_symbols, blank, pred_dim

    def forward(self, inputs, input_lengths):
        x = self.subsample(inputs.unsqueeze(1))
        b, c, t, f = x.shape
        memory, _ = self.encoder(self.proj(x.transpose(1, 2).reshape(b, t, c * f)))
        lengths = ((input_lengths - 1) // 2 - 1) // 2
        token = torch.full((b,), self.blank, dtype=torch.long)
        state = memory.new_zeros(b, self.pred_dim)
        outputs = []
        for frame in range(t):
            active = frame < lengths
            for _ in range(self.max_symbols):
                new_state = self.predictor(self.embed(token), state)
                logits = self.joint(torch.cat([memory[:, frame], new_state], -1))
                best = logits.argmax(-1)
                emits = active & (best != self.blank)
                token = torch.where(emits, best, token)
                state = torch.where(emits.unsqueeze(-1), new_state, state)
                outputs.append(logits)
        return torch.stack(outputs, 1)


class HamiltonianSimulator(nn.Module):
    """Particles by the gradient of a learnt energy: leapfrog steps, with autograd inside."""

    def __init__(self, n_particles=5, dim=2, hidden=64, dt=0.01, n_steps=20):
        super().__init__()
        self.n_particles, self.dim, self.dt, self.n_steps = n_particles, dim, dt, n_steps
        self.potential = nn.Sequential(nn.Linear(1, hidden), nn.Softplus(), nn.Linear(hidden, 1))
        self.log_mass = nn.Parameter(torch.zeros(n_particles))

    def energy(self, q):
        i, j = torch.triu_indices(self.n_particles, self.n_particles, offset=1)
        distance = (q[:, i] - q[:, j]).pow(2).sum(-1, keepdim=True).add(1e-6).sqrt()
        return self.potential(distance).sum((1, 2))

    def force(self, q):
        with torch.enable_grad():
            q = q.detach().requires_grad_()
            return -torch.autograd.grad(self.energy(q).sum(), q)[0]

    def forward(self, q, p):
        mass = self.log_mass.exp()[None, :, None]
        trajectory = []
        for _ in range(self.n_steps):
            p = p + 0.5 * self.dt * self.force(q)
            q = q + self.dt * p / mass
            p = p + 0.5 * self.dt * self.force(q)
            trajectory.append(torch.cat([q, p], dim=-1))
        return torch.stack(trajectory, dim=1), self.energy(q)


class LongContextReader(nn.Module):
    """Documents in overlapping chunks with a memory that is carried on, as in transformers with recurrence."""

    def __init__(self, vocab_size=32_000, d_model=128, n_head=4, n_layer=3, chunk=512, mem_slots=16, n_labels=3):
        super().__init__()
        self.chunk = chunk
        self.embed, self.pos = nn.Embedding(vocab_size, d_model), nn.Embedding(chunk, d_model)
        self.memory = nn.Parameter(torch.randn(mem_slots, d_model))
        layer = nn.TransformerEncoderLayer(d_model, n_head, 4 * d_model, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, n_layer, enable_nested_tensor=False)
        self.gate, self.head = nn.Linear(2 * d_model, d_model), nn.Linear(d_model, n_labels)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None):
        batch, length = input_ids.shape
        if length % self.chunk:
            raise ValueError(f"length {length} is no multiple of the chunk {self.chunk}")
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        memory = self.memory.expand(batch, -1, -1)
        slots = memory.shape[1]
        for start in range(0, length, self.chunk):
            ids, mask = input_ids[:, start : start + self.chunk], attention_mask[:, start : start + self.chunk]
            x = self.embed(ids) + self.pos.weight
            padding = torch.cat([mask.new_ones(batch, slots), mask], 1) == 0
            h = self.layers(torch.cat([memory, x], dim=1), src_key_padding_mask=padding)
            gate = torch.sigmoid(self.gate(torch.cat([memory, h[:, :slots]], -1)))
            memory = gate * memory + (1 - gate) * h[:, :slots]
        return self.head(memory.mean(1))


class RecurrentMRI(nn.Module):
    """Unrolled reconstruction: k-space with coils, sensitivity maps and a mask; complex numbers as pairs."""

    def __init__(self, num_cascades=8, chans=18, pools=3):
        super().__init__()
        self.regs = nn.ModuleList([self._unet(chans, pools) for _ in range(num_cascades)])
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(1)) for _ in range(num_cascades)])

    @staticmethod
    def _unet(chans, pools):
        layers, width = [], 2
        for i in range(pools):
            layers += [nn.Conv2d(width, chans * 2**i, 3, stride=2, padding=1), nn.LeakyReLU(0.2)]
            width = chans * 2**i
        for i in reversed(range(pools)):
            out = chans * 2 ** (i - 1) if i else 2
            layers += [nn.ConvTranspose2d(width, out, 2, 2), nn.LeakyReLU(0.2)]
            width = out
        return nn.Sequential(*layers)

    def forward(self, masked_kspace, mask, sens_maps):
        maps, reference = torch.view_as_complex(sens_maps), torch.view_as_complex(masked_kspace)
        kspace = reference
        for reg, weight in zip(self.regs, self.weights):
            image = (torch.fft.ifft2(kspace, norm="ortho") * maps.conj()).sum(1)
            update = reg(torch.view_as_real(image).permute(0, 3, 1, 2)).permute(0, 2, 3, 1).contiguous()
            update = torch.fft.fft2(torch.view_as_complex(update).unsqueeze(1) * maps, norm="ortho")
            kspace = kspace - torch.where(mask.bool(), kspace - reference, 0) * weight - update
        return torch.fft.ifft2(kspace, norm="ortho").abs().pow(2).sum(1).sqrt()


class ConsistencyCodec(nn.Module):
    """Waveforms by a codec with residual quantisers of many books, and strides that multiply to 320."""

    def __init__(self, sample_rate=24_000, channels=1, n_filters=16, ratios=(8, 5, 4, 2), dim=64, n_q=8, bins=1024):
        super().__init__()
        self.sample_rate = sample_rate
        encoder, width = [nn.Conv1d(channels, n_filters, 7, padding=3)], n_filters
        for ratio in reversed(ratios):
            encoder += [nn.ELU(), nn.Conv1d(width, 2 * width, 2 * ratio, ratio)]
            width *= 2
        self.encoder = nn.Sequential(*encoder, nn.ELU(), nn.Conv1d(width, dim, 7))
        self.books = nn.ParameterList([nn.Parameter(torch.randn(bins, dim)) for _ in range(n_q)])
        decoder = [nn.Conv1d(dim, width, 7, padding=3)]
        for ratio in ratios:
            decoder += [nn.ELU(), nn.ConvTranspose1d(width, width // 2, 2 * ratio, ratio)]
            width //= 2
        self.decoder = nn.Sequential(*decoder, nn.ELU(), nn.Conv1d(width, channels, 7, padding=3))

    def forward(self, x):
        assert x.dim() == 3 and x.shape[1] <= 2
        z = self.encoder(x).transpose(1, 2)
        residual, quantised, codes = z, torch.zeros_like(z), []
        for book in self.books:
            index = torch.cdist(residual, book.expand(z.size(0), -1, -1)).argmin(-1)
            picked = F.embedding(index, book)
            residual, quantised = residual - picked, quantised + picked
            codes.append(index)
        return self.decoder(quantised.transpose(1, 2)), torch.stack(codes)
