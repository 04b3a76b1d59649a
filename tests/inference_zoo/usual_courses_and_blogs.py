"""Usual: what courses, blog posts and first repositories show.

Long because it is a list of models.
"""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

__all__ = [
    "DQN",
    "NCF",
    "ActorCritic",
    "AttnDecoderRNN",
    "BiLSTMClassifier",
    "CaptionDecoder",
    "CharRNN",
    "ColorizeNet",
    "DenoisingUNet",
    "GATLayer",
    "GraphSAGE",
    "LitClassifier",
    "MNISTFlow",
    "MultiTaskFace",
    "NextFrameConvLSTM",
    "PointNetCls",
    "PositionalLM",
    "SiameseNet",
    "SpeechCommandNet",
    "StyleTransferNet",
    "TabularModel",
    "VanillaGAN",
]


class BiLSTMClassifier(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_dim, output_dim, n_layers, bidirectional, dropout, pad_idx):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=pad_idx)
        self.rnn = nn.LSTM(embedding_dim, hidden_dim, num_layers=n_layers, bidirectional=bidirectional, dropout=dropout)
        self.fc = nn.Linear(hidden_dim * 2, output_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, text, text_lengths):
        # text = [sent len, batch size]
        embedded = self.dropout(self.embedding(text))
        packed_embedded = pack_padded_sequence(embedded, text_lengths.to("cpu"), enforce_sorted=False)
        packed_output, (hidden, cell) = self.rnn(packed_embedded)
        output, output_lengths = pad_packed_sequence(packed_output)
        hidden = self.dropout(torch.cat((hidden[-2, :, :], hidden[-1, :, :]), dim=1))
        return self.fc(hidden)


class CharRNN(nn.Module):
    def __init__(self, tokens, n_hidden=64, n_layers=2, drop_prob=0.5):
        super().__init__()
        self.n_layers, self.n_hidden = n_layers, n_hidden
        self.chars = tokens
        self.int2char = dict(enumerate(self.chars))
        self.char2int = {ch: ii for ii, ch in self.int2char.items()}
        self.lstm = nn.LSTM(len(self.chars), n_hidden, n_layers, dropout=drop_prob, batch_first=True)
        self.dropout = nn.Dropout(drop_prob)
        self.fc = nn.Linear(n_hidden, len(self.chars))

    def forward(self, x, hidden):
        r_output, hidden = self.lstm(x, hidden)
        out = self.dropout(r_output).contiguous().view(-1, self.n_hidden)
        return self.fc(out), hidden

    def init_hidden(self, batch_size):
        weight = next(self.parameters()).data
        return (
            weight.new(self.n_layers, batch_size, self.n_hidden).zero_(),
            weight.new(self.n_layers, batch_size, self.n_hidden).zero_(),
        )


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, dropout_p=0.1, max_length=10):
        super().__init__()
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attn = nn.Linear(hidden_size * 2, max_length)
        self.attn_combine = nn.Linear(hidden_size * 2, hidden_size)
        self.dropout = nn.Dropout(dropout_p)
        self.gru = nn.GRU(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, output_size)

    def forward(self, input, hidden, encoder_outputs):
        embedded = self.dropout(self.embedding(input).view(1, 1, -1))
        attn_weights = F.softmax(self.attn(torch.cat((embedded[0], hidden[0]), 1)), dim=1)
        attn_applied = torch.bmm(attn_weights.unsqueeze(0), encoder_outputs.unsqueeze(0))
        output = torch.cat((embedded[0], attn_applied[0]), 1)
        output = F.relu(self.attn_combine(output).unsqueeze(0))
        output, hidden = self.gru(output, hidden)
        return F.log_softmax(self.out(output[0]), dim=1), hidden, attn_weights

    def initHidden(self):
        return torch.zeros(1, 1, self.hidden_size)


class CaptionDecoder(nn.Module):
    def __init__(self, embed_size, hidden_size, vocab_size, num_layers=1):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, embed_size)
        self.lstm = nn.LSTM(embed_size, hidden_size, num_layers, batch_first=True)
        self.linear = nn.Linear(hidden_size, vocab_size)

    def forward(self, features, captions):
        embeddings = self.embed(captions[:, :-1])
        embeddings = torch.cat((features.unsqueeze(1), embeddings), 1)
        hiddens, _ = self.lstm(embeddings)
        return self.linear(hiddens)


