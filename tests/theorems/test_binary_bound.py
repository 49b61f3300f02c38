"""The binary perceptron's mistake bound, k ≤ R²/γ², on instances with numeric values, through the real jobs.

R is the length of the longest x, γ the largest margin min y u·x of a unit vector u. Two classes have a block of weights
each, so an update moves them by (x, −x): both R² and γ² are twice what they are for one vector w, and the bound is the
same.

Reference: A. Novikoff, On convergence proofs for perceptrons, 1962.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

FEATURES = 4
CHOSEN = (277, 25, 149, 234, 200, 39, 28)  # of some hundred sets, those that come near the bound with many mistakes
TASK = '{"kind": "classification", "format": "svmlight", "bias": false}'


def generated(seed: int, count: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Sparse instances in quarters, labelled by a hidden vector: separable."""
    choose = random.Random(seed)
    hidden = np.array([choose.gauss(0, 1) for _ in range(FEATURES)])
    x = np.array([[choose.choice([0, 0.25, -0.75, 1, 2]) for _ in range(FEATURES)] for _ in range(count)])
    x = x[np.abs(x @ hidden) > 1e-3]
    return x, np.where(x @ hidden > 0, 1, -1)


def mistakes(must: Callable[..., str], folder: Path, x: np.ndarray, y: Sequence[int]) -> tuple[int, np.ndarray]:
    """k, and w: the weights of +1 less those of -1, halved."""
    folder.mkdir()
    (folder / "task.yaml").write_text(TASK)
    rows = [" ".join(f"{i}:{value}" for i, value in enumerate(row.tolist()) if value) for row in x]
    (folder / "train").write_text("".join(f"{label:+d} {row}\n" for label, row in zip(y, rows)))
    files = ("--train", folder / "train", "--run-dir", folder / "run")
    said = must("train", folder / "task.yaml", *files, "--epochs", 500, "--stop-threshold", -1)
    assert "the training set is separated" in said
    history = [json.loads(line) for line in (folder / "run" / "history.jsonl").read_text().splitlines()]
    w = np.zeros(FEATURES)
    for line in must("export", folder / "run", "--weights", "last", "--output", "-").splitlines():
        name, label, weight = line.split("\t")
        if name.startswith("number="):
            w[int(name[len("number=") :])] += float(weight) * int(label) / 2
    return sum(entry["errors"] for entry in history), w


def test_the_bound_holds_and_is_not_far(must: Any, tmp_path: Path, shortest_with_margin_1: Any) -> None:
    shares = []
    for seed in CHOSEN:
        x, y = generated(seed)
        k, w = mistakes(must, tmp_path / str(seed), x, y)
        v = shortest_with_margin_1(x * y[:, None])
        longest = float((x * x).sum(axis=1).max())
        assert (y * (x @ w) >= 0).all()
        assert v @ w >= k * (1 - 1e-6) and w @ w <= longest * k * (1 + 1e-6)  # the two halves of the proof
        bound = longest * float(v @ v)
        assert k <= bound * (1 + 1e-6)
        shares.append(k / bound)
    assert max(shares) >= 0.25


def test_the_bound_is_reached(must: Any, tmp_path: Path, shortest_with_margin_1: Any) -> None:
    """Orthogonal instances of one class: each is a mistake once (ties go to +1, the first label), and they are all."""
    x, y = 3.0 * np.eye(FEATURES), [-1] * FEATURES
    x, y = np.vstack([x, -x[0]]), [*y, 1]  # a second class; opposite to the first instance, so nothing new
    k, _ = mistakes(must, tmp_path / "run", x, y)
    v = shortest_with_margin_1(x * np.array(y)[:, None])
    assert 9 * float(v @ v) == pytest.approx(FEATURES) and k == FEATURES
