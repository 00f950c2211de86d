"""The schema's history, applied by `cogni migrate` and by nothing else."""
