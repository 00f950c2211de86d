"""What a file's mode says of its readers, as an access rule; or that it cannot be told.

A person reads a file who may read it and may search every folder from the root down to it: each of these is
one clause. Only what a mode says plainly is mapped, since a guess would show a file to the wrong people.
"""

import errno
import grp
import os
import pwd
import stat
from collections.abc import Callable
from typing import Protocol, TypeAlias

from cogni_adapters.filesystem.names import shown
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.access.tokens import EVERYONE, group_token, user_token
from cogni_kernel import PrincipalId

Rule: TypeAlias = AccessRule | Unmappable

AUTHORITY = "posix"
READ = 4
SEARCH = 1

BY_HAND = "or ingest the folder with its readers set by hand."


class Permissions(Protocol):
    """From the root down: the rule of a folder, then of what is in it."""

    def of_folder(self, above: Rule | None, folder: int, name: bytes) -> Rule:
        """Return who may search a folder, given as a descriptor, and all folders above it."""
        ...

    def of_file(self, above: Rule, folder: int, name: bytes) -> Rule:
        """Return who may read a file of a folder that has the rule `above`.

        Raises:
            OSError: It is gone, or may not be looked at.
        """
        ...


class OneRule(Permissions):
    """The same readers for everything, whatever the modes are."""

    def __init__(self, rule: AccessRule) -> None:
        self._rule = rule

    def of_folder(self, above: Rule | None, folder: int, name: bytes) -> Rule:  # noqa: ARG002
        return self._rule

    def of_file(self, above: Rule, folder: int, name: bytes) -> Rule:  # noqa: ARG002
        return self._rule


def user_name(uid: int) -> str | None:
    """Return the account's name on this machine, if it has one."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def group_name(gid: int) -> str | None:
    """Return the group's name on this machine, if it has one."""
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return None


class PosixMapping(Permissions):
    """Owners become `u:name`, groups `g:posix/name`, others everyone of the tenant.

    Args:
        user_of: The principal's id behind a uid; None where nobody knows.
        group_of: The group's name behind a gid; None where nobody knows.
    """

    def __init__(
        self,
        user_of: Callable[[int], str | None] = user_name,
        group_of: Callable[[int], str | None] = group_name,
    ) -> None:
        self._user_of = user_of
        self._group_of = group_of

    def of_folder(self, above: Rule | None, folder: int, name: bytes) -> Rule:
        layer = self._layer(f"The folder {shown(name)!r} above it", folder, b".", SEARCH)
        return layer if above is None else _under(above, layer)

    def of_file(self, above: Rule, folder: int, name: bytes) -> Rule:
        return _under(above, self._layer("It", folder, name, READ))

    def _layer(self, subject: str, folder: int, name: bytes, bit: int) -> Rule:
        if (further := _further_rules(folder, name)) is not None:
            return Unmappable(f"{subject} {further} {BY_HAND}")
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        mode = stat.S_IMODE(status.st_mode)
        owner, group, others = (bool(mode >> shift & bit) for shift in (6, 3, 0))
        if others > group or group > owner:
            narrow, wide = ("group", "everybody") if others > group else ("owner", "group")
            takes = f"has the mode {mode:04o}, which takes from its {narrow} what {wide} has."
            return Unmappable(f"{subject} {takes} Change the mode, {BY_HAND}")
        if others:
            return AccessRule.any_of(EVERYONE)
        return self._named(subject, status, owner=owner, group=group)

    def _named(self, subject: str, status: os.stat_result, *, owner: bool, group: bool) -> Rule:
        tokens: list[str] = []
        if owner:
            user = self._user_of(status.st_uid)
            if not user:
                return Unmappable(_nameless(subject, "an owner", status.st_uid))
            tokens.append(user_token(PrincipalId(user)))
        if group:
            name = self._group_of(status.st_gid)
            if not name:
                return Unmappable(_nameless(subject, "a group", status.st_gid))
            tokens.append(group_token(f"{AUTHORITY}/{name}"))
        return AccessRule.any_of(*tokens)


def _under(above: Rule, layer: Rule) -> Rule:
    if isinstance(above, Unmappable):
        return above
    return layer if isinstance(layer, Unmappable) else above.both(layer).simplified()


def _further_rules(folder: int, name: bytes) -> str | None:
    """Return what else than the mode decides there, or that it cannot be told."""
    try:
        names = os.listxattr(b"/proc/self/fd/%d/%b" % (folder, name), follow_symlinks=False)
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return None
        return "has attributes that cannot be read. Let this service read them,"
    if any(name.endswith(("posix_acl_access", "nfs4_acl", "richacl")) for name in names):
        return "has an access list beside its mode. Remove the list (setfacl -b),"
    return None


def _nameless(subject: str, what: str, number: int) -> str:
    return f"{subject} has {what} without a name here ({number}). Give it one, {BY_HAND}"
