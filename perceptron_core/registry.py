"""The names of everything that can be chosen, in the order of the registries that hold the code for them.

The command line offers these names without loading NumPy or any algorithm. A test compares every tuple with its
registry: to add a decoder, a learner, a mixing strategy, a format or a metric, add its name here, too.
The first name of a tuple is the default, except for mixing.
"""

SEQUENCE, CLASSIFICATION, TREE = "sequence", "classification", "tree"
KINDS = (SEQUENCE, CLASSIFICATION, TREE)  # perceptron_core/structures
SEQUENCE_DECODERS = ("viterbi", "beam", "greedy")
TREE_DECODERS = ("eisner2", "eisner", "mst", "climb")
DECODERS = SEQUENCE_DECODERS + TREE_DECODERS
UPDATES = ("standard", "early", "max-violation")

LEARNERS = ("perceptron", "pa", "pa1", "pa2", "mira")  # they update in every epoch
ONE_PASS = ("naive-bayes", "rocchio")  # they count in a single pass
ALL_LEARNERS = LEARNERS + ONE_PASS
SET_LEARNERS = ("perceptron", "mira")  # they can update by several constraints at once

MIXINGS = ("uniform", "errors", "examples", "touched", "row", "scaled")
DEFAULT_MIXING = "row"

SEQUENCE_FORMATS = ("columns", "conllu", "word_tag", "raw")
TREE_FORMATS = ("conllu_tree",)
INSTANCE_FORMATS = ("label_text", "csv", "tsv", "svmlight")
FORMATS = SEQUENCE_FORMATS + TREE_FORMATS + INSTANCE_FORMATS

ENCODINGS = ("as-is", "iob1", "iob2", "iobes")  # of chunk labels
LABEL_METRICS = ("accuracy", "spans", "classes")
TREE_METRICS = ("attachment",)
METRICS = LABEL_METRICS + TREE_METRICS
WEIGHTS = ("averaged", "last")  # of a model