class DQN(nn.Module):
    def __init__(self, h, w, outputs):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, kernel_size=5, stride=2)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, kernel_size=5, stride=2)
        self.bn2 = nn.BatchNorm2d(32)

        def conv2d_size_out(size, kernel_size=5, stride=2):
            return (size - (kernel_size - 1) - 1) // stride + 1

        convw = conv2d_size_out(conv2d_size_out(w))
        convh = conv2d_size_out(conv2d_size_out(h))
        self.head = nn.Linear(convw * convh * 32, outputs)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        return self.head(x.view(x.size(0), -1))


class ActorCritic(nn.Module):
    def __init__(self, num_inputs, action_space, hidden=64):
        super().__init__()
        self.conv1 = nn.Conv2d(num_inputs, 32, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(32, 32, 3, stride=2, padding=1)
        self.lstm = nn.LSTMCell(32 * 11 * 11, hidden)
        self.critic_linear = nn.Linear(hidden, 1)
        self.actor_linear = nn.Linear(hidden, action_space.n)

    def forward(self, inputs):
        inputs, (hx, cx) = inputs
        x = F.elu(self.conv1(inputs))
        x = F.elu(self.conv2(x))
        x = x.view(-1, 32 * 11 * 11)
        hx, cx = self.lstm(x, (hx, cx))
        return self.critic_linear(hx), self.actor_linear(hx), (hx, cx)


class ColorizeNet(nn.Module):
    def __init__(self, input_size=128):
        super().__init__()
        self.midlevel = nn.Sequential(
            nn.Conv2d(1, 32, 7, 2, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU()
        )
        self.upsample = nn.Sequential(
            nn.Conv2d(64, 32, 3, padding=1),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(32, 2, 3, padding=1),
            nn.Upsample(scale_factor=2),
        )

    def forward(self, input):
        return self.upsample(self.midlevel(input))


class DoubleConv(nn.Module):
    def __init__(self, in_c, out_c, time_dim):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(in_c, out_c, 3, padding=1), nn.GroupNorm(1, out_c), nn.GELU())
        self.emb = nn.Sequential(nn.SiLU(), nn.Linear(time_dim, out_c))

    def forward(self, x, t):
        x = self.conv(x)
        return x + self.emb(t)[:, :, None, None].repeat(1, 1, x.shape[-2], x.shape[-1])


class DenoisingUNet(nn.Module):
    def __init__(self, c_in=3, c_out=3, time_dim=64, num_classes=None, device="cpu"):
        super().__init__()
        self.device, self.time_dim = device, time_dim
        self.d1, self.d2 = DoubleConv(c_in, 32, time_dim), DoubleConv(32, 64, time_dim)
        self.u1 = DoubleConv(96, 32, time_dim)
        self.out = nn.Conv2d(32, c_out, 1)
        if num_classes is not None:
            self.label_emb = nn.Embedding(num_classes, time_dim)

    def pos_encoding(self, t, channels):
        inv_freq = 1.0 / (10000 ** (torch.arange(0, channels, 2, device=self.device).float() / channels))
        a = torch.sin(t.repeat(1, channels // 2) * inv_freq)
        b = torch.cos(t.repeat(1, channels // 2) * inv_freq)
        return torch.cat([a, b], dim=-1)

    def forward(self, x, t, y=None):
        t = self.pos_encoding(t.unsqueeze(-1).type(torch.float), self.time_dim)
        if y is not None:
            t = t + self.label_emb(y)
        x1 = self.d1(x, t)
        x2 = self.d2(F.max_pool2d(x1, 2), t)
        x = self.u1(torch.cat([F.interpolate(x2, scale_factor=2), x1], 1), t)
        return self.out(x)


class GATLayer(nn.Module):
    def __init__(self, c_in, c_out, num_heads=1, concat_heads=True, alpha=0.2):
        super().__init__()
        self.num_heads, self.concat_heads = num_heads, concat_heads
        if self.concat_heads:
            assert c_out % num_heads == 0, "Number of output features must be a multiple of the count of heads."
            c_out = c_out // num_heads
        self.projection = nn.Linear(c_in, c_out * num_heads)
        self.a = nn.Parameter(torch.Tensor(num_heads, 2 * c_out))
        self.leakyrelu = nn.LeakyReLU(alpha)
        nn.init.xavier_uniform_(self.a.data, gain=1.414)

    def forward(self, node_feats, adj_matrix):
        batch_size, num_nodes = node_feats.size(0), node_feats.size(1)
        h = self.projection(node_feats).view(batch_size, num_nodes, self.num_heads, -1)
        c = h.size(-1)
        left = (h * self.a[:, :c]).sum(-1)
        right = (h * self.a[:, c:]).sum(-1)
        logits = self.leakyrelu(left[:, :, None] + right[:, None])
        logits = logits.masked_fill(adj_matrix[..., None] == 0, -9e15)
        out = torch.einsum("bijh,bjhc->bihc", F.softmax(logits, dim=2), h)
        return out.reshape(batch_size, num_nodes, -1) if self.concat_heads else out.mean(dim=2)


class GraphSAGE(torch.nn.Module):
    def __init__(self, in_channels, hidden_channels, out_channels, num_layers, dropout):
        super().__init__()
        dims = [in_channels] + [hidden_channels] * (num_layers - 1) + [out_channels]
        self.self_lins = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims, dims[1:]))
        self.neigh_lins = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims, dims[1:]))
        self.dropout = dropout

    def forward(self, x, edge_index):
        for i, (own, neigh) in enumerate(zip(self.self_lins, self.neigh_lins)):
            src, dst = edge_index
            agg = torch.zeros_like(x).index_add(0, dst, x[src])
            deg = torch.zeros(x.size(0)).index_add(0, dst, torch.ones(src.size(0))).clamp(min=1)
            x = own(x) + neigh(agg / deg[:, None])
            if i < len(self.self_lins) - 1:
                x = F.dropout(F.relu(x), p=self.dropout, training=self.training)
        return x.log_softmax(dim=-1)


class LitClassifier(nn.Module):
    def __init__(self, backbone, learning_rate=1e-3, num_classes=10):
        super().__init__()
        self.backbone = backbone
        self.learning_rate = learning_rate
        self.head = nn.LazyLinear(num_classes)

    def forward(self, x):
        return self.head(self.backbone(x))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self(x), y)


