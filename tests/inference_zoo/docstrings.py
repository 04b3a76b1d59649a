"""Shapes and dtypes that docstrings say, of inputs for which many others would run, too."""

import torch
from torch import nn


class TokenPooling(nn.Module):
    """Pools tokens of a frozen backbone."""

    def __init__(self, feat_dim=64, num_classes=7):
        super().__init__()
        self.score, self.fc = nn.Linear(feat_dim, 1), nn.Linear(feat_dim, num_classes)

    def forward(self, feats):
        """
        Args:
            feats: `[b, t, n, feat_dim]` tokens of t frames

        Returns:
            logits of each frame
        """
        weights = self.score(feats).softmax(-2)
        return self.fc((weights * feats).sum(-2))


class ReviewScorer(nn.Module):
    def __init__(self, vocab_size=100, embed_dim=16):
        super().__init__()
        self.embed, self.score = nn.Embedding(vocab_size, embed_dim), nn.Linear(embed_dim, 1)

    def forward(self, tokens, weights):
        """
        Parameters
        ----------
        tokens : LongTensor of shape (batch_size, num_sents, num_words)
            Word ids, 0 is padding.
        weights : FloatTensor of shape (batch_size, num_sents)
            How much a sentence counts.
        """
        sentences = self.embed(tokens).mean(-2)
        return self.score((sentences * weights.unsqueeze(-1)).sum(-2)).squeeze(-1)


class Beamformer(nn.Module):
    """Sphinx's own style."""

    def __init__(self, hidden=12):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(hidden, 1))

    def forward(self, recording):
        """Mix microphones.

        :param recording: tensor of shape (batch, microphones, 257, frames)
        """
        return (recording.unsqueeze(-1) @ self.gain.T).mean(1)
