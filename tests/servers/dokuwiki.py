"""DokuWiki on PHP's own web server, as Debian packages them."""

import base64
import hashlib
import os
import shutil
import socket
import urllib.error
import urllib.request
import xmlrpc.client
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers.installing import fetch
from tests.servers.process import UnavailableError, free_port, give, own_folder, running

CODE = Path("/usr/share/dokuwiki")
PACKAGES = ("dokuwiki", "php8.2-cgi", "php8.2-cli")
"""The second one spares the web server that PHP would bring along."""

CRAWLER, CRAWLER_GROUP = "crawler", "crawlers"

SETTINGS = {
    "useacl": "1",
    "superuser": f"'root,{CRAWLER}'",
    "remote": "1",
    "remoteuser": "''",
    "sneaky_index": "1",
    "securecookie": "0",
    "updatecheck": "0",
    "disableactions": "'register'",
}
FOLDERS = (
    *("pages", "attic", "media", "media_attic", "media_meta"),
    *("meta", "cache", "index", "locks", "tmp", "log"),
)


@dataclass(frozen=True)
class DokuWiki:
    """A running wiki, with a page list, accounts and an access list that a test may change.

    Attributes:
        url: Where it is.
        folder: Its data and its settings.
        version: As it says of itself.
    """

    url: str
    folder: Path
    version: str = ""

    @property
    def acl(self) -> Path:
        """The access list."""
        return self.folder / "conf/acl.auth.php"

    @property
    def users(self) -> Path:
        """The list of accounts."""
        return self.folder / "conf/users.auth.php"

    def call(self, method: str, *arguments: object, who: str = "root") -> Any:
        """Return what a method answers to one person, whose password is the name.

        Raises:
            PermissionError: It is refused.
        """
        body = xmlrpc.client.dumps(arguments, method).encode()  # type: ignore[arg-type]
        secret = base64.b64encode(f"{who}:{who}".encode()).decode()
        headers = {"Content-Type": "text/xml", "Authorization": f"Basic {secret}"}
        request = urllib.request.Request(f"{self.url}/lib/exe/xmlrpc.php", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return xmlrpc.client.loads(answer.read())[0][0]
        except urllib.error.HTTPError as error:
            if error.code in (401, 403):
                raise PermissionError(f"{method} is refused to {who}") from error
            raise

    def put(self, page: str, text: str) -> None:
        """Write a page; an empty text deletes it."""
        self.call("wiki.putPage", page, text, {"sum": "test"})

    def clear(self) -> None:
        """Delete all pages and accounts, and let everybody read."""
        for page in self.call("dokuwiki.getPagelist", "", {}):
            self.put(page["id"], "")
        self.set_people({})
        self.set_acl("* @ALL 1")

    def set_people(self, groups: Mapping[str, tuple[str, ...]]) -> None:
        """Write the list of accounts: each person's groups."""
        own = {"root": ("admin",), CRAWLER: (CRAWLER_GROUP,)}
        self.users.write_text("".join(_account(*each) for each in {**own, **groups}.items()))

    def set_acl(self, *lines: str) -> None:
        """Write the access list."""
        self.acl.write_text("\n".join(["# <?php exit()?>", *lines, ""]))


def _account(name: str, groups: tuple[str, ...]) -> str:
    digest = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()
    return f"{name}:{digest}:{name.title()}:{name}@acme.example:{','.join(groups)}\n"


@contextmanager
def dokuwiki() -> Iterator[DokuWiki]:
    """Run an empty wiki that everybody may read until the end of the block.

    Raises:
        UnavailableError: It cannot be had here.
    """
    php = _installed()
    with own_folder() as folder:
        port = free_port()
        wiki = DokuWiki(f"http://127.0.0.1:{port}", folder)
        _write_settings(wiki)
        command = [php, "-d", f"auto_prepend_file={folder}/prepend.php", "-d", "display_errors=0"]
        command += ["-d", f"opcache.lockfile_path={folder}", "-d", f"sys_temp_dir={folder}"]
        command += ["-d", "error_reporting=8181", "-S", f"127.0.0.1:{port}", "-t", str(CODE)]
        with running(command, {"TZ": "UTC"}, folder / "server.log", lambda: _answers(port)):
            version = f"DokuWiki {wiki.call('dokuwiki.getVersion')}"
            yield DokuWiki(wiki.url, folder, version)


def _installed() -> str:
    if not CODE.exists() or shutil.which("php") is None:
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise UnavailableError("only root can install its Debian package")
        fetch(["apt-get", "update", "-qq"])
        quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-qq", "-y"]
        quiet += ["-o", "DPkg::Lock::Timeout=300"]
        fetch([*quiet, "--no-install-recommends", *PACKAGES])
    php = shutil.which("php")
    if php is None:
        raise UnavailableError("there is no PHP")
    return php


def _write_settings(wiki: DokuWiki) -> None:
    """Write a wiki of this run's own beside the installed code, of which nothing is changed."""
    conf, data = wiki.folder / "conf", wiki.folder / "data"
    for folder in (conf, data, *(data / name for name in FOLDERS)):
        folder.mkdir()
    (wiki.folder / "prepend.php").write_text(f"<?php define('DOKU_CONF', '{conf}/');\n")
    settings = {**SETTINGS, "savedir": f"'{data}'", "baseurl": f"'{wiki.url}'"}
    lines = [f"$conf['{name}']={value};" for name, value in settings.items()]
    (conf / "local.php").write_text("\n".join(["<?php", *lines, ""]))
    wiki.set_people({})
    wiki.set_acl("* @ALL 1")
    for path in wiki.folder.rglob("*"):
        give(path)


def _answers(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
