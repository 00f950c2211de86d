"""Access histories: a company changes, and each answer is compared with what its source allows at that moment.

For the authors of stores: `run_side_by_side(range(300), stores)` runs 300 of them as tenants of one set of stores.
"""

from cogni_testing.histories.history import DifferenceError, run_side_by_side
from cogni_testing.histories.product import Stores

__all__ = ["DifferenceError", "Stores", "run_side_by_side"]
