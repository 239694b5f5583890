"""What passes are made of: `pass_base`, `pass_manager`, `partitioner`."""
