"""Metrics: what all promise, accuracy, and spans against naive counting and the original script's output."""

import itertools
import json
import random

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_core.corpus.label_encodings import convert
from perceptron_core.errors import UserError
from perceptron_core.evaluation.metrics import LABEL_METRICS, METRICS, AccuracyCounts, SpanCounts

CONLLEVAL_CASES = ["corner-hyphen", "corner-nogold", "corner-none", "corner-nopred", "iob1", "iob2", "wild"]

LABELS = ["O", "B-NP", "I-NP", "B-ЛИЦ", "I-ЛИЦ", "I-A-B", "E-NP", "S-人名", "NN", "", "."]
any_sentence = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), max_size=8)
every_metric = pytest.mark.parametrize("name", sorted(LABEL_METRICS))


def count(counts_class, sentences):
    counts = counts_class()
    for gold, guess in sentences:
        counts.add_sentence(gold, guess)
    return counts


def columns(text):
    """[(gold, guess)] from `gold guess` pairs of tags written `gold/guess`, sentences separated by `|`."""
    sentences = [[pair.split("/") for pair in part.split()] for part in text.split("|")]
    return [([pair[0] for pair in sentence], [pair[1] for pair in sentence]) for sentence in sentences]


def unzip(sentences):
    return [([gold for gold, _ in sentence], [guess for _, guess in sentence]) for sentence in sentences]


# What every metric promises


@every_metric
@given(sentences=st.lists(any_sentence, max_size=6), cut=st.integers(0, 6))
def test_the_counts_of_the_parts_add_up_to_those_of_the_whole(name, sentences, cut):
    metric, pairs = METRICS[name], unzip(sentences)
    whole = count(metric, pairs)
    parts = [count(metric, pairs[:cut]), count(metric, pairs[cut:])]
    for order in (parts, parts[::-1]):
        total = metric()
        for part in order:
            total.add(metric.from_record(part.to_record()))
        assert total.to_record() == whole.to_record()
        assert total.score() == whole.score()
        assert total.report() == whole.report()
        assert msgpack.packb(total.to_record()) == msgpack.packb(whole.to_record())


@every_metric
def test_adding_does_not_change_the_other_counts(name):
    part = count(METRICS[name], columns("B-NP/B-NP O/B-NP"))
    before = part.to_record()
    total = METRICS[name]()
    total.add(part)
    total.add(part)
    assert part.to_record() == before
    assert total.tokens == 4


@every_metric
@given(sentences=st.lists(any_sentence, max_size=4))
def test_records_survive_msgpack_and_json(name, sentences):
    counts = count(METRICS[name], unzip(sentences))
    record = counts.to_record()
    assert msgpack.unpackb(msgpack.packb(record)) == record
    assert json.loads(json.dumps(record)) == record
    assert json.loads(json.dumps(counts.score())) == counts.score()
    assert METRICS[name].from_record(record).to_record() == record


@every_metric
@given(sentences=st.lists(any_sentence, max_size=4))
def test_tokens_and_sentences_are_counted_alike(name, sentences):
    pairs = unzip(sentences)
    score = count(METRICS[name], pairs).score()
    assert score["tokens"] == sum(len(gold) for gold, _ in pairs)
    assert score["correct_tokens"] == sum(a == b for gold, guess in pairs for a, b in zip(gold, guess))
    assert score["sentences"] == sum(1 for gold, _ in pairs if gold)
    assert score["correct_sentences"] == sum(1 for gold, guess in pairs if gold and gold == guess)


@every_metric
def test_no_data_scores_zero(name):
    counts = METRICS[name]()
    assert counts.headline() == 0.0
    numbers = [value for value in counts.score().values() if not isinstance(value, dict)]
    assert numbers
    assert set(numbers) == {0}
    assert counts.report()


@every_metric
def test_a_sentence_without_tokens_is_not_counted(name):
    counts = METRICS[name]()
    counts.add_sentence([], [])
    assert counts.to_record() == METRICS[name]().to_record()


@every_metric
def test_tuples_and_lists_may_meet(name):
    counts = METRICS[name]()
    counts.add_sentence(("B-NP", "O"), ["B-NP", "O"])
    assert (counts.correct_tokens, counts.correct_sentences) == (2, 1)


@every_metric
def test_sentences_of_different_length_are_refused(name):
    counts = METRICS[name]()
    with pytest.raises(UserError, match="2 gold labels but 1 predicted"):
        counts.add_sentence(["O", "O"], ["O"])
    assert counts.tokens == 0


@every_metric
def test_the_headline_is_in_the_score(name):
    counts = count(METRICS[name], columns("B-NP/B-NP I-NP/I-NP O/B-NP|O/O"))
    assert 0 < counts.headline() < 1
    assert counts.headline() == counts.score()[counts.headline_name.lower()]


# Accuracy


