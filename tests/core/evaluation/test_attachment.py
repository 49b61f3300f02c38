"""Attachment scores: against naive counting, the CoNLL 2018 script's rules, and worked examples."""

import json
import random
from collections import Counter

import msgpack
import pytest

from perceptron_core.corpus import make_format, read_sentences
from perceptron_core.corpus.trees import non_projective_arcs
from perceptron_core.errors import UserError
from perceptron_core.evaluation.metrics import AttachmentCounts

RELATIONS = ["nsubj", "nsubj:pass", "obj", "punct", "punct:x", "сложн:и", "关系"]


def random_tree(chance, words):
    order = [0, *chance.sample(range(1, words + 1), words)]
    heads = {order[i]: order[chance.randrange(i)] for i in range(1, words + 1)}
    return [str(heads[word]) for word in range(1, words + 1)], [chance.choice(RELATIONS) for _ in range(words)]


def random_pairs(seed, sentences):
    """Gold trees with guesses, of which some are right and some share a part."""
    chance = random.Random(seed)
    pairs = []
    for _ in range(sentences):
        words = chance.randint(1, 15)
        gold, guess = random_tree(chance, words), random_tree(chance, words)
        how = chance.random()
        if how < 0.3:
            guess = (list(gold[0]), list(gold[1]))
        elif how < 0.6:
            guess = (gold[0], [r if chance.random() < 0.9 else chance.choice(RELATIONS) for r in gold[1]])
        pairs.append((gold, guess))
    return pairs


def count(pairs):
    counts = AttachmentCounts()
    for gold, guess in pairs:
        counts.add_targets(gold, guess)
    return counts


def conll18(pairs):
    """The rules of conll18_ud_eval.py for files with the same words: subtypes of relations are cut off when a file is
    read; UAS compares the heads of all words, punctuation included, LAS heads and relations."""
    words = uas = las = 0
    for (gold_heads, gold_relations), (heads, relations) in pairs:
        for word in range(len(gold_heads)):
            words += 1
            if heads[word] == gold_heads[word]:
                uas += 1
                if relations[word].split(":")[0] == gold_relations[word].split(":")[0]:
                    las += 1
    return uas / words, las / words


def test_uas_and_universal_las_are_those_of_the_shared_task():
    for seed in range(20):
        pairs = random_pairs(seed, 20)
        score = count(pairs).score()
        assert (score["uas"], score["universal_las"]) == conll18(pairs)


def right_words(gold, guess, without_punctuation):
    """(heads, with full relations, with universal ones): whether each word is right."""
    for head, relation, guessed_head, guessed in zip(*gold, *guess):
        if without_punctuation and relation.split(":")[0] == "punct":
            continue
        same = head == guessed_head
        yield same, same and relation == guessed, same and relation.split(":")[0] == guessed.split(":")[0]


@pytest.mark.parametrize("without_punctuation", [False, True])
def test_words_and_trees_are_those_of_naive_counting(without_punctuation):
    pairs = random_pairs(4, 300)
    score = count(pairs).score()
    if without_punctuation:
        score = score["without_punctuation"]
    words = [right for gold, guess in pairs for right in right_words(gold, guess, without_punctuation)]
    trees = [list(right_words(gold, guess, without_punctuation)) for gold, guess in pairs]
    assert score["words"] == len(words)
    for number, name in enumerate(("uas", "las", "universal_las")):
        assert score[name] == sum(right[number] for right in words) / len(words)
        assert score[f"trees_{name}"] == sum(all(right[number] for right in tree) for tree in trees) / len(trees)
    assert 0 < score["trees_las"] < score["trees_universal_las"] < score["trees_uas"] < 1


def test_the_headline_is_las_with_full_relations():
    counts = count(random_pairs(8, 50))
    assert counts.headline() == counts.score()["las"] == counts.score()["accuracy"]
    assert counts.score()["sentence_accuracy"] == counts.score()["trees_las"]


def bucket(word, head):
    distance = abs(word - head)
    if head == 0:
        return "root"
    return next(name for most, name in ((1, "1"), (2, "2"), (6, "3-6"), (10, "7-10"), (99, ">10")) if distance <= most)


def test_relations_and_distances_are_those_of_naive_counting():
    pairs = random_pairs(5, 200)
    relations, distances = Counter(), Counter()
    for gold, guess in pairs:
        for word, (head, relation, guessed_head, guessed) in enumerate(zip(*gold, *guess), 1):
            relations[relation, "gold"] += 1
            relations[guessed, "found"] += 1
            relations[relation, "correct"] += (head, relation) == (guessed_head, guessed)
            distances[bucket(word, int(head)), "gold"] += 1
            distances[bucket(word, int(guessed_head)), "found"] += 1
            distances[bucket(word, int(head)), "correct"] += head == guessed_head
    score = count(pairs).score()
    for expected, shown in ((relations, score["relations"]), (distances, score["distances"])):
        assert {(name, key): of[key] for name, of in shown.items() for key in ("gold", "found", "correct")} == expected
        for of in shown.values():
            assert of["precision"] == of["correct"] / of["found"] and of["recall"] == of["correct"] / of["gold"]
            assert of["f1"] == 2 * of["correct"] / (of["gold"] + of["found"])
    assert score["root_accuracy"] == distances["root", "correct"] / distances["root", "gold"]


