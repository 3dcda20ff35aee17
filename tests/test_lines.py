from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall.errors import TranscriptError
from recall.transcripts import lines
from recall.transcripts.lines import RawLine, read_head, read_lines

Write = Callable[[bytes], Path]


@pytest.fixture(params=["plain", "compressed"])
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Write:
    """Writes a transcript, plain or compressed, and gives its path."""

    def write_plain(content: bytes) -> Path:
        path = tmp_path / "rollout.jsonl"
        path.write_bytes(content)
        return path

    def write_compressed(content: bytes) -> Path:
        path = tmp_path / "rollout.jsonl.zst"
        path.write_bytes(zstandard.ZstdCompressor().compress(content))
        return path

    return write_plain if request.param == "plain" else write_compressed


def texts(path: Path, offset: int = 0) -> list[bytes]:
    return [line.text for line in read_lines(path, offset)]


def test_each_line_comes_without_its_ending_and_with_the_place_of_the_next(write: Write) -> None:
    assert list(read_lines(write(b"one\ntwo\r\nthree\n"))) == [
        RawLine(b"one", 4, True),
        RawLine(b"two", 9, True),
        RawLine(b"three", 15, True),
    ]


def test_a_last_line_without_an_ending_is_not_complete(write: Write) -> None:
    assert list(read_lines(write(b"one\ntw"))) == [RawLine(b"one", 4, True), RawLine(b"tw", 6, False)]


def test_an_empty_file_has_no_lines(write: Write) -> None:
    assert list(read_lines(write(b""))) == []


def test_empty_lines_are_lines(write: Write) -> None:
    assert texts(write(b"\n\none\n\n")) == [b"", b"", b"one", b""]


def test_only_a_line_feed_ends_a_line(write: Write) -> None:
    assert texts(write("a\u2028b\x0bc\rd\n".encode())) == ["a\u2028b\x0bc\rd".encode()]


@pytest.mark.parametrize("offset", [0, 4, 8, 12])
def test_reading_goes_on_where_a_line_ended(write: Write, offset: int) -> None:
    path = write(b"one\ntwo\nsix\n")
    assert list(read_lines(path, offset)) == [line for line in read_lines(path) if line.end > offset]


def test_an_offset_behind_the_end_has_no_lines(write: Write) -> None:
    assert texts(write(b"one\n"), 400) == []


def test_a_byte_order_mark_is_no_part_of_the_first_line(write: Write) -> None:
    path = write(b"\xef\xbb\xbfone\ntwo\n")
    assert list(read_lines(path)) == [RawLine(b"one", 7, True), RawLine(b"two", 11, True)]
    assert read_head(path, 100) == b"one\ntwo\n"


def test_a_byte_order_mark_inside_a_file_stays(write: Write) -> None:
    path = write(b"one\n\xef\xbb\xbftwo\n")
    assert texts(path) == [b"one", b"\xef\xbb\xbftwo"]
    assert texts(path, 4) == [b"\xef\xbb\xbftwo"]


@pytest.mark.parametrize("length", [20, 21, 39, 40, 41, 400])
def test_a_line_over_the_limit_is_passed_over_and_the_next_one_is_read(
    write: Write, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT", 20)
    found = list(read_lines(write(b"one\n" + b"x" * length + b"\ntwo\n")))
    assert [line.text for line in found] == [b"one", b"", b"two"]
    assert [line.too_long for line in found] == [False, True, False]
    assert [line.end for line in found] == [4, 5 + length, 9 + length]
    assert all(line.complete for line in found)


def test_a_line_that_just_fits_is_read(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT", 20)
    assert texts(write(b"x" * 19 + b"\ntwo\n")) == [b"x" * 19, b"two"]


def test_a_line_over_the_limit_that_is_still_being_written_is_not_complete(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT", 20)
    assert list(read_lines(write(b"x" * 100))) == [RawLine(b"", 100, False, too_long=True)]


def test_a_file_of_several_frames_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(b"".join(zstandard.ZstdCompressor().compress(part) for part in (b"one\nt", b"wo\n", b"six\n")))
    assert texts(path) == [b"one", b"two", b"six"]
    assert texts(path, 4) == [b"two", b"six"]


@pytest.mark.parametrize("content", [b"no zstd at all\n", b"\x28\xb5\x2f\xfd" + b"\xff" * 40])
def test_a_damaged_file_is_named_with_the_remedy(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(content)
    for read in (lambda: list(read_lines(path)), lambda: read_head(path, 100)):
        with pytest.raises(TranscriptError, match="not a valid zstd file") as caught:
            read()
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.99])
def test_a_file_that_was_cut_short_is_not_taken_for_a_whole_one(tmp_path: Path, share: float) -> None:
    content = zstandard.ZstdCompressor().compress(b"".join(b'{"line": %d}\n' % i for i in range(50_000)))
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(TranscriptError, match=r"rollout\.jsonl\.zst"):
        list(read_lines(path))


def test_the_head_is_no_longer_than_asked_for(write: Write) -> None:
    path = write(b"one\ntwo\n")
    assert read_head(path, 3) == b"one"
    assert read_head(path, 300) == b"one\ntwo\n"


PIECES = (b"a", b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf", b"xyz", b"\x00", b"\xff")
CONTENT = st.lists(st.sampled_from(PIECES)).map(b"".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CONTENT)
def test_the_ends_of_the_lines_add_up_to_the_file(write: Write, content: bytes) -> None:
    found = list(read_lines(write(content)))
    assert ([line.end for line in found] or [0])[-1] == len(content)
    assert [line.complete for line in found].count(False) == (1 if content and not content.endswith(b"\n") else 0)
    assert len(found) == content.count(b"\n") + (0 if content.endswith(b"\n") or not content else 1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CONTENT)
def test_stopping_after_any_line_and_going_on_reads_the_same_lines(write: Write, content: bytes) -> None:
    path = write(content)
    found = list(read_lines(path))
    for place, line in enumerate(found):
        assert list(read_lines(path, line.end)) == found[place + 1 :]
