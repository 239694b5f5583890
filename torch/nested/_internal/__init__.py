"""The classes behind torch.nested."""
