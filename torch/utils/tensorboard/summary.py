"""Summaries: the protobuf messages of what a SummaryWriter logs.

Each function takes a tag and values and gives a `Summary`; the formats are those of
TensorBoard's plugins. Arrays, tensors and numbers are accepted (see _convert_np.py).
"""

import io
import json
import os
import struct
import tempfile
import wave

import numpy as np
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

import torch
from torch.utils.tensorboard._convert_np import make_np
from torch.utils.tensorboard._hparams import hparams
from torch.utils.tensorboard._utils import _prepare_video, convert_to_HWC

__all__ = ["half_to_int", "int_to_half", "hparams", "scalar", "histogram_raw", "histogram",
           "make_histogram", "image", "image_boxes", "draw_boxes", "make_image", "video",
           "make_video", "audio", "custom_scalars", "text", "tensor_proto", "pr_curve_raw",
           "pr_curve", "compute_curve", "mesh"]


def half_to_int(f):
    """The bits of a number as float32, which is how TensorBoard takes half-precision values."""
    return struct.unpack("i", struct.pack("f", f))[0]


def int_to_half(i):
    """The inverse of `half_to_int`."""
    return struct.unpack("f", struct.pack("i", i))[0]


def _shape(sizes):
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def _plugin(name, content=None):
    return SummaryMetadata(
        plugin_data=SummaryMetadata.PluginData(plugin_name=name, content=content))


def _summary(tag, **what):
    return Summary(value=[Summary.Value(tag=tag, **what)])


# ---- numbers ------------------------------------------------------------------------------------


def scalar(name, tensor, collections=None, new_style=False, double_precision=False):
    """One number. `new_style` writes a tensor, of float64 with `double_precision`."""
    value = make_np(tensor).squeeze()
    assert value.ndim == 0, (
        f"Tensor should contain one element (0 dimensions). "
        f"            Was given size: {value.size} and {value.ndim} dimensions.")
    value = float(value)
    if not new_style:
        return _summary(name, simple_value=value)
    proto = (TensorProto(double_val=[value], dtype="DT_DOUBLE") if double_precision
             else TensorProto(float_val=[value], dtype="DT_FLOAT"))
    return _summary(name, tensor=proto, metadata=_plugin("scalars"))


def _flat(tensor):
    return tensor.flatten().tolist()


def _flat_complex(tensor):
    return torch.view_as_real(tensor).flatten().tolist()


def _flat_half(tensor):
    return [half_to_int(value) for value in _flat(tensor)]


_TENSOR_TYPE_MAP = {
    torch.float16: ("DT_HALF", "half_val", _flat_half),
    torch.bfloat16: ("DT_BFLOAT16", "half_val", _flat_half),
    torch.float32: ("DT_FLOAT", "float_val", _flat),
    torch.float64: ("DT_DOUBLE", "double_val", _flat),
    torch.int8: ("DT_INT8", "int_val", _flat),
    torch.uint8: ("DT_UINT8", "uint32_val", _flat),
    torch.int16: ("DT_INT16", "int_val", _flat),
    torch.int32: ("DT_INT32", "int_val", _flat),
    torch.int64: ("DT_INT64", "int64_val", _flat),
    torch.complex32: ("DT_COMPLEX32", "scomplex_val", _flat_complex),
    torch.complex64: ("DT_COMPLEX64", "scomplex_val", _flat_complex),
    torch.complex128: ("DT_COMPLEX128", "dcomplex_val", _flat_complex),
    torch.bool: ("DT_BOOL", "bool_val", _flat),
}


def tensor_proto(tag, tensor):
    """A whole tensor, of at most 2 GB."""
    if tensor.numel() * tensor.itemsize >= 1 << 31:
        raise ValueError("tensor is bigger than protocol buffer's hard limit of 2GB in size")
    if tensor.dtype not in _TENSOR_TYPE_MAP:
        raise ValueError(f"{tag} has unsupported tensor dtype {tensor.dtype}")
    dtype, field, conversion = _TENSOR_TYPE_MAP[tensor.dtype]
    proto = TensorProto(dtype=dtype, tensor_shape=_shape(tensor.shape),
                        **{field: conversion(tensor)})
    return _summary(tag, tensor=proto, metadata=_plugin("tensor"))


# ---- histograms ---------------------------------------------------------------------------------


def histogram_raw(name, min, max, num, sum, sum_squares, bucket_limits, bucket_counts):
    """A histogram that has been counted already."""
    return _summary(name, histo=HistogramProto(
        min=min, max=max, num=num, sum=sum, sum_squares=sum_squares, bucket_limit=bucket_limits,
        bucket=bucket_counts))


def histogram(name, values, bins, max_bins=None):
    """The histogram of all values; `bins` as in numpy.histogram."""
    return _summary(name, histo=make_histogram(make_np(values).astype(float), bins, max_bins))


