import socket

import pytest

from cogni_embedded.serving import address_of


@pytest.mark.parametrize(
    ("family", "host", "reached_at"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET, "0.0.0.0", "127.0.0.1"),
        (socket.AF_INET6, "::1", "[::1]"),
        (socket.AF_INET6, "::", "[::1]"),
    ],
)
def test_this_machine_reaches_a_socket_at_its_own_address(
    family: socket.AddressFamily, host: str, reached_at: str
) -> None:
    with socket.socket(family) as listening:
        try:
            listening.bind((host, 0))
        except OSError:
            pytest.skip(f"no {host} here")
        port = listening.getsockname()[1]

        assert address_of(listening) == f"http://{reached_at}:{port}"
