"""What the measurements were made on."""

import os
import platform
import re
import sys

from perceptron_core.kernels import COMPILED

SIMD = ("sse2", "sse4_1", "avx", "avx2", "fma", "avx512f", "asimd", "sve")  # of x86 and of ARM


def describe() -> dict[str, object]:
    """Processor, cores, memory, what else was running, vector instructions, Python, the kernel."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            information = file.read()
    except OSError:
        information = ""
    name = re.search(r"^model name\s*:\s*(.*)$", information, re.MULTILINE)
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", information, re.MULTILINE)
    present = set(flags[1].split()) if flags else set()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": name[1] if name else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(memory / 2**30, 1),
        "load": round(os.getloadavg()[0], 1),
        "simd": [flag for flag in SIMD if flag in present],
        "kernel": "compiled for the baseline" if COMPILED else "reference (not compiled)",
        "system": f"{platform.system()} {platform.release()}",
        "python": sys.version.split()[0],
    }


def sentence(described: dict[str, object]) -> str:
    return (
        f"{described['processor']}, {described['cores']} cores, {described['memory_gb']} GB, "
        f"load {described['load']} before the start; "
        f"{' '.join(described['simd'])}; kernel: {described['kernel']}; Python {described['python']}, "
        f"{described['system']}"
    )
