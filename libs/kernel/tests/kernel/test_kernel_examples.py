import doctest
import importlib
import pkgutil

import pytest

import cogni_kernel

MODULES = [name for _, name, _ in pkgutil.iter_modules(cogni_kernel.__path__, "cogni_kernel.")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_every_docstring_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_five_ways_to_end_are_named_as_the_contract_names_them() -> None:
    assert [kind.value for kind in cogni_kernel.Outcome] == [
        "completed",
        "refused",
        "halted",
        "proposed",
        "failed",
    ]
