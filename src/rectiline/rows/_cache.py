"""Folders in which sources keep decoded rows, and stamps that show whether a file has changed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

_DESCRIPTION = "rows.json"


@dataclass(frozen=True)
class FileStamp:
    """Size in bytes and time of the last change of a file."""

    path: str
    size: int
    changed_ns: int

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> FileStamp:
        """Return the stamp of a file as it is now."""
        found = os.stat(path)
        return cls(os.fspath(path), found.st_size, found.st_mtime_ns)

    def refuse_changed(self) -> None:
        """Raise if the file is not what it was."""
        if not os.path.exists(self.path):
            raise RuntimeError(f"The file {self.path} is gone; it was there at first.")
        if FileStamp.of(self.path) != self:
            raise RuntimeError(f"The file {self.path} has changed since it was opened.")


def listed_paths(name: str, paths: Any) -> list[Any]:
    """Return one path, or one array, or several of them, as a list."""
    is_one = isinstance(paths, (str, os.PathLike, np.ndarray))
    listed = [paths] if is_one else list(paths)
    if not listed:
        raise ValueError(f"{name}: no files were given.")
    return listed


def checked_cache(cache: Any) -> Any:
    """Return the option `cache` if it is "auto", False or a folder."""
    if cache is False or (isinstance(cache, (str, os.PathLike)) and str(cache)):
        return cache
    raise ValueError(f'cache={cache!r}: must be "auto", a folder, or False.')


class Cache:
    """A folder of decoded rows: a temporary one, or one that the user named and that stays.

    The description of its files is written last and in one step, so that files which a killed
    process left half-written are never read.
    """

    def __init__(
        self, cache: str | os.PathLike[str], key: list[Any], stamps: Sequence[FileStamp] = ()
    ) -> None:
        self._key = json.loads(json.dumps([key, [astuple(stamp) for stamp in stamps]]))
        if cache == "auto":
            self.folder = Path(tempfile.mkdtemp(prefix="rectiline-rows-"))
            self._finalizer = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        else:
            self.folder = Path(cache)
            self.folder.mkdir(parents=True, exist_ok=True)

    def has_room(self, size: float) -> bool:
        """Whether the folder's disk has twice as many bytes free."""
        return shutil.disk_usage(self.folder).free > 2 * size

    def stored(self) -> tuple[list[str], Any] | None:
        """Return the paths of the files and the facts written for the same key, or None."""
        try:
            description = json.loads((self.folder / _DESCRIPTION).read_text())
        except (OSError, ValueError):
            return None
        if description.get("key") != self._key:
            return None
        paths = []
        for name, size in description["files"]:
            path = self.folder / name
            if not path.exists() or path.stat().st_size != size:
                return None
            paths.append(str(path))
        return paths, description["facts"]

    def describe(self, names: list[str], facts: Any) -> None:
        """Write which files of the folder hold the rows, in their order."""
        files = [(name, (self.folder / name).stat().st_size) for name in names]
        text = json.dumps({"key": self._key, "files": files, "facts": facts})
        draft = self.folder / f"{_DESCRIPTION}.{os.getpid()}"
        draft.write_text(text)
        os.replace(draft, self.folder / _DESCRIPTION)
