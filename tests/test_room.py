from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Home
from hashed import Hashed

import recall
from recall import Message, Session
from recall.mounts import file_system, linux_mounts, mac_mounts, network_file_system
from recall.room import room_of


@pytest.fixture
def filled(home: Home) -> Home:
    with recall.open(embedder=Hashed()) as index:
        for number in range(12):
            said = [f"rung{number}x{word} " * 40 + f"quay{word}" for word in range(60)]
            index.add(Session(f"s{number}", messages=tuple(Message("user", text) for text in said)))
        index.embed()
    return home


def test_the_parts_of_the_database_are_together_its_file(filled: Home) -> None:
    with recall.open(embedder=Hashed()) as index:
        room = room_of(index.database, filled.recall)
        size = index.database.value("pragma page_count") * 4096
    assert room.text + room.words + room.vectors + room.other + room.free == size


def test_what_is_told_of_the_parts_is_near_what_a_count_of_all_pages_gives(filled: Home) -> None:
    with recall.open(embedder=Hashed()) as index:
        room = room_of(index.database, filled.recall)
        counted = dict(index.database.rows("select name, pgsize from dbstat where aggregate = true"))
    for told, prefixes in ((room.text, ("messages", "sessions")), (room.words, "lexical"), (room.vectors, "vectors")):
        exact = sum(size for name, size in counted.items() if str(name).startswith(prefixes))
        assert 0.6 * exact < told < 1.6 * exact + 100_000


def test_other_files_of_the_home_are_told_apart(filled: Home) -> None:
    for name, size in (("models/x/model.onnx", 5_000), ("recall.db.damaged-20261130T215500", 3_000), ("logs/a", 200)):
        path = filled.recall / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(size))
    with recall.open(embedder=Hashed()) as index:
        room = room_of(index.database, filled.recall)
    assert (room.models, room.backups) == (5_000, 3_000)
    assert room.rest == 200 + (filled.recall / "fingerprint.key").stat().st_size
    assert filled.run("status", "--json").document["session_recall"]["room"]["models_bytes"] == 5_000
    assert "text" in filled.run("status").text.partition("room ")[2].splitlines()[0]


# Where the home lies

LINUX = """/dev/vda / ext4 rw 0 0
tmpfs /tmp tmpfs rw 0 0
//nas/share /mnt/nas cifs rw 0 0
server:/export /home/ana/far\\040away nfs4 rw 0 0
/dev/vdb /mnt/nas/local ext4 rw 0 0
C:\\134 /mnt/c 9p rw 0 0
"""
MAC = """/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
//ana@nas._smb._tcp.local/home on /Volumes/home (smbfs, nodev, nosuid, mounted by ana)
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ana/.local/share/recall", ""),
        ("/mnt/nas/recall", "cifs"),
        ("/mnt/nas", "cifs"),
        ("/mnt/nasty/recall", ""),
        ("/mnt/nas/local/recall", ""),
        ("/home/ana/far away/recall", "nfs4"),
        ("/mnt/c/Users/ana", "9p"),
        ("/tmp/recall", ""),
    ],
)
def test_a_home_on_a_network_is_told_by_what_is_mounted_above_it(path: str, kind: str) -> None:
    assert file_system(path, linux_mounts(LINUX)) == kind


@pytest.mark.parametrize(("path", "kind"), [("/Volumes/home/recall", "smbfs"), ("/Users/ana/Library", "")])
def test_a_home_on_a_share_is_told_on_a_mac(path: str, kind: str) -> None:
    assert file_system(path, mac_mounts(MAC)) == kind


def test_the_doctor_warns_of_it(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from recall.cli import doctor

    assert doctor.examine(home.recall)["home"].state == "ok"
    monkeypatch.setattr(doctor, "network_file_system", lambda path: "cifs")
    check = doctor.examine(home.recall)["home"]
    assert (check.state, "cifs" in check.found, "RECALL_HOME" in check.remedy) == ("warning", True, True)


def test_the_default_home_is_the_local_folder_of_the_platform(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    from recall.home import home_directory

    monkeypatch.delenv("RECALL_HOME")
    assert home_directory() == Path(platformdirs.user_data_dir("recall", appauthor=False, roaming=False))
    assert network_file_system(home_directory()) == ""
