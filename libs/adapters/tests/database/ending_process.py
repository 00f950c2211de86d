"""One of several processes that end the same runs: `ending_process.py URL ROLE COUNT`.

Says `ready`, waits for a line, then prints the numbers of the runs that it ended.
"""

import asyncio
import json
import sys

from cogni_adapters.database.engine import Database
from cogni_adapters.database.run_log import DatabaseRunLogAdapter
from cogni_domain.ports.run_log import Ending
from cogni_engine import DoneDelta
from cogni_kernel import RunRef
from cogni_testing.assertions import ok
from cogni_testing.contracts.runs import a_sealing, tokens


async def end_runs(url: str, role: str, count: int) -> list[int]:
    """Write to every run as its owner would, and end it; return which ones were ended here."""
    database = Database(url)
    log = DatabaseRunLogAdapter(database)
    won = []
    for n in range(count):
        run = RunRef(f"r{n}")
        if role == "owner":
            ok(await log.append([tokens(run.value, 1, 1, "a", "b")]))
        if role == "stop":
            ok(await log.request_stop(run))
        epoch = None if role == "reaper" else 1
        terminal = DoneDelta({"kind": role})
        if ok(await log.seal(run, epoch, Ending(a_sealing(kind=role), [terminal]))):
            won.append(n)
    await database.close()
    return won


if __name__ == "__main__":
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    sys.stdout.write(json.dumps(asyncio.run(end_runs(sys.argv[1], sys.argv[2], int(sys.argv[3])))))
