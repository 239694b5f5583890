"""The three summaries from which TensorBoard's tab "hparams" learns of a run."""

from google.protobuf.struct_pb2 import ListValue
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.plugins.hparams.api_pb2 import (
    DataType,
    Experiment,
    HParamInfo,
    MetricInfo,
    MetricName,
    Status,
)
from tensorboard.plugins.hparams.metadata import (
    EXPERIMENT_TAG,
    PLUGIN_DATA_VERSION,
    PLUGIN_NAME,
    SESSION_END_INFO_TAG,
    SESSION_START_INFO_TAG,
)
from tensorboard.plugins.hparams.plugin_data_pb2 import (
    HParamsPluginData,
    SessionEndInfo,
    SessionStartInfo,
)

import torch


def _summary(tag, **what):
    content = HParamsPluginData(version=PLUGIN_DATA_VERSION, **what).SerializeToString()
    metadata = SummaryMetadata(
        plugin_data=SummaryMetadata.PluginData(plugin_name=PLUGIN_NAME, content=content))
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata)])


def _check_domains(hparam_dict, domains):
    if not isinstance(domains, dict):
        raise TypeError("parameter: hparam_domain_discrete should be a dictionary, nothing logged.")
    for name, values in domains.items():
        if (name not in hparam_dict or not isinstance(values, list)
                or not all(isinstance(value, type(hparam_dict[name])) for value in values)):
            raise TypeError(f"parameter: hparam_domain_discrete[{name}] should be a list of same "
                            f"type as hparam_dict[{name}].")


def _typed(value):
    """(field of a protobuf Value, value, HParams' data type)."""
    if isinstance(value, (int, float)):  # and bool, which is shown as a number
        return "number_value", value, "DATA_TYPE_FLOAT64"
    if isinstance(value, str):
        return "string_value", value, "DATA_TYPE_STRING"
    if isinstance(value, torch.Tensor):
        return "number_value", value.item(), "DATA_TYPE_FLOAT64"
    raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")


def hparams(hparam_dict=None, metric_dict=None, hparam_domain_discrete=None):
    """Three summaries: the experiment, the start of a session with its values, and its end."""
    if not isinstance(hparam_dict, dict) or not isinstance(metric_dict, dict):
        raise TypeError("hparam_dict and metric_dict should be dictionaries, nothing logged.")
    domains = hparam_domain_discrete or {}
    _check_domains(hparam_dict, domains)
    start = SessionStartInfo()
    infos = []
    for name, value in hparam_dict.items():
        if value is None:
            continue
        field, value, kind = _typed(value)
        setattr(start.hparams[name], field, value)
        domain = None
        if name in domains:
            domain = ListValue()
            for choice in domains[name]:
                setattr(domain.values.add(), field, choice)
        infos.append(HParamInfo(name=name, type=DataType.Value(kind), domain_discrete=domain))
    metrics = [MetricInfo(name=MetricName(tag=name)) for name in metric_dict]
    end = SessionEndInfo(status=Status.Value("STATUS_SUCCESS"))
    return (
        _summary(EXPERIMENT_TAG, experiment=Experiment(hparam_infos=infos, metric_infos=metrics)),
        _summary(SESSION_START_INFO_TAG, session_start_info=start),
        _summary(SESSION_END_INFO_TAG, session_end_info=end),
    )
