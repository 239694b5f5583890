"""torch.utils.tensorboard: writes event files for TensorBoard, with the package `tensorboard`."""

from tensorboard.summary.writer.record_writer import RecordWriter  # noqa: F401

from torch.utils.tensorboard.writer import FileWriter, SummaryWriter  # noqa: F401
