"""Makes the corpus of the demo: English-like sentences with part-of-speech tags, drawn from a small grammar.

    python scripts/make_demo_corpus.py DIR

writes DIR/train.txt, DIR/dev.txt and DIR/test.txt (columns `word tag`, a blank line after each sentence)
and prints the accuracy of tagging each word of the test part with its most frequent tag. The same bytes come out on
every machine and Python. The sentences serve to try the tools; they are not a substitute for a real treebank.
"""

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from demo_lexicon import RARE, load, noun_forms, verb_forms

Token = tuple[str, str]
Sentence = list[Token]

SEED = 2010
SIZES = {"train": 2400, "dev": 400, "test": 400}
LENGTHS = range(5, 27)
RARE_SHARE = 0.12  # share of the words drawn from an open class that are made up
NOISE = 0.01  # share of the tags that are replaced by what an annotator might have confused them with

# Alternatives are `weight symbols`. `word/TAG` is a word, `class.TAG` draws one from the lexicon, anything
# else is a rule; a `?` makes a symbol optional. A rule whose name ends in `#` comes in a singular and a
# plural version (see NUMBERS), one that ends in `@` once for every form of the verb.
GRAMMAR = {
    "TEXT": """
        14 CLAUSE STOP | 3 CLAUSE ,/, JOIN CLAUSE STOP | 3 SETTING ,/, CLAUSE STOP |
        3 WHILE CLAUSE ,/, CLAUSE STOP | 2 CLAUSE WHILE CLAUSE STOP | 5 QUESTION ?/. |
        4 ORDER STOP | 1 CLAUSE ,/, said/VBD NAME STOP""",
    "STOP": "20 ./. | 1 !/.",
    "JOIN": "3 and/CC | 3 but/CC | 1 yet/CC | 1 so/CC | 1 or/CC",
    "WHILE": """
        2 before/IN | 2 after/IN | 1 since/IN | 1 once/IN | 2 if/IN | 2 when/WH | 1 while/IN | 1 as/IN""",
    "SETTING": """
        2 in/IN the/DT time.NN | 1 this/DT time.NN | 2 near.IN the/DT place.NN | 1 finally/RB | 1 still/RB |
        1 after/IN the/DT event.NN | 1 in/IN town.NNP | 1 in/IN month.NNP |
        1 treat.VBN by/IN PERSON | 1 VP:VBG""",
    "CLAUSE": """
        6 CLAUSEsg | 5 CLAUSEpl | 1 I/PRP often.RB? VP:VBD | 1 VP:VBG BEsg fine.JJ |
        1 there/EX is/VBZ A_THING WHERE | 1 there/EX were/VBD CD.CD thing.NNS WHERE""",
    "CLAUSE#": """
        7 WHO# VP:#V | 1 WHO# often.RB VP:#V | 6 WHO# VP:VBD | 3 WHO# MD.MD not/RB? VP:VB |
        3 WHO# HAVE# often.RB? VP:VBN | 3 WHO# BE# often.RB? VP:VBG | 2 WHO# DO# NOT VP:VB |
        2 WHAT# BE# handle.VBN BY | 2 WHAT# BE# handle.VBN |
        1 WHAT# HAVE# been/VBN handle.VBN BY | 1 WHAT# MD.MD be/VB handle.VBN BY |
        3 WHAT# BE# often.RB? JJ.JJ | 1 WHO# BE# JJ.JJ and/CC JJ.JJ | 1 WHO# BE# glad.JJ to/TO VP:VB |
        1 WHAT# seem.#V JJ.JJ | 1 WHAT# BE# well.RB""",
    "BEsg": "4 is/VBZ | 3 was/VBD | 3 's/VBZ",
    "BEpl": "4 are/VBP | 3 were/VBD | 1 're/VBP",
    "HAVEsg": "3 has/VBZ | 2 had/VBD | 1 's/VBZ",
    "HAVEpl": "3 have/VBP | 2 had/VBD | 1 've/VBP",
    "DOsg": "1 does/VBZ | 1 did/VBD",
    "DOpl": "1 do/VBP | 1 did/VBD",
    "NOT": "1 not/RB | 1 n't/RB",
    "BY": "2 by/IN PERSON | 1 well.RB | 1 WHERE | 1 in/IN the/DT time.NN",
    "WHO#": """
        5 PRO# | 5 CREW# | 1 CREW# who/WH VP:#V | 1 CREW# who/WH VP:VBD | 2 CREW# that/WH VP:VBD |
        1 CREW# that/WH VP:#V | 1 CREW# WHERE | 1 CREW# treat.VBN by/IN PERSON | 1 CREW# go.VBG DIRECTION""",
    "PROsg": "4 NAME | 2 he/PRP | 2 she/PRP | 1 that/DT",
    "PROpl": "3 they/PRP | 2 we/PRP | 1 you/PRP | 1 NAME and/CC NAME",
    "NAME": "5 NNP.NNP | 1 NNP.NNP NNP.NNP",
    "CREW#": """
        5 DET# person.#N | 3 DET# JJ.JJ person.#N | 1 DET# place.NN person.#N |
        1 DET# rest.VBG person.#N | 1 DET# treat.VBN person.#N""",
    "DETsg": """
        5 the/DT | 2 a/DT | 1 this/DT | 4 that/DT | 4 her/PRP$ | 1 his/PRP$ | 2 NNP.NNP 's/POS |
        1 the/DT person.NN 's/POS""",
    "DETpl": """
        4 the/DT | 1 these/DT | 4 her/PRP$ | 1 their/PRP$ | 2 CD.CD | 1 about/RB CD.CD | 1 some/DT |
        2 NNP.NNP 's/POS""",
    "WHAT#": """
        5 DET# thing.#N | 4 DET# JJ.JJ thing.#N | 4 DET# stuff.NN thing.#N | 1 DET# handle.VBN thing.#N |
        1 DET# handle.VBG thing.#N | 2 DET# thing.#N that/WH WHOpl handle.VBD |
        1 DET# thing.#N WHOsg handle.VBD | 1 DET# thing.#N handle.VBN by/IN PERSON |
        1 DET# thing.#N of/IN PERSON""",
    "THING": """
        5 WHATsg | 4 WHATpl | 2 JJ.JJ? stuff.NN | 1 thing.NNS and/CC thing.NNS | 2 JJ.JJ? thing.NNS""",
    "A_THING": "2 a/DT JJ.JJ? thing.NN | 1 no/DT event.NN | 1 a/DT person.NN",
    "IDEA": """
        2 DETsg idea.NN | 1 DETpl idea.NNS | 1 DETsg event.NN | 1 DETsg JJ.JJ event.NN | 1 DETpl event.NNS |
        1 DETsg idea.NN to/TO VP:VB | 1 DETsg idea.NN that/IN CLAUSE""",
    "PERSON": "3 CREWsg | 2 CREWpl | 2 NAME | 3 her/PRP | 1 him/PRP | 1 them/PRP",
    "HER": "4 her/PRP | 1 him/PRP | 1 them/PRP | 1 the/DT person.NNS | 2 NAME",
    "WHERE": """
        6 near.IN the/DT JJ.JJ? place.NN | 1 near.IN her/PRP$ place.NN | 1 in/IN town.NNP | 1 with/IN PERSON |
        1 like/IN a/DT person.NN""",
    "DIRECTION": """
        3 to/IN the/DT place.NN | 2 to/IN place.NN | 1 to/IN town.NNP | 4 up.IN DETsg place.NN | 3 well.RB |
        2 WHERE""",
    "VP@": """
        10 handle.@ THING ADV? | 5 treat.@ PERSON ADV? | 4 go.@ DIRECTION | 3 rest.@ ADV |
        3 say.@ that/IN CLAUSE | 1 say.@ CLAUSE | 3 discuss.@ IDEA | 2 aim.@ to/TO VP:VB | 1 do.@ VP:VBG |
        5 part.@ RP.RP THING | 1 part.@ THING RP.RP | 2 sense.@ HER VP:VB | 2 give.@ PERSON THING |
        1 seem.@ JJ.JJ | 1 seem.@ like/IN THING | 1 handle.@ and/CC handle.@ THING""",
    "ADV": """
        4 well.RB | 4 WHERE | 1 in/IN the/DT time.NN | 1 every/DT time.NN | 1 on/IN month.NNP date.CD |
        1 for/IN CD.CD time.NNS | 1 to/TO VP:VB | 1 without/IN VP:VBG""",
    "QUESTION": """
        2 MD.MD WHOsg VP:VB | 1 MD.MD WHOpl VP:VB | 1 does/VBZ WHOsg VP:VB | 1 do/VBP WHOpl VP:VB |
        1 did/VBD WHOpl VP:VB | 1 has/VBZ WHOsg VP:VBN | 1 are/VBP WHOpl VP:VBG | 1 who/WH VP:VBD |
        1 who/WH VP:VBZ | 1 where/WH did/VBD WHOsg handle.VB THING | 1 what/WH did/VBD WHOpl handle.VB ADV |
        1 why/WH is/VBZ WHOsg VP:VBG""",
    "ORDER": """
        4 VP:VB | 1 please/RB VP:VB | 1 do/VB n't/RB VP:VB | 1 let/VB HER VP:VB | 1 VP:VB and/CC VP:VB""",
}

