"""The training loop around the jobs, and its run directory."""
