"""Hard: research code of several labs, with configurations, dictionaries of inputs and injected modules.

Long because it is a list of models.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

__all__ = ["NARM", "BiaffineDependencyParser", "EDMPrecond", "MCAT_Surv", "TemporalFusionTransformer"]


# forecasts with known and observed covariates


class ElectricityConfig:
    def __init__(self):
        self.temporal_known_continuous_inp_size = 3
        self.temporal_observed_continuous_inp_size = 0
        self.temporal_target_size = 1
        self.static_continuous_inp_size = 0
        self.static_categorical_inp_lens = [369]
        self.temporal_known_categorical_inp_lens = []
        self.temporal_observed_categorical_inp_lens = []

        self.example_length = 8 * 24
        self.encoder_length = 7 * 24

        self.n_head = 4
        self.hidden_size = 128
        self.dropout = 0.1
        self.attn_dropout = 0.0
        self.quantiles = [0.1, 0.5, 0.9]

        # derived
        self.num_static_vars = self.static_continuous_inp_size + len(self.static_categorical_inp_lens)
        self.num_future_vars = self.temporal_known_continuous_inp_size + len(self.temporal_known_categorical_inp_lens)
        self.num_historic_vars = sum(
            [
                self.num_future_vars,
                self.temporal_observed_continuous_inp_size,
                self.temporal_target_size,
                len(self.temporal_observed_categorical_inp_lens),
            ]
        )


class GLU(nn.Module):
    def __init__(self, hidden_size, output_size):
        super().__init__()
        self.lin = nn.Linear(hidden_size, output_size * 2)

    def forward(self, x: Tensor) -> Tensor:
        return F.glu(self.lin(x))


class GRN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size=None, context_hidden_size=None, dropout=0.0):
        super().__init__()
        self.layer_norm = nn.LayerNorm(output_size or hidden_size, eps=1e-3)
        self.lin_a = nn.Linear(input_size, hidden_size)
        self.lin_c = nn.Linear(context_hidden_size, hidden_size, bias=False) if context_hidden_size else None
        self.lin_i = nn.Linear(hidden_size, hidden_size)
        self.glu = GLU(hidden_size, output_size or hidden_size)
        self.dropout = nn.Dropout(dropout)
        self.out_proj = nn.Linear(input_size, output_size) if output_size else None

    def forward(self, a: Tensor, c: Optional[Tensor] = None):
        x = self.lin_a(a)
        if c is not None:
            x = x + self.lin_c(c).unsqueeze(1)
        x = self.lin_i(F.elu(x))
        x = self.glu(self.dropout(x))
        y = a if self.out_proj is None else self.out_proj(a)
        return self.layer_norm(x + y)


class TFTEmbedding(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.s_cat_inp_lens = config.static_categorical_inp_lens
        self.t_cat_k_inp_lens = config.temporal_known_categorical_inp_lens
        self.t_cat_o_inp_lens = config.temporal_observed_categorical_inp_lens
        self.s_cont_inp_size = config.static_continuous_inp_size
        self.t_cont_k_inp_size = config.temporal_known_continuous_inp_size
        self.t_cont_o_inp_size = config.temporal_observed_continuous_inp_size
        self.t_tgt_size = config.temporal_target_size
        self.hidden_size = config.hidden_size

        self.s_cat_embed, self.s_cont_vectors, self.s_cont_bias = self._tables(
            self.s_cat_inp_lens, self.s_cont_inp_size
        )
        self.t_cat_k_embed, self.t_cont_k_vectors, self.t_cont_k_bias = self._tables(
            self.t_cat_k_inp_lens, self.t_cont_k_inp_size
        )
        self.t_cat_o_embed, self.t_cont_o_vectors, self.t_cont_o_bias = self._tables(
            self.t_cat_o_inp_lens, self.t_cont_o_inp_size
        )
        _, self.t_tgt_vectors, self.t_tgt_bias = self._tables([], self.t_tgt_size)

    def _tables(self, lens, size):
        embed = nn.ModuleList([nn.Embedding(n, self.hidden_size) for n in lens]) if lens else None
        if not size:
            return embed, None, None
        vectors = nn.Parameter(torch.empty(size, self.hidden_size))
        torch.nn.init.xavier_normal_(vectors)
        return embed, vectors, nn.Parameter(torch.zeros(size, self.hidden_size))

    def _apply_embedding(self, cat, cont, cat_emb, cont_emb, cont_bias):
        e_cat = (
            torch.stack([embed(cat[..., i]) for i, embed in enumerate(cat_emb)], dim=-2) if cat is not None else None
        )
        if cont is not None:
            e_cont = torch.mul(cont.unsqueeze(-1), cont_emb) + cont_bias
        else:
            e_cont = None
        if e_cat is not None and e_cont is not None:
            return torch.cat([e_cat, e_cont], dim=-2)
        return e_cat if e_cat is not None else e_cont

    def forward(self, x: dict[str, Tensor]):
        s_cat_inp = x.get("s_cat")
        s_cont_inp = x.get("s_cont")
        t_cat_k_inp = x.get("k_cat")
        t_cont_k_inp = x.get("k_cont")
        t_cat_o_inp = x.get("o_cat")
        t_cont_o_inp = x.get("o_cont")
        t_tgt_obs = x["target"]  # Has to be present

        # Static inputs are expected to be equal for all timesteps
        s_cat_inp = s_cat_inp[:, 0, :] if s_cat_inp is not None else None
        s_cont_inp = s_cont_inp[:, 0, :] if s_cont_inp is not None else None

        s_inp = self._apply_embedding(s_cat_inp, s_cont_inp, self.s_cat_embed, self.s_cont_vectors, self.s_cont_bias)
        t_known_inp = self._apply_embedding(
            t_cat_k_inp, t_cont_k_inp, self.t_cat_k_embed, self.t_cont_k_vectors, self.t_cont_k_bias
        )
        t_observed_inp = self._apply_embedding(
            t_cat_o_inp, t_cont_o_inp, self.t_cat_o_embed, self.t_cont_o_vectors, self.t_cont_o_bias
        )
        t_observed_tgt = torch.matmul(t_tgt_obs.unsqueeze(3).unsqueeze(4), self.t_tgt_vectors.unsqueeze(1)).squeeze(3)
        t_observed_tgt = t_observed_tgt + self.t_tgt_bias
        return s_inp, t_known_inp, t_observed_inp, t_observed_tgt


class VariableSelectionNetwork(nn.Module):
    def __init__(self, config, num_inputs):
        super().__init__()
        self.joint_grn = GRN(
            config.hidden_size * num_inputs,
            config.hidden_size,
            output_size=num_inputs,
            context_hidden_size=config.hidden_size,
        )
        self.var_grns = nn.ModuleList(
            [GRN(config.hidden_size, config.hidden_size, dropout=config.dropout) for _ in range(num_inputs)]
        )

    def forward(self, x: Tensor, context: Optional[Tensor] = None):
        Xi = torch.flatten(x, start_dim=-2)
        grn_outputs = self.joint_grn(Xi, c=context)
        sparse_weights = F.softmax(grn_outputs, dim=-1)
        transformed_embed_list = [m(x[..., i, :]) for i, m in enumerate(self.var_grns)]
        transformed_embed = torch.stack(transformed_embed_list, dim=-1)
        # the line below performs batched matrix vector multiplication
        variable_ctx = torch.matmul(transformed_embed, sparse_weights.unsqueeze(-1)).squeeze(-1)
        return variable_ctx, sparse_weights


class InterpretableMultiHeadAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n_head = config.n_head
        assert config.hidden_size % config.n_head == 0
        self.d_head = config.hidden_size // config.n_head
        self.qkv_linears = nn.Linear(config.hidden_size, (2 * self.n_head + 1) * self.d_head, bias=False)
        self.out_proj = nn.Linear(self.d_head, config.hidden_size, bias=False)
        self.attn_dropout = nn.Dropout(config.attn_dropout)
        self.out_dropout = nn.Dropout(config.dropout)
        self.scale = self.d_head**-0.5
        self.register_buffer(
            "_mask", torch.triu(torch.full((config.example_length, config.example_length), float("-inf")), 1)
        )

    def forward(self, x: Tensor):
        bs, t, h_size = x.shape
        qkv = self.qkv_linears(x)
        q, k, v = qkv.split((self.n_head * self.d_head, self.n_head * self.d_head, self.d_head), dim=-1)
        q = q.view(bs, t, self.n_head, self.d_head)
        k = k.view(bs, t, self.n_head, self.d_head)
        v = v.view(bs, t, self.d_head)
        attn_score = torch.matmul(q.permute((0, 2, 1, 3)), k.permute((0, 2, 3, 1)))
        attn_score.mul_(self.scale)
        attn_score = attn_score + self._mask[:t, :t]
        attn_prob = F.softmax(attn_score, dim=3)
        attn_prob = self.attn_dropout(attn_prob)
        attn_vec = torch.matmul(attn_prob, v.unsqueeze(1))
        m_attn_vec = torch.mean(attn_vec, dim=1)
        return self.out_dropout(self.out_proj(m_attn_vec)), attn_vec


class TemporalFusionTransformer(nn.Module):
    """
    Implementation of https://arxiv.org/abs/1912.09363
    """

    def __init__(self, config):
        super().__init__()
        if hasattr(config, "model"):
            config = config.model
        self.encoder_length = config.encoder_length  # this determines from how distant past we want to use data from
        self.embedding = TFTEmbedding(config)
        h = config.hidden_size
        self.static_vsn = VariableSelectionNetwork(config, config.num_static_vars)
        self.context_grns = nn.ModuleList([GRN(h, h, dropout=config.dropout) for _ in range(4)])

        self.history_vsn = VariableSelectionNetwork(config, config.num_historic_vars)
        self.history_encoder = nn.LSTM(h, h, batch_first=True)
        self.future_vsn = VariableSelectionNetwork(config, config.num_future_vars)
        self.future_encoder = nn.LSTM(h, h, batch_first=True)
        self.input_gate = GLU(h, h)
        self.input_gate_ln = nn.LayerNorm(h, eps=1e-3)
        self.enrichment_grn = GRN(h, h, context_hidden_size=h, dropout=config.dropout)
        self.attention = InterpretableMultiHeadAttention(config)
        self.attention_gate = GLU(h, h)
        self.attention_ln = nn.LayerNorm(h, eps=1e-3)
        self.positionwise_grn = GRN(h, h, dropout=config.dropout)
        self.decoder_gate = GLU(h, h)
        self.decoder_ln = nn.LayerNorm(h, eps=1e-3)
        self.quantile_proj = nn.Linear(h, len(config.quantiles))

    def forward(self, x: dict[str, Tensor]) -> Tensor:
        s_inp, t_known_inp, t_observed_inp, t_observed_tgt = self.embedding(x)

        # Static context
        static_ctx, _ = self.static_vsn(s_inp.unsqueeze(1))
        cs, ce, ch, cc = (m(static_ctx.squeeze(1)) for m in self.context_grns)
        ch, cc = ch.unsqueeze(0), cc.unsqueeze(0)  # lstm initial states

        # Temporal input
        _historical_inputs = [t_known_inp[:, : self.encoder_length, :], t_observed_tgt[:, : self.encoder_length, :]]
        if t_observed_inp is not None:
            _historical_inputs.insert(0, t_observed_inp[:, : self.encoder_length, :])
        historical_inputs = torch.cat(_historical_inputs, dim=-2)
        future_inputs = t_known_inp[:, self.encoder_length :]

        # Encoders
        historical_features, _ = self.history_vsn(historical_inputs, cs)
        history, state = self.history_encoder(historical_features, (ch, cc))
        future_features, _ = self.future_vsn(future_inputs, cs)
        future, _ = self.future_encoder(future_features, state)

        # skip connection
        input_embedding = torch.cat([historical_features, future_features], dim=1)
        temporal_features = torch.cat([history, future], dim=1)
        temporal_features = self.input_gate_ln(self.input_gate(temporal_features) + input_embedding)

        # Static enrichment and temporal self attention
        enriched = self.enrichment_grn(temporal_features, c=ce)
        x, _ = self.attention(enriched)

        # Don't compute historical quantiles
        x = x[:, self.encoder_length :, :]
        temporal_features = temporal_features[:, self.encoder_length :, :]
        enriched = enriched[:, self.encoder_length :, :]
        x = self.attention_ln(self.attention_gate(x) + enriched)
        x = self.positionwise_grn(x)
        x = self.decoder_ln(self.decoder_gate(x) + temporal_features)
        return self.quantile_proj(x)


# recommendations within a session, as models of a library


class SequentialRecommender(nn.Module):
    def __init__(self, config, dataset):
        super().__init__()
        self.USER_ID = config["USER_ID_FIELD"]
        self.ITEM_ID = config["ITEM_ID_FIELD"]
        self.ITEM_SEQ = self.ITEM_ID + config["LIST_SUFFIX"]
        self.ITEM_SEQ_LEN = config["ITEM_LIST_LENGTH_FIELD"]
        self.POS_ITEM_ID = self.ITEM_ID
        self.max_seq_length = config["MAX_ITEM_LIST_LENGTH"]
        self.n_items = dataset.num(self.ITEM_ID)
        self.device = config["device"]

    def gather_indexes(self, output, gather_index):
        """Gathers the vectors at the specific positions over a minibatch"""
        gather_index = gather_index.view(-1, 1, 1).expand(-1, -1, output.shape[-1])
        output_tensor = output.gather(dim=1, index=gather_index)
        return output_tensor.squeeze(1)


class NARM(SequentialRecommender):
    r"""NARM explores a hybrid encoder with an attention mechanism to model the user's sequential behavior,
    and capture the user's main purpose in the current session.
    """

    def __init__(self, config, dataset):
        super().__init__(config, dataset)
        # load parameters info
        self.embedding_size = config["embedding_size"]
        self.hidden_size = config["hidden_size"]
        self.n_layers = config["n_layers"]
        self.dropout_probs = config["dropout_probs"]

        # define layers and loss
        self.item_embedding = nn.Embedding(self.n_items, self.embedding_size, padding_idx=0)
        self.emb_dropout = nn.Dropout(self.dropout_probs[0])
        self.gru = nn.GRU(self.embedding_size, self.hidden_size, self.n_layers, bias=False, batch_first=True)
        self.a_1 = nn.Linear(self.hidden_size, self.hidden_size, bias=False)
        self.a_2 = nn.Linear(self.hidden_size, self.hidden_size, bias=False)
        self.v_t = nn.Linear(self.hidden_size, 1, bias=False)
        self.ct_dropout = nn.Dropout(self.dropout_probs[1])
        self.b = nn.Linear(2 * self.hidden_size, self.embedding_size, bias=False)
        self.loss_type = config["loss_type"]
        if self.loss_type == "CE":
            self.loss_fct = nn.CrossEntropyLoss()
        else:
            raise NotImplementedError("Make sure 'loss_type' in ['CE']!")
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, nn.Embedding):
            nn.init.xavier_normal_(module.weight.data)
        elif isinstance(module, nn.Linear):
            nn.init.xavier_normal_(module.weight.data)
            if module.bias is not None:
                nn.init.constant_(module.bias.data, 0)

    def forward(self, item_seq, item_seq_len):
        item_seq_emb = self.item_embedding(item_seq)
        item_seq_emb_dropout = self.emb_dropout(item_seq_emb)
        gru_out, _ = self.gru(item_seq_emb_dropout)

        # fetch the last hidden state of last timestamp
        c_global = ht = self.gather_indexes(gru_out, item_seq_len - 1)
        # avoid the influence of padding
        mask = item_seq.gt(0).unsqueeze(2).expand_as(gru_out)
        q1 = self.a_1(gru_out)
        q2 = self.a_2(ht)
        q2_expand = q2.unsqueeze(1).expand_as(q1)
        # calculate weighted factors α
        alpha = self.v_t(mask * torch.sigmoid(q1 + q2_expand))
        c_local = torch.sum(alpha.expand_as(gru_out) * gru_out, 1)
        c_t = torch.cat([c_local, c_global], 1)
        c_t = self.ct_dropout(c_t)
        seq_output = self.b(c_t)
        return seq_output

    def calculate_loss(self, interaction):
        seq_output = self.forward(interaction[self.ITEM_SEQ], interaction[self.ITEM_SEQ_LEN])
        logits = torch.matmul(seq_output, self.item_embedding.weight.transpose(0, 1))
        return self.loss_fct(logits, interaction[self.POS_ITEM_ID])

    def full_sort_predict(self, interaction):
        seq_output = self.forward(interaction[self.ITEM_SEQ], interaction[self.ITEM_SEQ_LEN])
        return torch.matmul(seq_output, self.item_embedding.weight.transpose(0, 1))


# dependency parsing


class Vocabulary:
    def __init__(self, counter: Optional[dict[str, dict[str, int]]] = None):
        self._index: dict[str, dict[str, int]] = {
            namespace: {token: i for i, token in enumerate(["@@PADDING@@", "@@UNKNOWN@@", *tokens])}
            for namespace, tokens in (counter or {}).items()
        }

    def get_vocab_size(self, namespace: str = "tokens") -> int:
        return len(self._index[namespace])

    def get_token_index(self, token: str, namespace: str = "tokens") -> int:
        return self._index[namespace].get(token, 1)


class BasicTextFieldEmbedder(nn.Module):
    def __init__(self, token_embedders: dict[str, nn.Embedding]) -> None:
        super().__init__()
        self._token_embedders = nn.ModuleDict(token_embedders)

    def get_output_dim(self) -> int:
        return sum(embedder.embedding_dim for embedder in self._token_embedders.values())

    def forward(self, text_field_input: dict[str, dict[str, Tensor]]) -> Tensor:
        embedded = [self._token_embedders[key](text_field_input[key]["tokens"]) for key in self._token_embedders]
        return torch.cat(embedded, dim=-1)


class PytorchSeq2SeqWrapper(nn.Module):
    def __init__(self, module: nn.RNNBase) -> None:
        super().__init__()
        self._module = module

    def get_input_dim(self) -> int:
        return self._module.input_size

    def get_output_dim(self) -> int:
        return self._module.hidden_size * (2 if self._module.bidirectional else 1)

    def forward(self, inputs: Tensor, mask: torch.BoolTensor) -> Tensor:
        lengths = mask.sum(-1).cpu().clamp(min=1)
        packed = nn.utils.rnn.pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
        output, _ = self._module(packed)
        return nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=inputs.shape[1])[0]


class BilinearMatrixAttention(nn.Module):
    def __init__(self, matrix_1_dim: int, matrix_2_dim: int, use_input_biases: bool = False, label_dim: int = 1):
        super().__init__()
        if use_input_biases:
            matrix_1_dim += 1
            matrix_2_dim += 1
        self._weight_matrix = nn.Parameter(torch.empty(label_dim, matrix_1_dim, matrix_2_dim))
        nn.init.xavier_uniform_(self._weight_matrix)
        self._bias = nn.Parameter(torch.zeros(1))
        self._use_input_biases = use_input_biases

    def forward(self, matrix_1: Tensor, matrix_2: Tensor) -> Tensor:
        if self._use_input_biases:
            matrix_1 = torch.cat([matrix_1, matrix_1.new_ones((*matrix_1.shape[:-1], 1))], -1)
            matrix_2 = torch.cat([matrix_2, matrix_2.new_ones((*matrix_2.shape[:-1], 1))], -1)
        intermediate = torch.matmul(matrix_1.unsqueeze(1), self._weight_matrix)
        final = torch.matmul(intermediate, matrix_2.unsqueeze(1).transpose(2, 3))
        return final.squeeze(1) + self._bias


class BiaffineDependencyParser(nn.Module):
    """
    This dependency parser follows the model of "Deep Biaffine Attention for Neural Dependency Parsing".

    # Parameters

    vocab : `Vocabulary`
        A Vocabulary, required in order to compute sizes for input/output projections.
    text_field_embedder : `TextFieldEmbedder`
        Used to embed the `tokens` `TextField` we get as input to the model.
    encoder : `Seq2SeqEncoder`
        The encoder that we will use to generate representations of tokens.
    """

    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: BasicTextFieldEmbedder,
        encoder: PytorchSeq2SeqWrapper,
        tag_representation_dim: int,
        arc_representation_dim: int,
        pos_tag_embedding: Optional[nn.Embedding] = None,
        dropout: float = 0.0,
        input_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.vocab = vocab
        self.text_field_embedder = text_field_embedder
        self.encoder = encoder
        encoder_dim = encoder.get_output_dim()
        self.head_arc_feedforward = nn.Sequential(nn.Linear(encoder_dim, arc_representation_dim), nn.ELU())
        self.child_arc_feedforward = nn.Sequential(nn.Linear(encoder_dim, arc_representation_dim), nn.ELU())
        self.arc_attention = BilinearMatrixAttention(
            arc_representation_dim, arc_representation_dim, use_input_biases=True
        )
        num_labels = self.vocab.get_vocab_size("head_tags")
        self.head_tag_feedforward = nn.Sequential(nn.Linear(encoder_dim, tag_representation_dim), nn.ELU())
        self.child_tag_feedforward = nn.Sequential(nn.Linear(encoder_dim, tag_representation_dim), nn.ELU())
        self.tag_bilinear = nn.Bilinear(tag_representation_dim, tag_representation_dim, num_labels)
        self._pos_tag_embedding = pos_tag_embedding
        self._dropout = nn.Dropout(dropout)
        self._input_dropout = nn.Dropout(input_dropout)
        self._head_sentinel = nn.Parameter(torch.randn([1, 1, encoder_dim]))

        representation_dim = text_field_embedder.get_output_dim()
        if pos_tag_embedding is not None:
            representation_dim += pos_tag_embedding.embedding_dim
        if representation_dim != encoder.get_input_dim():
            raise ValueError(
                f"text field embedding dim {representation_dim} must match encoder input dim {encoder.get_input_dim()}"
            )

    def forward(
        self,
        words: dict[str, dict[str, Tensor]],
        pos_tags: torch.LongTensor,
        metadata: Optional[list[dict[str, Any]]] = None,
        head_tags: Optional[torch.LongTensor] = None,
        head_indices: Optional[torch.LongTensor] = None,
    ) -> dict[str, Tensor]:
        embedded_text_input = self.text_field_embedder(words)
        if pos_tags is not None and self._pos_tag_embedding is not None:
            embedded_text_input = torch.cat([embedded_text_input, self._pos_tag_embedding(pos_tags)], -1)
        elif self._pos_tag_embedding is not None:
            raise ValueError("Model uses a POS embedding, but no POS tags were passed.")
        mask = words["tokens"]["tokens"] != 0

        embedded_text_input = self._input_dropout(embedded_text_input)
        encoded_text = self.encoder(embedded_text_input, mask)
        batch_size, _, encoding_dim = encoded_text.size()
        head_sentinel = self._head_sentinel.expand(batch_size, 1, encoding_dim)
        # Concatenate the head sentinel onto the sentence representation.
        encoded_text = self._dropout(torch.cat([head_sentinel, encoded_text], 1))
        mask = torch.cat([mask.new_ones(batch_size, 1), mask], 1)

        head_arc = self.head_arc_feedforward(encoded_text)
        child_arc = self.child_arc_feedforward(encoded_text)
        attended_arcs = self.arc_attention(head_arc, child_arc)
        minus_inf = -1e8
        minus_mask = (1 - mask.float()) * minus_inf
        attended_arcs = attended_arcs + minus_mask.unsqueeze(2) + minus_mask.unsqueeze(1)
        diagonal = torch.full((attended_arcs.size(1),), float("-inf"), device=attended_arcs.device)
        attended_arcs = attended_arcs + torch.diag(diagonal).nan_to_num(0.0, neginf=minus_inf)
        _, predicted_heads = attended_arcs.max(dim=2)

        head_tag = self.head_tag_feedforward(encoded_text)
        child_tag = self.child_tag_feedforward(encoded_text)
        range_vector = torch.arange(batch_size, device=head_tag.device).unsqueeze(1)
        tag_logits = self.tag_bilinear(head_tag[range_vector, predicted_heads].contiguous(), child_tag.contiguous())
        output_dict = {"heads": predicted_heads, "tag_logits": tag_logits, "arc_scores": attended_arcs, "mask": mask}

        if head_indices is not None and head_tags is not None:
            gold_heads = torch.cat([head_indices.new_zeros(batch_size, 1), head_indices], 1)
            arc_nll = F.log_softmax(attended_arcs, -1).gather(2, gold_heads.unsqueeze(2)).squeeze(2)
            gold_tag_logits = self.tag_bilinear(head_tag[range_vector, gold_heads].contiguous(), child_tag.contiguous())
            tag_nll = F.log_softmax(gold_tag_logits[:, 1:], -1).gather(2, head_tags.unsqueeze(2)).squeeze(2)
            valid = mask[:, 1:].float()
            arc_loss = -(arc_nll[:, 1:] * valid).sum() / valid.sum()
            tag_loss = -(tag_nll * valid).sum() / valid.sum()
            output_dict.update(arc_loss=arc_loss, tag_loss=tag_loss, loss=arc_loss + tag_loss)
        if metadata is not None:
            output_dict["words"] = [meta["words"] for meta in metadata]
        return output_dict


# survival from slides and genes


def SNN_Block(dim1, dim2, dropout=0.25):
    return nn.Sequential(nn.Linear(dim1, dim2), nn.ELU(), nn.AlphaDropout(p=dropout, inplace=False))


class Attn_Net_Gated(nn.Module):
    def __init__(self, L=1024, D=256, dropout=False, n_classes=1):
        super().__init__()
        self.attention_a = [nn.Linear(L, D), nn.Tanh()]
        self.attention_b = [nn.Linear(L, D), nn.Sigmoid()]
        if dropout:
            self.attention_a.append(nn.Dropout(0.25))
            self.attention_b.append(nn.Dropout(0.25))
        self.attention_a = nn.Sequential(*self.attention_a)
        self.attention_b = nn.Sequential(*self.attention_b)
        self.attention_c = nn.Linear(D, n_classes)

    def forward(self, x):
        a = self.attention_a(x)
        b = self.attention_b(x)
        A = a.mul(b)
        A = self.attention_c(A)  # N x n_classes
        return A, x


class MCAT_Surv(nn.Module):
    def __init__(
        self,
        fusion="concat",
        omic_sizes=[100, 200, 300, 400, 500, 600],
        n_classes=4,
        model_size_wsi: str = "small",
        model_size_omic: str = "small",
        dropout=0.25,
    ):
        super().__init__()
        self.fusion = fusion
        self.omic_sizes = omic_sizes
        self.n_classes = n_classes
        self.size_dict_WSI = {"small": [1024, 256, 256], "big": [1024, 512, 384]}
        self.size_dict_omic = {"small": [256, 256], "big": [1024, 1024, 1024, 256]}

        ### FC Layer over WSI bag
        size = self.size_dict_WSI[model_size_wsi]
        fc = [nn.Linear(size[0], size[1]), nn.ReLU()]
        fc.append(nn.Dropout(0.25))
        self.wsi_net = nn.Sequential(*fc)

        ### Constructing Genomic SNN
        hidden = self.size_dict_omic[model_size_omic]
        sig_networks = []
        for input_dim in omic_sizes:
            fc_omic = [SNN_Block(dim1=input_dim, dim2=hidden[0])]
            for i, _ in enumerate(hidden[1:]):
                fc_omic.append(SNN_Block(dim1=hidden[i], dim2=hidden[i + 1], dropout=0.25))
            sig_networks.append(nn.Sequential(*fc_omic))
        self.sig_networks = nn.ModuleList(sig_networks)

        ### Multihead Attention
        self.coattn = nn.MultiheadAttention(embed_dim=256, num_heads=1)

        ### Path / Omic Transformer + Attention Head
        path_layer = nn.TransformerEncoderLayer(256, 8, dim_feedforward=512, dropout=dropout, activation="relu")
        self.path_transformer = nn.TransformerEncoder(path_layer, num_layers=2, enable_nested_tensor=False)
        self.path_attention_head = Attn_Net_Gated(L=size[2], D=size[2], dropout=dropout, n_classes=1)
        self.path_rho = nn.Sequential(nn.Linear(size[2], size[2]), nn.ReLU(), nn.Dropout(dropout))
        omic_layer = nn.TransformerEncoderLayer(256, 8, dim_feedforward=512, dropout=dropout, activation="relu")
        self.omic_transformer = nn.TransformerEncoder(omic_layer, num_layers=2, enable_nested_tensor=False)
        self.omic_attention_head = Attn_Net_Gated(L=size[2], D=size[2], dropout=dropout, n_classes=1)
        self.omic_rho = nn.Sequential(nn.Linear(size[2], size[2]), nn.ReLU(), nn.Dropout(dropout))

        ### Fusion Layer
        if self.fusion == "concat":
            self.mm = nn.Sequential(nn.Linear(256 * 2, size[2]), nn.ReLU(), nn.Linear(size[2], size[2]), nn.ReLU())
        elif self.fusion == "bilinear":
            self.mm = nn.Bilinear(256, 256, 256)
        else:
            self.mm = None
        self.classifier = nn.Linear(size[2], n_classes)

    def _pool(self, h, transformer, head, rho):
        h = transformer(h)
        A, h = head(h.squeeze(1))
        A = torch.transpose(A, 1, 0)
        h = torch.mm(F.softmax(A, dim=1), h)
        return rho(h).squeeze(), A

    def forward(self, **kwargs):
        x_path = kwargs["x_path"]
        x_omic = [kwargs["x_omic%d" % i] for i in range(1, 7)]

        h_path_bag = self.wsi_net(x_path).unsqueeze(1)  ### path embeddings are fed through a FC layer
        # each omic signature goes through it's own FC layer
        h_omic = [self.sig_networks[idx].forward(sig_feat) for idx, sig_feat in enumerate(x_omic)]
        h_omic_bag = torch.stack(h_omic).unsqueeze(1)  ### omic embeddings are stacked (to be used in co-attention)

        # Coattn
        h_path_coattn, A_coattn = self.coattn(h_omic_bag, h_path_bag, h_path_bag)

        h_path, A_path = self._pool(h_path_coattn, self.path_transformer, self.path_attention_head, self.path_rho)
        h_omic, A_omic = self._pool(h_omic_bag, self.omic_transformer, self.omic_attention_head, self.omic_rho)

        if self.fusion == "bilinear":
            h = self.mm(h_path.unsqueeze(dim=0), h_omic.unsqueeze(dim=0)).squeeze()
        elif self.fusion == "concat":
            h = self.mm(torch.cat([h_path, h_omic], axis=0))

        ### Survival Layer
        logits = self.classifier(h).unsqueeze(0)
        Y_hat = torch.topk(logits, 1, dim=1)[1]
        hazards = torch.sigmoid(logits)
        S = torch.cumprod(1 - hazards, dim=1)
        attention_scores = {"coattn": A_coattn, "path": A_path, "omic": A_omic}
        return hazards, S, Y_hat, attention_scores


# sequences for protein backbones


# diffusion: preconditioning around any network


class PositionalEmbedding(nn.Module):
    def __init__(self, num_channels, max_positions=10000, endpoint=False):
        super().__init__()
        self.num_channels = num_channels
        self.max_positions = max_positions
        self.endpoint = endpoint

    def forward(self, x):
        freqs = torch.arange(start=0, end=self.num_channels // 2, dtype=torch.float32, device=x.device)
        freqs = freqs / (self.num_channels // 2 - (1 if self.endpoint else 0))
        freqs = (1 / self.max_positions) ** freqs
        x = x.ger(freqs.to(x.dtype))
        return torch.cat([x.cos(), x.sin()], dim=1)


class UNetBlock(nn.Module):
    def __init__(self, in_channels, out_channels, emb_channels, up=False, down=False, dropout=0, adaptive_scale=True):
        super().__init__()
        self.up, self.down = up, down
        self.dropout = dropout
        self.adaptive_scale = adaptive_scale
        self.norm0 = nn.GroupNorm(min(32, in_channels // 4), in_channels)
        self.conv0 = nn.Conv2d(in_channels, out_channels, 3, padding=1)
        self.affine = nn.Linear(emb_channels, out_channels * (2 if adaptive_scale else 1))
        self.norm1 = nn.GroupNorm(min(32, out_channels // 4), out_channels)
        self.conv1 = nn.Conv2d(out_channels, out_channels, 3, padding=1)
        self.skip = nn.Conv2d(in_channels, out_channels, 1) if in_channels != out_channels else None

    def resample(self, x):
        if self.up:
            return F.interpolate(x, scale_factor=2, mode="nearest")
        return F.avg_pool2d(x, 2) if self.down else x

    def forward(self, x, emb):
        orig = self.resample(x)
        x = self.conv0(self.resample(F.silu(self.norm0(x))))
        params = self.affine(emb).unsqueeze(2).unsqueeze(3).to(x.dtype)
        if self.adaptive_scale:
            scale, shift = params.chunk(chunks=2, dim=1)
            x = F.silu(torch.addcmul(shift, self.norm1(x), scale + 1))
        else:
            x = F.silu(self.norm1(x.add_(params)))
        x = self.conv1(F.dropout(x, p=self.dropout, training=self.training))
        return x.add_(self.skip(orig) if self.skip is not None else orig)


class SongUNet(nn.Module):
    def __init__(
        self,
        img_resolution,  # Image resolution at input/output.
        in_channels,  # Number of color channels at input.
        out_channels,  # Number of color channels at output.
        label_dim=0,  # Number of class labels, 0 = unconditional.
        augment_dim=0,  # Augmentation label dimensionality, 0 = no augmentation.
        model_channels=128,  # Base multiplier for the number of channels.
        channel_mult=[1, 2, 2],  # Per-resolution multipliers for the number of channels.
        channel_mult_emb=4,  # Multiplier for the dimensionality of the embedding vector.
        num_blocks=2,  # Number of residual blocks per resolution.
        dropout=0.10,  # Dropout probability of intermediate activations.
    ):
        super().__init__()
        emb_channels = model_channels * channel_mult_emb
        # Mapping.
        self.map_noise = PositionalEmbedding(num_channels=model_channels, endpoint=True)
        self.map_label = nn.Linear(label_dim, model_channels) if label_dim else None
        self.map_augment = nn.Linear(augment_dim, model_channels, bias=False) if augment_dim else None
        self.map_layer0 = nn.Linear(model_channels, emb_channels)
        self.map_layer1 = nn.Linear(emb_channels, emb_channels)

        # Encoder.
        self.enc = nn.ModuleDict()
        cout = model_channels
        skips = [cout]
        self.enc[f"{img_resolution}x{img_resolution}_conv"] = nn.Conv2d(in_channels, cout, 3, padding=1)
        for level, mult in enumerate(channel_mult):
            res = img_resolution >> level
            if level > 0:
                self.enc[f"{res}x{res}_down"] = UNetBlock(cout, cout, emb_channels, down=True, dropout=dropout)
                skips.append(cout)
            for idx in range(num_blocks):
                cin, cout = cout, model_channels * mult
                self.enc[f"{res}x{res}_block{idx}"] = UNetBlock(cin, cout, emb_channels, dropout=dropout)
                skips.append(cout)

        # Decoder.
        self.dec = nn.ModuleDict()
        for level, mult in reversed(list(enumerate(channel_mult))):
            res = img_resolution >> level
            if level == len(channel_mult) - 1:
                self.dec[f"{res}x{res}_in0"] = UNetBlock(cout, cout, emb_channels, dropout=dropout)
            else:
                self.dec[f"{res}x{res}_up"] = UNetBlock(cout, cout, emb_channels, up=True, dropout=dropout)
            for idx in range(num_blocks + 1):
                cin, cout = cout + skips.pop(), model_channels * mult
                self.dec[f"{res}x{res}_block{idx}"] = UNetBlock(cin, cout, emb_channels, dropout=dropout)
        self.out_norm = nn.GroupNorm(min(32, cout // 4), cout)
        self.out_conv = nn.Conv2d(cout, out_channels, 3, padding=1)

    def forward(self, x, noise_labels, class_labels, augment_labels=None):
        emb = self.map_noise(noise_labels)
        if self.map_label is not None:
            emb = emb + self.map_label(class_labels * np.sqrt(self.map_label.in_features))
        if self.map_augment is not None and augment_labels is not None:
            emb = emb + self.map_augment(augment_labels)
        emb = F.silu(self.map_layer1(F.silu(self.map_layer0(emb))))
        skips = []
        for block in self.enc.values():
            x = block(x, emb) if isinstance(block, UNetBlock) else block(x)
            skips.append(x)
        for name, block in self.dec.items():
            if "block" in name:
                x = torch.cat([x, skips.pop()], dim=1)
            x = block(x, emb)
        return self.out_conv(F.silu(self.out_norm(x)))


class EDMPrecond(nn.Module):
    def __init__(
        self,
        img_resolution,  # Image resolution.
        img_channels,  # Number of color channels.
        label_dim=0,  # Number of class labels, 0 = unconditional.
        use_fp16=False,  # Execute the underlying model at FP16 precision?
        sigma_min=0,  # Minimum supported noise level.
        sigma_max=float("inf"),  # Maximum supported noise level.
        sigma_data=0.5,  # Expected standard deviation of the training data.
        model_type="SongUNet",  # Class name of the underlying model.
        **model_kwargs,  # Keyword arguments for the underlying model.
    ):
        super().__init__()
        self.img_resolution = img_resolution
        self.img_channels = img_channels
        self.label_dim = label_dim
        self.use_fp16 = use_fp16
        self.sigma_min = sigma_min
        self.sigma_max = sigma_max
        self.sigma_data = sigma_data
        self.model = globals()[model_type](
            img_resolution=img_resolution,
            in_channels=img_channels,
            out_channels=img_channels,
            label_dim=label_dim,
            **model_kwargs,
        )

    def forward(self, x, sigma, class_labels=None, force_fp32=False, **model_kwargs):
        x = x.to(torch.float32)
        sigma = sigma.to(torch.float32).reshape(-1, 1, 1, 1)
        if self.label_dim == 0:
            class_labels = None
        elif class_labels is None:
            class_labels = torch.zeros([1, self.label_dim], device=x.device)
        else:
            class_labels = class_labels.to(torch.float32).reshape(-1, self.label_dim)
        dtype = torch.float16 if (self.use_fp16 and not force_fp32 and x.device.type == "cuda") else torch.float32

        c_skip = self.sigma_data**2 / (sigma**2 + self.sigma_data**2)
        c_out = sigma * self.sigma_data / (sigma**2 + self.sigma_data**2).sqrt()
        c_in = 1 / (self.sigma_data**2 + sigma**2).sqrt()
        c_noise = sigma.log() / 4

        F_x = self.model((c_in * x).to(dtype), c_noise.flatten(), class_labels=class_labels, **model_kwargs)
        assert F_x.dtype == dtype
        D_x = c_skip * x + c_out * F_x.to(torch.float32)
        return D_x

    def round_sigma(self, sigma):
        return torch.as_tensor(sigma)
