"""`torch._C._log_api_usage_once`: packages say which parts of an API a process uses.

Nothing is recorded unless ``PYTORCH_API_USAGE_STDERR`` is set in the environment.
"""

import os
import sys

_said = set()


def _log_api_usage_once(event):
    if os.environ.get("PYTORCH_API_USAGE_STDERR") and event not in _said:
        _said.add(event)
        sys.stderr.write(f"PYTORCH_API_USAGE {event}\n")


def _log_api_usage_metadata(event, metadata_map):
    _log_api_usage_once(event)
