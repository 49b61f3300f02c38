"""Passive-aggressive learning: the smallest change of the weights that corrects the margin.

    Δ = Φ(x, y) − Φ(x, z),   loss = wrong tokens of z,   margin = w · Δ
    if z ≠ y and Δ ≠ 0:  w ← w + τ Δ      with
      PA     τ = (loss − margin) / ‖Δ‖²
      PA-I   τ = min(C, (loss − margin) / ‖Δ‖²)
      PA-II  τ = (loss − margin) / (‖Δ‖² + 1 / 2C)

z is the guess of the decoder, so margin ≤ 0 under exact search and τ > 0. An inexact search may guess a z that scores
below y by more than the loss: then there is nothing to correct, and τ = 0. C, the aggressiveness, bounds how much one
example, perhaps a wrongly labelled one, may move the weights.

Reference: K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, Online passive-aggressive algorithms,
JMLR 7, 2006 (prediction-based updates for structured output).
"""


def pa(loss: float, margin: float, norm: float, aggressiveness: float) -> float:
    return max(0.0, loss - margin) / norm


def pa1(loss: float, margin: float, norm: float, aggressiveness: float) -> float:
    return min(aggressiveness, max(0.0, loss - margin) / norm)


def pa2(loss: float, margin: float, norm: float, aggressiveness: float) -> float:
    return max(0.0, loss - margin) / (norm + 1.0 / (2.0 * aggressiveness))
