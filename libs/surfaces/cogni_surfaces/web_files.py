"""The browser's side of the chat surface: files of this package, as they are."""

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

WEB = Path(__file__).parent / "web"
FRAME = "surface.html"
MOUNT = "mount.js"

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}(?:\.[a-z0-9_-]{1,32})?\.(css|js|svg|woff2)")
_MEDIA = {
    "css": "text/css",
    "html": "text/html",
    "js": "text/javascript",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class WebFile:
    """One file. `etag` changes with what is in it; `zipped` is the same content, compressed."""

    media_type: str
    data: bytes
    etag: str
    zipped: bytes


def web_asset(name: str, folder: Path = WEB) -> WebFile | None:
    """Return a style, script, picture or font, None where there is none of that name."""
    return _file(folder / name) if _NAME.fullmatch(name) else None


def web_frame(folder: Path = WEB) -> WebFile | None:
    """Return the page of the frame."""
    return _file(folder / FRAME)


def web_mount(folder: Path = WEB) -> WebFile | None:
    """Return the script that a host page loads."""
    return _file(folder / MOUNT)


def _file(path: Path) -> WebFile | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return _web_file(path.suffix.removeprefix("."), data)


@lru_cache(maxsize=128)
def _web_file(kind: str, data: bytes) -> WebFile:
    etag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    return WebFile(_MEDIA[kind], data, etag, gzip.compress(data, mtime=0))
