"""The rival UDPipe 1, in a process of its own, as its user would write it: only its parser, on gold tags.

udpipe_process.py train CORPUS MODEL ITERATIONS [OPTION=VALUE…]     options of its parser
udpipe_process.py parse MODEL CORPUS OUTPUT                         CoNLL-U
"""

import sys
from collections.abc import Iterator

from ufal.udpipe import InputFormat, Model, OutputFormat, ProcessingError, Sentence, Sentences, Trainer


def read(path: str) -> Iterator[Sentence]:
    reader, error, sentence = InputFormat.newConlluInputFormat(), ProcessingError(), Sentence()
    with open(path, encoding="utf-8") as file:
        reader.setText(file.read())
    while reader.nextSentence(sentence, error):
        yield sentence
        sentence = Sentence()
    if error.occurred():
        sys.exit(error.message)


def train(corpus: str, model: str, iterations: str, *options: str) -> None:
    sentences, error = Sentences(), ProcessingError()
    for sentence in read(corpus):
        sentences.append(sentence)
    parser = ";".join([f"iterations={iterations}", "use_gold_tags=1", "embedding_feats=0", *options])
    made = Trainer.train("morphodita_parsito", sentences, Sentences(), Trainer.NONE, Trainer.NONE, parser, error)
    if error.occurred():
        sys.exit(error.message)
    with open(model, "wb") as file:
        file.write(made)


def parse(model: str, corpus: str, output: str) -> None:
    parser, writer, error = Model.load(model), OutputFormat.newConlluOutputFormat(), ProcessingError()
    with open(output, "w", encoding="utf-8") as file:
        for sentence in read(corpus):
            if not parser.parse(sentence, Model.DEFAULT, error):
                sys.exit(error.message)
            file.write(writer.writeSentence(sentence))


if __name__ == "__main__":
    {"train": train, "parse": parse}[sys.argv[1]](*sys.argv[2:])
