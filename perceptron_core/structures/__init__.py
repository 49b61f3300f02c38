"""What can be predicted: one folder for each structure."""
