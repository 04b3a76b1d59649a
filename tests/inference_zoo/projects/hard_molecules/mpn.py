import torch
from torch import nn


def index_select_nd(source, index):
    return source.index_select(0, index.view(-1)).view(*index.size(), *source.size()[1:])


class MPNEncoder(nn.Module):
    def __init__(self, args, atom_fdim, bond_fdim):
        super().__init__()
        self.depth, self.hidden_size = args.depth, args.hidden_size
        self.aggregation, self.aggregation_norm = args.aggregation, args.aggregation_norm
        self.dropout = nn.Dropout(args.dropout)
        self.act_func = getattr(nn, args.activation)()
        self.W_i = nn.Linear(bond_fdim, args.hidden_size, bias=False)
        self.W_h = nn.Linear(args.hidden_size, args.hidden_size, bias=False)
        self.W_o = nn.Linear(atom_fdim + args.hidden_size, args.hidden_size)

    def forward(self, f_atoms, f_bonds, a2b, b2a):
        inputs = self.W_i(f_bonds)
        message = self.act_func(inputs)
        for _ in range(self.depth - 1):
            a_message = index_select_nd(message, a2b).sum(1)
            message = self.dropout(self.act_func(inputs + self.W_h(a_message[b2a])))
        a_message = index_select_nd(message, a2b).sum(1)
        atoms = self.act_func(self.W_o(torch.cat([f_atoms, a_message], 1)))
        if self.aggregation == "mean":
            return atoms.mean(0, keepdim=True)
        if self.aggregation == "sum":
            return atoms.sum(0, keepdim=True)
        return atoms.sum(0, keepdim=True) / self.aggregation_norm
