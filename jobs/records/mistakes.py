"""What mistakes.json of a run holds (see perceptron_core/evaluation/mistakes.py), and prepared_elsewhere.json."""

from typing import Any

from perceptron_core.evaluation.metrics.attachment import SCORES as TREE_SCORES
from perceptron_core.evaluation.tree_mistakes import TREES as WORST_TREES
from perceptron_core.registry import WEIGHTS
from perceptron_core.schema import Wrong, dict_of, flag, list_of, number, one_of, record, row_of, text, whole

_WORDS = list_of(text())
_CONFUSION = record(
    {
        "gold": text(),
        "guess": text(),
        "count": whole(1),
        "examples": list_of(
            record({"words": _WORDS, "gold": _WORDS, "guess": _WORDS, "at": whole(), "cut": row_of(flag, flag)})
        ),
    }
)
_SHARE, _COUNT = number(0, 1), whole()
_COUNTED = {
    **dict.fromkeys(("tokens", "correct_tokens", "sentences", "correct_sentences"), _COUNT),
    **dict.fromkeys(("accuracy", "sentence_accuracy"), _SHARE),
}
_CLASSES = record(
    {
        **_COUNTED,
        "micro_f1": _SHARE,
        **dict.fromkeys(("macro_precision", "macro_recall", "macro_f1"), _SHARE),
        "classes": dict_of(
            record(
                {
                    **dict.fromkeys(("precision", "recall", "f1"), _SHARE),
                    **dict.fromkeys(("gold", "found", "correct"), _COUNT),
                }
            )
        ),
        "confusion": dict_of(dict_of(_COUNT)),
    }
)
_FOUND = {
    **dict.fromkeys(("precision", "recall", "f1"), _SHARE),
    **dict.fromkeys(("gold", "found", "correct"), _COUNT),
}
_ATTACHED = {
    "words": _COUNT,
    **dict.fromkeys((*TREE_SCORES, *(f"trees_{score}" for score in TREE_SCORES)), _SHARE),
}
_ATTACHMENT = record(
    {
        **_COUNTED,
        **_ATTACHED,
        "without_punctuation": record(_ATTACHED),
        "root_accuracy": _SHARE,
        "non_projective": record({"gold": _COUNT, "found": _COUNT, "precision": _SHARE, "recall": _SHARE}),
        "distances": dict_of(record(_FOUND)),
        "relations": dict_of(record(_FOUND)),
    }
)
_TREE = record({"heads": list_of(whole()), "relations": _WORDS})
_TREES = record({"words": _WORDS, "gold": _TREE, "guess": _TREE})


def _drawn_tree(value: Any) -> None:
    """A sentence with its gold tree and the guess."""
    _TREES(value)
    size = len(value["words"])
    for tree in (value["gold"], value["guess"]):
        if not len(tree["heads"]) == len(tree["relations"]) == size or max(tree["heads"], default=0) > size:
            raise Wrong("is not a tree over its words")


_MISTAKES = record(
    {
        "epoch": whole(),  # that of the model
        "weights": one_of(*WEIGHTS),
        "tokens": _COUNT,
        "wrong_tokens": _COUNT,
        "confusions": list_of(_CONFUSION),
    },
    may={"classes": _CLASSES, "attachment": _ATTACHMENT, "trees": list_of(_drawn_tree, most=WORST_TREES)},
)


def check_mistakes(value: Any) -> None:
    """A schema, as the others."""
    _MISTAKES(value)
    if not sum(confusion["count"] for confusion in value["confusions"]) <= value["wrong_tokens"] <= value["tokens"]:
        raise Wrong("has more mistakes than tokens")


ELSEWHERE = record({"folder": text(r"[^\0]+", "the path of a folder")})
