"""The parts of torch.utils.benchmark."""
