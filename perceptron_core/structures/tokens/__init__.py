"""Tokens, classified one after the other, with the labels before them as features."""