def test_accuracy_of_a_worked_example():
    counts = count(AccuracyCounts, columns("DT/DT NN/JJ|人/人 ЛИЦ/ЛИЦ|NN/JJ VB/NN DT/DT"))
    assert counts.score() == {
        "tokens": 7,
        "correct_tokens": 4,
        "accuracy": 4 / 7,
        "sentences": 3,
        "correct_sentences": 1,
        "sentence_accuracy": 1 / 3,
    }
    assert counts.headline_name == "accuracy"
    assert counts.report() == (
        "tokens                        7\n"
        "correct                       4\n"
        "accuracy                 57.14%\n"
        "sentences                     3\n"
        "sentences right               1\n"
        "sentence accuracy        33.33%\n"
        "\n"
        "most frequent confusions (gold → guess)\n"
        "NN → JJ  2\n"
        "VB → NN  1\n"
    )


def test_ten_most_frequent_confusions_are_shown_equal_ones_in_label_order():
    wrong = [(f"T{number:02}", "X") for number in range(12)]
    sentences = [([gold], [guess]) for gold, guess in wrong + wrong[11:] * 1000]
    shown = count(AccuracyCounts, sentences).report().splitlines()[8:]
    assert shown[0] == "T11 → X  1,001"
    assert shown[1:] == [f"T{number:02} → X      1" for number in range(9)]


def test_a_perfect_tagger_has_no_confusions():
    report = count(AccuracyCounts, columns("NN/NN")).report()
    assert "confusions" not in report
    assert "100.00%" in report


# Spans


def spans_of_iob2(labels):
    """(start, end, type) of the chunks of a well-formed sentence: what the fast counting must agree with."""
    starts = [position for position, label in enumerate(labels) if label.startswith("B-")]
    spans = set()
    for start in starts:
        end = start + 1
        while end < len(labels) and labels[end].startswith("I-"):
            end += 1
        spans.add((start, end, labels[start][2:]))
    return spans


@st.composite
def well_formed_iob2(draw, length):
    labels = []
    while len(labels) < length:
        kind = draw(st.sampled_from(["", "NP", "A-B", "ЛИЦ"]))
        if kind:
            labels += [f"B-{kind}"] + [f"I-{kind}"] * draw(st.integers(0, 2))
        else:
            labels.append("O")
    return labels[:length]


@st.composite
def gold_and_guess(draw):
    length = draw(st.integers(0, 8))
    gold = draw(well_formed_iob2(length))
    return gold, draw(st.one_of(st.just(list(gold)), well_formed_iob2(length)))


@given(st.lists(gold_and_guess(), max_size=5))
def test_spans_are_those_of_naive_counting(sentences):
    expected = {}
    for gold_labels, guess_labels in sentences:
        gold, found = spans_of_iob2(gold_labels), spans_of_iob2(guess_labels)
        for key, spans in (("gold", gold), ("found", found), ("correct", gold & found)):
            for _, _, kind in spans:
                expected.setdefault(kind, {"gold": 0, "found": 0, "correct": 0})[key] += 1
    score = count(SpanCounts, sentences).score()
    keys = ("gold", "found", "correct")
    assert {kind: {key: row[key] for key in keys} for kind, row in score["types"].items()} == expected
    totals = {key: sum(row[key] for row in expected.values()) for key in keys}
    assert {key: score[key] for key in keys} == totals
    assert score["f1"] == pytest.approx(2 * totals["correct"] / max(1, totals["gold"] + totals["found"]))
    for row in (score, *score["types"].values()):
        assert row["precision"] == (row["correct"] / row["found"] if row["found"] else 0)
        assert row["recall"] == (row["correct"] / row["gold"] if row["gold"] else 0)


def starts_or_ends(previous, tag, rule):
    """What conlleval decides between two tags, and S, which begins like B and ends like O."""
    before, _, type_before = previous.partition("-")
    now, _, type_now = tag.partition("-")
    if rule == "end":
        by_prefix = (before in "BI" and now in "BSO") or (before == "E" and now in "EISO") or before == "S"
        return by_prefix or (before != "O" and type_before != type_now)
    by_prefix = (before in "BIOS" and now == "B") or (before in "OES" and now in "IE") or now == "S"
    return by_prefix or (now != "O" and type_before != type_now)


def spans_of_any_tags(labels):
    """A chunk goes from a start to the next end."""
    spans, start = set(), None
    for position, (previous, tag) in enumerate(zip(["O", *labels], [*labels, "O"])):
        if start is not None and starts_or_ends(previous, tag, "end"):
            spans.add((start, position, previous.partition("-")[2]))
            start = None
        if starts_or_ends(previous, tag, "start"):
            start = position
    return spans


def check_against_spans_of_any_tags(gold, guess):
    score = count(SpanCounts, [(gold, guess)]).score()
    gold_spans, found_spans = spans_of_any_tags(gold), spans_of_any_tags(guess)
    expected = len(gold_spans), len(found_spans), len(gold_spans & found_spans)
    assert (score["gold"], score["found"], score["correct"]) == expected, (gold, guess)


