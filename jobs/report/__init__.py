"""What a run looks like: its learning curve in the terminal, and a page to show to others.

    curve      the learning curve, as text and as a picture
    content    what the page tells of a run, read from its run directory
    elements   tables, figures and the like, as HTML
    settings   a run's configuration and data
    sections   one run, section by section; classes and trees have sections of their own
    page       the whole page, of one run or of several side by side

The page is one file that needs no network and no script. It holds no time of its making: the same runs give the same
bytes.
"""

from perceptron_jobs.report.content import distinct_names, read_run
from perceptron_jobs.report.curve import learning_curve, learning_curve_svg
from perceptron_jobs.report.page import report_html

__all__ = ["distinct_names", "learning_curve", "learning_curve_svg", "read_run", "report_html"]
