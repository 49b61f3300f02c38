"""The kernel in NumPy and plain Python: the specification of the compiled one, and what runs where none was built.

Its numbers are the compiled kernel's, bit for bit: float32 weights and scores, added in the order of the features;
float64 for steps, margins and averages; ties to the lowest label.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from perceptron_core.decoders import DECODERS, Scores, trace
from perceptron_core.decoders.k_best import k_best
from perceptron_core.decoders.lattice import NEVER
from perceptron_core.hashing import hash_string, mix_array
from perceptron_core.learners import LEARNERS, SET_LEARNERS
from perceptron_core.learners.constraint import Constraint
from perceptron_core.violations import UPDATES

ALL_ONE = np.zeros(0, np.float32)  # instead of values that are all 1


def hash_strings(strings: Sequence[Optional[str]]) -> np.ndarray:
    """The 64-bit hash of every string; 0 for None."""
    return np.array([0 if s is None else hash_string(s) for s in strings], np.uint64)


def compose_keys(
    program: Any, lengths: np.ndarray, ids: Sequence[np.ndarray], tables: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The keys of every token's features: (starts, keys), token t has keys[starts[t]:starts[t+1]]."""
    ends = np.repeat(np.cumsum(lengths), lengths)
    return compose_at(program, np.arange(len(ends)), ends - np.repeat(lengths, lengths), ends, ids, tables)


