"""Reader tokens: what authority is compiled to, so that every store can filter on it."""

from collections.abc import Mapping
from typing import NewType

from cogni_kernel import ConversationId, PrincipalId

ReaderToken = NewType("ReaderToken", str)
"""`u:41`, `g:wiki/hr`, `a:region=eu`, `r:<digest>` or `everyone`."""

EVERYONE = ReaderToken("everyone")
"""Everybody of the tenant; never anybody of another one, since every query filters on the tenant too."""


CONVERSATION = "@conversation"
"""The attribute of who asks within one of their own conversations."""


def user_token(principal: PrincipalId) -> ReaderToken:
    """Return the token of one person or machine."""
    return ReaderToken(f"u:{principal}")


def group_token(group: str) -> ReaderToken:
    """Return the token of a group, qualified by the authority that defines it: `wiki/hr`.

    Raises:
        ValueError: The group is not qualified; two sources may use one name for two groups.
    """
    authority, _, name = group.partition("/")
    if not authority or not name:
        raise ValueError(f"a group is qualified by its authority, like wiki/hr: {group!r}")
    return ReaderToken(f"g:{group}")


def attribute_token(name: str, value: str) -> ReaderToken:
    """Return the token of an attribute that a principal carries."""
    if "=" in name or not name:
        raise ValueError(f"an attribute's name is not empty and has no =: {name!r}")
    return ReaderToken(f"a:{name}={value}")


def conversation_token(conversation: ConversationId) -> ReaderToken:
    """Return the token of who asks within a conversation of their own."""
    return attribute_token(CONVERSATION, str(conversation))


def attribute_tokens(attributes: Mapping[str, str]) -> frozenset[ReaderToken]:
    """Return the tokens of all attributes."""
    return frozenset(attribute_token(name, value) for name, value in attributes.items())
