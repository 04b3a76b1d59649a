"""All knobs."""


class CFG:
    seed = 7
    n_mels = 48
    width = 32
    n_birds = 12
    act = "silu"
    chunk = 3
