"""Where PyTorch keeps the parts of `torch.library`; packages import some of them from here."""
