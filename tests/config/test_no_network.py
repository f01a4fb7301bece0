from __future__ import annotations

import socket

import pytest


def test_a_test_cannot_reach_another_machine():
    with (
        socket.socket() as outside,
        pytest.raises(pytest.fail.Exception, match=r"tried to reach 192\.0\.2\.1"),
    ):
        outside.connect(("192.0.2.1", 80))


def test_a_test_reaches_its_own_machine():
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = socket.create_connection(server.getsockname())

    here.close()
