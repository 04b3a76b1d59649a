"""Joint embedding of pictures of dishes and of their recipes."""

import torch
from torch import nn


def conv3x3(in_planes, out_planes, stride=1):
    return nn.Conv2d(in_planes, out_planes, 3, stride, 1, bias=False)


class ResidualUnit(nn.Module):
    def __init__(self, in_planes, out_planes, stride):
        super().__init__()
        self.conv1, self.bn1 = conv3x3(in_planes, out_planes, stride), nn.BatchNorm2d(out_planes)
        self.conv2, self.bn2 = conv3x3(out_planes, out_planes), nn.BatchNorm2d(out_planes)
        self.down = nn.Conv2d(in_planes, out_planes, 1, stride, bias=False)

    def forward(self, x):
        out = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(out + self.down(x))


def resnet(blocks):
    planes = [64, 128, 256, 512]
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(True), nn.MaxPool2d(3, 2, 1)]
    in_planes = 64
    for i, (n, out_planes) in enumerate(zip(blocks, planes)):
        for j in range(n):
            layers.append(ResidualUnit(in_planes, out_planes, 2 if i and j == 0 else 1))
            in_planes = out_planes
    return nn.Sequential(*layers), in_planes


BACKBONES = {"resnet18": [2, 2, 2, 2], "resnet34": [3, 4, 6, 3]}


class LearnedPositionalEncoding(nn.Module):
    """Positional encoding layer

    Parameters
    ----------
    dropout : float
        Dropout value.
    num_embeddings : int
        Number of position embeddings to train.
    hidden_dim : int
        Embedding dimensionality
    """

    def __init__(self, dropout=0.1, num_embeddings=50, hidden_dim=512):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_embeddings, hidden_dim).uniform_(-0.1, 0.1))
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x):
        batch_size, seq_len = x.size()[:2]
        embeddings = self.weight[:seq_len, :].view(1, seq_len, -1)
        return self.dropout(x + embeddings)


def AvgPoolSequence(attn_mask, feats, e=1e-12):
    """The function will average pool the input features 'feats' in
    the second to last dimension, taking into account the provided mask 'attn_mask'.
    """
    length = attn_mask.sum(-1)
    # pool by word to get embeddings for a sequence of words
    mask_words = attn_mask.float() * (1 / (length.float().unsqueeze(-1).expand_as(attn_mask) + e))
    return (feats * mask_words.unsqueeze(-1).expand_as(feats)).sum(dim=-2)


class SingleTransformerEncoder(nn.Module):
    def __init__(self, dim, n_heads, n_layers):
        super().__init__()
        self.pos_encoder = LearnedPositionalEncoding(hidden_dim=dim)
        encoder_layer = nn.TransformerEncoderLayer(d_model=dim, nhead=n_heads)
        self.tf = nn.TransformerEncoder(encoder_layer, num_layers=n_layers, enable_nested_tensor=False)

    def forward(self, feat, ignore_mask):
        # reshape input to t x bs x d
        feat = self.pos_encoder(feat).permute(1, 0, 2)
        out = self.tf(feat, src_key_padding_mask=ignore_mask)
        # reshape back to bs x t x d
        return AvgPoolSequence(torch.logical_not(ignore_mask), out.permute(1, 0, 2))


