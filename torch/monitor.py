"""Counters and events of a running program, and handlers that receive the events."""

import enum
import threading
import time
from datetime import datetime

__all__ = ["Aggregation", "Event", "EventHandlerHandle", "Stat", "log_event",
           "register_event_handler", "unregister_event_handler", "TensorboardEventHandler"]

STAT_EVENT = "torch.monitor.Stat"


class Aggregation(enum.Enum):
    """What a `Stat` computes of the values of an interval."""

    VALUE = 0   # the last
    MEAN = 1
    COUNT = 2
    SUM = 3
    MAX = 4
    MIN = 5


globals().update(Aggregation.__members__)


class Event:
    """Something that happened: a name, a time and data (str, float, int or bool values)."""

    def __init__(self, name, timestamp, data):
        if not isinstance(timestamp, datetime):
            raise TypeError("Event: timestamp must be a datetime")
        self.name, self.timestamp, self.data = name, timestamp, dict(data)


class EventHandlerHandle:
    """What `register_event_handler` returns."""

    def __init__(self, handler):
        self._handler = handler


_handlers, _lock = [], threading.Lock()


def register_event_handler(callback):
    """Calls ``callback(event)`` for every event from now on. Returns a handle."""
    handle = EventHandlerHandle(callback)
    with _lock:
        _handlers.append(handle)
    return handle


def unregister_event_handler(handler):
    """Ends the calls of a handler."""
    with _lock:
        if handler in _handlers:
            _handlers.remove(handler)


def log_event(event):
    """Hands an event to all handlers."""
    with _lock:
        handlers = list(_handlers)
    for h in handlers:
        h._handler(event)


_REDUCE = {
    Aggregation.VALUE: lambda v: v[-1] if v else None,
    Aggregation.MEAN: lambda v: sum(v) / len(v) if v else None,
    Aggregation.COUNT: len,
    Aggregation.SUM: sum,
    Aggregation.MAX: lambda v: max(v) if v else None,
    Aggregation.MIN: lambda v: min(v) if v else None,
}


class Stat:
    """Values of an interval, summarised and logged as an event when the interval is over.

    Args:
        name: prefix of the event's keys, ``name.mean`` and so on.
        aggregations: what to compute.
        window_size: length of an interval (a timedelta).
        max_samples: an interval also ends after so many values.
    """

    def __init__(self, name, aggregations, window_size, max_samples=None):
        self.name = name
        self._aggregations = list(aggregations)
        self._window = window_size.total_seconds()
        self._max = max_samples
        self._values, self._last, self._start = [], [], time.monotonic()

    def _roll(self):
        if time.monotonic() - self._start >= self._window:
            self._finish()

    def _finish(self):
        self._last, self._values, self._start = self._values, [], time.monotonic()
        log_event(Event(STAT_EVENT, datetime.now(), {
            f"{self.name}.{a.name.lower()}": x for a, x in self._compute(self._last).items()}))

    def _compute(self, values):
        made = {a: _REDUCE[a](values) for a in self._aggregations}
        return {a: x for a, x in made.items() if x is not None}

    def add(self, v):
        """One more value."""
        self._roll()
        self._values.append(float(v))
        if self._max is not None and len(self._values) >= self._max:
            self._finish()

    def get(self):
        """The summary of the last finished interval."""
        self._roll()
        return self._compute(self._last)

    @property
    def count(self):
        """How many values the current interval has."""
        self._roll()
        return len(self._values)


class TensorboardEventHandler:
    """Writes the numbers of `Stat` events to a `SummaryWriter`."""

    def __init__(self, writer):
        self._writer = writer

    def __call__(self, event):
        if event.name == STAT_EVENT:
            for key, value in event.data.items():
                self._writer.add_scalar(key, value, walltime=event.timestamp.timestamp())
