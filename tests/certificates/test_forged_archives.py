"""Archives that unpack to gigabytes, hold a member twice or lie about sizes are refused unread."""

from __future__ import annotations

import io
import json
import re
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rectiline as rl
from certificates.forge import (
    X,
    Y,
    claim,
    honest,
)
from certificates.make_vectors import nested, write
from rectiline import verify


def patched(path: Path, name: str, **fields: int) -> None:
    """Change what the directory of an archive says about a member."""
    places = {"crc": 16, "packed": 20, "full": 24}
    content = bytearray(path.read_bytes())
    entry = content.rindex(name.encode()) - 46
    for field, value in fields.items():
        at = entry + places[field]
        content[at : at + 4] = value.to_bytes(4, "little")
    path.write_bytes(content)


@pytest.mark.parametrize("lie", ["packed", "full"])
def test_sizes_of_members_that_are_no_sizes(tmp_path: Path, lie: str) -> None:
    """A directory may say that a member is large in the file, or that it unpacks to a few bytes."""
    path, zeros = tmp_path / "bomb.rlcert", bytes(2**24)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        with archive.open("weight.npy", "w") as member:
            for _ in range(20):
                member.write(zeros)
    if lie == "packed":
        patched(path, "weight.npy", packed=2**31)
    else:
        patched(path, "weight.npy", full=100, crc=zlib.crc32(bytes(100)))
    tracemalloc.start()
    with pytest.raises(verify.Refused, match="unpacks to" if lie == "packed" else None):
        verify.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_every_problem_has_arrays_of_its_own(tmp_path: Path) -> None:
    """A few letters a problem must not take the memory of all its coefficients."""
    header, arrays = nested(*honest(tmp_path, fit_intercept=False))
    header["problems"] = header["problems"] * 2**10
    write(tmp_path / "many.rlcert", header, arrays)
    with pytest.raises(verify.Refused, match="a problem has no arrays"):
        verify.read(tmp_path / "many.rlcert")


def test_columns_of_no_feature_take_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Levels may have columns of their own: rows are made so wide a few at a time."""
    header, arrays = honest(tmp_path, fit_intercept=False, penalty=rl.penalties.Ridge(1.0))
    d = 2**9
    for name in ("coef", "split_coef", "lower", "upper", "rho", "l1", "strengths", "groups"):
        arrays[name] = np.append(arrays[name], np.full(d - 2, arrays[name][0]))
    arrays |= {"A": np.zeros((0, d)), "E": np.zeros((0, d))}
    arrays["coef"][2:] = 0.0
    claim(header, float.fromhex(header["claim"]["objective"]), 1e-6)
    write(tmp_path / "wide.rlcert", header, arrays)
    monkeypatch.setattr(verify, "CHUNK", 2**12)
    design, sizes = verify.Checker.design, []

    def noted(self: Any, rows: Any, k: int) -> Any:
        sizes.append(design(self, rows, k).size)
        return design(self, rows, k)

    monkeypatch.setattr(verify.Checker, "design", noted)
    assert verify.check(tmp_path / "wide.rlcert", [(X, Y)]) is not None
    assert max(sizes) <= 2**12 < sum(sizes)


def test_names_of_members_print_no_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "false.rlcert"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("a\nThe claim holds: as good as proved.npy", "no array")
    assert verify.main([str(path)]) == 1
    assert "The claim holds" not in capsys.readouterr().out


def test_members_have_one_name(tmp_path: Path) -> None:
    header, arrays = honest(tmp_path)
    path = tmp_path / "twice.rlcert"
    write(path, header, arrays)
    buffer = io.BytesIO()
    np.save(buffer, arrays["coef"] + 1.0)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("0/coef", buffer.getvalue())  # instead of 0/coef.npy, or beside it
    with pytest.raises(verify.Refused, match="a member is no array"):
        verify.check(path, [(X, Y)])


@pytest.mark.parametrize("place", [30, 32])  # lengths of the extra field and of the comment
def test_an_entry_inside_the_field_of_another_is_not_overlooked(tmp_path: Path, place: int) -> None:
    path = tmp_path / "hidden.rlcert"
    write(path, *honest(tmp_path))
    content = bytearray(path.read_bytes())
    *_, before, last = [found.start() for found in re.finditer(b"PK\1\2", content)]
    struct.pack_into("<H", content, before + place, content.index(b"PK\5\6") - last)
    path.write_bytes(content)
    with pytest.raises(verify.Refused, match=r"a field of its own|not a certificate file"):
        verify.read(path)


def test_files_that_unpack_to_gigabytes_are_refused_unread(tmp_path: Path) -> None:
    header, arrays = honest(tmp_path)
    path = tmp_path / "bomb.rlcert"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(nested(header, arrays)[0]))
        with archive.open("0/weight.npy", "w", force_zip64=True) as member:
            for _ in range(20):
                member.write(bytes(2**24))
    tracemalloc.start()
    with pytest.raises(verify.Refused, match="unpacks to"):
        verify.check(path, [(X, Y)])
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_an_array_that_declares_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    header, arrays = honest(tmp_path)
    path = tmp_path / "short.rlcert"
    write(path, header, arrays)
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": (2**40,)}
    )
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    parts["0/coef.npy"] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    with pytest.raises(verify.Refused, match=r"coef.npy is cut off"):
        verify.check(path, [(X, Y)])