NUMBERS = ({"#V": "VBZ", "#N": "NN", "#": "sg"}, {"#V": "VBP", "#N": "NNS", "#": "pl"})
VERB_TAGS = ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG")
CONFUSIONS = {
    "NN": "JJ",
    "JJ": "NN",
    "VBN": "JJ",
    "VBD": "VBN",
    "VBG": "NN",
    "RB": "JJ",
    "IN": "RP",
    "RP": "IN",
    "NNP": "NN",
    "VBP": "VB",
    "VB": "NN",
    "NNS": "VBZ",
    "VBZ": "NNS",
}

Rules = dict[str, list[tuple[float, list[str]]]]


def compile_grammar() -> Rules:
    """Every rule as its alternatives, each with the upper end of its share of [0, 1)."""
    versions: dict[str, str] = {}
    for name, text in GRAMMAR.items():
        if name.endswith("#"):
            substitutions = list(NUMBERS)
        elif name.endswith("@"):
            substitutions = [{"@": tag} for tag in VERB_TAGS]
        else:
            substitutions = [{}]
        for substitution in substitutions:
            version_name, version = name.replace("@", ":@"), text
            for old, new in substitution.items():
                version_name, version = version_name.replace(old, new), version.replace(old, new)
            versions[version_name] = version
    rules: Rules = {}
    for name, text in versions.items():
        alternatives = [alternative.split() for alternative in text.split("|")]
        total = sum(int(weight) for weight, *_ in alternatives)
        share = 0
        rules[name] = []
        for weight, *symbols in alternatives:
            share += int(weight)
            rules[name].append((share / total, symbols))
    return rules


