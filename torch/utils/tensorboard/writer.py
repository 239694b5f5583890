"""`SummaryWriter`: logs numbers, pictures, histograms, ... of a run into its folder.

The events are written by tensorboard's own writer, asynchronously; their contents are made by
summary.py.
"""

import os
import time

from tensorboard.compat import tf  # noqa: F401  (a stub of tensorflow's file system without it)
from tensorboard.compat.proto import event_pb2
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from torch.utils.tensorboard import summary as summaries
from torch.utils.tensorboard._convert_np import make_np
from torch.utils.tensorboard._embedding import (
    config_text,
    get_embedding_info,
    make_mat,
    make_sprite,
    make_tsv,
    write_pbtxt,
)
from torch.utils.tensorboard._utils import figure_to_image

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """Writes events and summaries to one file of `log_dir`."""

    def __init__(self, log_dir, max_queue=10, flush_secs=120, filename_suffix=""):
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self):
        """The folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event, step=None, walltime=None):
        """Writes an Event, with the time `walltime` or now."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary, global_step=None, walltime=None):
        """Writes a Summary."""
        self.add_event(event_pb2.Event(summary=summary), global_step, walltime)

    def add_graph(self, graph_profile, walltime=None):
        """Writes a (graph, profile) pair of protobuf messages."""
        graph, step_stats = graph_profile
        self.add_event(event_pb2.Event(graph_def=graph.SerializeToString()), None, walltime)
        profile = event_pb2.TaggedRunMetadata(
            tag="step1", run_metadata=step_stats.SerializeToString())
        self.add_event(event_pb2.Event(tagged_run_metadata=profile), None, walltime)

    def add_onnx_graph(self, graph, walltime=None):
        """Writes a graph given as a protobuf message."""
        self.add_event(event_pb2.Event(graph_def=graph.SerializeToString()), None, walltime)

    def flush(self):
        """Writes what is waiting."""
        self.event_writer.flush()

    def close(self):
        """Flushes and closes the file."""
        self.event_writer.close()

    def reopen(self):
        """Opens a new file after `close`."""
        self.event_writer.reopen()


def _default_bins():
    """Bins that grow by 10 % from 1e-12 to 1e20 to both sides of 0."""
    positive, limit = [], 1e-12
    while limit < 1e20:
        positive.append(limit)
        limit *= 1.1
    return [-limit for limit in reversed(positive)] + [0] + positive


