"""Which shard a sentence goes to."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from perceptron_core.shards.dealing import choose_shard, deal


@given(st.integers(0, 9), st.integers(0, 3), st.integers(1, 60), st.integers(1, 9))
def test_shards_are_equal_within_one_sentence(seed: int, file: int, sentences: int, shards: int) -> None:
    numbers, places = deal(seed, file, 0, sentences, shards)
    sizes = np.bincount(numbers, minlength=shards)
    assert sizes.sum() == sentences and sizes.max() - sizes.min() <= 1
    assert len(set(places.tolist())) == sentences


@given(st.integers(0, 9), st.integers(0, 60), st.integers(1, 40), st.integers(1, 9))
def test_a_sentence_is_dealt_by_its_ordinal_alone(seed: int, first: int, count: int, shards: int) -> None:
    whole = deal(seed, 2, 0, first + count, shards)
    part = deal(seed, 2, first, count, shards)
    for all_of_them, these in zip(whole, part):
        assert these.tolist() == all_of_them[first:].tolist()


def test_files_and_seeds_are_dealt_differently() -> None:
    dealt = {deal(seed, file, 0, 64, 4)[0].tobytes() for seed in range(3) for file in range(3)}
    assert len(dealt) == 9


def test_a_sub_sample_is_one_of_the_shards() -> None:
    chosen = [choose_shard(seed, 5) for seed in range(60)]
    assert set(chosen) == set(range(5))
