"""Token classification with history: every token is classified by itself, from features of the labels before it, too.

    training:  for each token t:  z = argmax over c of w · φ(x, t, y[t-1], y[t-2], …; c)     # the gold labels before it
                                  if z ≠ y[t]:  w ← w + φ(…; y[t]) − φ(…; z)
    testing:   for t = 1, 2, …:   z[t] = argmax over c of w · φ(x, t, z[t-1], z[t-2], …; c)  # its own guesses

So in training a token is an instance of its own: a sentence of one token without transitions, and its history is a
column of the corpus like any other. Learners, mixing and averages are what they are for sentences, and count tokens.
In testing all sentences are taken together, one position at a time: a guess waits only for those of its own sentence.

Reference: Y. Goldberg and M. Elhadad, Learning sparser perceptron models, ACL 2011, section 4 (chunking).
"""

from collections.abc import Sequence

import numpy as np

from perceptron_core.arrays import ragged_range
from perceptron_core.errors import UserError
from perceptron_core.features.encoding import Encoded, append_per_token
from perceptron_core.features.feature_set import FeatureSet
from perceptron_core.kernels import hash_strings
from perceptron_core.kernels.reference import compose_at
from perceptron_core.settings import Settings
from perceptron_core.structures.sequence.model import FeatureBlock, SequenceModel


def check(features: FeatureSet, settings: Settings) -> None:
    """Refuse a search that would have to look at more than one history."""
    if features.history_templates and settings.decoder != "greedy":
        raise UserError(
            f"the template `{features.history_templates[0].text}` takes the labels before as guessed already, which "
            "only --decoder greedy can; for an exact search set `transitions: true`, or join `label[-1]` alone with "
            "other parts"
        )


def instances(features: FeatureSet, lengths: np.ndarray) -> np.ndarray:
    """The lengths of what is trained on: sentences, or tokens where there is a history."""
    return np.ones(int(lengths.sum()), np.int32) if features.history_templates else lengths


def decode(
    model: SequenceModel, features: FeatureSet, encoded: Encoded, tables: Sequence[np.ndarray], block: FeatureBlock
) -> np.ndarray:
    """The label number of every token; `block` has the features without history."""
    if not features.history_templates:
        return model.decode(block)
    ends = np.cumsum(encoded.lengths)
    begins = ends - encoded.lengths
    guesses = np.zeros(len(block.starts) - 1, np.int32)
    ids, all_tables = [*encoded.ids, guesses], [*tables, hash_strings(model.labels)]
    for position in range(int(encoded.lengths.max(initial=0))):
        there = encoded.lengths > position
        tokens = begins[there] + position
        starts, keys = compose_at(features.history, tokens, begins[there], ends[there], ids, all_tables)
        guesses[tokens] = model.decode(_instances(model, block, tokens, starts, keys))
    return guesses


def _instances(
    model: SequenceModel, block: FeatureBlock, tokens: np.ndarray, starts: np.ndarray, keys: np.ndarray
) -> FeatureBlock:
    """Some tokens by themselves: their features, and behind them, as in training, those of their history."""
    sizes = block.starts[tokens + 1] - block.starts[tokens]
    own = block.ids[ragged_range(block.starts[tokens], sizes)]
    own_starts = np.append(0, np.cumsum(sizes)).astype(np.int32)
    all_starts, ids = append_per_token(own_starts, own, np.diff(starts), model.numbers.emissions.intern(keys))
    nothing = np.zeros(0, np.int32)
    return FeatureBlock(np.ones(len(tokens), np.int32), nothing, all_starts, ids, np.zeros_like(all_starts), nothing)