class MNISTFlow(nn.Module):
    def __init__(self, dim, n_flows, hidden):
        super().__init__()
        self.half = dim // 2
        self.nets = nn.ModuleList(
            [
                nn.Sequential(nn.Linear(self.half, hidden), nn.ReLU(), nn.Linear(hidden, 2 * (dim - self.half)))
                for _ in range(n_flows)
            ]
        )

    def forward(self, x):
        log_det = torch.zeros(x.shape[0])
        for net in self.nets:
            a, b = x[:, : self.half], x[:, self.half :]
            s, t = net(a).chunk(2, dim=1)
            b = b * torch.exp(s) + t
            log_det = log_det + s.sum(1)
            x = torch.cat([b, a], dim=1)
        return x, log_det


class MultiTaskFace(nn.Module):
    def __init__(self, model, num_age_bins: int, num_ethnicities: int):
        super().__init__()
        self.net = model
        self.n_features = self.net.fc.in_features
        self.net.fc = nn.Identity()
        self.age = nn.Linear(self.n_features, num_age_bins)
        self.gender = nn.Linear(self.n_features, 1)
        self.ethnicity = nn.Linear(self.n_features, num_ethnicities)

    def forward(self, x):
        f = self.net(x)
        return self.age(f), self.gender(f), self.ethnicity(f)


class NCF(nn.Module):
    def __init__(self, num_users, num_items, ratings=None, all_movieIds=None, mf_dim=8, layers=(16, 8)):
        super().__init__()
        self.user_embedding = nn.Embedding(num_users, mf_dim)
        self.item_embedding = nn.Embedding(num_items, mf_dim)
        self.fc1 = nn.Linear(2 * mf_dim, layers[0])
        self.fc2 = nn.Linear(*layers)
        self.output = nn.Linear(layers[-1], 1)

    def forward(self, user_input, item_input):
        v = torch.cat([self.user_embedding(user_input), self.item_embedding(item_input)], dim=-1)
        return nn.Sigmoid()(self.output(F.relu(self.fc2(F.relu(self.fc1(v))))))


