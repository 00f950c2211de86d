"""The size that a JBIG2 image declares, read without decoding it."""

_PAGE_INFORMATION = 48
_HEADER_BYTES = 6


def declared_bytes(data: bytes) -> int:
    """Bytes of the largest page in an embedded JBIG2 stream, one bit a pixel; 0 if none is declared.

    A segment is its number (4 bytes), flags, the segments it refers to, its page, its length, data.
    """
    at, largest = 0, 0
    while at + _HEADER_BYTES < len(data):
        number = int.from_bytes(data[at : at + 4], "big")
        flags = data[at + 4]
        at += 5
        count = data[at] >> 5
        if count == 7:
            count = int.from_bytes(data[at : at + 4], "big") & 0x1FFFFFFF
            at += 4 + (count + 8) // 8
        else:
            at += 1
        at += count * (1 if number <= 256 else 2 if number <= 65_536 else 4)
        at += 4 if flags & 0x40 else 1
        length = int.from_bytes(data[at : at + 4], "big")
        at += 4
        if flags & 0x3F == _PAGE_INFORMATION:
            width, height = (int.from_bytes(data[at + i : at + i + 4], "big") for i in (0, 4))
            if height != 0xFFFFFFFF:
                largest = max(largest, (width + 7) // 8 * height)
        at += length
    return largest
