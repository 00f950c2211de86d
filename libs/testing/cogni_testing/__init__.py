"""Doubles, fixtures, assertions and port contracts, for the authors of tools and adapters.

Import from here: `from cogni_testing import ok, FrozenClock`. Contracts are imported from
`cogni_testing.contracts`, the harness from `cogni_testing.harness`.
"""

import pytest

from cogni_adapters.recorded.model import RecordedModelAdapter as RecordedModel
from cogni_testing.assertions import (
    assert_never_called,
    assert_no_scope_widening,
    assert_proposed_not_executed,
    assert_refused,
    err,
    ok,
)
from cogni_testing.doubles import (
    START,
    CapturingChannel,
    FrozenClock,
    HashEmbedder,
    LexicalReranker,
    SequentialIds,
)
from cogni_testing.fixtures import (
    CorpusFixture,
    corpus_fixture,
    fake_principal,
    fake_registry,
    fake_scope,
)

pytest.register_assert_rewrite("cogni_testing.contracts")

__all__ = [
    "START",
    "CapturingChannel",
    "CorpusFixture",
    "FrozenClock",
    "HashEmbedder",
    "LexicalReranker",
    "RecordedModel",
    "SequentialIds",
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
