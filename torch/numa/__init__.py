"""Which memory and cores a process uses on machines with several nodes: settings only."""