def make_histogram(values, bins, max_bins=None):
    """Counts `values` in `bins`, merging neighbours until there are about `max_bins`."""
    if values.size == 0:
        raise ValueError("The input has no element.")
    values = values.reshape(-1)
    counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        step = len(counts) // max_bins
        counts = np.pad(counts, (0, -len(counts) % step)).reshape(-1, step).sum(axis=1)
        limits = np.append(limits[:-1:step], limits[-1])
    filled = np.flatnonzero(counts)
    if len(filled) == 0:
        raise ValueError("The histogram is empty, please file a bug report.")
    # Only the bins that hold something are stored, and an empty one in front, whose limit tells
    # where the first of them begins.
    first, last = filled[0], filled[-1]
    return HistogramProto(
        min=values.min(), max=values.max(), num=len(values), sum=values.sum(),
        sum_squares=values.dot(values), bucket_limit=limits[first:last + 2].tolist(),
        bucket=[0, *counts[first:last + 1].tolist()])


# ---- pictures, films, sound ---------------------------------------------------------------------


def _calc_scale_factor(tensor):
    """What brings values to 0..255: floats are taken to be in 0..1."""
    return 1 if tensor.dtype == np.uint8 else 255


def _pixels(tensor):
    scaled = tensor.astype(np.float32) * _calc_scale_factor(tensor)
    return scaled.clip(0, 255).astype(np.uint8)


def image(tag, tensor, rescale=1, dataformats="NCHW"):
    """A picture, or a batch of them side by side. `dataformats` names the dimensions."""
    pixels = _pixels(convert_to_HWC(make_np(tensor), dataformats))
    return _summary(tag, image=make_image(pixels, rescale=rescale))


def image_boxes(tag, tensor_image, tensor_boxes, rescale=1, dataformats="CHW", labels=None):
    """A picture with boxes (xmin, ymin, xmax, ymax) drawn on it."""
    pixels = _pixels(convert_to_HWC(make_np(tensor_image), dataformats))
    return _summary(tag, image=make_image(pixels, rescale=rescale, rois=make_np(tensor_boxes),
                                          labels=labels))


def _draw_single_box(image, xmin, ymin, xmax, ymax, display_str, color="black",
                     color_text="black", thickness=2):
    from PIL import ImageDraw, ImageFont

    draw = ImageDraw.Draw(image)
    corners = [(xmin, ymin), (xmin, ymax), (xmax, ymax), (xmax, ymin), (xmin, ymin)]
    draw.line(corners, width=thickness, fill=color)
    if display_str:
        font = ImageFont.load_default()
        left, top, right, bottom = font.getbbox(display_str)
        width, height = right - left, bottom - top
        margin = np.ceil(0.05 * height)
        draw.rectangle([(xmin, ymax - height - 2 * margin), (xmin + width, ymax)], fill=color)
        draw.text((xmin + margin, ymax - height - margin), display_str, fill=color_text,
                  font=font)
    return image


def draw_boxes(disp_image, boxes, labels=None):
    """Draws each box on a PIL image, with its label."""
    for i, box in enumerate(boxes):
        disp_image = _draw_single_box(disp_image, *(box[k] for k in range(4)),
                                      display_str=None if labels is None else labels[i],
                                      color="Red")
    return disp_image


def make_image(tensor, rescale=1, rois=None, labels=None):
    """A PNG of an array (height, width, channel) of uint8."""
    from PIL import Image

    height, width, channels = tensor.shape
    picture = Image.fromarray(tensor)
    if rois is not None:
        picture = draw_boxes(picture, rois, labels=labels)
    picture = picture.resize((int(width * rescale), int(height * rescale)),
                             Image.Resampling.LANCZOS)
    output = io.BytesIO()
    picture.save(output, format="PNG")
    return Summary.Image(height=height, width=width, colorspace=channels,
                         encoded_image_string=output.getvalue())


def video(tag, tensor, fps=4):
    """A GIF of frames (batch, time, channel, height, width); needs the package moviepy."""
    frames = _prepare_video(make_np(tensor))
    # uint8 frames have become floats in 0..1
    return _summary(tag, image=make_video(_pixels(frames), fps))


def make_video(tensor, fps):
    """The GIF of an array (time, height, width, channel) of uint8; None without moviepy."""
    try:
        try:
            from moviepy import editor as mpy
        except ImportError:
            import moviepy as mpy
    except ImportError:
        print("add_video needs package moviepy")
        return None
    _, height, width, channels = tensor.shape
    clip = mpy.ImageSequenceClip(list(tensor), fps=fps)
    with tempfile.NamedTemporaryFile(suffix=".gif", delete=False) as file:
        name = file.name
    try:
        clip.write_gif(name, logger=None)
        with open(name, "rb") as file:
            encoded = file.read()
    finally:
        os.remove(name)
    return Summary.Image(height=height, width=width, colorspace=channels,
                         encoded_image_string=encoded)