class RecipeTransformerEncoder(nn.Module):
    """The recipe encoder.

    Parameters
    ----------
    vocab_size : int
        Vocabulary size.
    hidden_size : int
        Output dimension of the recipe encoder.
    n_heads, n_layers : int
        Number of attention heads and of layers.
    """

    def __init__(self, vocab_size, hidden_size, n_heads, n_layers):
        super().__init__()
        # Word embedding layer
        self.word_embedding = nn.Embedding(vocab_size, hidden_size)
        self.tfs = nn.ModuleDict()
        # independent transformer encoder for each recipe component
        for name in ["title", "ingredients", "instructions"]:
            self.tfs[name] = SingleTransformerEncoder(hidden_size, n_heads, n_layers)
        # for ingredients and instructions, a second transformer over the raw lists
        self.merger = nn.ModuleDict()
        for name in ["ingredients", "instructions"]:
            self.merger[name] = SingleTransformerEncoder(hidden_size, n_heads, n_layers)

    def forward(self, input, name=None):
        """
        Extracts features for an input.

        input: input (bs, t) for titles, (bs, n, t) for ingredients and instructions
        name: either "title", "ingredients" or "instructions"
        """
        # check if input is a list of sequences or a single sequence
        if len(input.size()) == 2:
            # if it is a single sequence
            ignore_mask = input == 0
            # trick to avoid nan behavior with fully padded sentences
            ignore_mask[:, 0] = False
            out = self.tfs[name](self.word_embedding(input), ignore_mask)
        else:
            # if it is a list of sequences, reshape from bs, n, t to bs*n, t
            input_rs = input.view(input.size(0) * input.size(1), input.size(2))
            ignore_mask = input_rs == 0
            ignore_mask[:, 0] = False
            out = self.tfs[name](self.word_embedding(input_rs), ignore_mask)
            out = out.view(input.size(0), input.size(1), out.size(-1))

            # create mask for the list of sequences
            attn_mask = input > 0
            mask_list = (attn_mask.sum(dim=-1) > 0).bool()
            out = self.merger[name](out, torch.logical_not(mask_list))
        return out


class ImageEmbedding(nn.Module):
    def __init__(self, output_size=1024, image_model="resnet18"):
        super().__init__()
        self.backbone, in_feats = resnet(BACKBONES[image_model])
        self.fc = nn.Linear(in_feats, output_size)

    def forward(self, images, freeze_backbone=False):
        """Extract feature vectors from input images."""
        if not freeze_backbone:
            feats = self.backbone(images)
        else:
            with torch.no_grad():
                feats = self.backbone(images)
        feats = feats.view(feats.size(0), feats.size(1), feats.size(2) * feats.size(3))
        feats = torch.mean(feats, dim=-1)
        out = self.fc(feats)
        return nn.Tanh()(out)


class JointEmbedding(nn.Module):
    """Joint embedding module, with image and recipe encoders.

    Parameters
    ----------
    output_size : int
        Embedding output size.
    image_model : string
        Model name for the image encoder.
    vocab_size : int
        Number of tokens.
    hidden_recipe : int
        Embedding size for recipe components.
    """

    def __init__(self, output_size, image_model, vocab_size, hidden_recipe, n_heads, n_layers):
        super().__init__()
        self.text_encoder = RecipeTransformerEncoder(vocab_size, hidden_recipe, n_heads, n_layers)
        self.image_encoder = ImageEmbedding(output_size, image_model)
        self.merger_recipe = nn.ModuleList()
        # linear layer to merge features from all recipe components.
        self.merger_recipe = nn.Linear(hidden_recipe * 3, output_size)

        # projection layers for self supervised recipe loss
        self.projector_recipes = nn.ModuleDict()
        names = ["title", "ingredients", "instructions"]
        for name in names:
            self.projector_recipes[name] = nn.ModuleDict()
            for name2 in names:
                if name2 != name:
                    self.projector_recipes[name][name2] = nn.Linear(hidden_recipe, hidden_recipe)

    def forward(self, img, title, ingrs, instrs, freeze_backbone=True):
        text_features = []
        projected_text_features = {"title": {}, "ingredients": {}, "instructions": {}, "raw": {}}

        elems = {"title": title, "ingredients": ingrs, "instructions": instrs}
        names = list(elems.keys())

        for name in names:
            # for each recipe component, extract features and projected features to all others
            input_source = elems[name]
            text_feature = self.text_encoder(input_source, name)
            text_features.append(text_feature)
            projected_text_features["raw"][name] = text_feature
            for name2 in names:
                if name2 != name:
                    projected_text_features[name][name2] = self.projector_recipes[name][name2](text_feature)

        recipe_feat = self.merger_recipe(torch.cat(text_features, dim=1))
        recipe_feat = nn.Tanh()(recipe_feat)

        img_feat = self.image_encoder(img, freeze_backbone=freeze_backbone) if img is not None else None
        return img_feat, recipe_feat, projected_text_features


def get_model(args, vocab_size):
    return JointEmbedding(
        output_size=args.output_size,
        image_model=args.backbone,
        vocab_size=vocab_size,
        hidden_recipe=args.hidden_recipe,
        n_heads=args.tf_n_heads,
        n_layers=args.tf_n_layers,
    )
