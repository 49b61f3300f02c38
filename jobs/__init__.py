"""The MapReduce jobs, the loop that drives them, and the command line."""
