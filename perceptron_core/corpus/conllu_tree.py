"""CoNLL-U, read as dependency trees: the predicted columns are the heads and the relations of the words.

A head is the number of a word of the sentence, counted from 1, or 0 at the root. Multiword tokens (1-2), empty nodes
(8.1) and comments are kept as text and are no part of the tree. Where gold trees are required they are checked, in time
linear in the length of the sentence.
"""

from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Optional

from perceptron_core.corpus.blocks import Columns, Fields, Place
from perceptron_core.corpus.conllu import FIELDS, ConlluFormat
from perceptron_core.corpus.format import TREE, Labels, input_columns
from perceptron_core.corpus.sentence import Targets
from perceptron_core.corpus.trees import LONGEST, find_cycle
from perceptron_core.errors import InputError, UserError

HEAD, RELATION = "head", "deprel"
NOTHING = "_"  # a field without a value
NO_RELATION = NOTHING
MISSING = {"", NO_RELATION}
ROOTS = ("one", "any")
WORDS_OF_A_CYCLE = 8  # that an error names

Problem = tuple[int, str]  # a word (from 0), and what is wrong with it


class ConlluTreeFormat(ConlluFormat):
    """Reads and writes trees; without `labelled` every relation is "_", and the field stays as it is."""

    kind = TREE
    target_columns = 2
    OPTIONS = ("labelled", "roots")
    needs_relations: ClassVar[bool] = True
    """Whether a gold tree must have all its relations."""

    def __init__(self, columns: Sequence[str], predict: str, labelled: bool = True, roots: str = "one") -> None:
        unknown = [name for name in columns if name not in FIELDS]
        if unknown:
            raise UserError(f"Unknown column {unknown[0]!r} of CoNLL-U; use one of: {', '.join(FIELDS)}.")
        if predict != HEAD:
            raise UserError(
                f"The format conllu_tree predicts `{HEAD}`, and `{RELATION}` with it, not {predict!r}; "
                f"write `predict: {HEAD}`, or use the format conllu."
            )
        if not isinstance(labelled, bool):
            raise UserError(f"The option labelled must be true or false, not {labelled!r}.")
        if roots not in ROOTS:
            raise UserError(f"Unknown roots {roots!r} of trees; use one of: {', '.join(ROOTS)}.")
        self.inputs = input_columns([name for name in columns if name != RELATION], predict)
        self.predicted = (HEAD, RELATION) if labelled else (HEAD,)
        self.labelled, self.roots = labelled, roots

    def _columns(
        self, rows: list[Fields], positions: Sequence[int], place: Place, labels: Labels
    ) -> tuple[Columns, Optional[Targets]]:
        """A lemma, tag or feature that is not there ("_") is no value; a word without its universal tag is refused."""
        if len(rows) > LONGEST:
            raise InputError(
                f"a sentence has {len(rows):,} words, but a tree has at most {LONGEST:,}; put a blank line between "
                "sentences, or split it.",
                place.source,
                place.start,
            )
        columns, targets = super()._columns(rows, positions, place, labels)
        if not any(NOTHING in column for column in columns):
            return columns, targets
        for name, column in zip(self.inputs, columns):
            if name == "upos" and NOTHING in column:
                word = column.index(NOTHING)
                raise InputError(
                    f"word {word + 1} ({rows[word][1]}) has no upos, which the features use; tag the text first, for "
                    "example with the task upos.",
                    place.source,
                    place.start + positions[word],
                )
        filled: list[Any] = [
            column if name == "form" else tuple(None if text == NOTHING else text for text in column)
            for name, column in zip(self.inputs, columns)
        ]
        return tuple(filled), targets

    def _targets(
        self, fields: dict[str, tuple[str, ...]], positions: Sequence[int], place: Place, labels: Labels
    ) -> Optional[Targets]:
        forms, heads = fields["form"], fields[HEAD]
        relations = fields[RELATION] if self.labelled else (NO_RELATION,) * len(heads)
        numbers = tuple(map(str, range(1, len(heads) + 1)))
        # Only the plain spelling of a number counts, since heads are compared as strings.
        wrong_heads = set(heads) - {"0", *numbers}
        missing = MISSING.intersection(relations) if self.labelled and self.needs_relations else ()
        problem: Optional[Problem]
        if fields["id"] != numbers:
            problem = _wrong_id(fields["id"], numbers)
        elif labels == "optional":
            return None if wrong_heads or missing else (heads, relations)
        elif wrong_heads:
            word = _first(wrong_heads, heads)
            problem = word, f"has the head {heads[word]!r}, which is not a number from 0 to {len(heads)}; fix its head."
        else:
            problem = _problem_of_tree(list(map(int, heads)), forms, self.roots)
            if problem is None and missing:
                problem = _first(missing, relations), "has no relation (deprel); add it, or set `labelled: false`."
            if problem is None:
                return heads, relations
        word, message = problem
        raise InputError(f"word {word + 1} ({forms[word]}) {message}", place.source, place.start + positions[word])


def _first(wanted: Collection[str], column: Sequence[str]) -> int:
    return next(i for i, text in enumerate(column) if text in wanted)


def _wrong_id(ids: Sequence[str], numbers: Sequence[str]) -> Problem:
    """The first word that is not numbered as heads count."""
    bad = next(i for i, pair in enumerate(zip(ids, numbers)) if pair[0] != pair[1])
    return bad, (
        f"has the id {ids[bad]}, not {numbers[bad]}: the words of a sentence are numbered from 1 without gaps; "
        "fix the ids, or put a blank line between sentences."
    )


def _problem_of_tree(heads: list[int], forms: Sequence[str], roots: str) -> Optional[Problem]:
    """What is wrong with a tree whose heads are numbers of words; None if nothing is."""
    cycle = find_cycle(heads)
    if len(cycle) == 1:
        return cycle[0] - 1, "is its own head; fix its head."
    found = heads.count(0)
    if not found:
        return 0, "begins a sentence without a root; give one of its words the head 0."
    if found > 1 and roots == "one":
        first = heads.index(0)
        return heads.index(0, first + 1), (
            f"is a second root, besides word {first + 1} ({forms[first]}); give only one word the head 0, "
            "or set the format's option `roots: any`."
        )
    if cycle:
        named = [f"{word} ({forms[word - 1]})" for word in cycle[:WORDS_OF_A_CYCLE]]
        named.append("…" if len(cycle) > len(named) else str(cycle[0]))
        return cycle[0] - 1, f"is in a circle of heads: {' → '.join(named)}; fix one of these heads."
    return None
