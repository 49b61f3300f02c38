"""What the searches ask of a tree. A tree is the head of every position; the root, position 0, has -1."""

from collections.abc import Sequence

Heads = Sequence[int]


def sibling_of(heads: Heads, d: int) -> int:
    """The child of the same head next to d, on the side of the head; 0 if d is the first."""
    h = heads[d]
    step = -1 if d > h else 1
    return next((s for s in range(d + step, h, step) if heads[s] == h), 0)
