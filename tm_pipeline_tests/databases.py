"""A private MariaDB server for the tests: own data folder, socket and port; never a system service."""

import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

START_SECONDS = 60.0
START_ATTEMPTS = 5
LOWEST_PORT, HIGHEST_PORT = 20_000, 32_000  # below the ephemeral range, where outgoing connections take ports


def free_port() -> int:
    """A port of the loopback address that nobody listens on at this moment."""
    while True:
        candidate = random.randrange(LOWEST_PORT, HIGHEST_PORT)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", candidate))
            except OSError:
                continue
            return candidate


@dataclass
class MariaDbServer:
    """Started on demand, stopped by its process id."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="tm-mariadb-")))
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Create the data folder and wait until the server answers."""
        # Server programs are in folders that only root has in its path.
        places = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
        daemon, installer = shutil.which("mariadbd", path=places), shutil.which("mariadb-install-db", path=places)
        if daemon is None or installer is None:
            raise RuntimeError("mariadbd is not installed; run make test, or set TM_TEST_DATABASE_URL")
        user = ["--user=root"] if os.geteuid() == 0 else []
        base = ["--no-defaults", f"--datadir={self.folder / 'data'}", *user]
        made = subprocess.run(
            [installer, *base, "--auth-root-authentication-method=normal"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if made.returncode:
            raise RuntimeError(f"mariadb-install-db failed:\n{made.stdout}")
        for _ in range(START_ATTEMPTS):
            if self._start_on(free_port(), [daemon, *base]):
                return
        raise RuntimeError(f"the test server did not start; its log is in {self.folder}")

    def _start_on(self, port: int, command: list[str]) -> bool:
        """Start on ``port``; false where another program took the port in between."""
        self.port = port
        options = [
            f"--socket={self.folder / 'server.sock'}",
            f"--port={port}",
            "--bind-address=127.0.0.1",
            "--innodb-buffer-pool-size=512M",
            "--character-set-server=utf8mb4",
            "--skip-log-bin",
        ]
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen([*command, *options], stdout=log, stderr=log)
        return self._wait()

    def _wait(self) -> bool:
        """True once the server answers, false where it ended instead."""
        deadline = time.monotonic() + START_SECONDS
        engine = create_engine(self.url("mysql"))
        while True:
            if self.process is None or self.process.poll() is not None:
                return False
            try:
                with engine.connect():
                    engine.dispose()
                    return True
            except OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def url(self, database: str) -> str:
        """The URL of one of its databases."""
        return f"mysql+pymysql://root@127.0.0.1:{self.port}/{database}"

    def stop(self) -> None:
        """End the server and remove its folder."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def create_database(url: str) -> str:
    """Create an empty database beside the one of ``url``; returns its URL."""
    name = f"tm_{uuid.uuid4().hex[:12]}"
    _administer(url, f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def drop_database(url: str) -> None:
    """Drop a database made by ``create_database``."""
    _administer(url, f"DROP DATABASE IF EXISTS {make_url(url).database}")


def _administer(url: str, statement: str) -> None:
    engine = create_engine(make_url(url).set(database=None))
    with engine.begin() as conn:
        conn.execute(text(statement))
    engine.dispose()
