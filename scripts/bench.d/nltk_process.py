"""The rival NLTK, in a process of its own: its PerceptronTagger, greedy, with features of its own.

nltk_process.py train CORPUS MODEL ITERATIONS     the model is a JSON file
nltk_process.py tag   MODEL CORPUS OUTPUT         the corpus with the guess as a further column
"""

import json
import sys
from pathlib import Path

from corpora import read
from nltk.tag.perceptron import PerceptronTagger


def train(corpus: str, model: str, iterations: str) -> None:
    tagger = PerceptronTagger(load=False)
    tagger.train([list(zip(*sentence)) for sentence in read(corpus)], nr_iter=int(iterations))
    content = {"weights": tagger.model.weights, "tagdict": tagger.tagdict, "classes": sorted(tagger.classes)}
    Path(model).write_text(json.dumps(content), encoding="utf-8")


def tag(model: str, corpus: str, output: str) -> None:
    content = json.loads(Path(model).read_text(encoding="utf-8"))
    tagger = PerceptronTagger(load=False)
    tagger.model.weights, tagger.tagdict = content["weights"], content["tagdict"]
    tagger.classes = tagger.model.classes = set(content["classes"])
    with open(output, "w", encoding="utf-8") as file:
        for words, labels in read(corpus):
            guesses = [guess for _, guess in tagger.tag(words)]
            file.write("".join(" ".join(token) + "\n" for token in zip(words, labels, guesses)) + "\n")


if __name__ == "__main__":
    {"train": train, "tag": tag}[sys.argv[1]](*sys.argv[2:])