def test_all_pairs_of_two_tags_are_read_as_conlleval_reads_them():
    tags = ["O"] + [prefix + kind for prefix in "BIES" for kind in ("", "-X")]
    for gold in itertools.product(tags, repeat=2):
        for guess in itertools.product(tags, repeat=2):
            check_against_spans_of_any_tags(gold, guess)


ill_formed = st.lists(st.sampled_from(["O"] + [p + t for p in "BIES" for t in ("", "-X", "-Y")]), min_size=1)


@given(ill_formed, st.randoms())
def test_ill_formed_tags_are_read_as_conlleval_reads_them(gold, rng):
    guess = [rng.choice(gold) if rng.random() < 0.3 else label for label in gold]
    check_against_spans_of_any_tags(gold, guess)


def test_the_report_is_that_of_conlleval():
    """A type only in gold, one only predicted, a hyphen in a type, one closed by the end of a sentence."""
    sentences = columns("B-PER/B-PER I-PER/I-PER O/B-MISC B-A-B/O|I-PER/I-PER|O/O")
    assert count(SpanCounts, sentences).report() == (
        "processed 6 tokens with 3 phrases; found: 3 phrases; correct: 2.\n"
        "accuracy:  66.67%; precision:  66.67%; recall:  66.67%; FB1:  66.67\n"
        "              A-B: precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n"
        "             MISC: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
        "              PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  2\n"
    )


def test_the_report_on_no_data_is_one_line():
    assert SpanCounts().report() == "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0.\n"


def test_names_of_types_are_padded_by_bytes_as_the_script_does():
    kinds = ["ЛИЦ", "人名", "LONGER-THAN-SEVENTEEN"]
    report = count(SpanCounts, [([f"B-{kind}"], ["O"]) for kind in kinds]).report()
    names = [line.split(":")[0] for line in report.splitlines()[2:]]
    assert names == ["LONGER-THAN-SEVENTEEN", " " * 11 + "ЛИЦ", " " * 11 + "人名"]


def test_untyped_chunks_are_listed_twice_where_both_sides_have_them():
    both = count(SpanCounts, columns("B/B I/I O/B")).report().splitlines()
    one = count(SpanCounts, columns("B/O I/O")).report().splitlines()
    assert both[2:] == [" " * 17 + ": precision:  50.00%; recall: 100.00%; FB1:  66.67  2"] * 2
    assert one[2:] == [" " * 17 + ": precision:   0.00%; recall:   0.00%; FB1:   0.00  0"]


def test_brackets_are_chunks_of_one_token():
    score = count(SpanCounts, columns("[-NP/[-NP [-NP/[-NP ]-NP/O O/O ./.")).score()
    assert (score["gold"], score["found"], score["correct"]) == (3, 2, 2)


def test_a_chunk_that_goes_on_with_dots_ends_where_the_types_part():
    score = count(SpanCounts, columns("I-X/I-X .-X/.-X O/.-Y")).score()
    assert (score["gold"], score["found"], score["correct"]) == (1, 1, 0)


def test_a_single_token_chunk_stands_alone():
    tags = ["S-NP", "S-NP", "B-NP", "E-NP", "S-NP", "I-NP", "E-NP", "O", "S-NP"]
    score = count(SpanCounts, [(tags, tags)]).score()
    assert (score["gold"], score["correct"]) == (6, 6)
    shifted = count(SpanCounts, columns("S-NP/B-NP S-NP/E-NP")).score()
    assert (shifted["gold"], shifted["found"], shifted["correct"]) == (2, 1, 0)


def test_neighbours_of_one_type_in_iobes_are_told_apart_after_conversion():
    """The script itself merges them, and so do we."""
    tags = ["B-NP", "E-NP", "B-NP", "E-NP"]
    converted = convert(tags, "iobes", "iob2")
    assert count(SpanCounts, [(tags, tags)]).score()["gold"] == 1
    assert count(SpanCounts, [(converted, converted)]).score()["gold"] == 2


# The original script's output on its own ground


def read_columns(path):
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    rows = [[line.split(" ") for line in block.splitlines() if line] for block in blocks]
    return [([row[-2] for row in block], [row[-1] for row in block]) for block in rows if block]


@pytest.mark.corpus
@pytest.mark.parametrize("case", CONLLEVAL_CASES)
def test_the_original_script_printed_the_same(data, case):
    folder = data / "conlleval"
    sentences = read_columns(folder / f"{case}.txt")
    random.Random(7).shuffle(sentences)
    counts = SpanCounts()
    for start in range(0, len(sentences), 100):
        counts.add(count(SpanCounts, sentences[start : start + 100]))
    assert counts.report() == (folder / f"{case}.out").read_text(encoding="utf-8")
