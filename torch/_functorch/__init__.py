"""Where parts of torch.func lie in PyTorch. Submodules give out the names of ours."""
