"""Pictures in the order height, width, channel, from other orders, batches, videos and figures."""

import math

import numpy as np


def figure_to_image(figures, close=True):
    """A matplotlib figure as an array (3, height, width) of uint8, a list of them with a batch
    dimension. `close` closes the figures."""
    import matplotlib.backends.backend_agg as agg
    import matplotlib.pyplot as plt

    def render(figure):
        canvas = agg.FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba(), dtype=np.uint8)[:, :, :3]
        if close:
            plt.close(figure)
        return np.moveaxis(pixels, 2, 0)

    if isinstance(figures, list):
        return np.stack([render(figure) for figure in figures])
    return render(figures)


def _prepare_video(V):
    """(batch, time, channel, height, width) to (time, rows * height, columns * width, channel)."""
    if V.dtype == np.uint8:
        V = np.float32(V) / 255.0
    count, time, channels, height, width = V.shape
    full = 1 << max(count - 1, 0).bit_length()  # a power of two fills a grid
    if full > count:
        V = np.concatenate((V, np.zeros((full - count, time, channels, height, width))))
    rows = 1 << ((full.bit_length() - 1) // 2)
    V = V.reshape(rows, full // rows, time, channels, height, width)
    V = V.transpose(2, 0, 4, 1, 5, 3)
    return V.reshape(time, rows * height, (full // rows) * width, channels)


def make_grid(I, ncols=8):
    """Pictures (batch, 1 or 3, height, width) side by side: (3, height, width)."""
    assert isinstance(I, np.ndarray), "plugin error, should pass numpy array here"
    if I.shape[1] == 1:
        I = np.concatenate([I, I, I], 1)
    assert I.ndim == 4 and I.shape[1] == 3
    count, _, height, width = I.shape
    ncols = min(count, ncols)
    canvas = np.zeros((3, height * math.ceil(count / ncols), width * ncols), dtype=I.dtype)
    for i, picture in enumerate(I):
        y, x = height * (i // ncols), width * (i % ncols)
        canvas[:, y:y + height, x:x + width] = picture
    return canvas


def convert_to_HWC(tensor, input_format):
    """An array whose dimensions are named by `input_format` as height, width, channel."""
    assert len(set(input_format)) == len(input_format), (
        "You can not use the same dimension shorthand twice. "
        f"            input_format: {input_format}")
    assert len(tensor.shape) == len(input_format), (
        "size of input tensor and input format are different. "
        f"        tensor shape: {tensor.shape}, input_format: {input_format}")
    order = input_format.upper()
    if len(order) == 4:
        grid = make_grid(tensor.transpose([order.find(c) for c in "NCHW"]))
        return grid.transpose(1, 2, 0)
    if len(order) == 3:
        picture = tensor.transpose([order.find(c) for c in "HWC"])
        return np.concatenate([picture] * 3, 2) if picture.shape[2] == 1 else picture
    if len(order) == 2:
        picture = tensor.transpose([order.find(c) for c in "HW"])
        return np.stack([picture] * 3, 2)
    raise ValueError(f"input_format {input_format} has {len(order)} dimensions; 2 to 4 are known")
