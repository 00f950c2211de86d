from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.audit import START as NOTHING
from cogni_domain.audit import AuditEntry, AuditFact, AuditSeal, BrokenChain, Checkpoint
from cogni_kernel import PrincipalId, TenantId
from cogni_testing.doubles import START

SEAL = AuditSeal(b"k" * 32)


def chain(length: int, seal: AuditSeal = SEAL) -> list[AuditEntry]:
    entries: list[AuditEntry] = []
    last = NOTHING
    for n in range(length):
        fact = AuditFact(
            TenantId("acme"),
            START + timedelta(seconds=n),
            PrincipalId("ada"),
            "did",
            f"s{n}",
            {"n": "1"},
        )
        entries.append(seal.next_entry(fact, last))
        last = entries[-1].checkpoint
    return entries


def tampered(entries: list[AuditEntry], how: int, place: int) -> tuple[list[AuditEntry], int]:
    """Return a chain with one thing wrong, and the number at which that shows."""
    before, entry, after = entries[:place], entries[place], entries[place + 1 :]
    fact = entry.fact
    changed = [
        [replace(entry, fact=replace(fact, actor=PrincipalId("eve")))],
        [replace(entry, fact=replace(fact, action="undid"))],
        [replace(entry, fact=replace(fact, subject="other"))],
        [replace(entry, fact=replace(fact, facts={}))],
        [replace(entry, fact=replace(fact, at=fact.at + timedelta(seconds=1)))],
        [replace(entry, fact=replace(fact, tenant_id=TenantId("globex")))],
        [replace(entry, digest="0" * 64)],
        [replace(entry, number=entry.number + 1)],
        [entry, entry],
        [],
    ]
    shows_at = place + 2 if how == 8 else place + 1
    return [*before, *changed[how], *after], shows_at


@given(st.integers(2, 12), st.integers(0, 9), st.data())
def test_every_tampering_is_found_and_its_place_named(
    length: int, how: int, data: st.DataObject
) -> None:
    entries = chain(length)
    place = data.draw(st.integers(0, length - 1))

    found, shows_at = tampered(entries, how, place)

    assert SEAL.verify(found, entries[-1].checkpoint) == BrokenChain(shows_at)


@given(st.integers(2, 12), st.data())
def test_two_that_changed_places_are_found(length: int, data: st.DataObject) -> None:
    entries = chain(length)
    place = data.draw(st.integers(0, length - 2))
    entries[place], entries[place + 1] = entries[place + 1], entries[place]

    assert SEAL.verify(entries) == BrokenChain(place + 1)


@given(st.integers(0, 12))
def test_a_chain_that_nobody_touched_verifies(length: int) -> None:
    entries = chain(length)

    expected = entries[-1].checkpoint if entries else NOTHING
    assert SEAL.verify(entries) == expected
    assert SEAL.verify(entries, expected) == expected


def test_a_whole_chain_written_anew_without_the_key_is_found() -> None:
    assert SEAL.verify(chain(3, AuditSeal(b"x" * 32))) == BrokenChain(1)


def test_a_tail_that_was_cut_off_shows_against_what_was_kept() -> None:
    entries = chain(5)

    assert SEAL.verify(entries[:3], entries[4].checkpoint) == BrokenChain(4)
    assert SEAL.verify(entries[:3]) == Checkpoint(3, entries[2].digest)


def test_another_chain_with_the_key_shows_against_what_was_kept() -> None:
    assert SEAL.verify(chain(3), Checkpoint(2, "0" * 64)) == BrokenChain(2)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        AuditSeal(b"short")
