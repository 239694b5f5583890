"""Anomaly mode: backward names the forward call whose gradient failed or is NaN."""
import torch

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class set_detect_anomaly:
    """Turns the mode on or off: at once as a function, and back at the end of a ``with``.

    Args:
        mode (bool): record the traceback of every forward operation.
        check_nan (bool): also fail when backward makes a NaN.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = torch._C.is_anomaly_enabled()
        self.prev_check_nan = torch._C.is_anomaly_check_nan_enabled()
        torch._C.set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: object) -> None:
        torch._C.set_anomaly_enabled(self.prev, self.prev_check_nan)


class detect_anomaly:
    """Anomaly mode for the length of a ``with`` block. Slow: for debugging only.

    Args:
        check_nan (bool): also fail when backward makes a NaN.
    """

    def __init__(self, check_nan: bool = True) -> None:
        import warnings
        self.prev = torch._C.is_anomaly_enabled()
        self.check_nan = check_nan
        self.prev_check_nan = torch._C.is_anomaly_check_nan_enabled()
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and "
                      "should only be enabled for debugging.", stacklevel=2)

    def __enter__(self) -> None:
        torch._C.set_anomaly_enabled(True, self.check_nan)

    def __exit__(self, *args: object) -> None:
        torch._C.set_anomaly_enabled(self.prev, self.prev_check_nan)


# ---- called by the engine
def _capture(parent):
    """What a node made in anomaly mode keeps: where it was made, and by whose backward."""
    import sys
    import traceback
    frame = sys._getframe(1)
    kept = {"traceback_": traceback.format_stack(frame)}
    if parent is not None:
        kept["parent_"] = parent
    return kept


def _report(name, metadata):
    import warnings
    lines = metadata.get("traceback_")
    if lines is None:
        warnings.warn(f"Error detected in {name}. No forward pass information available. Enable "
                      "detect anomaly during forward pass for more information.", stacklevel=2)
        return
    warnings.warn(f"Error detected in {name}. Traceback of forward call that caused the error:\n"
                  + "".join(lines), stacklevel=2)
    parent = metadata.get("parent_")
    while parent is not None:
        metadata = parent.metadata
        lines = metadata.get("traceback_")
        if lines is None:
            warnings.warn(
                f"\n\nPrevious calculation was induced by {parent.name()}. No forward pass "
                "information available. Enable detect anomaly during forward pass for "
                "more information.",
                stacklevel=2,
            )
            return
        warnings.warn(f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of "
                      "forward call that induced the previous calculation:\n" + "".join(lines),
                      stacklevel=2)
        parent = metadata.get("parent_")
