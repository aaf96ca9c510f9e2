"""What strangers write to steer a judge or to pass as somebody else."""
