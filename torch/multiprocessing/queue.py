"""Queues whose items are pickled with `ForkingPickler`; multiprocessing's own do that already."""

import io
import multiprocessing.queues
import pickle
from multiprocessing.reduction import ForkingPickler


class ConnectionWrapper:
    """A `Connection` whose ``send`` shares tensors instead of copying them."""

    def __init__(self, conn):
        self.conn = conn

    def send(self, obj):
        """Sends an object."""
        buffer = io.BytesIO()
        ForkingPickler(buffer, pickle.HIGHEST_PROTOCOL).dump(obj)
        self.conn.send_bytes(buffer.getvalue())

    def recv(self):
        """Receives an object."""
        return pickle.loads(self.conn.recv_bytes())

    def __getattr__(self, name):
        if "conn" in self.__dict__:
            return getattr(self.conn, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


Queue = multiprocessing.queues.Queue
SimpleQueue = multiprocessing.queues.SimpleQueue
