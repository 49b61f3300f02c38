"""The elements that all charts are made of."""

from collections.abc import Iterator, Sequence

from perceptron_jobs.charts.text import escape

MARKS = (  # one shape per colour, for those who cannot tell the colours apart
    "M-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z",
    "M-2.8-2.8h5.6v5.6h-5.6z",
    "M0-3.9L3.6 2.8h-7.2z",
    "M0-4.2L4.2 0 0 4.2-4.2 0z",
)

Point = tuple[float, float]
Drawing = list[str]  # elements of SVG


def framed(title: str, drawing: Drawing, width: float, height: float, more: str = "") -> str:
    """A whole picture, with the name that a screen reader tells."""
    frame = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"{more}>'
    return "\n".join([frame, f"<title>{escape(title)}</title>", *drawing, "</svg>"])


def text(x: float, y: float, words: str, anchor: str = "start", style: str = "") -> str:
    named = f' class="{style}"' if style else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def straight(style: str, begin: Point, end: Point) -> str:
    (x, y), (to_x, to_y) = begin, end
    return f'<path class="{style}" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>'


def colour_class(colour: int, dashed: bool = False) -> str:
    return f"c{colour}" + " dashed" * dashed


def line(path: Sequence[Point], colour: int, dashed: bool, marked: bool) -> Iterator[str]:
    """A line, with a mark at each of its points."""
    style = colour_class(colour, dashed)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in path)
    yield f'<polyline class="line {style}" points="{points}"/>'
    for x, y in path if marked else ():
        yield mark(x, y, colour, dashed)


def mark(x: float, y: float, colour: int, dashed: bool) -> str:
    shape = MARKS[(colour - 1) % len(MARKS)]
    style = colour_class(colour, dashed)
    return f'<path class="mark {style}" transform="translate({x:.1f} {y:.1f})" d="{shape}"/>'
