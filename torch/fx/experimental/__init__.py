"""Less settled parts of torch.fx: fusion for inference, constant folding, symbolic shapes."""
