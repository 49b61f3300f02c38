"""The benchmarks by name: the module that has `run(bench) -> Outcome`, and what it is about, for --help.

A module is imported when it is run, so that this list needs no environment.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    module: str
    about: str


BENCHMARKS = {
    "epoch": Entry("bench_epoch", "a training epoch in memory, CoNLL-2000, against CRFsuite's averaged perceptron"),
    "train": Entry("bench_train", "file to model file, CoNLL-2000, 10 epochs, against python-crfsuite"),
    "tag": Entry("bench_tag", "file to tagged file, CoNLL-2000 and Brown, against python-crfsuite"),
    "labels": Entry("bench_labels", "file to model, Brown's 190 tags, against CRFsuite, OpenNLP and NLTK"),
    "parse": Entry("bench_parse", "treebank to parser to trees, against MaltParser, MSTParser and UDPipe"),
    "classify": Entry("bench_classify", "an epoch of classification, 100,000 instances, against scikit-learn"),
    "memory": Entry("bench_memory", "peak memory of training on all of Brown, against CRFsuite"),
    "cores": Entry("bench_cores", "two shards on two cores against one shard"),
    "cluster": Entry("bench_cluster", "an epoch on a simulated cluster of 25 and 50 nodes, against one node"),
    "growth": Entry("bench_growth", "1 to 16 shards: seconds and bytes per token; memory of every command up to 2 GB"),
    "shuffle": Entry("bench_shuffle", "bytes from mappers to reducers per epoch, against all weights of every shard"),
    "hadoop": Entry("bench_hadoop", "an epoch on a Hadoop cluster beyond its compute, against a cat/cat job"),
    "wire": Entry("bench_wire", "steps of 2 x 500,000 features through mrjob local, against the same job without data"),
}
