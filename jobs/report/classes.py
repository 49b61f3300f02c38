"""How each class fares on the dev set, where classes are what is counted: scores and confusion matrix."""

from typing import Any

from perceptron_jobs.charts.text import count
from perceptron_jobs.report.content import RunContent
from perceptron_jobs.report.elements import Html, Text, code, folded, section, table

CLASSES_IN_MATRIX = 20


def classes(run: RunContent) -> Html:
    scores = (run.mistakes or {}).get("classes")
    if not scores:
        return Html("")
    lead = (
        f"On the dev set: accuracy {_percent(scores['accuracy'])}, micro F1 {_percent(scores['micro_f1'])}, "
        f"macro F1 {_percent(scores['macro_f1'])}."
    )
    rows: list[list[Text]] = []
    for name, of in scores["classes"].items():
        shares = [_percent(of[score]) for score in ("precision", "recall", "f1")]
        rows.append([code(name), *shares, count(of["gold"]), count(of["found"])])
    headings = ["class", "precision", "recall", "F1", "gold", "found"]
    return section("Classes", table(headings, rows, "numbers"), _matrix(scores), lead=lead)


def _matrix(scores: dict[str, Any]) -> Html:
    names = list(scores["classes"])
    if len(names) > CLASSES_IN_MATRIX:
        return Html("")
    rows = [
        [code(gold), *(count(scores["confusion"].get(gold, {}).get(guess, 0)) for guess in names)] for gold in names
    ]
    return folded("Confusion: gold down, guess across", table(["", *map(code, names)], rows, "numbers"))


def _percent(score: float) -> str:
    return f"{100 * score:.2f}"
