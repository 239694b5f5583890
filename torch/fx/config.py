"""Settings of torch.fx."""

disable_progress = True          # no progress bar while an Interpreter runs
verbose_progress = False         # with the bar: also the node that runs
do_not_emit_stack_traces = False  # leave stack traces out of generated code
