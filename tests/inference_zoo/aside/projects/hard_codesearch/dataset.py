import json

import numpy as np
import torch
from torch.utils.data import Dataset


class WordTokenizer:
    """Words by their hash: for experiments without the files of a real tokenizer."""

    cls_token_id, pad_token_id, sep_token_id, unk_token_id = 0, 1, 2, 3

    def __init__(self, vocab_size):
        self.vocab_size = vocab_size

    def __call__(self, text):
        return [4 + sum(map(ord, w)) % (self.vocab_size - 4) for w in text.split()]


class CodeDataset(Dataset):
    """Lines of JSON: code_tokens, docstring_tokens and the data flow as (token, [tokens it comes from])."""

    def __init__(self, tokenizer, args, file_path):
        self.args = args
        self.tokenizer = tokenizer
        with open(file_path) as f:
            self.examples = [json.loads(line) for line in f]

    def __len__(self):
        return len(self.examples)

    def pad(self, ids, length):
        return ids[:length] + [self.tokenizer.pad_token_id] * (length - len(ids))

    def __getitem__(self, index):
        tok, args, js = self.tokenizer, self.args, self.examples[index]
        code = [tok.cls_token_id, *tok(" ".join(js["code_tokens"])), tok.sep_token_id][: args.code_length]
        dfg = js["dataflow"][: args.data_flow_length]
        position = [i + tok.pad_token_id + 1 for i in range(len(code))] + [0] * len(dfg)
        total = args.code_length + args.data_flow_length
        attn_mask = np.zeros((total, total), dtype=bool)
        attn_mask[: len(code), : len(code)] = True
        for i, (token, sources) in enumerate(dfg):
            node = len(code) + i
            attn_mask[node, node] = True
            if token < len(code):
                attn_mask[node, token] = attn_mask[token, node] = True
            for s in sources:
                if s < len(dfg):
                    attn_mask[node, len(code) + s] = True
        nl = [tok.cls_token_id, *tok(" ".join(js["docstring_tokens"])), tok.sep_token_id]
        return (
            torch.tensor(self.pad(code + [tok.unk_token_id] * len(dfg), total)),
            torch.tensor(attn_mask),
            torch.tensor(self.pad(position, total)),
            torch.tensor(self.pad(nl, args.nl_length)),
        )
