"""The rival CRFsuite, in a process of its own, as its user would write it: averaged perceptron on our attributes.

crfsuite_process.py train FEATURES CORPUS MODEL ITERATIONS     prints the seconds of each stage as JSON
crfsuite_process.py tag   FEATURES MODEL CORPUS OUTPUT         the corpus with the guess as a further column
"""

import json
import sys
import time

import pycrfsuite
from attribute_strings import AttributeStrings, read_features
from corpora import read


def train(features: str, corpus: str, model: str, iterations: str) -> None:
    attributes = AttributeStrings(read_features(features))
    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False, params={"max_iterations": int(iterations)})
    stages = dict.fromkeys(("features", "append"), 0.0)
    for *inputs, labels in read(corpus):
        began = time.perf_counter()
        items = attributes(inputs)
        made = time.perf_counter()
        trainer.append(items, labels)
        stages["features"] += made - began
        stages["append"] += time.perf_counter() - made
    trainer.train(model)
    # its own log, by the processor's clock
    print(json.dumps({**stages, "iterations": [iteration["time"] for iteration in trainer.logparser.iterations]}))


def tag(features: str, model: str, corpus: str, output: str) -> None:
    attributes = AttributeStrings(read_features(features))
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    with open(output, "w", encoding="utf-8") as file:
        for *inputs, labels in read(corpus):
            guesses = tagger.tag(attributes(inputs))
            file.write("".join(" ".join(token) + "\n" for token in zip(*inputs, labels, guesses)) + "\n")


if __name__ == "__main__":
    {"train": train, "tag": tag}[sys.argv[1]](*sys.argv[2:])
