"""The arguments of training, and the names that may be given for them: for the command line and for experiments.

    names         runners, ready tasks and ready experiments, and where their files are
    declarations  the arguments of `perceptron prepare` and `perceptron train`
    spelling      options by name, as a task file or an experiment gives them, as arguments

Nothing here loads NumPy or mrjob, so that --help is quick.
"""
