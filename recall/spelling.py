r"""One directory, several spellings: Windows drives as Git Bash and WSL name them, and letters of another case.

| here | one and the same | another directory |
|---|---|---|
| Windows | `C:\kite`, `c:/kite`, `\\?\C:\kite`, `/c/kite` (Git Bash), `/mnt/c/kite` (WSL), where there is a drive C | |
| WSL | `/mnt/c/kite`, `C:\kite` and its spellings, where that drive is mounted | `/c/kite` |
| Linux, macOS | `C:\kite` and its spellings, which are of another machine | `/c/kite`, `/mnt/c/kite` |
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable
from typing import Literal

System = Literal["windows", "wsl", "posix"]

_DRIVE = re.compile(r"(?:[\\/]{2}\?[\\/])?([A-Za-z]):(?=[\\/])")
_MOUNTED = re.compile(r"/(?:mnt/|cygdrive/)?([A-Za-z])(?=/|$)")


def this_system() -> System:
    """What spells paths here."""
    if os.name == "nt":
        return "windows"
    return "wsl" if "microsoft" in os.uname().release.lower() else "posix"


def spelled_here(path: str, system: System, is_there: Callable[[str], bool] = os.path.isdir) -> str:
    """The path as this system names it; the path itself where it is of this system already, or of no drive here."""
    if system == "windows" and (mounted := _MOUNTED.match(path)):
        drive = f"{mounted[1].upper()}:\\"
        return drive + path[mounted.end() + 1 :].replace("/", "\\") if is_there(drive) else path
    if system == "wsl" and (drive_letter := _DRIVE.match(path)):
        folder = f"/mnt/{drive_letter[1].lower()}"
        return folder + path[drive_letter.end() :].replace("\\", "/") if is_there(folder) else path
    return path


def true_case(
    path: str,
    exists: Callable[[str], bool] = os.path.lexists,
    is_same: Callable[[str, str], bool] = os.path.samefile,
    listing: Callable[[str], list[str]] = os.listdir,
) -> str:
    """An absolute POSIX path with the letters that its folders have on the disk, as far as it exists.

    Where case makes a difference it is the path itself: what was asked for is then what is there.
    """
    head, missing = path, list[str]()
    while len(head) > 1 and not exists(head):
        head, _, name = head.rpartition("/")
        head = head or "/"
        missing.insert(0, name)
    folder, _, name = head.rpartition("/")
    while folder and name.swapcase() == name:  # 風箏 tells nothing
        folder, _, name = folder.rpartition("/")
    probe, other = f"{folder}/{name}", f"{folder}/{name.swapcase()}"
    try:
        if other == probe or not exists(other) or not is_same(probe, other):
            return path
        true = ""
        for part in head.split("/")[1:]:
            names = listing(true or "/")
            alike = (one for one in names if _folded(one) == _folded(part))
            true += "/" + (part if part in names else next(alike, part))
    except OSError:  # a folder that may not be listed
        return path
    return "/".join([true, *missing])


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
