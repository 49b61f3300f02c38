"""Training and decoding of trees: the compiled kernel against the reference, bit for bit."""

from typing import Any

import numpy as np
import pytest

from perceptron_core.errors import UserError
from perceptron_core.kernels import native, reference
from perceptron_core.learners import LEARNERS
from perceptron_core.registry import TREE_DECODERS
from perceptron_core.settings import Settings
from perceptron_core.structures.tree import listing
from perceptron_core.structures.tree import reference as reference_finder
from perceptron_core.structures.tree.features import ARC_LABELS
from perceptron_core.structures.tree.structure import Tree
from perceptron_core.weights.rows import empty

pytestmark = pytest.mark.skipif(native is None, reason="the compiled kernels were not built: install a C compiler")


def said_by(kernel: Any, finder: Any, trees: Any, problem: Any, chosen: Settings, threads: int = 1) -> dict[str, Any]:
    """Everything that a kernel says after three passes over the problem."""
    banks = trees.banks(kernel, problem, chosen)
    trainer = kernel.Trainer(finder(problem.program, *banks, chosen, problem.one_root, problem.kept), chosen)
    trainer.use_threads(threads)
    counts = [[*trainer.train(problem.block), trainer.flush()] for _ in range(3)]
    nothing = np.zeros(0, np.int32)
    decoded = trainer.decode(problem.block._replace(heads=nothing, relations=nothing))
    rows = [array for bank in banks for array in bank.touched_entries()]
    return {"counts": np.array(counts), "decoded": decoded, **{f"rows {i}": array for i, array in enumerate(rows)}}


def agree(trees: Any, problem: Any, chosen: Settings, threads: int = 1) -> dict[str, Any]:
    import perceptron_core.structures.tree.native as compiled

    ours = said_by(native, compiled.TreeFinder, trees, problem, chosen, threads)
    theirs = said_by(reference, reference_finder.TreeFinder, trees, problem, chosen)
    for name, array in theirs.items():
        assert ours[name].tobytes() == array.astype(ours[name].dtype).tobytes(), name
    return ours


@pytest.mark.parametrize("one_root", [True, False])
@pytest.mark.parametrize("decoder", TREE_DECODERS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_training_and_decoding_are_equal(trees: Any, learner: str, decoder: str, one_root: bool) -> None:
    moved = 0
    for seed in range(3):
        random = np.random.default_rng([seed, len(learner), len(decoder)])
        problem = trees.random_problem(random, decoder in ("eisner2", "climb"), one_root)
        said = agree(trees, problem, Settings(learner, 0.3, decoder))
        moved += int(said["counts"][:, 1].sum())
    assert moved > 3  # the comparison is of trained weights, not of nothing


@pytest.mark.parametrize("decoder", TREE_DECODERS)
def test_the_k_best_are_equal(trees: Any, decoder: str) -> None:
    for seed in range(6):
        random = np.random.default_rng([seed, len(decoder)])
        problem = trees.random_problem(random, decoder in ("eisner2", "climb"), bool(seed % 2), longest=5)
        agree(
            trees,
            problem,
            Settings("mira", None if seed < 3 else 0.1, decoder, k_best=2 + seed, minibatch=1 + seed % 3),
        )


@pytest.mark.parametrize("decoder", TREE_DECODERS)
def test_min_updates_and_rare_features_are_equal(trees: Any, decoder: str) -> None:
    for seed in range(3):
        random = np.random.default_rng([seed, len(decoder)])
        problem = trees.random_problem(random, decoder in ("eisner2", "climb"))
        trained = said_by(reference, reference_finder.TreeFinder, trees, problem, Settings(decoder=decoder))
        kept = trained["rows 0"][::2].astype(np.uint64)
        agree(trees, problem, Settings(decoder=decoder, min_updates=2))
        agree(trees, problem._replace(kept=kept), Settings(decoder=decoder))


def test_features_are_listed_alike(trees: Any) -> None:
    import perceptron_core.structures.tree.native as compiled

    found = 0
    for seed in range(4):
        problem = trees.random_problem(np.random.default_rng(seed))
        ours, theirs = compiled.TreeFeatures(problem.program), listing.TreeFeatures(problem.program)
        starts, keys = ours.of_gold(problem.block)
        expected_starts, expected_keys = theirs.of_gold(problem.block)
        assert (starts.tolist(), keys.tolist()) == (expected_starts.tolist(), expected_keys.tolist())
        trained = said_by(reference, reference_finder.TreeFinder, trees, problem, Settings(decoder="climb"))
        wanted = np.unique(np.concatenate([keys, trained["rows 0"], trained["rows 5"], np.array([7], np.uint64)]))
        sites = [sorted(lister.find(problem.block, wanted)[:, 0].tolist()) for lister in (ours, theirs)]
        assert sites[0] == sites[1]
        # Every feature that was ever touched is found again; 7 is not one.
        assert [wanted[i] for i in sites[0]] == [key for key in wanted.tolist() if key != 7]
        found += len(sites[0])
    assert found > 100


@pytest.mark.parametrize("decoder", TREE_DECODERS)
def test_threads_change_nothing(trees: Any, decoder: str) -> None:
    random = np.random.default_rng(len(decoder))
    problem = trees.random_problem(random, decoder in ("eisner2", "climb"), sentences=12)
    agree(trees, problem, Settings("mira", 0.1, decoder, minibatch=4, k_best=2), threads=3)


@pytest.mark.parametrize("labels", [ARC_LABELS, ARC_LABELS[:3], ("root", *ARC_LABELS)])
def test_labels_of_a_damaged_model_are_refused(trees: Any, labels: tuple[str, ...]) -> None:
    structure = Tree(trees.features_of(trees.ARC_TEMPLATES), {"format_options": {}})
    structure.engine([*ARC_LABELS, "root"], Settings(decoder="mst"), empty(weight=np.float32))
    with pytest.raises(UserError, match="the labels are not those of trees"):
        structure.engine(labels, Settings(decoder="mst"), empty(weight=np.float32))


def test_longer_sentences_are_equal(trees: Any) -> None:
    """Longer than a chunk of pairs, and with distances of all buckets."""
    for decoder in TREE_DECODERS:
        random = np.random.default_rng(len(decoder))
        problem = trees.random_problem(random, decoder in ("eisner2", "climb"), longest=19, sentences=2)
        agree(trees, problem, Settings(decoder=decoder))
