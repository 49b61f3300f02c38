"""The style sheet of pictures that stand by themselves: black on white, with the colours written out.

Not every program that shows SVG knows variables. The colours stay apart for most colour-blind readers.
"""

REFERENCE = 0  # the colour of what others are compared with
COLOURS = ("#444", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f5539", "#6a4c93")

_COLOUR_RULES = "\n".join(
    f".line.c{number}, .mark.c{number}, .leader.c{number} {{ stroke: {colour} }} "
    f".mark.c{number}, .name.c{number} {{ fill: {colour} }}"
    for number, colour in enumerate(COLOURS)
)
STYLE = f"""<style>
text {{ font-family: Helvetica, Arial, sans-serif; font-size: 12px; fill: #444 }}
.heading {{ font-size: 15px; font-weight: bold; fill: #222 }} .panel {{ font-weight: bold; fill: #222 }}
.tick, .name, .caption {{ font-size: 11px }}
.grid {{ stroke: #e4e4e4; fill: none }} .axis {{ stroke: #888; fill: none }}
.line {{ fill: none; stroke-width: 2; stroke-linejoin: round }} .line.dashed {{ stroke-dasharray: 5 4 }}
.leader {{ fill: none; stroke-dasharray: 1 3 }} .mark {{ stroke-width: 1.2 }}
{_COLOUR_RULES}
.mark.dashed {{ fill: #fff }}
.slot rect, .slot path {{ fill: none; stroke: none; pointer-events: all }}
</style>"""


def ground(width: float, height: float) -> str:
    """What the picture is drawn on."""
    return f'<rect width="{width}" height="{height}" fill="#fff"/>'


def next_colour(number: int) -> int:
    """The colour of the line of this number, counted from 0."""
    return number % (len(COLOURS) - 1) + 1
