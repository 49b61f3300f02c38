"""The command `perceptron`: it reads arguments and prints results; the work is done in the other folders."""
