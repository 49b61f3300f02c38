"""Builds the compiled kernels; everything else about the package is in setup.cfg.

The extensions are optional: where there is no working compiler the install succeeds without them, and the reference
kernel runs instead. They are installed all or none, since they only work together. No fast-math and no fused
multiply-add, so that every build gives the same bytes.
"""

import os
from glob import glob
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class AllOrNone(build_ext):
    """Builds every extension; if one fails, those that were built are removed again."""

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:
            self.warn(f"the compiled kernels were not built ({error}); the reference kernel will run instead")
            for self.inplace in (False, True):
                for extension in self.extensions:
                    Path(self.get_ext_fullpath(extension.name)).unlink(missing_ok=True)
            self.extensions = []


def extension(source: str) -> Extension:
    folder = Path(source).parent
    return Extension(
        source.removesuffix(".pyx").replace("/", "."),
        [source],
        depends=sorted({*glob("perceptron_core/kernels/*.px[di]"), *map(str, folder.glob("*.px[di]"))}),
        # A build with sanitizers (scripts/test --sanitize) is for looking, not for speed.
        extra_compile_args=["-O1" if "-fsanitize" in os.environ.get("CFLAGS", "") else "-O3", "-ffp-contract=off"],
        # The loops are specialised by inlining them with a constant width, so inlining is not the compiler's choice.
        define_macros=[("CYTHON_INLINE", "__inline__ __attribute__((always_inline))")],
    )


setup(
    ext_modules=cythonize([extension(source) for source in sorted(glob("perceptron_core/**/*.pyx", recursive=True))]),
    cmdclass={"build_ext": AllOrNone},
)
