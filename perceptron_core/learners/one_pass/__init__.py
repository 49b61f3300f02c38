"""Learners that count instead of updating: naive Bayes and Rocchio."""
