"""The structured perceptron (Collins 2002), and its form for several constraints at once (Zhao & Huang 2013).

    z = argmax over z of w · Φ(x, z)
    if z ≠ y:  w ← w + Φ(x, y) − Φ(x, z)

    of a minibatch with the constraints C:  w ← w + 1/|C| Σ Δ_c      their mean, not their sum

References: M. Collins, Discriminative training methods for hidden Markov models, EMNLP 2002; R. McDonald, K. Hall
and G. Mann, Distributed training strategies for the structured perceptron, NAACL 2010, Fig. 1; K. Zhao and L. Huang,
Minibatch and parallelization for online large margin structured learning, NAACL 2013, Algorithm 2.
"""

from collections.abc import Sequence

from perceptron_core.learners.constraint import Constraint


def perceptron(loss: float, margin: float, norm: float, aggressiveness: float) -> float:
    """How far to go along Δ = Φ(x, y) − Φ(x, z): one whole step, whatever the loss and the margin."""
    return 1.0


def perceptron_set(constraints: Sequence[Constraint], cap: float) -> list[float]:
    """How far along each Δ: together one step, along their mean."""
    return [1.0 / len(constraints)] * len(constraints)
