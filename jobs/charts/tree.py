"""Dependency trees: words in a row, and an arc from every head to its child, with the relation on it.

The guessed tree stands above the words. Below them are the gold arcs of those words whose head or relation is guessed
wrong, so what is wrong and what is right are told apart by their places, not by colours alone. Above, a wrong arc is
dashed, and a wrong relation has a × before it.

The picture has its natural size: whoever shows it lets it scroll.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple, Optional

from perceptron_jobs.charts.svg import Drawing, framed, straight, text
from perceptron_jobs.charts.text import escape

LETTER, CAPITAL, BROAD, SQUARE = 8.4, 10.4, 14.0, 15.0  # about the widths of letters, in bold
BROAD_LETTERS = frozenset("mwMWжмшщюыЖМШЩЮЫ@%&—…")
SMALL = 0.8  # letters of relations, against those of words
LONGEST_WORD = 24  # letters; of a longer one, such as an address, the beginning is shown
GAP, MARGIN = 16.0, 14.0  # between words, and around the picture
PORT = 7.0  # between the ends of arcs at the same word
LEVEL, FIRST_LEVEL, CORNER = 21.0, 22.0, 7.0  # of arcs, upwards from the words
WORDS = 30.0  # the height of the row of words
TIP = 3.2  # half the width of an arrow's head

Span = tuple[int, int]


class Tree(NamedTuple):
    """The head of every word, counted from 1, or 0 at the root; and its relation, or "_" if there is none."""

    heads: Sequence[int]
    relations: Sequence[str]


class _Arc(NamedTuple):
    head: int  # 0 is the root
    child: int
    relation: str
    style: str = ""

    def span(self) -> Span:
        return min(self.head, self.child), max(self.head, self.child)


def tree_svg(words: Sequence[str], guess: Tree, gold: Optional[Tree] = None) -> str:
    """A guessed tree; with a gold one, its mistakes are shown, too."""
    above, below = _arcs(guess, gold)
    sides = [_Side(arcs, len(words)) for arcs in (above, below)]
    centres = _centres(words, sides)
    heights = [side.height() for side in sides]
    top, bottom = MARGIN + heights[0], MARGIN + heights[0] + WORDS
    parts = [sides[0].drawn(arc, centres, top, -1) for arc in above]
    parts += [sides[1].drawn(arc, centres, bottom, 1) for arc in below]
    # No arc is drawn over a name.
    drawing = [line for lines, _ in parts for line in lines] + [name for _, name in parts if name]
    wrong = {arc.child for arc in below}
    drawing += [_word(word, centres[i], top + 0.66 * WORDS, i + 1 in wrong) for i, word in enumerate(words)]
    width = centres[-1] + max(_width(_short(words[-1])), *(side.widths[-1] for side in sides)) / 2 + MARGIN
    height = bottom + heights[1] + MARGIN
    size = f' class="tree" width="{width:.0f}" height="{height:.0f}"'
    return framed(described(words, guess, gold), drawing, round(width), round(height), size)


def described(words: Sequence[str], guess: Tree, gold: Optional[Tree] = None) -> str:
    """The sentence and its mistakes in words, for those who do not see the picture."""
    parts = [" ".join(words)]
    if gold is not None:
        parts += [
            f"{words[arc.child - 1]}: {_said(words, guess, arc.child)}, right: {_said(words, gold, arc.child)}"
            for arc in _arcs(guess, gold)[1]
        ]
    return "; ".join(parts)


def _said(words: Sequence[str], tree: Tree, child: int) -> str:
    head, relation = tree.heads[child - 1], tree.relations[child - 1]
    of = f"of {words[head - 1]}" if head else "at the root"
    return f"{relation} {of}" if relation != "_" else of


def _arcs(guess: Tree, gold: Optional[Tree]) -> tuple[list[_Arc], list[_Arc]]:
    """The arcs above and below the words."""
    above, below = [], []
    for child, (head, relation) in enumerate(zip(*guess), 1):
        right = (head, relation) if gold is None else (gold.heads[child - 1], gold.relations[child - 1])
        shown = "" if relation == "_" else relation
        if (head, relation) == right:
            above.append(_Arc(head, child, shown))
            continue
        above.append(_Arc(head, child, f"× {shown}".strip(), "wrong" if head != right[0] else "misnamed"))
        below.append(_Arc(right[0], child, "" if right[1] == "_" else right[1], "missed"))
    return above, below


class _Side:
    """The arcs on one side of the words: their levels, and where they end at a word."""

    def __init__(self, arcs: Sequence[_Arc], words: int) -> None:
        self.levels = _levels((arc.span() for arc in arcs if arc.head), words)
        self.rooted = any(not arc.head for arc in arcs)
        self.arcs = arcs
        self.ports: dict[tuple[int, Span], float] = {}
        self.widths = [0.0] * (words + 1)  # that the ends of arcs and the names of roots need
        ends: list[list[Span]] = [[] for _ in range(words + 1)]
        for arc in arcs:
            low, high = arc.span()
            ends[high].append((low, high))
            if low:
                ends[low].append((low, high))
            else:
                self.widths[high] = SMALL * _width(arc.relation)
        for word, spans in enumerate(ends):
            self.widths[word] = max(self.widths[word], PORT * len(spans))
            for number, span in enumerate(sorted(spans, key=partial(_place, word))):
                self.ports[word, span] = PORT * (number - (len(spans) - 1) / 2)

    def height(self) -> float:
        """With a level of its own for the names of roots."""
        highest = max(self.levels.values(), default=0) + self.rooted
        return FIRST_LEVEL + LEVEL * (highest - 1) + 12 if highest else 0.0

    def drawn(self, arc: _Arc, centres: Sequence[float], foot: float, up: int) -> tuple[Drawing, str]:
        """The lines of an arc, and its name; `up` is -1 above the words, 1 below them."""
        low, high = arc.span()
        child = centres[arc.child - 1] + self.ports[arc.child, (low, high)]
        style = f"arc {arc.style}".strip()
        name = f"relation {arc.style}".strip()
        tip = _tip(child, foot, up, arc.style)
        if not arc.head:
            end = foot + up * (self.height() - 14)
            return [straight(style, (child, end), (child, foot + up * 2 * TIP)), tip], _name(arc, child, end, name)
        head = centres[arc.head - 1] + self.ports[arc.head, (low, high)]
        flat = foot + up * (FIRST_LEVEL + LEVEL * (self.levels[low, high] - 1))
        side = CORNER if head < child else -CORNER
        path = (
            f"M{head:.1f} {foot:.1f}V{flat - up * CORNER:.1f}Q{head:.1f} {flat:.1f} {head + side:.1f} {flat:.1f}"
            f"H{child - side:.1f}Q{child:.1f} {flat:.1f} {child:.1f} {flat - up * CORNER:.1f}V{foot + up * 2 * TIP:.1f}"
        )
        return [f'<path class="{style}" d="{path}"/>', tip], _name(arc, (head + child) / 2, flat, name)


def _place(word: int, span: Span) -> float:
    """Where an arc ends at a word: longer ones nearer to the middle, so that shorter ones pass under them."""
    low, high = span
    return 0.0 if not low else -1 / (high - low) if word == high else 1 / (high - low)


def _levels(spans: Iterable[Span], words: int) -> dict[Span, int]:
    """How high each arc goes: above all that it passes over."""
    highest = [0] * (words + 1)  # over the gap behind each word
    levels = {}
    for low, high in sorted(set(spans), key=lambda span: (span[1] - span[0], span)):
        level = 1 + max(highest[low:high])
        highest[low:high] = [level] * (high - low)
        levels[low, high] = level
    return levels


def _centres(words: Sequence[str], sides: Sequence[_Side]) -> list[float]:
    """The middle of every word: words do not touch, and every relation has room on its arc."""
    reaching: list[list[tuple[int, float]]] = [[] for _ in range(len(words) + 1)]
    for side in sides:
        for arc in side.arcs:
            low, high = arc.span()
            if low:
                inset = side.ports[low, (low, high)] - side.ports[high, (low, high)]
                reaching[high].append((low, SMALL * _width(arc.relation) + 2 * CORNER + inset))
    widths = [max(_width(_short(word)), *(side.widths[i] for side in sides)) for i, word in enumerate(words, 1)]
    centres: list[float] = []
    for i, width in enumerate(widths):
        before = centres[-1] + widths[i - 1] / 2 + GAP if i else MARGIN
        centres.append(max([before + width / 2, *(centres[low - 1] + room for low, room in reaching[i + 1])]))
    return centres


def _width(words: str) -> float:
    """About as wide as it is shown."""
    return sum(map(_letter_width, words))


def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return SQUARE
    return BROAD if letter in BROAD_LETTERS else CAPITAL if letter.isupper() else LETTER


def _short(word: str) -> str:
    return word if len(word) <= LONGEST_WORD else word[: LONGEST_WORD - 1] + "…"


def _word(word: str, x: float, y: float, wrong: bool) -> str:
    shown = text(x, y, _short(word), "middle", "word wrong" if wrong else "word")
    return shown if word == _short(word) else f"<g><title>{escape(word)}</title>{shown}</g>"


def _name(arc: _Arc, x: float, y: float, style: str) -> str:
    return text(x, y + 4, arc.relation, "middle", style) if arc.relation else ""


def _tip(x: float, foot: float, up: int, style: str) -> str:
    """The head of an arrow, at the child."""
    named = f"tip {style}".strip()
    return f'<path class="{named}" d="M{x:.1f} {foot:.1f}l{-TIP} {2 * TIP * up:.1f}h{2 * TIP}z"/>'
