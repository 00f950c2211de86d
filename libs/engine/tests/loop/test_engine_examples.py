import doctest
import importlib
import pkgutil

import pytest

import cogni_engine

MODULES = [
    found.name
    for found in pkgutil.walk_packages(cogni_engine.__path__, "cogni_engine.")
    if not found.ispkg
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_every_docstring_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
