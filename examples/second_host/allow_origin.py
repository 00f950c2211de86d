"""Put an origin on a key's list: `allow_origin.py DATA KEY_ID ORIGIN`, also while the product runs."""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

from cogni_domain.ports.directory import DirectoryPort
from cogni_kernel import Err
from cogni_runtime.bindings import embedded


async def allow(data: Path, key_id: str, origin: str) -> str:
    """Return what was done, or why nothing was."""
    bindings = embedded(data, os.environ)
    try:
        directory = bindings.container.resolve(DirectoryPort)
        found = await directory.issuer(key_id)
        if isinstance(found, Err) or found.value is None:
            return f"There is no key {key_id} in {data}."
        origins = tuple(dict.fromkeys((*found.value.origins, origin)))
        done = await directory.put_issuer(replace(found.value, origins=origins))
        return (
            str(done.error.message)
            if isinstance(done, Err)
            else f"{origin} may hold the assistant."
        )
    finally:
        await bindings.close()


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(allow(Path(sys.argv[1]), sys.argv[2], sys.argv[3])) + "\n")
