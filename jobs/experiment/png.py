"""Converting SVG to PNG by an installed program: librsvg's converter, or a browser without a window."""

import os
import shutil
import subprocess
import tempfile
from typing import Optional

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SCALE = 2  # pixels to a unit of the SVG
SECONDS = 120  # after which a program counts as hung


def write_png(svg: str, size: tuple[int, int], png: str) -> Optional[str]:
    """Draw the SVG of this size; returns a sentence if there is no program for it, or if it fails."""
    if os.path.exists(png):
        os.unlink(png)  # so that no older picture stays beside a newer SVG
    with tempfile.TemporaryDirectory() as profile:  # for the browser, which must not use the user's own
        command = _command(svg, size, png, profile)
        if command is None:
            return f"no PNG: neither rsvg-convert nor {BROWSERS[0]} is on the PATH; the figure is {svg}"
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"no PNG: {command[0]} did not end within {SECONDS} s; the figure is {svg}"
    if done.returncode or not os.path.exists(png):
        return f"no PNG: {command[0]} failed; the figure is {svg}"
    return None


def _command(svg: str, size: tuple[int, int], png: str, profile: str) -> Optional[list[str]]:
    converter = shutil.which("rsvg-convert")
    if converter:
        return [converter, "--zoom", str(SCALE), "--output", png, svg]
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return None
    return [
        browser,
        "--headless",
        "--disable-gpu",
        "--hide-scrollbars",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),  # without it, it does not run as root
        f"--user-data-dir={profile}",
        f"--window-size={size[0]},{size[1]}",
        f"--force-device-scale-factor={SCALE}",
        f"--screenshot={os.path.abspath(png)}",
        f"file://{os.path.abspath(svg)}",
    ]
