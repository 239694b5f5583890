"""torch.utils.tensorboard: the events that SummaryWriter writes, as the reference writes them.

Skipped where the package tensorboard is not installed.
"""
import os

import pytest

import torch

pytest.importorskip("tensorboard")
np = pytest.importorskip("numpy")

from tensorboard.backend.event_processing import event_accumulator  # noqa: E402
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader  # noqa: E402
from tensorboard.compat.proto.event_pb2 import Event  # noqa: E402

from torch.utils.tensorboard import SummaryWriter, summary  # noqa: E402


def events(folder):
    """(step, value) of all summaries of the run in `folder`."""
    found = []
    for name in sorted(os.listdir(folder)):
        if ".tfevents." in name:
            for raw in RawEventFileLoader(os.path.join(folder, name)).Load():
                event = Event()
                event.ParseFromString(raw)
                found += [(event.step, value) for value in event.summary.value]
    return found


def logged(folder, action):
    with SummaryWriter(str(folder)) as writer:
        action(writer)
    return [value for _, value in events(folder)]


def test_scalars(tmp_path):
    def log(writer):
        writer.add_scalar("a/b c", torch.tensor(1.5), 3)
        writer.add_scalar("new", 2.5, 4, new_style=True, double_precision=True)
        writer.add_scalars("run/x", {"u": 1.0, "v": 2.0}, 4)
        with pytest.raises(AssertionError, match="should contain one element"):
            writer.add_scalar("a", torch.ones(2))
        with pytest.raises(NotImplementedError, match="numpy array or torch tensor"):
            writer.add_scalar("a", [1.0])

    old, new = logged(tmp_path, log)
    assert (old.tag, old.simple_value) == ("a/b c", 1.5)
    assert list(new.tensor.double_val) == [2.5]
    assert new.metadata.plugin_data.plugin_name == "scalars"
    assert [s for s, _ in events(tmp_path)] == [3, 4]
    (step, value), = events(tmp_path / "run_x_v")
    assert (step, value.tag, value.simple_value) == (4, "run/x", 2)


def test_histogram(tmp_path):
    value, = logged(tmp_path, lambda w: w.add_histogram("h", torch.arange(10), 1, [0, 2, 5, 10]))
    assert list(value.histo.bucket_limit) == [0, 2, 5, 10]
    assert list(value.histo.bucket) == [0, 2, 3, 5]
    assert (value.histo.max, value.histo.num, value.histo.sum_squares) == (9, 10, 285)
    merged = summary.make_histogram(np.arange(20.0), [*range(13), 30], 3)
    assert list(merged.bucket_limit) == [0, 4, 8, 12, 30]
    assert list(merged.bucket) == [0, 4, 4, 4, 8]
    inner = summary.make_histogram(np.array([2.5, 3.5]), list(range(7)))
    assert (list(inner.bucket_limit), list(inner.bucket)) == ([2, 3, 4], [0, 1, 1])
    with pytest.raises(ValueError, match="The input has no element"):
        summary.make_histogram(np.zeros(0), [0, 1])


def test_images(tmp_path):
    image = pytest.importorskip("PIL.Image")
    import io

    picture = torch.arange(12, dtype=torch.uint8).reshape(3, 2, 2)

    def log(writer):
        writer.add_image("a", picture)
        writer.add_image("b", picture[0] / 255.0, dataformats="HW")
        writer.add_images("c", torch.stack([picture, picture + 100]))
        with pytest.raises(AssertionError, match="size of input tensor and input format"):
            writer.add_image("d", picture[0])

    decoded = [np.array(image.open(io.BytesIO(v.image.encoded_image_string)))
               for v in logged(tmp_path, log)]
    assert (decoded[0] == picture.permute(1, 2, 0).numpy()).all()
    assert (decoded[1] == picture[:1].permute(1, 2, 0).numpy()).all()
    assert (decoded[2][:, 2:] == picture.permute(1, 2, 0).numpy() + 100).all()