def test_non_projective_arcs_have_recall_in_gold_and_precision_in_guesses():
    pairs = random_pairs(6, 200)
    gold_arcs = guessed_arcs = recalled = right = 0
    for (gold, _), (guess, _) in pairs:
        for word in non_projective_arcs(list(map(int, gold))):
            gold_arcs += 1
            recalled += gold[word - 1] == guess[word - 1]
        for word in non_projective_arcs(list(map(int, guess))):
            guessed_arcs += 1
            right += gold[word - 1] == guess[word - 1]
    expected = {"gold": gold_arcs, "found": guessed_arcs}
    expected |= {"precision": right / guessed_arcs, "recall": recalled / gold_arcs}
    assert count(pairs).score()["non_projective"] == expected


@pytest.mark.parametrize("cut", [0, 3, 20])
def test_parts_add_up_and_records_survive(cut):
    pairs = random_pairs(7, 20)
    whole, total = count(pairs), AttachmentCounts()
    for part in (pairs[cut:], pairs[:cut]):
        record = json.loads(json.dumps(count(part).to_record()))
        total.add(AttachmentCounts.from_record(record))
    assert msgpack.packb(total.to_record()) == msgpack.packb(whole.to_record())
    assert (total.score(), total.report()) == (whole.score(), whole.report())
    assert json.loads(json.dumps(whole.score())) == whole.score()


def test_no_data_scores_zero():
    counts = AttachmentCounts()
    counts.add_targets(((), ()), ((), ()))
    assert counts.to_record() == AttachmentCounts().to_record()
    assert counts.headline() == counts.score()["uas"] == counts.score()["without_punctuation"]["las"] == 0.0
    assert "UAS" in counts.report()


def test_trees_of_different_length_are_refused():
    with pytest.raises(UserError, match="2 gold labels but 1 predicted"):
        AttachmentCounts().add_targets((["0", "1"], ["root", "x"]), (["0"], ["root"]))


def test_without_relations_las_is_uas():
    pairs = [
        ((heads, ["_"] * len(heads)), (guess, ["_"] * len(guess))) for (heads, _), (guess, _) in random_pairs(9, 30)
    ]
    counts = count(pairs)
    score = counts.score()
    assert score["las"] == score["uas"] == score["without_punctuation"]["uas"] == counts.headline()
    assert score["relations"] == {} and "LAS" not in counts.report() and "relation " not in counts.report()


# "Мы его не видели .": a wrong head (его), a wrong subtype (не), and a full stop whose arc crosses that of the root.
GOLD = (["4", "4", "4", "0", "4"], ["nsubj", "obj", "advmod:neg", "root", "punct"])
GUESS = (["4", "1", "4", "0", "3"], ["nsubj", "obj", "advmod", "root", "punct"])


def test_the_report_of_a_worked_example():
    counts = count([(GOLD, GUESS), ((["2", "0"], ["det", "root"]), (("2", "0"), ("det", "root")))])
    assert counts.report() == (
        "                              all words  without punctuation\n"
        "words                                7                    6\n"
        "UAS                              71.43%               83.33%\n"
        "LAS                              57.14%               66.67%\n"
        "universal LAS                    71.43%               83.33%\n"
        "exact trees, UAS                 50.00%               50.00%\n"
        "exact trees, LAS                 50.00%               50.00%\n"
        "exact trees, universal LAS       50.00%               50.00%\n"
        "root accuracy                   100.00%\n"
        "non-projective arcs: 0 gold, 1 found; precision 0.00%, recall 0.00%\n"
        "\n"
        "heads by distance  precision   recall       F1       gold      found\n"
        "1                     66.67%   66.67%   66.67%          3          3\n"
        "2                      0.00%    0.00%    0.00%          1          1\n"
        "3-6                  100.00%  100.00%  100.00%          1          1\n"
        "7-10                   0.00%    0.00%    0.00%          0          0\n"
        ">10                    0.00%    0.00%    0.00%          0          0\n"
        "root                 100.00%  100.00%  100.00%          2          2\n"
        "\n"
        "relation    precision   recall       F1       gold      found\n"
        "advmod          0.00%    0.00%    0.00%          0          1\n"
        "advmod:neg      0.00%    0.00%    0.00%          1          0\n"
        "det           100.00%  100.00%  100.00%          1          1\n"
        "nsubj         100.00%  100.00%  100.00%          1          1\n"
        "obj             0.00%    0.00%    0.00%          1          1\n"
        "punct           0.00%    0.00%    0.00%          1          1\n"
        "root          100.00%  100.00%  100.00%          2          2\n"
    )


@pytest.mark.corpus
def test_gold_against_itself_is_perfect(data):
    """And the treebank's own numbers: a third of the Basque sentences are not projective."""
    fmt = make_format("conllu_tree", ["form"], "head")
    corpus = list(read_sentences(data / "eu-bdt" / "dev.conllu.gz", fmt))
    counts = count([(sentence.targets, sentence.targets) for sentence in corpus])
    score = counts.score()
    shares = [score[name] for name in ("uas", "las", "universal_las", "trees_uas", "trees_las", "root_accuracy")]
    assert shares == [1.0] * 6 and score["non_projective"]["precision"] == score["non_projective"]["recall"] == 1.0
    crossing = sum(bool(non_projective_arcs(list(map(int, sentence.targets[0])))) for sentence in corpus)
    assert 0.25 < crossing / len(corpus) < 0.4
