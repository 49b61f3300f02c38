"""What mistakes.json of a run holds (see perceptron_core/evaluation/mistakes.py), and prepared_elsewhere.json."""

from typing import Any

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
_CLASSES = record(
    {
        "tokens": _COUNT,
        "correct_tokens": _COUNT,
        "sentences": _COUNT,
        "correct_sentences": _COUNT,
        "accuracy": _SHARE,
        "sentence_accuracy": _SHARE,
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
_MISTAKES = record(
    {
        "epoch": whole(),  # that of the model
        "weights": one_of(*WEIGHTS),
        "tokens": _COUNT,
        "wrong_tokens": _COUNT,
        "confusions": list_of(_CONFUSION),
    },
    may={"classes": _CLASSES},
)


def check_mistakes(value: Any) -> None:
    """A schema, as the others."""
    _MISTAKES(value)
    if not sum(confusion["count"] for confusion in value["confusions"]) <= value["wrong_tokens"] <= value["tokens"]:
        raise Wrong("has more mistakes than tokens")


ELSEWHERE = record({"folder": text(r"[^\0]+", "the path of a folder")})
