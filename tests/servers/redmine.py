"""Redmine on puma and SQLite, as Debian packages them."""

import base64
import json
import os
import shutil
import sqlite3
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers.installing import fetch, installed
from tests.servers.process import UnavailableError, free_port, give, own_folder, run, running

CODE = Path("/usr/share/redmine")
INSTANCES = Path("/var/lib/redmine")
PACKAGES = ("redmine", "redmine-sqlite", "dbconfig-no-thanks", "puma")
EMPTY = "redmine-empty-5"

SETTINGS = """
INSERT INTO settings (name, value, updated_on) VALUES
    ('rest_api_enabled', '1', datetime('now')), ('login_required', '1', datetime('now'));
UPDATE users SET must_change_passwd = 0 WHERE login = 'admin';
INSERT INTO roles (name, position, assignable, builtin, permissions, issues_visibility)
    SELECT 'Own only', 9, 1, 0, permissions, 'own' FROM roles WHERE name = 'Reporter';
"""


@dataclass(frozen=True)
class Redmine:
    """A running Redmine with its usual roles, and one that sees only its own issues.

    Attributes:
        url: Where it is; `admin` has the password `admin`.
        version: What was installed.
    """

    url: str
    version: str

    def call(self, method: str, path: str, body: Any = None, who: str = "admin") -> Any:
        """Return what it answers to one person, whose password is `who` and a tail.

        Raises:
            PermissionError: It is refused, or not there for this person.
        """
        secret = base64.b64encode(f"{who}:{password(who)}".encode()).decode()
        headers = {"Content-Type": "application/json", "Authorization": f"Basic {secret}"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.loads(answer.read().strip() or b"{}")
        except urllib.error.HTTPError as error:
            if error.code in (401, 403, 404):
                raise PermissionError(f"{path} is refused to {who}") from error
            raise


def password(who: str) -> str:
    """Return the password of a person."""
    return who if who == "admin" else f"{who}-of-acme"


@contextmanager
def redmine() -> Iterator[Redmine]:
    """Run a Redmine without issues until the end of the block.

    Raises:
        UnavailableError: It cannot be had here.
    """
    version = _installed()
    empty = installed(EMPTY, _migrate)
    with own_folder() as folder, _instance(folder) as environment:
        shutil.copy(empty / "db.sqlite3", folder / "db.sqlite3")
        give(folder / "db.sqlite3")
        url = f"http://127.0.0.1:{(port := free_port())}"
        command = ["puma", "-e", "production", "-t", "2:4", "--dir", str(CODE)]
        command += ["-b", f"tcp://127.0.0.1:{port}", str(CODE / "config.ru")]
        with running(command, environment, folder / "server.log", lambda: _answers(url)):
            yield Redmine(url, f"Redmine {version}")


def _installed() -> str:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise UnavailableError("only root can install and link its Debian package")
    if not CODE.exists() or shutil.which("puma") is None:
        fetch(["apt-get", "update", "-qq"])
        quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-qq", "-y"]
        quiet += ["-o", "DPkg::Lock::Timeout=300"]
        fetch([*quiet, "--no-install-recommends", *PACKAGES])
    said = subprocess.run(
        ["dpkg-query", "-W", "-f=${Version}", "redmine"], capture_output=True, text=True, check=True
    )
    return said.stdout


@contextmanager
def _instance(folder: Path) -> Iterator[Mapping[str, str]]:
    """Make a folder one of the package's instances until the end of the block; yield its environment."""
    for name in ("config", "files", "log", "public", "tmp", "tmp/cache"):
        (folder / name).mkdir(exist_ok=True)
        give(folder / name)
    (folder / "config/secret_key.txt").write_text("0123456789abcdef" * 4)
    (folder / "config/database.yml").write_text(
        f"production:\n  adapter: sqlite3\n  database: {folder}/db.sqlite3\n  timeout: 8000\n"
    )
    link = INSTANCES / f"cogni-{folder.name}"
    link.symlink_to(folder)
    lock = INSTANCES / "Gemfile.lock"
    if not lock.exists():
        lock.touch()
        give(lock)
    try:
        yield {
            "PATH": os.environ["PATH"],
            "REDMINE_INSTANCE": link.name,
            "RAILS_ENV": "production",
            "BUNDLE_GEMFILE": str(CODE / "Gemfile"),
            "RUBYOPT": "-W0",
            "REDMINE_LANG": "en",
            "HOME": str(folder),
            "SCHEMA": str(folder / "schema.rb"),
            "LC_ALL": "C.UTF-8",
        }
    finally:
        link.unlink()


def _migrate(part: Path) -> None:
    """Make an empty database, which takes half a minute; by two processes, since one keeps old column lists."""
    with own_folder() as folder, _instance(folder) as environment:
        for task in ("db:migrate", "redmine:load_default_data"):
            run(["rake", "--silent", "-f", str(CODE / "Rakefile"), task], environment)
        with sqlite3.connect(folder / "db.sqlite3") as database:
            database.executescript(SETTINGS)
        shutil.copy(folder / "db.sqlite3", part / "db.sqlite3")


def _answers(url: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"{url}/login", timeout=30) as answer:
        return bool(answer.status == 200)
    return False
