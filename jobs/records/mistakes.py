"""What mistakes.json and prepared_elsewhere.json of a run hold; see perceptron_core/evaluation/mistakes.py."""

from perceptron_core.registry import WEIGHTS
from perceptron_core.schema import flag, list_of, one_of, record, row_of, text, whole

_WORDS = list_of(text())
MISTAKES = record(
    {
        "epoch": whole(),  # that of the model
        "weights": one_of(*WEIGHTS),
        "tokens": whole(),
        "wrong_tokens": whole(),
        "confusions": list_of(
            record(
                {
                    "gold": text(),
                    "guess": text(),
                    "count": whole(),
                    "examples": list_of(
                        record(
                            {"words": _WORDS, "gold": _WORDS, "guess": _WORDS, "at": whole(), "cut": row_of(flag, flag)}
                        )
                    ),
                }
            )
        ),
    }
)
ELSEWHERE = record({"folder": text(r"[^\0]+", "the path of a folder")})