def test_curves_and_text(tmp_path):
    labels, scores = torch.tensor([0, 1, 1, 0, 1]), torch.tensor([.1, .9, .4, .6, .8])

    def log(writer):
        writer.add_pr_curve("p", labels, scores, 1, num_thresholds=5)
        writer.add_text("t", "wörld")
        writer.add_custom_scalars_marginchart(["a", "b", "c"])
        writer.add_tensor("x", torch.tensor([1.5], dtype=torch.float16))

    curve, text, chart, tensor = logged(tmp_path, log)
    assert list(curve.tensor.float_val) == pytest.approx(
        [3, 3, 2, 2, 0, 2, 1, 1, 0, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 3,
         0.6, 0.75, 2 / 3, 1, 0, 1, 1, 2 / 3, 2 / 3, 0])
    assert curve.metadata.plugin_data.content == b"\020\005"
    assert (text.tag, text.tensor.string_val[0].decode()) == ("t/text_summary", "wörld")
    assert chart.tensor.string_val[0] == (
        b'\022"\n\007default\022\027\n\010untitled\032\013\n\t\n\001a\022\001b\032\001c')
    assert list(tensor.tensor.half_val) == [summary.half_to_int(1.5)]


def test_hparams(tmp_path):
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_hparams({"lr": 0.1, "on": True}, {"acc": 0.9}, {"on": [True, False]}, "r", 5)
        with pytest.raises(TypeError, match="hparam_domain_discrete.lr. should be a list"):
            writer.add_hparams({"lr": 0.1}, {"acc": 1.0}, {"lr": [True]})
        with pytest.raises(ValueError, match="should be one of int, float, str, bool"):
            writer.add_hparams({"lr": [1]}, {"acc": 1.0})
    tags = [(step, value.tag) for step, value in events(tmp_path / "r")]
    names = ["_hparams_/experiment", "_hparams_/session_start_info",
             "_hparams_/session_end_info", "acc"]
    assert tags == [(5, name) for name in names]
    experiment = events(tmp_path / "r")[0][1].metadata.plugin_data.content
    assert b"lr" in experiment and b"acc" in experiment


def test_embedding(tmp_path):
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_embedding(torch.arange(4.0).reshape(2, 2), [["a", "1"], ["b", "2"]],
                             tag="x/y", metadata_header=["n", "v"])
        with pytest.raises(AssertionError, match="#labels should equal"):
            writer.add_embedding(torch.ones(4, 3), metadata=["a"], global_step=1)
    assert (tmp_path / "projector_config.pbtxt").read_text() == (
        'embeddings {\n  tensor_name: "x/y:00000"\n  metadata_path: "00000/x%2fy/metadata.tsv"\n'
        '  tensor_path: "00000/x%2fy/tensors.tsv"\n}\n')
    assert (tmp_path / "00000/x%2fy/metadata.tsv").read_text() == "n\tv\na\t1\nb\t2\n"
    assert (tmp_path / "00000/x%2fy/tensors.tsv").read_text() == "0.0\t1.0\n2.0\t3.0\n"


def test_sound_meshes_and_figures(tmp_path):
    def log(writer):
        writer.add_audio("a", torch.tensor([0.0, 1.0, -1.0]), sample_rate=8000)
        writer.add_mesh("m", torch.ones(1, 4, 3), config_dict={"a": 1})

    sound, mesh = logged(tmp_path, log)
    assert sound.audio.encoded_audio_string[-6:] == b"\0\0\xff\x7f\x01\x80"
    assert mesh.tag == "m_VERTEX" and b'{"a": 1}' in mesh.metadata.plugin_data.content


def test_purge_and_reopen(tmp_path):
    writer = SummaryWriter(str(tmp_path), purge_step=5)
    writer.close()
    assert writer.file_writer is None
    writer.add_scalar("b", 1.0)
    writer.close()
    assert [value.tag for _, value in events(tmp_path)] == ["b"]


def test_graph(tmp_path):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())

        def forward(self, x):
            return self.fc(x) + 1

    net = Net().train()
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_graph(net, torch.ones(1, 4))
    assert net.training and net.fc[0].training
    accumulator = event_accumulator.EventAccumulator(str(tmp_path))
    accumulator.Reload()
    nodes = {n.name: n for n in accumulator.Graph().node}
    (addmm,) = [n for n in nodes.values() if n.op == "aten::addmm"]
    (relu,) = [n for n in nodes.values() if n.op == "aten::relu"]
    assert addmm.name.startswith("Net/Sequential[fc]/Linear[0]/")
    assert relu.name.startswith("Net/Sequential[fc]/ReLU[1]/") and list(relu.input) == [addmm.name]
    assert "input/x" in addmm.input
    shape = nodes["output/output.1"].attr["_output_shapes"].list.shape[0]
    assert [d.size for d in shape.dim] == [1, 3]
