import torch
from torch import nn
from torch.nn import CrossEntropyLoss

from .encoder import Encoder


class CodeSearcher(nn.Module):
    def __init__(self, encoder: Encoder, config, tokenizer, args):
        super().__init__()
        self.encoder = encoder
        self.config = config
        self.tokenizer = tokenizer
        self.args = args
        self.scale = nn.Parameter(torch.ones([]) * 20.0)

    def code_embeds(self, code_inputs, attn_mask, position_idx):
        # nodes of the data flow have position 0, tokens positions from 2, padding has 1
        nodes_mask = position_idx.eq(0)
        token_mask = position_idx.ge(2)
        inputs_embeddings = self.encoder.embeddings.word_embeddings(code_inputs)
        nodes_to_token_mask = nodes_mask[:, :, None] & token_mask[:, None, :] & attn_mask
        nodes_to_token_mask = nodes_to_token_mask / (nodes_to_token_mask.sum(-1) + 1e-10)[:, :, None]
        avg_embeddings = torch.einsum("abc,acd->abd", nodes_to_token_mask, inputs_embeddings)
        inputs_embeddings = inputs_embeddings * (~nodes_mask)[:, :, None] + avg_embeddings * nodes_mask[:, :, None]
        return self.encoder(inputs_embeddings, attn_mask, position_idx)[1]

    def nl_embeds(self, nl_inputs):
        mask = nl_inputs.ne(self.config.pad_token_id)
        positions = torch.cumsum(mask, 1) * mask + self.config.pad_token_id
        return self.encoder(self.encoder.embeddings.word_embeddings(nl_inputs), mask, positions)[1]

    def forward(self, code_inputs=None, attn_mask=None, position_idx=None, nl_inputs=None, return_vec=False):
        if code_inputs is None:
            return self.nl_embeds(nl_inputs)
        code_vec = self.code_embeds(code_inputs, attn_mask, position_idx)
        if nl_inputs is None:
            return code_vec
        nl_vec = self.nl_embeds(nl_inputs)
        if return_vec:
            return code_vec, nl_vec
        code_vec = nn.functional.normalize(code_vec, dim=-1)
        nl_vec = nn.functional.normalize(nl_vec, dim=-1)
        scores = torch.einsum("ab,cb->ac", nl_vec, code_vec) * self.scale
        loss = CrossEntropyLoss()(scores, torch.arange(code_inputs.size(0), device=scores.device))
        return loss, scores
