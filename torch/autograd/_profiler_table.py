"""The text table of a profile: columns, their widths, the rows."""
from torch.autograd import profiler_util as util

_NAME, _CELL, _SOURCE = 4, 12, 20  # room beside a name; least widths


class _Column:
    """Title, width and alignment of a column and how a row's cell is made."""

    def __init__(self, title, width, cell, left=False):
        self.title, self.width, self.cell, self.left = title, width, cell, left

    def put(self, text):
        return f"{text:{'<' if self.left else '>'}{self.width}}"


def _shortened(text, width):
    if width is not None and len(text) >= width:
        text = text[: width - 3] + "..."
    return text


def _sort(events, sort_by):
    if sort_by is None:
        return events
    attribute = (sort_by.replace("cuda", "device").replace("xpu", "device")
                 .replace("privateuse1", "device"))
    return util.EventList(util._sorted_by(events, attribute), use_device=events._use_device,
                          profile_memory=events._profile_memory, with_flops=events._with_flops)


def _flop_scale(events):
    """The unit in which the smallest count has at most three digits before the point."""
    counts = [e.flops for e in events if e.flops is not None and e.flops > 0]
    if not counts:
        return None
    units = ["FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"]
    step = max(0, min(len(units) - 1, (len(str(int(min(counts)))) - 1) // 3))
    return units[step], 10 ** (-3 * step)


def build(events, sort_by=None, header=None, row_limit=100, max_src_column_width=75,
          max_name_column_width=55, max_shapes_column_width=80, with_flops=False,
          profile_memory=False, top_level_events_only=False, time_unit=None):
    """The table of :meth:`EventList.table`."""
    if len(events) == 0:
        return ""
    show = util._format_time if time_unit is None else (
        lambda us: util._format_time_in(us, time_unit))
    total = sum(e.self_cpu_time_total for e in events)
    events = _sort(events, sort_by)
    columns = _columns(events, total, show, with_flops, profile_memory, max_name_column_width,
                       max_shapes_column_width, max_src_column_width)
    line = "  ".join("-" * c.width for c in columns) + "  "
    out = []
    if header is not None or top_level_events_only:
        out.append("=" * (len(line) - 2))
    if header is not None:
        out.append(header)
    if top_level_events_only:
        out.append("This report only display top-level ops statistics")
    out += [line, "  ".join(c.put(c.title) for c in columns) + "  ", line]
    out += _rows(events, columns, row_limit, top_level_events_only)
    out += [line, f"Self CPU time total: {show(total)}", ""]
    return "\n".join(out)


def _columns(events, total, show, with_flops, profile_memory, max_name, max_shapes, max_src):
    def share(attribute):
        def cell(e):
            if attribute == "cpu_time_total" and e.is_async:
                return "0.00%"
            return util._format_time_share(getattr(e, attribute), total)
        return cell

    name_width = _narrowed(max(len(e.key) for e in events) + _NAME, max_name)
    columns = [
        _Column("Name", name_width, lambda e: _shortened(e.key, max_name)),
        _Column("Self CPU %", _CELL, share("self_cpu_time_total")),
        _Column("Self CPU", _CELL, lambda e: show(e.self_cpu_time_total)),
        _Column("CPU total %", _CELL, share("cpu_time_total")),
        _Column("CPU total", _CELL, lambda e: show(e.cpu_time_total)),
        _Column("CPU time avg", _CELL, lambda e: show(e.cpu_time)),
    ]
    if profile_memory:
        columns += [
            _Column("CPU Mem", _CELL, lambda e: util._format_memory(e.cpu_memory_usage)),
            _Column("Self CPU Mem", _CELL, lambda e: util._format_memory(e.self_cpu_memory_usage)),
        ]
    columns.append(_Column("# of Calls", _CELL, lambda e: e.count))
    if any(e.node_id != -1 for e in events):
        columns.append(_Column("Node ID", _CELL, lambda e: e.node_id))
    columns += _wide_columns(events, max_shapes, max_src)
    scale = _flop_scale(events) if with_flops else None
    if scale is not None:
        unit, factor = scale
        columns.append(_Column(f"Total {unit}", _CELL,
                               lambda e: f"{e.flops * factor:8.3f}" if e.flops else "--"))
    return columns


def _wide_columns(events, max_shapes, max_src):
    columns = []
    if any(e.input_shapes for e in events):
        longest = max(len(str(e.input_shapes)) for e in events)
        columns.append(_shapes_column(_narrowed(longest + _NAME, max_shapes)))
    sources = [len(s) for e in events if e.stack for s in e.stack]
    if sources:
        longest = max(max(sources) + _NAME, _SOURCE)
        columns.append(_source_column(_narrowed(longest, max_src)))
    return columns


def _narrowed(width, limit):
    return width if limit is None else min(width, limit)


def _shapes_column(width):
    return _Column("Input Shapes", width, lambda e: str(e.input_shapes)[:width])


def _source_column(width):
    def innermost(e):
        return _tail(e.stack[0], width) if e.stack else ""
    return _Column("Source Location", width, innermost, left=True)


def _tail(path, width):
    """The end of a long path says more than its beginning."""
    if len(path) > width:
        path = path[len(path) - width:]
        if "/" in path:
            path = "..." + path[path.index("/"):]
    return path


def _rows(events, columns, row_limit, top_level):
    out, n = [], 0
    source = next((i for i, c in enumerate(columns) if c.title == "Source Location"), None)
    for e in events:
        if n == row_limit:
            break
        if top_level and e.cpu_parent is not None:
            continue
        n += 1
        out.append("  ".join(c.put(c.cell(e)) for c in columns) + "  ")
        if source is None:
            continue
        blank = [" " * c.width for c in columns]
        for entry in (e.stack or [])[1:]:
            blank[source] = columns[source].put(_tail(entry, columns[source].width))
            out.append("  ".join(blank) + "  ")
        blank[source] = " " * columns[source].width
        out.append("  ".join(blank) + "  ")
    return out