def compose_at(
    program: Any,
    tokens: np.ndarray,
    begins: np.ndarray,
    ends: np.ndarray,
    ids: Sequence[np.ndarray],
    tables: Sequence[np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """The same for some tokens, whose sentences begin and end there."""
    keys = np.zeros((len(tokens), len(program.seeds)), np.uint64)
    for k, seed in enumerate(program.seeds):
        keys[:, k] = seed
        for p in range(program.part_starts[k], program.part_starts[k + 1]):
            column = program.part_columns[p]
            at = tokens + program.part_offsets[p]
            inside = (at >= begins) & (at < ends)
            types = ids[column][np.where(inside, at, 0)].astype(np.int64)
            values = tables[column][types * program.widths[column] + program.part_attributes[p]]
            left, right = at < begins, at >= ends
            values = np.where(inside, values, np.uint64(0))
            values[left] = program.before[p][(begins - at - 1)[left]]
            values[right] = program.after[p][(at - ends)[right]]
            mixed = mix_array(keys[:, k], values)
            keys[:, k] = np.where((values == 0) | (keys[:, k] == 0), np.uint64(0), mixed)
    fires = keys != 0
    starts = np.append(0, np.cumsum(fires.sum(axis=1))).astype(np.int32)
    return starts, keys[fires]


def pool_keys(
    sizes: np.ndarray, starts: np.ndarray, keys: np.ndarray, constants: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The different keys of every text: (starts, keys, sources), text i has keys[starts[i]:starts[i+1]].

    Text i is the next sizes[i] words; the keys of word w are keys[starts[w]:starts[w+1]]. A key stands where it first
    occurs, and sources says where that is in `keys`; the constants come last, their source is -1.
    """
    pooled_starts, pooled, sources, word = [0], [], [], 0
    for size in sizes.tolist():
        begin, word = int(starts[word]), word + size
        first_at: dict[int, int] = {}
        for at in range(begin, int(starts[word])):
            first_at.setdefault(int(keys[at]), at)
        pooled += [*first_at, *constants.tolist()]
        sources += [*first_at.values(), *[-1] * len(constants)]
        pooled_starts.append(len(pooled))
    return np.array(pooled_starts, np.int32), np.array(pooled, np.uint64), np.array(sources, np.int32)


def unite_two(
    keys_a: np.ndarray,
    starts_a: np.ndarray,
    labels_a: np.ndarray,
    keys_b: np.ndarray,
    starts_b: np.ndarray,
    labels_b: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(keys, starts, labels) of all (key, label) pairs, and for both inputs where each of its entries went."""
    keys = np.union1d(keys_a, keys_b)
    width = 1 + max(int(labels.max()) if len(labels) else 0 for labels in (labels_a, labels_b))

    def codes(own_keys: np.ndarray, starts: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return np.repeat(np.searchsorted(keys, own_keys), np.diff(starts)) * width + labels

    codes_a, codes_b = codes(keys_a, starts_a, labels_a), codes(keys_b, starts_b, labels_b)
    united = np.union1d(codes_a, codes_b)
    row, labels = np.divmod(united, width)
    starts = np.searchsorted(row, np.arange(len(keys) + 1))
    place_a, place_b = np.searchsorted(united, codes_a), np.searchsorted(united, codes_b)
    return keys, starts, labels.astype(np.uint32), place_a, place_b


def add_step(
    place: np.ndarray,
    value: np.ndarray,
    lag: np.ndarray,
    examples: int,
    multiple: int,
    old: np.ndarray,
    moved: np.ndarray,
    mean: np.ndarray,
    present: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> None:
    """Add one shard's step to what is being mixed; its i-th weight is the place[i]-th of these arrays."""
    change = value.astype(np.float64) - old[place]
    moved[place] += multiple * change
    mean[place] += multiple * (change - lag / examples)
    present[place] += multiple
    low[place] = np.minimum(low[place], value)
    high[place] = np.maximum(high[place], value)


ESCAPES = ((b"\x1b", b"\x1be"), (b"\n", b"\x1bn"), (b"\r", b"\x1br"))  # the escape itself first


def escape_line_ends(data: bytes) -> bytes:
    """ESC, LF and CR as ESC e, ESC n and ESC r; all other bytes as they are."""
    for byte, escape in ESCAPES:
        data = data.replace(byte, escape)
    return data


def restore_line_ends(text: bytes) -> bytes:
    """The inverse; an ESC with anything else behind it stays as it is."""
    for byte, escape in reversed(ESCAPES):
        text = text.replace(escape, byte)
    return text


class KeyTable:
    """Keys numbered in the order in which they are first seen."""

    def __init__(self) -> None:
        self._ids: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def intern(self, keys: np.ndarray) -> np.ndarray:
        """The number of every key; new keys get the next numbers."""
        ids = self._ids
        return np.array([ids.setdefault(key, len(ids)) for key in keys.tolist()], np.int32)

    def find(self, keys: np.ndarray) -> np.ndarray:
        """The number of every key, -1 for one never seen."""
        return np.array([self._ids.get(key, -1) for key in keys.tolist()], np.int32)

    def keys(self, first: int = 0) -> np.ndarray:
        """The keys numbered `first` and up, in the order of their numbers."""
        return np.array(list(self._ids)[first:], np.uint64)


class Row:
    """One feature's weights, their lags, and which of them took part in an update."""

    def __init__(self, labels: int, step: float = 1.0) -> None:
        self.step = step  # what a change is multiplied by
        self.weights = np.zeros(labels, np.float32)
        self.lags = np.zeros(labels)
        self.touched = np.zeros(labels, bool)

    def change(self, label: int, amount: float, seen: float) -> None:
        """Add `amount` times the step to a weight after `seen` examples; its lag grows by change × seen, so that the
        mean over n examples is (the weight now) − lag / n (the lazy averaging of Daumé 2006)."""
        old = float(self.weights[label])
        self.weights[label] = np.float32(old + amount * self.step)
        self.lags[label] += seen * (float(self.weights[label]) - old)
        self.touched[label] = True


class WeightRows:
    """The weights of the features by number: a row of labels each, made when it first gets a weight.

    With min_updates > 1, scoring passes a row over until its feature has taken part in so many updates.
    """

    def __init__(self, labels: int, dense_from: int, min_updates: int = 1) -> None:
        self.labels, self.min_updates = labels, min_updates
        self.rows: dict[int, Row] = {}
        self.count: dict[int, int] = {}  # updates in which a feature took part, as far as they matter
        self.loaded: dict[int, int] = {}  # … and how many of them it came with
        self.steps: Optional[np.ndarray] = None  # the rows' steps, if not 1: steps[feature // rows_a_step]
        self.rows_a_step = 1

    def reserve(self, features: int) -> None:
        """Rows are made when they are needed."""

    def row(self, feature: int) -> Row:
        row = self.rows.get(feature)
        if row is None:
            step = 1.0 if self.steps is None else float(self.steps[feature // self.rows_a_step])
            row = self.rows[feature] = Row(self.labels, step)
        return row

    def shown(self, feature: int) -> Optional[Row]:
        """The row as scoring sees it."""
        hidden = self.min_updates > 1 and self.count.get(feature, 0) < self.min_updates
        return None if hidden else self.rows.get(feature)

    def count_update(self, features: set[int]) -> None:
        """One update in which these features took part; a relevant feature has nothing more to prove."""
        for feature in features:
            if self.count.get(feature, 0) < self.min_updates:
                self.count[feature] = self.count.get(feature, 0) + 1

    def counted(self, features: np.ndarray) -> np.ndarray:
        """The updates in which each feature took part since it was loaded; no more than it lacked to min_updates."""
        return np.array([self.count[f] - self.loaded.get(f, 0) for f in features.tolist()], np.int32)

    def value(self, feature: int, label: int) -> np.float32:
        """The weight as scoring sees it."""
        row = self.shown(feature)
        return np.float32(0) if row is None else row.weights[label]

    def load(
        self,
        features: np.ndarray,
        starts: np.ndarray,
        labels: np.ndarray,
        values: np.ndarray,
        counts: Optional[np.ndarray] = None,
    ) -> None:
        """Give features[i] the weights of entries starts[i] … starts[i+1]-1, and the count of the updates that it took
        part in before; a negative number is passed over."""
        for feature, begin, end in zip(features.tolist(), starts[:-1].tolist(), starts[1:].tolist()):
            if feature >= 0:
                self.row(feature).weights[labels[begin:end]] = values[begin:end]
        if counts is not None:
            self.loaded.update((f, count) for f, count in zip(features.tolist(), counts.tolist()) if f >= 0)
            self.count.update(self.loaded)

    def add_scores(self, features: np.ndarray, scores: np.ndarray, values: np.ndarray = ALL_ONE) -> None:
        """scores[label] += weight, times the feature's value if there are any, feature by feature: the order is part
        of the result."""
        for i, feature in enumerate(features.tolist()):
            row = self.shown(feature)
            if row is not None:
                scores += row.weights * values[i] if len(values) else row.weights

    def touched_entries(self, order: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Every weight that took part in an update, features in the given order: (features, where the entries of each
        begin, labels, weights, lags)."""
        rows = [(feature, self.rows[feature]) for feature in order.tolist() if feature in self.rows]
        found = [(feature, row, np.flatnonzero(row.touched)) for feature, row in rows if row.touched.any()]
        nothing = np.zeros(0)
        return (
            np.array([feature for feature, _, _ in found], np.int32),
            np.cumsum([0, *(len(labels) for _, _, labels in found)], dtype=np.int64),
            np.concatenate([nothing, *(labels for _, _, labels in found)]).astype(np.uint32),
            np.concatenate([nothing, *(row.weights[labels] for _, row, labels in found)]).astype(np.float32),
            np.concatenate([nothing, *(row.lags[labels] for _, row, labels in found)]),
        )


class Tokens(NamedTuple):
    """One sentence's features, cut out of a block."""

    emissions: list[np.ndarray]
    pairs: list[np.ndarray]
    values: list[np.ndarray]  # of the emissions, float32; empty where all are 1


class SequenceKernel:
    """First-order sequence models: find the violated constraints of a minibatch, update by them."""

    def __init__(
        self, labels: int, emissions: WeightRows, pairs: WeightRows, settings: Any, allowed: np.ndarray
    ) -> None:
        self.labels, self.emissions, self.pairs, self.settings = labels, emissions, pairs, settings
        self.allowed = allowed.astype(bool)
        self.seen = 0.0  # examples so far
        self.constraints: list[Constraint] = []  # of the minibatch so far
        self.gathered = 0  # how many examples of the minibatch these are of
        # rows 0 … L-1 from a label, row L from the start of a sentence, row L+1 to its end
        self.transitions = [Row(labels) for _ in range(labels + 2)]
        self.decode_scores = DECODERS[settings.decoder]
        self.step = LEARNERS[settings.learner]
        self.find_prefix = UPDATES[settings.update]

    def load_transitions(self, weights: np.ndarray) -> None:
        """Set the (L+2) × L transition weights: from each label, from the start, to the end."""
        for row, values in zip(self.transitions, weights):
            row.weights[:] = values

    def transition_state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(weights, lags, touched) of the transitions, (L+2) × L each."""
        return (
            np.array([row.weights for row in self.transitions]),
            np.array([row.lags for row in self.transitions]),
            np.array([row.touched for row in self.transitions], np.uint8),
        )

    def scores(self, tokens: Tokens) -> Scores:
        weights = np.array([row.weights for row in self.transitions])
        weights[~self.allowed] = NEVER
        emissions = np.zeros((len(tokens.emissions), self.labels), np.float32)
        into = [weights[: self.labels]] * len(emissions)
        for t, features in enumerate(tokens.emissions):
            self.emissions.add_scores(features, emissions[t], tokens.values[t])
            if len(tokens.pairs[t]):
                into[t] = into[t].copy()
                for p in range(self.labels):
                    self.pairs.add_scores(tokens.pairs[t] * self.labels + p, into[t][p])
        return Scores(emissions, weights[self.labels], into, weights[self.labels + 1])

    def gold_scores(self, tokens: Tokens, emissions: np.ndarray, gold: Sequence[int]) -> np.ndarray:
        """The gold labels' own score up to each token, allowed or not."""
        total, totals = np.float32(0), np.zeros(len(gold), np.float32)
        for t, label in enumerate(gold):
            before = gold[t - 1] if t else self.labels
            step = self.transitions[before].weights[label]
            if t:
                for pair in tokens.pairs[t].tolist():
                    step = step + self.pairs.value(pair * self.labels + before, label)
            total = (total + step) + emissions[t, label]
            if t == len(gold) - 1:
                total = total + self.transitions[self.labels + 1].weights[label]
            totals[t] = total
        return totals

    def delta(self, tokens: Tokens, gold: Sequence[int], guess: Sequence[int]) -> dict[tuple[Any, int, int], float]:
        """Δ = Φ(gold) − Φ(guess) over a prefix: (weights, feature, label) → count, zeros included."""
        parts: dict[tuple[Any, int, int], float] = {}

        def add(weights: Any, feature: int, label: int, count: float) -> None:
            parts[weights, feature, label] = parts.get((weights, feature, label), 0) + count

        right_before = wrong_before = self.labels
        for t, (right, wrong) in enumerate(zip(gold, guess)):
            if right != wrong:
                values = tokens.values[t].tolist() or [1.0] * len(tokens.emissions[t])
                for feature, value in zip(tokens.emissions[t].tolist(), values):
                    add("emissions", feature, right, value)
                    add("emissions", feature, wrong, -value)
            if right != wrong or right_before != wrong_before:
                if self.settings.transitions if t else self.settings.start_stop:
                    add("transitions", right_before, right, 1)
                    add("transitions", wrong_before, wrong, -1)
                if t:
                    for pair in tokens.pairs[t].tolist():
                        add("pairs", pair * self.labels + right_before, right, 1)
                        add("pairs", pair * self.labels + wrong_before, wrong, -1)
            right_before, wrong_before = right, wrong
        whole = len(gold) == len(tokens.emissions)
        if whole and self.settings.start_stop and right_before != wrong_before:
            add("transitions", self.labels + 1, right_before, 1)
            add("transitions", self.labels + 1, wrong_before, -1)
        return parts

    def row_of(self, weights: str, feature: int) -> Row:
        if weights == "transitions":
            return self.transitions[feature]
        return (self.emissions if weights == "emissions" else self.pairs).row(feature)

    def weight(self, weights: str, feature: int, label: int) -> np.float32:
        """As scoring sees it."""
        if weights == "transitions":
            return self.transitions[feature].weights[label]
        return (self.emissions if weights == "emissions" else self.pairs).value(feature, label)

    def constraint(self, tokens: Tokens, gold: Sequence[int], guess: Sequence[int]) -> Constraint:
        """That the gold labels of a prefix should score higher than the guess."""
        parts = self.delta(tokens, gold, guess)
        margin = norm = 0.0
        for (weights, feature, label), count in parts.items():
            margin += count * float(self.weight(weights, feature, label))
            norm += count * count
        return Constraint(parts, float(sum(a != b for a, b in zip(guess, gold))), margin, norm)

    def find_constraints(self, tokens: Tokens, gold: list[int]) -> tuple[int, list[Constraint]]:
        """(wrong tokens, the violated constraints)."""
        k, scores = self.settings.k_best, self.scores(tokens)
        alpha = self.decode_scores(scores, self.settings.beam)
        guess = trace(scores, alpha, len(gold))
        wrong = sum(a != b for a, b in zip(guess, gold))
        if not wrong and k == 1:
            return 0, []
        gold_scores = self.gold_scores(tokens, scores.emissions, gold)
        prefix = self.find_prefix(scores, alpha, gold, gold_scores) if wrong else len(gold)
        right, guesses = gold[:prefix], [trace(scores, alpha, prefix)]
        if k > 1:
            more = k_best(scores, alpha, prefix, k)[1:]
            guesses += [list(labels) for score, labels in more if score >= gold_scores[prefix - 1]]
        found = [self.constraint(tokens, right, guess) for guess in guesses if guess != right]
        return wrong, [constraint for constraint in found if constraint.norm]  # equal Φ: there is nothing to correct

    def update(self, constraints: Sequence[Constraint]) -> bool:
        """w ← w + Σ α_c Δ_c, each weight once; False if nothing moves."""
        cap = self.settings.cap()
        if len(constraints) == 1:
            (only,) = constraints
            multipliers = [self.step(only.loss, only.margin, only.norm, cap)]
        else:
            multipliers = SET_LEARNERS[self.settings.learner](constraints, cap) if constraints else []
        step: dict[Any, float] = {}
        for multiplier, constraint in zip(multipliers, constraints):
            for part, count in constraint.delta.items():
                step[part] = step.get(part, 0.0) + multiplier * count
        step = {part: amount for part, amount in step.items() if amount}
        for (weights, feature, label), amount in step.items():
            self.row_of(weights, feature).change(label, amount, self.seen - 1)
        if self.emissions.min_updates > 1:
            for name, rows in (("emissions", self.emissions), ("pairs", self.pairs)):
                rows.count_update({feature for weights, feature, _ in step if weights == name})
        return bool(step)

    def use_threads(self, threads: int) -> None:
        """The compiled kernel decodes a minibatch in parallel; here it is one sentence after the other all the same."""

    def train(self, block: Any) -> tuple[int, int, int]:
        """Training on a block's sentences, in order: (wrong sentences, updates, wrong tokens)."""
        errors = updates = wrong_tokens = 0
        for begin, tokens in self._sentences(block):
            gold = block.gold[begin : begin + len(tokens.emissions)].tolist()
            wrong, found = self.find_constraints(tokens, gold)
            errors += wrong > 0
            wrong_tokens += wrong
            self.constraints += found
            self.seen += 1
            self.gathered += 1
            if self.gathered == self.settings.minibatch:
                updates += self.flush()
        return errors, updates, wrong_tokens

    def flush(self) -> int:
        """Update by the minibatch as far as it has come, which a pass's end may cut short: how many updates, 0 or 1."""
        found, self.constraints, self.gathered = self.constraints, [], 0
        return int(self.update(found))

    def decode(self, block: Any) -> np.ndarray:
        """The best labels of every token of the block."""
        guesses = np.zeros(len(block.starts) - 1, np.int32)
        for begin, tokens in self._sentences(block):
            scores = self.scores(tokens)
            alpha = self.decode_scores(scores, self.settings.beam)
            guesses[begin : begin + len(alpha)] = trace(scores, alpha, len(alpha))
        return guesses

    @staticmethod
    def _sentences(block: Any) -> Any:
        begin = 0
        for length in filter(None, block.lengths.tolist()):
            span = range(begin, begin + length)
            yield (
                begin,
                Tokens(
                    [block.ids[block.starts[t] : block.starts[t + 1]] for t in span],
                    [block.pair_ids[block.pair_starts[t] : block.pair_starts[t + 1]] for t in span],
                    [block.values[block.starts[t] : block.starts[t + 1]] for t in span],
                ),
            )
            begin += length
