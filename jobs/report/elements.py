"""Pieces of a page. Plain strings are data and get escaped; what is HTML already is of the type Html."""

from collections.abc import Iterable, Sequence
from typing import Union

from perceptron_jobs.charts.over_epochs import Line, Part, svg
from perceptron_jobs.charts.svg import Drawing, colour_class, mark
from perceptron_jobs.charts.text import escape


class Html(str):
    """Text that is HTML already."""


Text = Union[str, Html]


def shown(text: object) -> str:
    return text if isinstance(text, Html) else escape(text)


def joined(parts: Iterable[str]) -> Html:
    return Html("\n".join(part for part in parts if part))


def element(name: str, content: object, style: str = "") -> Html:
    named = f' class="{style}"' if style else ""
    return Html(f"<{name}{named}>{shown(content)}</{name}>")


def data(text: str) -> Html:
    """A word or a label, in whatever script and direction; it does not turn what stands around it."""
    return element("bdi", text)


def code(text: str) -> Html:
    return element("code", data(text))


def section(heading: str, *parts: str, lead: object = "") -> Html:
    return element("section", joined([element("h2", heading), element("p", lead, "lead") if lead else "", *parts]))


def folded(summary: object, content: str, is_open: bool = False) -> Html:
    return Html(f"<details{' open' * is_open}><summary>{shown(summary)}</summary>\n{content}</details>")


def table(headings: Sequence[Text], rows: Iterable[Sequence[Text]], style: str = "") -> Html:
    """The first column names the row; the table scrolls by itself where the screen is narrow."""
    head = "".join(f'<th scope="col">{shown(heading)}</th>' for heading in headings)
    lines = [f"<thead><tr>{head}</tr></thead>", "<tbody>"]
    for first, *others in rows:
        cells = "".join(f"<td>{shown(cell)}</td>" for cell in others)
        lines.append(f'<tr><th scope="row">{shown(first)}</th>{cells}</tr>')
    # It takes the focus, so that it can be scrolled with the keyboard, too.
    inside = element("table", joined([*lines, "</tbody>"]), style)
    return Html(f'<div class="scroll" tabindex="0">{inside}</div>')


def pairs(rows: Iterable[tuple[Text, Text]]) -> Html:
    """Names and values; a long value has a line of its own."""
    lines = [
        f"<div{' class=long' * (len(value) > 60)}><dt>{shown(name)}</dt><dd>{shown(value)}</dd></div>"
        for name, value in rows
    ]
    return element("dl", joined(lines), "pairs")


def bar(share: float, style: str = "c1") -> Html:
    """A bar within a line of text; whoever listens hears the number beside it."""
    return Html(
        f'<span class="meter" aria-hidden="true"><i class="{style}" style="width:{100 * share:.1f}%"></i></span>'
    )


def figure(
    title: str, drawing: Drawing, legend: Sequence[Union[Line, Part]] = (), note: str = "", style: str = ""
) -> Html:
    """A chart with its title above and its legend below; a single curve needs none."""
    caption = element("figcaption", joined([element("b", title), element("span", note) if note else ""]))
    items = [element("li", Html(f"{_sample(entry)}{escape(entry.name)}")) for entry in legend]
    keys = element("ul", joined(items), "legend") if len(items) > 1 else ""
    return element("figure", joined([caption, svg(title, drawing), keys]), style)


def _sample(entry: Union[Line, Part]) -> str:
    """How the entry looks in the chart."""
    if isinstance(entry, Part):
        inside = f'<rect class="bar c{entry.colour}" x="4" y="1" width="12" height="12" rx="2"/>'
    else:
        inside = f'<path class="line {colour_class(entry.colour, entry.dashed)}" d="M0 7H20"/>'
        inside += mark(10, 7, entry.colour, entry.dashed)
    return f'<svg class="sample" viewBox="0 0 20 14" aria-hidden="true">{inside}</svg>'
