"""The command `perceptron`: arguments in, sentences out; all the work is done elsewhere."""
