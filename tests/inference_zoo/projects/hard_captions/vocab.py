from collections import Counter


class Vocab:
    specials = ("<pad>", "<start>", "<end>", "<unk>")

    def __init__(self, counter, min_freq=5):
        self.idx2word = [*self.specials, *(w for w, n in sorted(counter.items()) if n >= min_freq)]
        self.word2idx = {w: i for i, w in enumerate(self.idx2word)}

    @classmethod
    def build(cls, path, min_freq=5):
        with open(path) as file:
            return cls(Counter(word for line in file for word in line.split()), min_freq)

    def __call__(self, word):
        return self.word2idx.get(word, self.word2idx["<unk>"])

    def __len__(self):
        return len(self.idx2word)