class ConvLSTMCell(nn.Module):
    def __init__(self, input_dim, hidden_dim, kernel_size, bias):
        super().__init__()
        self.hidden_dim = hidden_dim
        padding = kernel_size[0] // 2, kernel_size[1] // 2
        self.conv = nn.Conv2d(input_dim + hidden_dim, 4 * hidden_dim, kernel_size, padding=padding, bias=bias)

    def forward(self, input_tensor, cur_state):
        h_cur, c_cur = cur_state
        i, f, o, g = torch.split(self.conv(torch.cat([input_tensor, h_cur], dim=1)), self.hidden_dim, dim=1)
        c_next = torch.sigmoid(f) * c_cur + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c_next), c_next

    def init_hidden(self, batch_size, image_size):
        height, width = image_size
        return (
            torch.zeros(batch_size, self.hidden_dim, height, width),
            torch.zeros(batch_size, self.hidden_dim, height, width),
        )


class NextFrameConvLSTM(nn.Module):
    def __init__(self, nf, in_chan):
        super().__init__()
        self.encoder_1 = ConvLSTMCell(in_chan, nf, kernel_size=(3, 3), bias=True)
        self.decoder_1 = ConvLSTMCell(nf, nf, kernel_size=(3, 3), bias=True)
        self.decoder_cnn = nn.Conv3d(nf, 1, kernel_size=(1, 3, 3), padding=(0, 1, 1))

    def forward(self, x, future_seq=0, hidden_state=None):
        b, seq_len, _, h, w = x.size()
        h_t, c_t = self.encoder_1.init_hidden(b, (h, w))
        h_t2, c_t2 = self.decoder_1.init_hidden(b, (h, w))
        for t in range(seq_len):
            h_t, c_t = self.encoder_1(x[:, t], (h_t, c_t))
        outputs, vector = [], h_t
        for _ in range(future_seq or 1):
            h_t2, c_t2 = self.decoder_1(vector, (h_t2, c_t2))
            vector = h_t2
            outputs.append(h_t2)
        return torch.sigmoid(self.decoder_cnn(torch.stack(outputs, 1).permute(0, 2, 1, 3, 4)))


class TNet(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.conv, self.fc = nn.Conv1d(k, 64, 1), nn.Linear(64, k * k)

    def forward(self, x):
        x = torch.max(F.relu(self.conv(x)), 2)[0]
        iden = torch.eye(self.k).flatten().expand(x.size(0), -1)
        return (self.fc(x) + iden).view(-1, self.k, self.k)


class PointNetCls(nn.Module):
    def __init__(self, k=2, feature_transform=False):
        super().__init__()
        self.stn, self.fstn = TNet(3), TNet(64) if feature_transform else None
        self.conv1, self.conv2 = nn.Conv1d(3, 64, 1), nn.Conv1d(64, 128, 1)
        self.bn = nn.BatchNorm1d(128)
        self.fc = nn.Linear(128, k)

    def forward(self, x):
        trans = self.stn(x)
        x = torch.bmm(x.transpose(2, 1), trans).transpose(2, 1)
        x = F.relu(self.conv1(x))
        trans_feat = None
        if self.fstn is not None:
            trans_feat = self.fstn(x)
            x = torch.bmm(x.transpose(2, 1), trans_feat).transpose(2, 1)
        x = torch.max(self.bn(self.conv2(x)), 2, keepdim=True)[0].view(-1, 128)
        return F.log_softmax(self.fc(x), dim=1), trans, trans_feat


class PositionalLM(nn.Module):
    def __init__(self, ntoken: int, d_model: int, nhead: int, d_hid: int, nlayers: int, dropout: float = 0.5):
        super().__init__()
        self.pos = nn.Parameter(torch.zeros(512, 1, d_model))
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(d_model, nhead, d_hid, dropout), nlayers)
        self.embedding = nn.Embedding(ntoken, d_model)
        self.d_model = d_model
        self.linear = nn.Linear(d_model, ntoken)

    def forward(self, src, src_mask=None):
        """src: ``[seq_len, batch_size]``, src_mask: ``[seq_len, seq_len]``"""
        src = self.embedding(src) * self.d_model**0.5
        src = src + self.pos[: src.size(0)]
        if src_mask is None:
            src_mask = nn.Transformer.generate_square_subsequent_mask(len(src))
        return self.linear(self.encoder(src, src_mask))


