"""Builds the compiled kernel; everything else about the package is in setup.cfg.

The extension is optional: where there is no working compiler the install succeeds without it, and the reference
kernel runs instead. No fast-math and no fused multiply-add, so that every build gives the same bytes.
"""

from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup

kernel = Extension(
    "perceptron_core.kernels.native",
    ["perceptron_core/kernels/native.pyx"],
    depends=sorted(glob("perceptron_core/kernels/*.pxi")),
    extra_compile_args=["-O3", "-ffp-contract=off"],
    # The loops are specialised by inlining them with a constant width, so inlining must not be the compiler's choice.
    define_macros=[("CYTHON_INLINE", "__inline__ __attribute__((always_inline))")],
)
(compiled,) = cythonize([kernel])
compiled.optional = True  # only now, since cythonize does not pass it on

setup(ext_modules=[compiled])
