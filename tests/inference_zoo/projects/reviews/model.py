import torch
import torch.nn as nn


class StarPredictor(nn.Module):
    def __init__(self, args, n_products):
        super().__init__()
        self.product = nn.Embedding(n_products, args.dim)
        self.text = nn.EmbeddingBag(args.vocab, args.dim, mode=args.pool)
        self.mlp = nn.Sequential(
            nn.Linear(2 * args.dim, args.hidden), nn.ReLU(), nn.Dropout(args.dropout), nn.Linear(args.hidden, 1)
        )

    def forward(self, product, words, offsets):
        return self.mlp(torch.cat([self.product(product), self.text(words, offsets)], dim=1)).squeeze(1)
