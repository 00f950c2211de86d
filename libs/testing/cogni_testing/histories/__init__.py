"""Access histories: a company changes, and each answer is compared with what its source allows at that moment.

For the authors of stores: `run_side_by_side(range(300), stores)` runs 300 of them as tenants of one set of stores,
`run_races` takes rights away while their holders ask, `compare_worlds` looks for a trace of what is hidden.
"""

from cogni_testing.histories.errors import DifferenceError
from cogni_testing.histories.history import run_side_by_side
from cogni_testing.histories.interference import compare_worlds
from cogni_testing.histories.product import Stores
from cogni_testing.histories.races import run_races

__all__ = ["DifferenceError", "Stores", "compare_worlds", "run_races", "run_side_by_side"]