class SummaryWriter:
    """Logs a run for TensorBoard into `log_dir`.

    `log_dir` defaults to `runs/<date>_<time>_<host><comment>`. `purge_step` tells TensorBoard to
    forget the events from that step on, after a restart. Use it as a context manager, or close
    it.
    """

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120,
                 filename_suffix=""):
        if not log_dir:
            import socket
            from datetime import datetime

            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer = self.all_writers = None
        self._get_file_writer()
        self.default_bins = _default_bins()

    def _get_file_writer(self):
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = FileWriter(self.log_dir, self.max_queue, self.flush_secs,
                                          self.filename_suffix)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                step = self.purge_step
                self.file_writer.add_event(Event(step=step, file_version="brain.Event:2"))
                self.file_writer.add_event(
                    Event(step=step, session_log=SessionLog(status=SessionLog.START)))
                self.purge_step = None
        return self.file_writer

    def get_logdir(self):
        """The folder of the run."""
        return self.log_dir

    def _add(self, summary, global_step, walltime=None):
        self._get_file_writer().add_summary(summary, global_step, walltime)

    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None,
                    global_step=None):
        """Logs hyperparameters and the metrics they led to, as a run of its own."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        parts = summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as run:
            for part in parts:
                run.file_writer.add_summary(part, global_step)
            for name, value in metric_dict.items():
                run.add_scalar(name, value, global_step)

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False,
                   double_precision=False):
        """Logs one number."""
        self._add(summaries.scalar(tag, scalar_value, new_style=new_style,
                                   double_precision=double_precision), global_step, walltime)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Logs several numbers for one chart, each as a run of its own."""
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        for tag, value in tag_scalar_dict.items():
            name = f"{folder}/{main_tag.replace('/', '_')}_{tag}"
            if name not in self.all_writers:
                self.all_writers[name] = FileWriter(name, self.max_queue, self.flush_secs,
                                                    self.filename_suffix)
            self.all_writers[name].add_summary(summaries.scalar(main_tag, value), global_step,
                                               walltime)

    def add_tensor(self, tag, tensor, global_step=None, walltime=None):
        """Logs a tensor."""
        self._add(summaries.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None,
                      max_bins=None):
        """Logs the histogram of `values`; `bins` as in numpy.histogram, or "tensorflow"."""
        if isinstance(bins, str) and bins == "tensorflow":
            bins = self.default_bins
        self._add(summaries.histogram(tag, values, bins, max_bins=max_bins), global_step,
                  walltime)

    def add_histogram_raw(self, tag, min, max, num, sum, sum_squares, bucket_limits,
                          bucket_counts, global_step=None, walltime=None):
        """Logs a histogram that has been counted already."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        self._add(summaries.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits,
                                          bucket_counts), global_step, walltime)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        """Logs a picture: uint8 in 0..255, others in 0..1."""
        self._add(summaries.image(tag, img_tensor, dataformats=dataformats), global_step,
                  walltime)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        """Logs a batch of pictures side by side."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_image_with_boxes(self, tag, img_tensor, box_tensor, global_step=None, walltime=None,
                             rescale=1, dataformats="CHW", labels=None):
        """Logs a picture with boxes (xmin, ymin, xmax, ymax) and their labels."""
        if isinstance(labels, str):
            labels = [labels]
        if labels is not None and len(labels) != box_tensor.shape[0]:
            labels = None
        self._add(summaries.image_boxes(tag, img_tensor, box_tensor, rescale=rescale,
                                        dataformats=dataformats, labels=labels),
                  global_step, walltime)

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        """Logs a matplotlib figure, or a list of them."""
        self.add_image(tag, figure_to_image(figure, close), global_step, walltime,
                       dataformats="NCHW" if isinstance(figure, list) else "CHW")

    def add_video(self, tag, vid_tensor, global_step=None, fps=4, walltime=None):
        """Logs frames (batch, time, channel, height, width); needs the package moviepy."""
        self._add(summaries.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(self, tag, snd_tensor, global_step=None, sample_rate=44100, walltime=None):
        """Logs samples in -1..1 of one channel."""
        self._add(summaries.audio(tag, snd_tensor, sample_rate=sample_rate), global_step,
                  walltime)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        """Logs a text."""
        self._add(summaries.text(tag, text_string), global_step, walltime)

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        """Logs the operators that one call of a model runs, in the scopes of its modules.

        The model runs in evaluation mode and without gradients. `use_strict_trace` is accepted:
        containers of every kind may be results.
        """
        from torch.utils.tensorboard._graph import graph

        self._get_file_writer().add_graph(graph(model, input_to_model, verbose))

    def add_onnx_graph(self, prototxt):
        """Would log the graph of an ONNX file."""
        raise NotImplementedError("SummaryWriter.add_onnx_graph is not implemented")

    @staticmethod
    def _encode(rawstr):
        """`rawstr` as a name of a folder: slashes and percent signs are escaped."""
        for character in "%/\\":
            rawstr = rawstr.replace(character, f"%{ord(character):02x}")
        return rawstr

    def add_embedding(self, mat, metadata=None, label_img=None, global_step=None, tag="default",
                      metadata_header=None):
        """Logs points (n, d) for the projector, with labels and pictures (n, c, h, w)."""
        mat = make_np(mat)
        global_step = 0 if global_step is None else global_step
        subdir = f"{str(global_step).zfill(5)}/{self._encode(tag)}"
        folder = os.path.join(self._get_file_writer().get_logdir(), subdir)
        if os.path.exists(folder):
            print("warning: Embedding dir exists, did you set global_step for add_embedding()?")
        os.makedirs(folder, exist_ok=True)
        if metadata is not None:
            assert mat.shape[0] == len(metadata), "#labels should equal with #data points"
            make_tsv(metadata, folder, metadata_header=metadata_header)
        if label_img is not None:
            assert mat.shape[0] == label_img.shape[0], "#images should equal with #data points"
            make_sprite(label_img, folder)
        assert mat.ndim == 2, "mat should be 2D, where mat.size(0) is the number of data points"
        make_mat(mat, folder)
        if not hasattr(self, "_projector_config"):
            self._projector_config = ProjectorConfig()
        self._projector_config.embeddings.extend(
            [get_embedding_info(metadata, label_img, subdir, global_step, tag)])
        write_pbtxt(self._get_file_writer().get_logdir(), config_text(self._projector_config))

    def add_pr_curve(self, tag, labels, predictions, global_step=None, num_thresholds=127,
                     weights=None, walltime=None):
        """Logs the precision-recall curve of predictions in 0..1 for labels 0 and 1."""
        weights = weights if weights is None else make_np(weights)
        self._add(summaries.pr_curve(tag, make_np(labels), make_np(predictions), num_thresholds,
                                     weights), global_step, walltime)

    def add_pr_curve_raw(self, tag, true_positive_counts, false_positive_counts,
                         true_negative_counts, false_negative_counts, precision, recall,
                         global_step=None, num_thresholds=127, weights=None, walltime=None):
        """Logs a precision-recall curve from its counts."""
        self._add(summaries.pr_curve_raw(
            tag, true_positive_counts, false_positive_counts, true_negative_counts,
            false_negative_counts, precision, recall, num_thresholds, weights),
            global_step, walltime)

    def add_custom_scalars_multilinechart(self, tags, category="default", title="untitled"):
        """Puts several scalars into one chart."""
        self._add(summaries.custom_scalars({category: {title: ["Multiline", tags]}}), None)

    def add_custom_scalars_marginchart(self, tags, category="default", title="untitled"):
        """A chart of a scalar between two others: tags of value, lower, upper."""
        assert len(tags) == 3, f"Expected 3 tags, got {len(tags)}."
        self._add(summaries.custom_scalars({category: {title: ["Margin", tags]}}), None)

    def add_custom_scalars(self, layout):
        """Charts of scalars: {category: {title: ["Multiline" or "Margin", tags]}}."""
        self._add(summaries.custom_scalars(layout), None)

    def add_mesh(self, tag, vertices, colors=None, faces=None, config_dict=None,
                 global_step=None, walltime=None):
        """Logs points (batch, n, 3), their colours in 0..255 and triangles of them."""
        self._add(summaries.mesh(tag, vertices, colors, faces, config_dict), global_step,
                  walltime)

    def flush(self):
        """Writes what is waiting."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self):
        """Flushes and closes all files; logging again opens a new one."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        self.close()
