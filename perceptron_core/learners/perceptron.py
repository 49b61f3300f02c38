"""The structured perceptron (Collins 2002).

    z = argmax over z of w · Φ(x, z)
    if z ≠ y:  w ← w + Φ(x, y) − Φ(x, z)

References: M. Collins, Discriminative training methods for hidden Markov models, EMNLP 2002; R. McDonald, K. Hall
and G. Mann, Distributed training strategies for the structured perceptron, NAACL 2010, Fig. 1.
"""


def perceptron(loss: float, margin: float, norm: float, aggressiveness: float) -> float:
    """How far to go along Δ = Φ(x, y) − Φ(x, z): one whole step, whatever the loss and the margin."""
    return 1.0
