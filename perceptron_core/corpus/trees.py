"""What the heads of a sentence's words tell by themselves: cycles, and arcs that are not projective.

`heads` has the head of every word, counted from 1; 0 is the root.
"""

from collections.abc import Sequence

LONGEST = 2000  # words; the memory of a search grows with their square


def find_cycle(heads: Sequence[int]) -> list[int]:
    """The words of a cycle, each followed by its head; none if there is no cycle.

    Walks from every word towards the root, as far as nobody has walked before: every word is visited once.
    """
    walk_of = [0] * (len(heads) + 1)
    walk_of[0] = len(heads) + 1  # all walks may end at the root
    for start in range(1, len(heads) + 1):
        word = start
        while not walk_of[word]:
            walk_of[word] = start
            word = heads[word - 1]
        if walk_of[word] == start:
            cycle = [word]
            while heads[cycle[-1] - 1] != word:
                cycle.append(heads[cycle[-1] - 1])
            return cycle
    return []


def non_projective_arcs(heads: Sequence[int]) -> list[int]:
    """The words whose arc is not projective: a word between the head and it does not descend from the head.

    Slices make the search fast; it is quadratic only where long arcs are many.
    """
    suspects = []
    for word, head in enumerate(heads, 1):
        low, high = (head, word) if head < word else (word, head)
        if high - low > 1:
            between = heads[low : high - 1]
            # If no word between has its head elsewhere, all of them descend from the two ends.
            if min(between) < low or max(between) > high:
                suspects.append((word, head, low, high))
    if not suspects:
        return []
    first, last = _tour(heads)
    return [
        word
        for word, head, low, high in suspects
        if min(first[low + 1 : high]) < first[head] or max(first[low + 1 : high]) > last[head]
    ]


def _tour(heads: Sequence[int]) -> tuple[list[int], list[int]]:
    """Every word's place in a walk of the tree from the root, head before children, and that of its last descendant.

    What hangs in a cycle is not reached; its place is -1.
    """
    children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, 1):
        children[head].append(word)
    first, last = [-1] * len(children), [-1] * len(children)
    order: list[int] = []
    open_words = [0]
    while open_words:
        word = open_words.pop()
        first[word] = last[word] = len(order)
        order.append(word)
        open_words += children[word]
    for word in reversed(order[1:]):
        head = heads[word - 1]
        last[head] = max(last[head], last[word])
    return first, last
