"""What passes share: `matcher_utils`, `source_matcher_utils`, `common`, `fuser_utils`."""
