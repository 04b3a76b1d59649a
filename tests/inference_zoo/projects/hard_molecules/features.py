ATOMS = ["B", "C", "N", "O", "F", "P", "S", "Cl", "Br", "I"]
DEGREES = list(range(6))
HYBRIDIZATIONS = ["sp", "sp2", "sp3"]


def atom_fdim():
    return len(ATOMS) + 1 + len(DEGREES) + len(HYBRIDIZATIONS) + 2


def bond_fdim(atom_messages=False):
    return 14 + (0 if atom_messages else atom_fdim())
