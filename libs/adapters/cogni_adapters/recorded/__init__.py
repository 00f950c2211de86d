"""Answers that were written beforehand."""
