import torch
import torch.nn as nn


class ReviewNet(nn.Module):
    def __init__(self, vectors, hidden, n_stars, freeze=True):
        super().__init__()
        self.emb = nn.Embedding.from_pretrained(torch.as_tensor(vectors, dtype=torch.float), freeze=freeze)
        self.rnn = nn.GRU(self.emb.embedding_dim, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, n_stars)

    def forward(self, review):
        _, h = self.rnn(self.emb(review))
        return self.out(torch.cat([h[0], h[1]], 1))


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
