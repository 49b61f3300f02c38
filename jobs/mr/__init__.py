"""The MapReduce jobs: one class in one file each."""
