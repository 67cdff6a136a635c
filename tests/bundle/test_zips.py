"""Zips that are equal for equal entries."""

import io
import zipfile

import pytest

from worker.bundle.zips import read_zip, zip_bytes


@pytest.mark.parametrize("stored", [False, True])
def test_order_and_time_change_nothing(stored: bool) -> None:
    """Sorted, dated, and read back as they were."""
    content = zip_bytes({"b": b"2" * 99, "a/c": b"1"}, stored=stored)
    assert content == zip_bytes({"a/c": b"1", "b": b"2" * 99}, stored=stored)
    assert read_zip(content) == {"a/c": b"1", "b": b"2" * 99}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {entry.external_attr >> 16 for entry in archive.infolist()} == {0o100644}
        assert {entry.compress_type == zipfile.ZIP_STORED for entry in archive.infolist()} == {stored}