class SiameseNet(nn.Module):
    def __init__(self, embedding_net):
        super().__init__()
        self.embedding_net = embedding_net

    def forward(self, x1, x2):
        return self.embedding_net(x1), self.embedding_net(x2)

    def get_embedding(self, x):
        return self.embedding_net(x)


class SpeechCommandNet(nn.Module):
    def __init__(self, n_input=1, n_output=35, stride=16, n_channel=32):
        super().__init__()
        self.conv1 = nn.Conv1d(n_input, n_channel, kernel_size=80, stride=stride)
        self.bn1 = nn.BatchNorm1d(n_channel)
        self.pool1 = nn.MaxPool1d(4)
        self.conv2 = nn.Conv1d(n_channel, 2 * n_channel, kernel_size=3)
        self.pool2 = nn.MaxPool1d(4)
        self.fc1 = nn.Linear(2 * n_channel, n_output)

    def forward(self, x):
        x = self.pool1(F.relu(self.bn1(self.conv1(x))))
        x = self.pool2(F.relu(self.conv2(x)))
        x = F.avg_pool1d(x, x.shape[-1]).permute(0, 2, 1)
        return F.log_softmax(self.fc1(x), dim=2)


class StyleTransferNet(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        for p in self.encoder.parameters():
            p.requires_grad = False

    def forward(self, content, style, alpha=1.0):
        assert 0 <= alpha <= 1
        c, s = self.encoder(content), self.encoder(style)
        mean, std = s.mean((2, 3), keepdim=True), s.std((2, 3), keepdim=True)
        t = (c - c.mean((2, 3), keepdim=True)) / (c.std((2, 3), keepdim=True) + 1e-5) * std + mean
        return self.decoder(alpha * t + (1 - alpha) * c)


vgg_like = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU()
)
decoder = nn.Sequential(
    nn.Conv2d(32, 16, 3, padding=1), nn.ReLU(), nn.Upsample(scale_factor=2), nn.Conv2d(16, 3, 3, padding=1)
)


class TabularModel(nn.Module):
    def __init__(self, emb_szs, n_cont, out_sz, layers, p=0.5):
        super().__init__()
        self.embeds = nn.ModuleList([nn.Embedding(ni, nf) for ni, nf in emb_szs])
        self.emb_drop = nn.Dropout(p)
        self.bn_cont = nn.BatchNorm1d(n_cont)
        layerlist = []
        n_emb = sum(nf for ni, nf in emb_szs)
        n_in = n_emb + n_cont
        for i in layers:
            layerlist += [nn.Linear(n_in, i), nn.ReLU(inplace=True), nn.BatchNorm1d(i), nn.Dropout(p)]
            n_in = i
        layerlist.append(nn.Linear(layers[-1], out_sz))
        self.layers = nn.Sequential(*layerlist)

    def forward(self, x_cat, x_cont):
        embeddings = [e(x_cat[:, i]) for i, e in enumerate(self.embeds)]
        x = self.emb_drop(torch.cat(embeddings, 1))
        x = torch.cat([x, self.bn_cont(x_cont)], 1)
        return self.layers(x)


class VanillaGAN(nn.Module):
    def __init__(self, latent_dim, img_shape):
        super().__init__()
        self.img_shape = img_shape

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        numel = 1
        for side in img_shape:
            numel *= side
        self.model = nn.Sequential(
            *block(latent_dim, 64, normalize=False), *block(64, 128), nn.Linear(128, numel), nn.Tanh()
        )

    def forward(self, z):
        img = self.model(z)
        return img.view(img.size(0), *self.img_shape)
