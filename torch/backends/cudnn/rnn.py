"""Numbers of cuDNN's kinds of recurrent layers. The library is not in this build."""

_MODES = {"RNN_RELU": 0, "RNN_TANH": 1, "LSTM": 2, "GRU": 3}


def get_cudnn_mode(mode):
    """cuDNN's number of a kind of recurrent layer."""
    if mode not in _MODES:
        raise Exception(f"Unknown mode: {mode}")
    return _MODES[mode]


class Unserializable:
    """A value that is left out of pickles."""

    def __init__(self, inner):
        self.inner = inner

    def get(self):
        return self.inner

    def __getstate__(self):
        return "<unserializable>"

    def __setstate__(self, state):
        self.inner = None


def init_dropout_state(dropout, train, dropout_seed, dropout_state):
    raise RuntimeError("Torch not compiled with CUDA enabled")
