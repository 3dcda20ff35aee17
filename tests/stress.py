"""`make stress`: processes that are killed at random points, many at once, and files damaged at random.

Every store is compared, table by table, with one that nobody disturbed. `tests/test_stress.py` runs a short form.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from hashed import Hashed  # noqa: E402
from transcript_lines import claude_lines, codex_lines, uid, write  # noqa: E402

import recall  # noqa: E402
from recall import Scope, database  # noqa: E402
from recall.errors import DamagedError  # noqa: E402
from recall.lexical import REPOSITORY  # noqa: E402
from recall.rescue import mend_home  # noqa: E402
from recall.salvage import backups  # noqa: E402

ALL = Scope.everywhere()
SESSIONS, EACH = 6, 150
WORDS = ["lantern", "quay", "harbor", "wick", "kestrel", "buoy", "灯塔", "密钥", "rung", "beacon", "anchor", "tide"]
FORGOTTEN, MATCHED = uid(0), "wolverine"
GONE = (b"tarmigan", b"olverine")
"""What no byte may hold behind forgetting: words of that session, and of what matched. Of a term in an index, letters
that it shares with the one before it are left out."""

LATER = "create table later (id integer primary key, text text); insert into later select id, text from messages;"

State = dict[str, list[tuple[Any, ...]]]


def transcripts(folder: Path, sessions: int = SESSIONS, each: int = EACH) -> Path:
    """A folder with invented sessions of both agents. The first has a word of its own, and all share another."""
    draw = random.Random(7)
    for number in range(sessions):
        said = [
            (
                "assistant" if place % 2 else "user",
                f"s{number} m{place} {' '.join(draw.choices(special(number, place), k=40))}",
            )
            for place in range(each)
        ]
        if number % 2:
            write(folder / f"{uid(number)}.jsonl", claude_lines(uid(number), "/srv/kite", *said, first=number * each))
        else:
            write(folder / f"rollout-{number}.jsonl", codex_lines(uid(number), "/srv/owl", *said, start=number))
    return folder


def special(number: int, place: int) -> list[str]:
    """The words of a message."""
    return [*WORDS, *["ptarmigan"] * (number == 0), *[MATCHED] * (place % 10 == 7)]


def opened(home: Path) -> recall.Index:
    return recall.open(home, embedder=Hashed())


# What is done, in a process of its own


def ingest(home: Path, folder: Path) -> None:
    with opened(home) as index:
        index.ingest(folder)


def embed(home: Path, folder: Path) -> None:
    with opened(home) as index:
        index.embed()


def migrate(home: Path, folder: Path) -> None:
    """As a later version would, which has one more step."""
    known = database._migrations()
    database._migrations = lambda: {**known, max(known) + 1: LATER}
    opened(home).close()


def forget(home: Path, folder: Path) -> None:
    with opened(home) as index:
        index.forget(session=FORGOTTEN)
        index.forget(match=MATCHED)
        index.ingest(folder)


STAGES: dict[str, Callable[[Path, Path], None]] = {one.__name__: one for one in (ingest, embed, migrate, forget)}


def state(home: Path) -> State:
    """All that a store holds, in an order and under names that do not depend on how it came there."""
    with opened(home) as index:
        connection = index.database
        vectors = []
        if connection.value("select count(*) from sqlite_schema where name = 'vectors_1'"):
            vectors = connection.rows(
                "select s.name, m.number, p.start_at, v.embedding, v.signs from vectors_1 v "
                "join passages p on p.id = v.passage_id join messages m on m.id = p.message_id "
                "join sessions s on s.id = m.session_id order by 1, 2, 3"
            )
        return {
            "messages": connection.rows(
                "select s.name, m.number, m.role, m.text from messages m join sessions s on s.id = m.session_id "
                "order by 1, 2"
            ),
            "passages": connection.rows(
                "select s.name, m.number, p.start_at, p.end_at, p.length from passages p "
                "join messages m on m.id = p.message_id join sessions s on s.id = m.session_id order by 1, 2, 3"
            ),
            "totals": connection.rows("select * from totals"),
            "terms": connection.rows("select term, doc from lexical_terms where term < ? order by 1", (REPOSITORY,)),
            "vectors": vectors,
            "forgotten": connection.rows("select session from forgotten order by 1"),
            "sessions": connection.rows("select name, title, preview, updated_at from sessions order by 1"),
        }


@contextmanager
def later_version(stage: str) -> Iterator[None]:
    """Open stores as the version does that `migrate` stands for."""
    known = database._migrations
    steps = known()
    if stage == "migrate":
        database._migrations = lambda: {**steps, max(steps) + 1: LATER}
    try:
        yield
    finally:
        database._migrations = known


class Worker:
    """A process that is ready to do one thing."""

    def __init__(self, stage: str, home: Path, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", stage, str(home), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(TESTS.parent)},
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == b"ready", self.process.communicate()[1].decode()

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def kill_after(self, seconds: float) -> bool:
        """Whether it was still at work."""
        self.go()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.finish(killed=True)
        return self.process.returncode != 0

    def finish(self, killed: bool = False) -> None:
        _, err = self.process.communicate(timeout=300)
        if not killed or self.process.returncode > 0:
            assert (self.process.returncode, err) == (0, b""), err.decode()


def killed(
    stage: str, home: Path, folder: Path, times: int, longest: float, draw: random.Random, end: float
) -> tuple[int, int]:
    """(how many processes were killed at `stage`, each on what the last one left; how many were at work)

    Until there were `times`, or the clock says `end`.
    """
    before, hits = home.with_name("before"), 0
    shutil.rmtree(before, ignore_errors=True)
    if home.exists():
        shutil.copytree(home, before)
    for done in range(times):
        if time.monotonic() > end:
            return done, hits
        was_at_work = Worker(stage, home, folder).kill_after(draw.uniform(0, longest))
        require_sound(home, stage)
        if not was_at_work:  # there is nothing left to do: from the beginning
            shutil.rmtree(home)
            if before.exists():
                shutil.copytree(before, home)
        hits += was_at_work
    return times, hits


def require_sound(home: Path, stage: str) -> None:
    """The store opens, SQLite finds no damage, and no part of the index is out of step."""
    if not (home / "recall.db").exists():
        return
    if stage == "migrate" and value(home, "pragma user_version") > max(database._migrations()):
        return  # the killed process just came through, and this version does not know what it did
    with opened(home) as index:
        index.mend()
        assert [line for line in index.repaired if "is new" not in line] == [], index.repaired
        assert index.database.rows("pragma quick_check") == [("ok",)]
        index.search("lantern", ALL, mode="lexical")


def value(home: Path, sql: str) -> Any:
    import apsw

    connection = apsw.Connection(str(home / "recall.db"))
    row = connection.execute(sql).fetchone()
    connection.close()
    return row[0] if row else None


def kills(root: Path, times: int, seed: int, seconds: float = 600) -> str:
    """Kill processes `times` times, spread over all stages, as far as time allows; one line. Raises AssertionError."""
    draw, began = random.Random(seed), time.monotonic()
    folder, calm, home = transcripts(root / "transcripts"), root / "calm", root / "home"
    told = []
    for place, stage in enumerate(STAGES):
        before = time.monotonic()
        STAGES_HERE[stage](calm, folder)
        longest = time.monotonic() - before
        share = times // len(STAGES) + (place < times % len(STAGES))
        before = time.monotonic()
        end = began + seconds * (place + 1) / len(STAGES)
        done, hits = killed(stage, home, folder, share, longest, draw, end)
        worker = Worker(stage, home, folder)
        worker.go()
        worker.finish()
        if stage == "migrate":
            for one in (home, calm):
                assert value(one, "select count(*) from later") == SESSIONS * EACH
                back(one)
        expected, found = state(calm), state(home)
        for table in expected:
            assert found[table] == expected[table], f"{stage}: {table} differ after {done} kills (seed {seed})"
        told.append(f"{stage} {done} ({hits} at work)")
    for one in (home, calm):
        found = state(one)
        assert all(row[0] != FORGOTTEN and MATCHED not in row[3] for row in found["messages"])
        assert len(found["messages"]) > EACH
        for path in (path for path in one.rglob("*") if path.is_file()):
            assert not any(word in path.read_bytes().lower() for word in GONE), f"{path} holds it, seed {seed}"
    return f"kill -9, seed {seed}: {', '.join(told)}; every store as one that nobody disturbed"


def calm_migrate(home: Path, folder: Path) -> None:
    with later_version("migrate"):
        opened(home).close()


STAGES_HERE = {**STAGES, "migrate": calm_migrate}


def back(home: Path) -> None:
    """Undo the step of the later version."""
    import apsw

    connection = apsw.Connection(str(home / "recall.db"))
    connection.execute("pragma secure_delete = on")  # as recall has it, which forgets in a later stage
    connection.execute("drop table later")
    connection.execute(f"pragma user_version = {max(database._migrations())}")
    connection.close()


def together(root: Path, writers: int, readers: int, rounds: int) -> str:
    """Writers and readers on one home, each message once, no reader fails; one line on it."""
    home, folder = root / "home", root / "transcripts"
    for number in range(rounds):
        transcripts(folder / str(number), sessions=4, each=30 + number)
        workers = [Worker("ingest", home, folder) for _ in range(writers)]
        workers += [Worker("look", home, folder) for _ in range(readers)]
        for worker in workers:
            worker.go()
        for worker in workers:
            worker.finish()
    calm = root / "calm"
    for number in range(rounds):
        ingest(calm, folder / str(number))
    texts = [sorted(row[2:] for row in state(one)["messages"] if row[3]) for one in (home, calm)]
    assert texts[0] == texts[1], "messages are missing, or stored twice"
    require_sound(home, "ingest")
    return f"{writers} writers and {readers} readers on one home, {rounds} times: every message once, no reader failed"


def look(home: Path, folder: Path) -> None:
    for _ in range(20):
        with opened(home) as index:
            index.search("lantern", ALL, mode="lexical")
            index.recent(ALL)


def damages(root: Path, times: int, seed: int, seconds: float = 600) -> str:
    """Random bytes in random places: said or mended, never "nothing found"; and no transcript's text is lost."""
    draw, end, done = random.Random(seed), time.monotonic() + seconds, 0
    folder, whole = transcripts(root / "transcripts", 4, 60), root / "whole"
    ingest(whole, folder)
    embed(whole, folder)
    expected, told = {row[2:] for row in state(whole)["messages"]}, {"said": 0, "mended": 0, "not met": 0}
    for number in range(times):
        if time.monotonic() > end:
            break
        done += 1
        home = root / f"damaged{number}"
        shutil.copytree(whole, home)
        path = home / "recall.db"
        content = bytearray(path.read_bytes())
        for _ in range(draw.choice((1, 3, 10))):
            length = draw.choice((64, 4096, 40_960))
            place = draw.randrange(0, len(content), 512)
            content[place : place + length] = draw.randbytes(min(length, len(content) - place))
        path.write_bytes(content[: draw.choice((len(content), len(content), len(content) * 2 // 3))])
        try:
            with opened(home) as index:
                assert index.search("lantern", ALL, mode="lexical").hits, f"nothing found, seed {seed}, {number}"
                told["mended" if index.repaired else "not met"] += 1
        except DamagedError:
            told["said"] += 1
        mend_home(home, lambda home=home: opened(home))
        with opened(home) as index:
            index.ingest(folder)
        # Where the names of sessions are lost, what was saved stands beside what is taken in again.
        kept = {row[2:] for row in state(home)["messages"]}
        assert expected <= kept, f"text lost, seed {seed}, {number}"
        require_sound(home, "ingest")
        assert len(backups(home)) <= 1
        shutil.rmtree(home)
    return f"{done} files damaged at random, seed {seed}: {told}; after `doctor --fix` all texts are there"


def main() -> None:
    """Run it all, or be a worker."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", nargs=3, metavar=("STAGE", "HOME", "FOLDER"), help=argparse.SUPPRESS)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--damages", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=540, help="end after about so long, with less done")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    if arguments.worker:
        stage, home, folder = arguments.worker
        Hashed().token_spans("")
        print("ready", flush=True)
        sys.stdin.readline()
        {**STAGES, "look": look}[stage](Path(home), Path(folder))
        return
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as lanes:
        root = Path(folder)
        print(together(root / "together", 14, 6, 3), flush=True)
        seconds = (began + arguments.seconds - time.monotonic()) * 2 / 5  # five lanes, two at once
        jobs = [lanes.submit(lane, "damages", root / "damages", arguments.damages, arguments.seed, seconds)]
        for number in range(4):
            place, seed = root / f"kills{number}", arguments.seed + number
            jobs.append(lanes.submit(lane, "kills", place, arguments.kills // 4, seed, seconds))
        for job in jobs:
            print(job.result(), flush=True)
    print(f"done in {time.monotonic() - began:.0f} s")


def lane(name: str, root: Path, times: int, seed: int, seconds: float) -> str:
    """In a process of its own: threads would share `database._migrations`."""
    code = f"import sys; sys.path[:0] = {[str(TESTS)]!r}; import stress; from pathlib import Path; "
    code += f"print(stress.{name}(Path({str(root)!r}), {times}, {seed}, {seconds}))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env={**os.environ, "PYTHONPATH": str(TESTS.parent)}
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


if __name__ == "__main__":
    main()