class Generator:
    """Draws sentences, only by `random()`, whose numbers are the same in every version of Python."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random
        self._rules = compile_grammar()
        self._lexicon = load()
        self._rare_parts = {name: parts.split() for name, parts in RARE.items()}

    def sentence(self) -> Sentence:
        while True:
            tokens = list(self._expand("TEXT"))
            if len(tokens) in LENGTHS:
                return [(word, self._annotated(tag)) for word, tag in _spelled(tokens)]

    def _expand(self, symbol: str) -> Iterator[Token]:
        if "/" in symbol:
            word, tag = symbol.split("/")
            yield word, tag
        elif "." in symbol:
            name, tag = symbol.split(".")
            yield self._draw(name, tag), tag
        else:
            draw = self._random()
            symbols = next(symbols for share, symbols in self._rules[symbol] if draw < share)
            for child in symbols:
                if not child.endswith("?") or self._random() < 0.3:
                    yield from self._expand(child.rstrip("?"))

    def _draw(self, name: str, tag: str) -> str:
        if name in RARE and self._random() < RARE_SHARE:
            return self._rare(name, tag)
        # The square prefers the front of the list: in any language a few words are frequent.
        words = self._lexicon[f"{name}.{tag}"]
        draw = self._random()
        return words[int(len(words) * draw * draw)]

    def _rare(self, name: str, tag: str) -> str:
        last = self._pick(name)
        if name == "handle":
            return self._pick("prefix") + verb_forms(last)[tag]
        first = self._pick("first")
        if name == "NNP":
            return first.capitalize() + last
        return first + noun_forms(last).get(tag, last)

    def _pick(self, name: str) -> str:
        parts = self._rare_parts[name]
        return parts[int(len(parts) * self._random())]

    def _annotated(self, tag: str) -> str:
        return CONFUSIONS.get(tag, tag) if self._random() < NOISE else tag


def _spelled(tokens: Sentence) -> Sentence:
    """The tokens with a capital at the beginning, and `an` before a vowel."""
    words = [word for word, _ in tokens]
    for i, following in enumerate(words[1:]):
        if words[i] == "a" and following[0] in "aeiou":
            words[i] = "an"
    words[0] = words[0][0].upper() + words[0][1:]
    return [(word, tag) for word, (_, tag) in zip(words, tokens)]


def make_corpus() -> dict[str, list[Sentence]]:
    """The parts of the corpus; no sentence occurs twice, so no part can be known by heart."""
    generator = Generator(SEED)
    seen: set[str] = set()
    corpus: dict[str, list[Sentence]] = {}
    for part, size in SIZES.items():
        sentences = corpus[part] = []
        while len(sentences) < size:
            sentence = generator.sentence()
            text = " ".join(word for word, _ in sentence)
            if text not in seen:
                seen.add(text)
                sentences.append(sentence)
    return corpus


def most_frequent_tag_accuracy(train: list[Sentence], test: list[Sentence]) -> float:
    """The accuracy of a look-up table: each word's most frequent tag, or that of all words for an unknown word."""
    tags_of: dict[str, Counter] = defaultdict(Counter)
    overall: Counter = Counter()
    for sentence in train:
        for word, tag in sentence:
            tags_of[word][tag] += 1
            overall[tag] += 1
    default = overall.most_common(1)[0][0]
    best = {word: tags.most_common(1)[0][0] for word, tags in tags_of.items()}
    outcomes = [best.get(word, default) == tag for sentence in test for word, tag in sentence]
    return sum(outcomes) / len(outcomes)


def write(sentences: list[Sentence], path: Path) -> None:
    blocks = ["".join(f"{word} {tag}\n" for word, tag in sentence) + "\n" for sentence in sentences]
    path.write_bytes("".join(blocks).encode())


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the part-of-speech corpus of the demo.")
    parser.add_argument("directory", type=Path, metavar="DIR", help="where the three files go")
    directory = parser.parse_args().directory
    directory.mkdir(parents=True, exist_ok=True)
    corpus = make_corpus()
    for part, sentences in corpus.items():
        write(sentences, directory / f"{part}.txt")
    accuracy = most_frequent_tag_accuracy(corpus["train"], corpus["test"])
    print(f"most frequent tag of each word: {100 * accuracy:.2f} % of test.txt")


if __name__ == "__main__":
    main()
