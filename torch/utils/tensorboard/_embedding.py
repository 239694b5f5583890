"""The files beside the events that TensorBoard's projector reads: points, labels, pictures."""

import math
import os

import numpy as np
from google.protobuf import text_format
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo

from torch.utils.tensorboard._convert_np import make_np
from torch.utils.tensorboard._utils import make_grid


def _write(path, text):
    with open(path, "wb") as file:
        file.write(text.encode("utf-8"))


def make_tsv(metadata, save_path, metadata_header=None):
    """metadata.tsv: one label a line, or several columns under `metadata_header`."""
    if metadata_header:
        assert len(metadata_header) == len(metadata[0]), (
            "len of header must be equal to the number of columns in metadata")
        metadata = ["\t".join(str(cell) for cell in row)
                    for row in [metadata_header, *metadata]]
    _write(os.path.join(save_path, "metadata.tsv"), "\n".join(str(x) for x in metadata) + "\n")


def make_sprite(label_img, save_path):
    """sprite.png: the pictures of all points in one square."""
    from PIL import Image

    pictures = make_np(label_img)
    grid = make_grid(pictures, ncols=math.ceil(math.sqrt(len(pictures))))
    side = grid.shape[2]
    square = np.zeros((3, side, side))
    square[:, :grid.shape[1]] = grid[:, :side]
    pixels = np.uint8((square.transpose(1, 2, 0) * 255).clip(0, 255))
    Image.fromarray(pixels).save(os.path.join(save_path, "sprite.png"))


def get_embedding_info(metadata, label_img, subdir, global_step, tag):
    """What projector_config.pbtxt says of one embedding."""
    info = EmbeddingInfo()
    info.tensor_name = f"{tag}:{str(global_step).zfill(5)}"
    info.tensor_path = f"{subdir}/tensors.tsv"
    if metadata is not None:
        info.metadata_path = f"{subdir}/metadata.tsv"
    if label_img is not None:
        info.sprite.image_path = f"{subdir}/sprite.png"
        info.sprite.single_image_dim.extend([label_img.shape[3], label_img.shape[2]])
    return info


def write_pbtxt(save_path, contents):
    """projector_config.pbtxt, which lists the embeddings."""
    _write(os.path.join(save_path, "projector_config.pbtxt"), contents)


def config_text(config):
    """A protobuf message in its text form."""
    return text_format.MessageToString(config)


def make_mat(matlist, save_path):
    """tensors.tsv: the coordinates of one point a line."""
    _write(os.path.join(save_path, "tensors.tsv"),
           "".join("\t".join(str(x) for x in row) + "\n" for row in matlist))
