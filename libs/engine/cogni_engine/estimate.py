"""How far the product's own token estimates are from what the provider counts."""

import math
from dataclasses import dataclass

from cogni_kernel import TokenCount

LEAST, MOST = 0.5, 4.0
"""What a factor can be: a provider that counts cached tokens elsewhere, or nonsense, does not undo the bounds."""


@dataclass(frozen=True, slots=True)
class Correction:
    """The provider's tokens in each of ours, as the last call that told its usage had it.

    >>> learnt = Correction().learnt(estimated=TokenCount(100), counted=TokenCount(150))
    >>> learnt.corrected(TokenCount(200)), learnt.within(TokenCount(300))
    (300, 200)
    """

    factor: float = 1.0

    def learnt(self, *, estimated: TokenCount, counted: TokenCount) -> "Correction":
        """Return what one call teaches; a call of which nothing was counted teaches nothing."""
        if not (estimated and counted):
            return self
        return Correction(min(max(counted / estimated, LEAST), MOST))

    def corrected(self, estimated: TokenCount) -> TokenCount:
        """Return what the provider will count, rounded up."""
        return TokenCount(math.ceil(estimated * self.factor))

    def within(self, limit: TokenCount) -> TokenCount:
        """Return how much of our own estimate stays within the provider's `limit`, rounded down."""
        return TokenCount(math.floor(limit / self.factor))
