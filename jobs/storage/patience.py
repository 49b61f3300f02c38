"""Retrying requests that got no answer: HDFS names a DataNode that has just died until it notices."""

import time
from typing import Any, Callable

from requests.exceptions import RequestException
from urllib3.exceptions import HTTPError

PAUSES = (0.2, 1.0, 3.0, 6.0, 12.0)  # seconds


def patiently(ask: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What `ask` returns; if there is no answer, it is called again after a pause. The last failure is raised."""
    for pause in PAUSES:
        try:
            return ask(*arguments, **named)
        except (RequestException, HTTPError):
            time.sleep(pause)
    return ask(*arguments, **named)
