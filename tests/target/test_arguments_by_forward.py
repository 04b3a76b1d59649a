"""Arguments of constructors of which only methods show what they are."""

from __future__ import annotations

from torch import nn

from modeldiagrams.options.reading import yaml_line
from modeldiagrams.target.inference.constructor import solved_arguments
from target.found_inputs import first_entries


class Linker(nn.Module):
    """Reads one key while it is made, and two others only when it runs."""

    def __init__(self, config, vocab_size):
        super().__init__()
        self.config = config
        self.words = nn.Embedding(vocab_size, config["hidden_size"])

    def forward(self, ids):
        words = self.words(ids)[:, : self.config["max_links"]]
        return words * self.config["scale"]["factor"]


class Pruner(nn.Module):
    """Only keeps its configuration."""

    def __init__(self, config, width):
        super().__init__()
        self.config, self.mix = config, nn.Linear(width, width)

    def forward(self, x):
        return self.mix(x)[:, : self.config["max_links"]]


def test_keys_that_only_methods_read_are_in_the_configuration():
    config = solved_arguments(Linker).kwargs["config"]
    assert config.keys() == {"hidden_size", "max_links", "scale"}
    assert type(config["max_links"]) is int
    assert solved_arguments(Pruner).kwargs["config"].keys() == {"max_links"}


class Chooser(nn.Module):
    def __init__(self, options, depth, coarse):
        super().__init__()
        self.depth, self.coarse, self.by_parts = depth, coarse, options.by_parts
        self.mix = nn.ModuleList(nn.Linear(8, 8) for _ in range(depth))

    def forward(self, rows):
        if not self.coarse:
            rows = rows * 2
        if self.depth > 1:
            rows = -rows
        return self.mix[0](rows) if self.by_parts else self.mix[-1](rows)


def test_what_methods_only_ask_whether_it_is_true_is_a_flag():
    kwargs = solved_arguments(Chooser).kwargs
    assert kwargs["coarse"] is kwargs["options"]["by_parts"] is False
    assert type(kwargs["depth"]) is int


class Tabled(nn.Module):
    def __init__(self, wordemb):
        super().__init__()
        self.wordemb, self.mix = wordemb, nn.Linear(wordemb.embedding_dim, 8)

    def forward(self, ids):
        return self.mix(self.wordemb(ids))


def test_a_module_with_the_sizes_of_a_table_is_one():
    assert solved_arguments(Tabled).kwargs["wordemb"] == {"_target_": "torch.nn.Embedding", "_args_": [100, 64]}


class Spans(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.encoder = nn.Embedding(50, 6), nn.LSTM(6, 6, batch_first=True)

    def forward(self, input_ids, input_mask):
        rows, _ = self.encoder(self.words(input_ids))
        return rows[input_mask]


def test_a_mask_by_which_items_are_taken_is_no_number():
    entries = first_entries(Spans())
    assert entries["input_mask"] == {**entries["input_mask"], "dtype": "bool", "shape": entries["input_ids"]["shape"]}
    assert len(entries["input_ids"]["shape"]) == 2


class Series(nn.Module):
    def __init__(self, embedding_sizes, x_categoricals, x_reals, static_categoricals):
        super().__init__()
        self.tables = nn.ModuleDict({name: nn.Embedding(*embedding_sizes[name]) for name in x_categoricals})
        self.reals = nn.ModuleDict({name: nn.Linear(1, embedding_sizes[x_categoricals[0]][1]) for name in x_reals})
        self.moving = [name for name in (*x_categoricals, *x_reals) if name not in static_categoricals]
        self.static = static_categoricals

    def forward(self, x):
        rows = {name: table(x[name]) for name, table in (*self.tables.items(), *self.reals.items())}
        return sum(rows[name] for name in self.static) + sum(rows[name] for name in self.moving)


def test_names_that_are_looked_for_among_others_are_some_of_these():
    kwargs = solved_arguments(Series).kwargs
    assert kwargs["static_categoricals"] == kwargs["x_categoricals"][:1]  # and not all of them
    assert kwargs["x_categoricals"] == [*kwargs["embedding_sizes"]]


class Translator(nn.Module):
    def __init__(self, encoder, width):
        super().__init__()
        self.encoder, self.mix = encoder, nn.Linear(width, width)

    def forward(self, ids):
        _, hidden = self.encoder(ids)
        return self.mix(hidden)


def test_a_part_that_gives_several_has_those_that_nobody_uses_too():
    option = solved_arguments(Translator).kwargs["encoder"]
    assert len(option["_args_"][0]) == 2
    assert yaml_line(option)


class Ranker(nn.Module):
    def __init__(self, fields):
        super().__init__()
        widths = {field.dim for field in fields}
        if len(widths) != 1:
            raise ValueError("all fields are of one width")
        self.tables = nn.ModuleDict({field.name: nn.Embedding(field.rows, field.dim) for field in fields})

    def forward(self, batch):
        return sum(table(batch[name]) for name, table in self.tables.items())


def test_rows_of_a_list_are_alike_and_a_width_by_the_name_of_a_method_is_no_tensor():
    first, second = solved_arguments(Ranker).kwargs["fields"]
    assert first.keys() == second.keys() == {"_target_", "dim", "name", "rows"}
    assert first["dim"] == second["dim"]
    assert first["name"] != second["name"]
