"""What passes share: finding a pattern, sources of nodes."""
