_TABLE = {}


def register(name):
    def put(cls):
        _TABLE[name] = cls
        return cls

    return put


def build(name, *args, **kwargs):
    return _TABLE[name](*args, **kwargs)
