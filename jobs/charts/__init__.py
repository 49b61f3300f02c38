"""Charts as SVG, for the report of a run and for the figures of experiments; drawn without any library.

    text         numbers and strings as they are shown; escaping
    scales       where a value stands on an axis, and which values are named there
    svg          the elements that all charts are made of
    axes         an area with a scale to the right and one upwards
    style        the style sheet of pictures that stand by themselves
    over_epochs  lines, stacked bars and dots over the epochs of a run
    panels       line charts side by side, with a legend and a caption
    tree         a dependency tree, with its mistakes

An element says what it is by its class. Its looks are the business of a style sheet: that of the page it stands in, or
that of style.py.
"""
