"""MIRA: the smallest change of the weights that corrects all constraints of a minibatch, each by its loss.

    find_constraints(x, y):  Z = the k best labellings of x under w
                             C = { (Δ_z, loss_z) : z in Z, z ≠ y, w · Δ_z ≤ 0 }
    update(C):               w ← argmin ½‖w' − w‖²  such that  w' · Δ_c ≥ loss_c  for all c in C

The dual has one multiplier α_c ≥ 0 per constraint, and w' = w + Σ α_c Δ_c. Hildreth's algorithm maximises it by one
multiplier at a time, until none of them moves:

    repeat:  for each c:  α_c ← α_c + (loss_c − (w + Σ_j α_j Δ_j) · Δ_c) / ‖Δ_c‖²,  but no less than 0, no more than C

Whether w · Δ ≤ 0 is decided by the scores of the search, in their precision; the guess itself, which the search
preferred to y, is always a constraint. With one constraint the first step is the solution: PA, or PA-I if there is a
cap C. Constraints that no w' can meet together (equal sentences with different labels) would let the multipliers grow
forever; the cap limits them, or, without a cap, the number of passes.

References: K. Zhao and L. Huang, Minibatch and parallelization for online large margin structured learning, NAACL 2013,
Algorithms 3 and 4; R. McDonald, K. Crammer and F. Pereira, Online large-margin training of dependency parsers, ACL
2005; C. Hildreth, A quadratic programming procedure, Naval Research Logistics Quarterly 4, 1957.
"""

from collections.abc import Sequence

import numpy as np

from perceptron_core.learners.constraint import Constraint

TOLERANCE = 1e-9  # a smaller move is none; relative to the move for this constraint only
MOST_PASSES = 1000


def mira(loss: float, margin: float, norm: float, cap: float) -> float:
    """The solution for one constraint."""
    return min(cap, max(0.0, loss - margin) / norm)


def mira_set(constraints: Sequence[Constraint], cap: float) -> list[float]:
    """The multipliers of several constraints."""
    lacking = np.array([constraint.loss - constraint.margin for constraint in constraints])
    return hildreth(gram_matrix(constraints), lacking, cap).tolist()


def gram_matrix(constraints: Sequence[Constraint]) -> np.ndarray:
    """Δ_i · Δ_j for all pairs."""
    products = np.zeros((len(constraints), len(constraints)))
    for i, one in enumerate(constraints):
        for j, other in enumerate(constraints[: i + 1]):
            product = sum((one.delta.get(weight, 0.0) * count for weight, count in other.delta.items()), 0.0)
            products[i, j] = products[j, i] = product
    return products


def hildreth(gram: np.ndarray, lacking: np.ndarray, cap: float) -> np.ndarray:
    """The α in [0, cap] that maximise Σ α_c lacking_c − ½‖Σ α_c Δ_c‖²."""
    alpha, corrected = np.zeros(len(gram)), np.zeros(len(gram))  # corrected[c] = (Σ_j α_j Δ_j) · Δ_c
    for _ in range(MOST_PASSES):
        moved = False
        for c, norm in enumerate(np.diagonal(gram).tolist()):
            wanted = min(cap, max(0.0, alpha[c] + (lacking[c] - corrected[c]) / norm))
            change = wanted - alpha[c]
            if abs(change) > TOLERANCE * min(cap, max(1.0, abs(lacking[c])) / norm):
                alpha[c] = wanted
                corrected += change * gram[c]
                moved = True
        if not moved:
            break
    return alpha
