"""Where a link leads is part of what a page says: "apply here" needs its address."""

_SCHEMES = ("http://", "https://", "mailto:")


def with_address(words: str, address: str) -> str:
    """The link's words, then its address if it leads outside and is not what they say already.

    >>> with_address("the form", "https://example.com/form")
    'the form (https://example.com/form)'
    >>> with_address("see above", "#top")
    'see above'
    """
    address = address.strip()
    bare = address.removeprefix("mailto:")
    if not words.strip() or not address.lower().startswith(_SCHEMES) or bare in words:
        return words
    return f"{words} ({bare})"
