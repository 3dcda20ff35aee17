"""Whether a folder lies on a disk of this machine: SQLite's write-ahead log needs shared memory, which none has over a
network, nor between Windows and WSL."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

REMOTE = re.compile(
    r"(?:cifs|smb\w*|nfs\d*|afpfs|webdav|davfs\w*|9p|drvfs|ncpfs|afs|ceph|glusterfs|lustre|vboxsf|vmhgfs"
    r"|fuse\.(?:sshfs|rclone|s3fs|davfs2?|vmhgfs-fuse|gvfsd-fuse|glusterfs))\Z"
)
_REMOTE_DRIVE = 4
_OCTAL = re.compile(r"\\([0-7]{3})")


def network_file_system(path: Path) -> str:
    """Name of the network file system on which `path` lies; empty where it lies on a local disk or nobody can tell."""
    path = path.expanduser().absolute()
    if os.name == "nt":
        return _on_windows(path)
    return file_system(os.path.realpath(path), _mounts())


def file_system(path: str, mounts: list[tuple[str, str]]) -> str:
    """Name of the remote file system of a path, given (folder, file system) of what is mounted; empty for a local."""
    above = [(folder, kind) for folder, kind in mounts if path == folder or path.startswith(folder.rstrip("/") + "/")]
    # What was mounted last hides what is below it.
    kind = max(enumerate(above), key=lambda one: (len(one[1][0]), one[0]))[1][1] if above else ""
    return kind if REMOTE.match(kind) else ""


def linux_mounts(text: str) -> list[tuple[str, str]]:
    """(folder, file system) of each line of /proc/mounts."""
    parts = [line.split(" ") for line in text.splitlines()]
    return [(_OCTAL.sub(lambda code: chr(int(code[1], 8)), part[1]), part[2]) for part in parts if len(part) > 2]


def mac_mounts(text: str) -> list[tuple[str, str]]:
    """(folder, file system) of each line that `mount` prints on macOS."""
    return re.findall(r"^.+? on (/.*) \((\w+)(?:,|\))", text, re.MULTILINE)


def _mounts() -> list[tuple[str, str]]:
    try:
        if sys.platform == "darwin":
            done = subprocess.run(["/sbin/mount"], capture_output=True, timeout=5, check=True)
            return mac_mounts(done.stdout.decode("utf-8", "replace"))
        return linux_mounts(Path("/proc/mounts").read_text(encoding="utf-8", errors="replace"))
    except (OSError, subprocess.SubprocessError):
        return []


def _on_windows(path: Path) -> str:
    if path.drive.startswith("\\\\"):
        return "a network share"
    if sys.platform == "win32":
        import ctypes

        if ctypes.windll.kernel32.GetDriveTypeW(f"{path.drive}\\") == _REMOTE_DRIVE:
            return "a network drive"
    return ""
