"""How a parser fares on the dev set: attachment scores, by relation and by distance, and its worst trees, drawn."""

from collections.abc import Mapping
from typing import Any

from perceptron_jobs.charts.text import count, counted
from perceptron_jobs.charts.tree import Tree, tree_svg
from perceptron_jobs.report.content import RunContent
from perceptron_jobs.report.elements import Html, Text, code, element, folded, joined, section, table

SCORES = {"uas": "UAS", "las": "LAS", "universal_las": "universal LAS"}
RELATIONS_AT_ONCE = 12  # the most frequent ones


def trees(run: RunContent) -> Html:
    found = (run.mistakes or {}).get("attachment")
    if not found:
        return Html("")
    lead = (
        "On the dev set. UAS: the head is right; LAS: the relation, too; universal LAS: the relation up to its colon. "
        "A tree is exact if all its words are right."
    )
    return section("Attachment", _tiles(found), _scores(found), _distances(found), _relations(found), lead=lead)


def worst_trees(run: RunContent) -> Html:
    """Drawings of the trees with the most mistakes."""
    found = (run.mistakes or {}).get("trees")
    if not found:
        return Html("")
    lead = (
        "Short sentences with many mistakes. Above the words is the guess: wrong arcs are dashed, and × marks what is "
        "wrong. Below are the right arcs that it misses."
    )
    return section("Worst trees", element("div", joined(map(_drawn, found)), "trees"), lead=lead)


def _drawn(example: Mapping[str, Any]) -> Html:
    gold, guess = Tree(**example["gold"]), Tree(**example["guess"])
    heads = sum(a != b for a, b in zip(gold.heads, guess.heads))
    names = sum(a != b for a, b in zip(gold.relations, guess.relations))
    said = (
        f"{counted(heads, 'wrong head')} and {counted(names, 'wrong relation')} in {counted(len(gold.heads), 'word')}"
    )
    drawing = f'<div class="scroll" tabindex="0">{tree_svg(example["words"], guess, gold)}</div>'
    return element("figure", joined([element("figcaption", element("b", said)), drawing]))


def _tiles(found: Mapping[str, Any]) -> Html:
    arcs = found["non_projective"]
    figures = {name: _percent(found[score]) for score, name in SCORES.items() if _is_shown(found, score)}
    figures["UAS, no punctuation"] = _percent(found["without_punctuation"]["uas"])
    if found["relations"]:
        figures["LAS, no punctuation"] = _percent(found["without_punctuation"]["las"])
    figures["exact trees"] = _percent(found["sentence_accuracy"])
    figures["root accuracy"] = _percent(found["root_accuracy"])
    if arcs["gold"]:
        figures["non-projective recall"] = _percent(arcs["recall"])
        figures["non-projective precision"] = _percent(arcs["precision"])
    return element(
        "dl", joined(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures.items()), "tiles"
    )


def _is_shown(found: Mapping[str, Any], score: str) -> bool:
    """Without relations LAS says nothing of its own."""
    return score == "uas" or bool(found["relations"])


def _scores(found: Mapping[str, Any]) -> Html:
    other = found["without_punctuation"]
    rows: list[list[Text]] = [["words", count(found["words"]), count(other["words"])]]
    for kind, title in (("", ""), ("trees_", "exact trees by ")):
        for score, name in SCORES.items():
            if _is_shown(found, score):
                rows.append([title + name, *(_percent(of[kind + score]) for of in (found, other))])
    return folded("With and without punctuation", table(["", "all words", "without punctuation"], rows, "numbers"))


def _distances(found: Mapping[str, Any]) -> Html:
    rows = [["the root" if name == "root" else name, *_cells(of)] for name, of in found["distances"].items()]
    return table(["head at a distance of", *HEADINGS], rows, "numbers")


def _relations(found: Mapping[str, Any]) -> Html:
    order = sorted(found["relations"].items(), key=lambda item: (-item[1]["gold"], item[0]))
    rows: list[list[Text]] = [[code(name), *_cells(of)] for name, of in order]
    if not rows:
        return Html("")
    headings = ["head and relation", *HEADINGS]
    first, more = rows[:RELATIONS_AT_ONCE], rows[RELATIONS_AT_ONCE:]
    rest = folded(counted(len(more), "more relation"), table(headings, more, "numbers")) if more else ""
    return joined([table(headings, first, "numbers"), rest])


HEADINGS = ("precision", "recall", "F1", "gold", "found")


def _cells(of: Mapping[str, Any]) -> list[Text]:
    shares: list[Text] = [_percent(of[score]) for score in ("precision", "recall", "f1")]
    return [*shares, count(of["gold"]), count(of["found"])]


def _percent(score: float) -> str:
    return f"{100 * score:.2f}"
