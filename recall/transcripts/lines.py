"""The lines of a transcript, plain or compressed, from a byte offset on."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import zstandard

from recall.errors import TranscriptError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LINE_LIMIT = 32 * 1024 * 1024
"""Longest line that is read, in bytes. A longer one is passed over: it holds files, not words. One emoji in it makes
four bytes in memory of each of its characters, and all of taking in is to need less than 400 MB."""

READ_SIZE = 1 << 17

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class RawLine:
    """A line as it stands in the file, and where it ends."""

    text: bytes
    """Without its line ending; empty for a line over LINE_LIMIT."""
    end: int
    """Offset of the next line, in bytes of the decompressed stream."""
    complete: bool
    """False for a last line without a line ending: it may still be being written."""
    too_long: bool = False


def open_stream(path: Path) -> BinaryIO:
    """The bytes of a transcript, decompressed where its name ends in .zst."""
    file = path.open("rb")
    return cast(BinaryIO, io.BufferedReader(_Decompressed(file))) if path.suffix == ".zst" else file


def read_head(path: Path, size: int) -> bytes:
    """The first `size` bytes of the decompressed stream, without a byte order mark.

    Raises TranscriptError where the file is compressed and damaged.
    """
    try:
        with open_stream(path) as stream:
            return stream.read(size).removeprefix(BOM)
    except zstandard.ZstdError as error:
        raise TranscriptError(f"{path} is not a valid zstd file ({error}); decompress it, or take it away") from error


def read_lines(path: Path, offset: int = 0) -> Iterator[RawLine]:
    """The lines from `offset` on. Raises TranscriptError where a compressed file is damaged or cut short."""
    try:
        with open_stream(path) as stream:
            _skip(stream, offset)
            while raw := stream.readline(LINE_LIMIT):
                offset += len(raw)
                complete = raw.endswith(b"\n")
                if not complete and len(raw) == LINE_LIMIT:
                    while rest := stream.readline(LINE_LIMIT):
                        offset += len(rest)
                        if rest.endswith(b"\n"):
                            complete = True
                            break
                    yield RawLine(b"", offset, complete, too_long=True)
                    continue
                if offset == len(raw):
                    raw = raw.removeprefix(BOM)
                raw = raw.rstrip(b"\r\n")  # under the same name, so that a long line is not there twice
                yield RawLine(raw, offset, complete)
    except zstandard.ZstdError as error:
        raise TranscriptError(f"{path} is not a valid zstd file ({error}); decompress it, or take it away") from error


class _Decompressed(io.RawIOBase):
    """The decompressed bytes of a zstd file of one or more frames. zstandard's own reader takes a file that is cut
    short for a whole one; this raises ZstdError at its end.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = zstandard.ZstdDecompressor().decompressobj()
        self._inside_frame = False
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._ready:
            compressed = self._decoder.unused_data if self._decoder.eof else b""
            if self._decoder.eof:
                self._decoder = zstandard.ZstdDecompressor().decompressobj()
                self._inside_frame = False
            compressed = compressed or self._file.read(READ_SIZE)
            if not compressed:
                if self._inside_frame:
                    raise zstandard.ZstdError("it ends in the middle of a frame")
                return 0
            self._ready = self._decoder.decompress(compressed)
            self._inside_frame = not self._decoder.eof
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._ready))
        view[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()


def _skip(stream: BinaryIO, offset: int) -> None:
    if not offset:
        return
    if isinstance(stream, io.BufferedReader) and isinstance(stream.raw, io.FileIO):
        stream.seek(offset)
        return
    while offset > 0 and (skipped := stream.read(min(offset, 1 << 20))):
        offset -= len(skipped)
