"""Doubles, fixtures, assertions and port contracts, for the authors of tools and adapters.

Import from here: `from cogni_testing import ok, FrozenClock`. Contracts are imported from
`cogni_testing.contracts`, the harness from `cogni_testing.harness`.
"""

import pytest

pytest.register_assert_rewrite("cogni_testing.assertions", "cogni_testing.contracts")

from cogni_testing.assertions import (  # noqa: E402 - their asserts are to be rewritten
    assert_never_called,
    assert_no_scope_widening,
    assert_proposed_not_executed,
    assert_refused,
    err,
    ok,
)
from cogni_testing.doubles import (  # noqa: E402
    START,
    CapturingChannel,
    FrozenClock,
    HashEmbedder,
    LexicalReranker,
)
from cogni_testing.fixtures import (  # noqa: E402
    CorpusFixture,
    corpus_fixture,
    fake_principal,
    fake_registry,
    fake_scope,
)

__all__ = [
    "START",
    "CapturingChannel",
    "CorpusFixture",
    "FrozenClock",
    "HashEmbedder",
    "LexicalReranker",
    "assert_never_called",
    "assert_no_scope_widening",
    "assert_proposed_not_executed",
    "assert_refused",
    "corpus_fixture",
    "err",
    "fake_principal",
    "fake_registry",
    "fake_scope",
    "ok",
]
