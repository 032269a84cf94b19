"""A scheduler and workers of Dask as processes of their own, which can be killed; up within a second."""

import os
import subprocess
import sys
from contextlib import ExitStack

PROGRAM = """
import asyncio, logging, sys
logging.disable(logging.CRITICAL)
from distributed import Scheduler, Worker

async def serve():
    where, memory = sys.argv[1:]
    how = {"host": "127.0.0.1", "dashboard": False}
    made = Worker(where, nthreads=1, memory_limit=memory, **how) if where else Scheduler(port=0, **how)
    async with made as server:
        print(server.address, flush=True)
        await server.finished()

asyncio.run(serve())
"""


class Processes:
    """All of them end with the context."""

    def __enter__(self):
        self.living = ExitStack()
        self.scheduler, self.address = self._start("", "0", os.environ)
        return self

    def __exit__(self, *error):
        self.living.close()

    def worker(self, first_on_path="", memory="0"):
        """Start a worker, whose imports look into a folder first, with so much memory ("0" for all)."""
        path = os.pathsep.join([str(first_on_path), *sys.path])
        self._start(self.address, memory, {**os.environ, "PYTHONPATH": path.strip(os.pathsep)})

    def _start(self, where, memory, environment):
        line = [sys.executable, "-c", PROGRAM, where, memory]
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "env": environment}
        process = self.living.enter_context(subprocess.Popen(line, **how))
        self.living.callback(process.kill)
        return process, process.stdout.readline().strip()
