"""What runs are compared by."""

import re

_TIMES = re.compile(r"history\.jsonl|report\.html|epoch-\d+/stats\.json")


def deciding(run: dict[str, bytes]) -> dict[str, bytes]:
    """What a run leaves behind, except its record of times and bytes shuffled, and the report that shows it."""
    return {name: data for name, data in run.items() if not _TIMES.fullmatch(name)}