def audio(tag, tensor, sample_rate=44100):
    """One channel of sound in -1..1, as WAV."""
    samples = make_np(tensor).squeeze()
    if abs(samples).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        samples = samples.clip(-1, 1)
    assert samples.ndim == 1, "input tensor should be 1 dimensional."
    output = io.BytesIO()
    with wave.open(output, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes((samples * np.iinfo(np.int16).max).astype("<i2").tobytes())
    return _summary(tag, audio=Summary.Audio(
        sample_rate=sample_rate, num_channels=1, length_frames=len(samples),
        encoded_audio_string=output.getvalue(), content_type="audio/wav"))


# ---- text, layouts, curves, meshes --------------------------------------------------------------


def text(tag, text):
    """A text, shown as Markdown."""
    proto = TensorProto(dtype="DT_STRING", string_val=[text.encode(encoding="utf_8")],
                        tensor_shape=_shape([1]))
    return _summary(tag + "/text_summary", tensor=proto,
                    metadata=_plugin("text", TextPluginData(version=0).SerializeToString()))


def custom_scalars(layout):
    """The charts of the tab "custom scalars": {category: {title: [kind, tags]}}."""
    categories = []
    for category, charts in layout.items():
        made = []
        for title, (kind, tags, *_) in charts.items():
            if kind == "Margin":
                assert len(tags) == 3, f"Expected 3 tags, got {len(tags)}."
                series = layout_pb2.MarginChartContent.Series(
                    value=tags[0], lower=tags[1], upper=tags[2])
                made.append(layout_pb2.Chart(
                    title=title, margin=layout_pb2.MarginChartContent(series=[series])))
            else:
                made.append(layout_pb2.Chart(
                    title=title, multiline=layout_pb2.MultilineChartContent(tag=tags)))
        categories.append(layout_pb2.Category(title=category, chart=made))
    encoded = layout_pb2.Layout(category=categories).SerializeToString()
    proto = TensorProto(dtype="DT_STRING", string_val=[encoded], tensor_shape=TensorShapeProto())
    return _summary("custom_scalars__config__", tensor=proto, metadata=_plugin("custom_scalars"))


_MAX_THRESHOLDS = 127  # more than TensorBoard can show


def pr_curve_raw(tag, tp, fp, tn, fn, precision, recall, num_thresholds=127, weights=None):
    """A precision-recall curve from its counts at each threshold."""
    num_thresholds = min(num_thresholds, _MAX_THRESHOLDS)
    return _pr_curve(tag, np.stack((tp, fp, tn, fn, precision, recall)), num_thresholds)


def pr_curve(tag, labels, predictions, num_thresholds=127, weights=None):
    """The precision-recall curve of predictions in 0..1 for labels 0 and 1."""
    num_thresholds = min(num_thresholds, _MAX_THRESHOLDS)
    return _pr_curve(tag, compute_curve(labels, predictions, num_thresholds=num_thresholds,
                                        weights=weights), num_thresholds)


def _pr_curve(tag, data, num_thresholds):
    content = PrCurvePluginData(version=0, num_thresholds=num_thresholds).SerializeToString()
    proto = TensorProto(dtype="DT_FLOAT", float_val=data.reshape(-1).tolist(),
                        tensor_shape=_shape(data.shape))
    return _summary(tag, tensor=proto, metadata=_plugin("pr_curves", content))


def compute_curve(labels, predictions, num_thresholds=None, weights=None):
    """Rows: true and false positives, true and false negatives, precision, recall."""
    if weights is None:
        weights = 1.0
    bucket = np.int32(np.floor(predictions * (num_thresholds - 1)))
    positive = labels.astype(float)
    options = {"bins": num_thresholds, "range": (0, num_thresholds - 1)}
    per_bucket = [np.histogram(bucket, weights=part * weights, **options)[0]
                  for part in (positive, 1.0 - positive)]
    # At a threshold, everything in its bucket and above is predicted to be positive.
    tp, fp = (np.cumsum(counts[::-1])[::-1] for counts in per_bucket)
    tn, fn = fp[0] - fp, tp[0] - tp
    tiny = 1e-7
    return np.stack((tp, fp, tn, fn, tp / np.maximum(tiny, tp + fp),
                     tp / np.maximum(tiny, tp + fn)))


def _get_json_config(config_dict):
    return json.dumps(config_dict, sort_keys=True) if config_dict is not None else "{}"


def mesh(tag, vertices, colors, faces, config_dict, display_name=None, description=None):
    """Points (batch, n, 3) in space, their colours, and triangles of them."""
    from tensorboard.plugins.mesh import metadata
    from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData

    config = _get_json_config(config_dict)
    parts = [(vertices, MeshPluginData.VERTEX), (faces, MeshPluginData.FACE),
             (colors, MeshPluginData.COLOR)]
    parts = [(tensor, kind) for tensor, kind in parts if tensor is not None]
    components = metadata.get_components_bitmask([kind for _, kind in parts])
    values = []
    for tensor, kind in parts:
        tensor = torch.as_tensor(tensor)
        proto = TensorProto(dtype="DT_FLOAT", tensor_shape=_shape(tensor.shape),
                            float_val=tensor.reshape(-1).tolist())
        description_of = metadata.create_summary_metadata(
            tag, display_name, kind, components, tuple(tensor.shape), description,
            json_config=config)
        values.append(Summary.Value(tag=metadata.get_instance_name(tag, kind), tensor=proto,
                                    metadata=description_of))
    return Summary(value=values)
