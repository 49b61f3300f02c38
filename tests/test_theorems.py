"""The theorems of McDonald, Hall & Mann, Distributed training strategies for the structured perceptron (NAACL 2010)."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import nnls

from perceptron_core.corpus import Sentence
from perceptron_core.epoch import ShardEpoch
from perceptron_core.features.encoding import FeatureKeys
from perceptron_core.features.feature_set import template_key
from perceptron_core.mixing import MIXINGS, ShardStep, apply, mix
from perceptron_core.predictor import split_labels
from perceptron_core.rows import Rows, empty, from_entries, values_at
from perceptron_core.sequence_model import FeatureBlock, FeatureNumbers, SequenceModel
from perceptron_core.settings import Settings
from perceptron_core.shards import ShardContent, write_shard
from perceptron_core.task import Task, read_task

# ---------------------------------------------------------------- no theorem for them


CIRCLE = "111 0\n\n011 1\n\n101 1\n"  # an instance and its label; three features, and whether it has them
CIRCLE_SEED = 2  # which puts each of them on a shard of its own


@pytest.fixture
def circle(tmp_path: Path) -> Path:
    for place in range(3):
        having = [x for x in ("111", "011", "101") if x[place] == "1"]
        (tmp_path / f"f{place}.txt").write_text("".join(f"{x}\tyes\n" for x in having))
    (tmp_path / "train.txt").write_text(CIRCLE)
    (tmp_path / "circle.yaml").write_text(
        "columns: [instance, label]\npredict: label\nlabels: ['0', '1']\n"
        "lookups: {f0: f0.txt, f1: f1.txt, f2: f2.txt}\nfeatures: ['f0[0]', 'f1[0]', 'f2[0]']\n"
        "transitions: false\nstart_stop: false\nbias: false\n"
    )
    return tmp_path


@pytest.mark.parametrize("mixing", ["touched", "row", "mid"])
def test_three_instances_send_them_in_a_circle_until_they_fall_back(circle: Path, must: Any, mixing: str) -> None:
    def train(epochs: int) -> tuple[str, list[dict[str, Any]]]:
        run = circle / mixing
        options = ["--shards", 3, "--seed", CIRCLE_SEED, "--mixing", mixing, "--epochs", epochs]
        said = must("train", circle / "circle.yaml", "--train", circle / "train.txt", "--run-dir", run, *options)
        return said, [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]

    weights = []
    for epoch in range(1, 7):
        _, history = train(epoch)
        assert [shard["sentences"] for shard in history[-1]["shards"]] == [1, 1, 1]
        weights.append((circle / mixing / f"epoch-{epoch:04d}" / "weights").read_bytes())
    assert weights[0] == weights[2] == weights[4] != weights[1] == weights[3] == weights[5]  # round and round
    said, history = train(100)
    assert "no fewer errors for 10 epochs: uniform mixing from now on" in said
    assert "stopped: the training set is separated" in said
    assert [entry["mixing"] for entry in history if entry["epoch"] in (1, 11, len(history))] == [
        mixing,
        mixing,
        "uniform",
    ]


@pytest.mark.parametrize("mixing", ["uniform", "errors", "examples"])
def test_those_with_a_theorem_separate_them(circle: Path, must: Any, mixing: str) -> None:
    run = ["--run-dir", circle / mixing, "--shards", 3, "--seed", CIRCLE_SEED, "--mixing", mixing, "--epochs", 50]
    said = must("train", circle / "circle.yaml", "--train", circle / "train.txt", *run)
    assert "stopped: the training set is separated" in said and "from now on" not in said


# ---------------------------------------------------------------- Theorem 2

# Block features: an instance has some of three features, each with a weight a label.
INSTANCES = {"x11": (0, 1), "x12": (2,), "x21": (1, 2), "x22": (0,)}
GOLD = {"x11": "0", "x12": "1", "x21": "0", "x22": "1"}
SHARDS = [["x11", "x12"], ["x21", "x22"]]
LABELS = ["1", "0"]  # ties go to label 1
PLAIN = Settings(transitions=False, start_stop=False)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """The example as a task file: a feature is a lookup that knows the instances which have it."""
    for feature in range(3):
        having = [x for x, features in INSTANCES.items() if feature in features]
        (tmp_path / f"f{feature}.txt").write_text("".join(f"{x}\tyes\n" for x in having))
    (tmp_path / "theorem2.yaml").write_text(
        "columns: [instance, label]\npredict: label\nlabels: ['1', '0']\n"
        "lookups: {f0: f0.txt, f1: f1.txt, f2: f2.txt}\nfeatures: ['f0[0]', 'f1[0]', 'f2[0]']\n"
        "transitions: false\nstart_stop: false\nbias: false\n"
    )
    return read_task(str(tmp_path / "theorem2.yaml"))


def shard_records(task: Task, instances: Sequence[str], shard: int) -> list[Any]:
    encoder = task.encoder()
    encoded = encoder.encode([Sentence(([x],), [GOLD[x]], 1) for x in instances])
    content = ShardContent(
        encoded, [table.rows() for table in encoder.tables], np.zeros(0, np.uint64), list(encoder.labels)
    )
    identity = {"shard": shard, "shards": len(SHARDS), "seed": 0, "features": task.fingerprint}
    return list(write_shard(content, task.features.unigrams.widths, identity))


def train_shards(task: Task, settings: Settings, weights: Rows) -> list[ShardStep]:
    steps = []
    for number, instances in enumerate(SHARDS):
        epoch = ShardEpoch(task, task.labels(["0", "1"]), settings, weights)
        for kind, record in shard_records(task, instances, number):
            epoch.take(kind, record)
        header, rows = epoch.finish()
        stats = epoch.stats
        steps.append(ShardStep(header["shard"], 2, "theorem 2", stats.updates, stats.examples, rows))
    return steps


def vector(task: Task, rows: Rows) -> list[float]:
    """The weights as the paper writes them: the block of label 0, then that of label 1."""
    keys = np.array([template_key(template, ["yes"]) for template in task.features.templates], np.uint64)
    wanted = from_entries(np.repeat(keys, 2), np.tile(np.array([0, 1], np.uint32), 3))
    values = dict(
        zip(zip(wanted.entry_keys().tolist(), wanted.labels.tolist()), values_at(rows, "weight", wanted).tolist())
    )
    return [values[key, LABELS.index(label)] for label in ("0", "1") for key in keys.tolist()]


def weights_of(task: Task, values: Sequence[float]) -> Rows:
    keys = [template_key(template, ["yes"]) for template in task.features.templates]
    labels = np.repeat(np.array([LABELS.index("0"), LABELS.index("1")], np.uint32), 3)
    return from_entries(np.array(keys * 2, np.uint64), labels, weight=np.array(values, np.float32))


def classified(task: Task, weights: Rows) -> dict[str, str]:
    encoder, numbers = task.encoder(), FeatureNumbers()
    encoded = encoder.encode([Sentence(([x],), None, 1) for x in INSTANCES])
    block = numbers.number(encoded.lengths, np.zeros(0, np.int32), encoder.keys(encoded))
    guesses = SequenceModel(LABELS, PLAIN, weights, numbers).decode(block)
    return {x: label for x, [label] in zip(INSTANCES, split_labels(LABELS, guesses, block.lengths))}


def test_one_shot_mixing_does_not_separate(task: Task) -> None:
    """Each shard trained to convergence separates itself; no mixture of the two separates all."""
    steps = train_shards(task, PLAIN._replace(local_epochs=10), empty(weight="f4"))
    first, second = (vector(task, step.rows) for step in steps)
    assert first == [1, 1, 0, -1, -1, 0]
    assert second == [0, 1, 1, 0, -1, -1]
    for shard, step in zip(SHARDS, steps):
        guessed = classified(task, step.rows)
        assert all(guessed[x] == GOLD[x] for x in shard)
    for share in np.linspace(0, 1, 21):
        mixture = share * np.array(first) + (1 - share) * np.array(second)
        guessed = classified(task, weights_of(task, mixture))
        assert guessed != GOLD
        if 0 < share < 1:
            assert set(guessed.values()) == {"0"}
    for strategy in MIXINGS:
        assert classified(task, apply(empty(weight="f4"), mix(strategy, empty(weight="f4"), steps))) != GOLD
    assert classified(task, weights_of(task, [-1, 2, -1, 1, -2, 1])) == GOLD  # there is a separator: the paper's


@pytest.mark.parametrize("strategy", MIXINGS)
def test_iterative_mixing_separates(task: Task, strategy: str) -> None:
    weights, updates = empty(weight="f4"), []
    for _ in range(30):
        steps = train_shards(task, PLAIN, weights)
        weights = apply(weights, mix(strategy, weights, steps))
        updates.append(sum(step.updates for step in steps))
        if updates[-1] == 0:
            break
    assert len(updates) > 2 and updates[-1] == 0
    assert classified(task, weights) == GOLD


# ---------------------------------------------------------------- Theorem 3


class Data(NamedTuple):
    """Sentences over a few features, labelled by a hidden weight vector, hence separable."""

    labels: int
    features: int
    sentences: list[list[list[int]]]
    gold: list[tuple[int, ...]]
    settings: Settings

    def phi(self, sentence: Sequence[Sequence[int]], labels: Sequence[int]) -> np.ndarray:
        """Counts of (feature, label), transitions (from label, or start), and stops."""
        size = self.labels
        emissions, steps, stops = np.zeros((self.features, size)), np.zeros((size + 1, size)), np.zeros(size)
        for t, (features, label) in enumerate(zip(sentence, labels)):
            for feature in features:
                emissions[feature, label] += 1
            steps[labels[t - 1] if t else size, label] += self.settings.transitions if t else self.settings.start_stop
        stops[labels[-1]] += self.settings.start_stop
        return np.concatenate([emissions.ravel(), steps.ravel(), stops])

    def constraints(self) -> np.ndarray:
        """Φ(x, y) − Φ(x, z) for every sentence and every other labelling z."""
        rows = []
        for sentence, gold in zip(self.sentences, self.gold):
            right = self.phi(sentence, gold)
            for labels in itertools.product(range(self.labels), repeat=len(gold)):
                if labels != gold:
                    rows.append(right - self.phi(sentence, labels))
        return np.array(rows)


def separable_data(seed: int, tokens: int, labels: int, settings: Settings, active: int) -> Data:
    random = np.random.default_rng(seed)
    features = int(random.integers(4, 16))
    sentences = [
        [
            random.integers(0, features, int(random.integers(1, active + 1))).tolist()
            for _ in range(random.integers(1, tokens + 1))
        ]
        for _ in range(12)
    ]
    data = Data(labels, features, sentences, [], settings)
    hidden = random.normal(size=features * labels + (labels + 1) * labels + labels)
    gold = [
        max(
            itertools.product(range(labels), repeat=len(sentence)),
            key=lambda z, sentence=sentence: float(hidden @ data.phi(sentence, z)),
        )
        for sentence in sentences
    ]
    return data._replace(gold=gold)


def maximum_margin(constraints: np.ndarray) -> float:
    """max over ‖u‖ = 1 of min Δ·u, that is 1 / ‖v‖ for the shortest v with Δ·v ≥ 1 for all Δ: a quadratic program,
    solved by non-negative least squares (Lawson & Hanson 1974, ch. 23: least distance programming)."""
    stacked = np.vstack([constraints.T, np.ones(len(constraints))])
    target = np.append(np.zeros(constraints.shape[1]), 1.0)
    multipliers, _ = nnls(stacked, target, maxiter=100 * len(constraints))
    residual = stacked @ multipliers - target
    shortest = -residual[:-1] / residual[-1]
    unit = shortest / np.linalg.norm(shortest)
    margin = float((constraints @ unit).min())
    # No unit vector has a margin above the length of any convex mixture of the constraints: this one is the best.
    mixture = constraints.T @ (multipliers / multipliers.sum())
    assert margin == pytest.approx(float(np.linalg.norm(mixture)), rel=1e-6)
    return margin


def block_of(data: Data, numbers: FeatureNumbers, chosen: Sequence[int]) -> FeatureBlock:
    tokens = [token for i in chosen for token in data.sentences[i]]
    starts = np.append(0, np.cumsum([len(token) for token in tokens])).astype(np.int32)
    keys = np.array([feature + 1 for token in tokens for feature in token], np.uint64)
    none = np.zeros(len(tokens) + 1, np.int32), np.zeros(0, np.uint64)
    gold = np.array([label for i in chosen for label in data.gold[i]], np.int32)
    lengths = np.array([len(data.sentences[i]) for i in chosen], np.int32)
    return numbers.number(lengths, gold, FeatureKeys(starts, keys, *none))


def iterate(data: Data, shards: int, strategy: str, epochs: int = 200) -> float:
    """Σ_n Σ_i μ_{i,n} k_{i,n} of a run until it makes no mistake."""
    weights, total = empty(weight="f4"), 0.0
    names = [str(label) for label in range(data.labels)]
    parts = [range(i, len(data.sentences), shards) for i in range(shards)]
    for _ in range(epochs):
        steps = []
        for i, chosen in enumerate(parts):
            numbers = FeatureNumbers()
            model = SequenceModel(names, data.settings, weights, numbers)
            errors, updates, _ = model.train(block_of(data, numbers, chosen))
            assert errors == updates
            steps.append(ShardStep(i, shards, "theorem 3", updates, len(chosen), model.touched()))
        mistakes = [step.updates for step in steps]
        after = apply(weights, mix(strategy, weights, steps))
        if not any(mistakes):
            assert after.values["weight"].tobytes() == weights.values["weight"].tobytes()  # nothing moves
            return total
        shares = {"uniform": [1 / shards] * shards, "errors": [k / sum(mistakes) for k in mistakes]}[strategy]
        total += sum(share * k for share, k in zip(shares, mistakes))
        weights = after
    raise AssertionError("a separable training set was not separated")


@pytest.fixture(scope="module")
def problems() -> list[tuple[Data, float]]:
    """Separable data with its R²/γ²: classification and sequences, one or two features a token."""
    found = []
    for tokens, labels, active in ((1, 2, 1), (1, 3, 2), (2, 3, 1), (3, 2, 2)):
        for seed in range(12):
            data = separable_data(seed, tokens, labels, Settings() if tokens > 1 else PLAIN, active)
            constraints = data.constraints()
            longest = float(np.linalg.norm(constraints, axis=1).max())
            found.append((data, (longest / maximum_margin(constraints)) ** 2))
    return found


@pytest.mark.parametrize("strategy", ["uniform", "errors"])
@pytest.mark.parametrize("shards", [1, 2, 3])
def test_the_mistakes_stay_below_the_bound(problems: list[tuple[Data, float]], shards: int, strategy: str) -> None:
    shares_of_bound = []
    for data, bound in problems:
        mistakes = iterate(data, shards, strategy)
        assert mistakes <= bound
        shares_of_bound.append(mistakes / bound)
    assert max(shares_of_bound) >= 0.25  # near enough to the bound that a wrong step would break it


def test_the_bound_can_be_reached() -> None:
    """n orthogonal instances of label 1, ties going to label 0: Δ_i = e_i in both blocks, R² = 2, γ² = 2/n.

    Serial training makes a mistake on every one of them, n in all, which is R²/γ².
    """
    size = 9
    data = Data(2, size, [[[i]] for i in range(size)], [(1,)] * size, PLAIN)
    constraints = data.constraints()
    assert maximum_margin(constraints) ** 2 == pytest.approx(2 / size)
    assert iterate(data, 1, "uniform") == size
