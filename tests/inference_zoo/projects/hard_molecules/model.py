from torch import nn

from inference_zoo.projects.hard_molecules.features import atom_fdim, bond_fdim
from inference_zoo.projects.hard_molecules.mpn import MPNEncoder


class MoleculeModel(nn.Module):
    def __init__(self, args, featurizer=False):
        super().__init__()
        self.classification = args.dataset_type == "classification"
        self.multiclass = args.dataset_type == "multiclass"
        self.featurizer = featurizer
        self.output_size = args.output_size
        if self.multiclass:
            self.output_size *= args.multiclass_num_classes
        self.encoder = MPNEncoder(args, atom_fdim(), bond_fdim(args.atom_messages))
        dims = [args.hidden_size] + [args.ffn_hidden_size] * (args.ffn_num_layers - 1) + [self.output_size]
        layers = []
        for i, (a, b) in enumerate(zip(dims, dims[1:])):
            if i:
                layers.append(getattr(nn, args.activation)())
            layers += [nn.Dropout(args.dropout), nn.Linear(a, b)]
        self.ffn = nn.Sequential(*layers)

    def forward(self, f_atoms, f_bonds, a2b, b2a):
        vecs = self.encoder(f_atoms, f_bonds, a2b, b2a)
        if self.featurizer:
            return vecs
        out = self.ffn(vecs)
        return out.sigmoid() if self.classification and not self.training else out
