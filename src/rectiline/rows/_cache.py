"""Writes decoded rows to raw files that are memory-mapped later; encoded sources use it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cache", "CacheWriter", "checked_cache"]

_DESCRIPTION = "rows.json"


def checked_cache(cache: Any) -> Any:
    """Return the option `cache` if it is "auto", False or a folder."""
    if cache is False or (isinstance(cache, (str, os.PathLike)) and str(cache)):
        return cache
    raise ValueError(f'cache={cache!r}: must be "auto", a folder, or False.')


class Cache:
    """A folder of decoded arrays: a temporary one, or one that the user named and that stays.

    The description of the arrays is written last and in one step, so that files which a killed
    process left half-written are never read.
    """

    def __init__(self, cache: str | os.PathLike[str], key: Any) -> None:
        self._key = json.loads(json.dumps(key))
        if cache == "auto":
            self.folder = Path(tempfile.mkdtemp(prefix="rectiline-rows-"))
            self._finalizer = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        else:
            self.folder = Path(cache)
            self.folder.mkdir(parents=True, exist_ok=True)

    def has_room(self, size: float) -> bool:
        """Whether the folder's disk has twice as many bytes free."""
        return shutil.disk_usage(self.folder).free > 2 * size

    def stored(self) -> tuple[dict[str, NDArray[Any]], Any] | None:
        """Return the arrays and facts that were written for the same key, or None."""
        try:
            description = json.loads((self.folder / _DESCRIPTION).read_text())
        except (OSError, ValueError):
            return None
        if description.get("key") != self._key:
            return None
        arrays = {}
        for name, (file, dtype, count) in description["arrays"].items():
            path = self.folder / file
            if not path.exists() or path.stat().st_size != count * np.dtype(dtype).itemsize:
                return None
            empty = np.zeros(0, dtype=dtype)  # a file of no bytes cannot be mapped
            arrays[name] = np.asarray(np.memmap(path, dtype, "r")) if count else empty
        return arrays, description["facts"]

    def describe(self, arrays: dict[str, Any], facts: Any) -> None:
        """Write what the files hold."""
        text = json.dumps({"key": self._key, "arrays": arrays, "facts": facts})
        draft = self.folder / f"{_DESCRIPTION}.{os.getpid()}"
        draft.write_text(text)
        os.replace(draft, self.folder / _DESCRIPTION)


class CacheWriter:
    """Appends arrays to the files of a cache; nothing is kept unless `finish` is called."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._files: dict[str, BinaryIO] = {}
        self._types: dict[str, np.dtype[Any]] = {}
        self._names: dict[str, str] = {}

    def append(self, name: str, values: NDArray[Any]) -> None:
        """Write values behind those already written under this name."""
        if name not in self._files:
            handle, path = tempfile.mkstemp(
                prefix=f"{name}-", suffix=".bin", dir=self._cache.folder
            )
            self._files[name], self._names[name] = os.fdopen(handle, "wb"), Path(path).name
            self._types[name] = values.dtype
        values = np.ascontiguousarray(values, dtype=self._types[name])
        values.tofile(self._files[name])

    def finish(self, facts: Any) -> None:
        """Close the files and describe them."""
        arrays = {}
        for name, file in self._files.items():
            count = file.tell() // self._types[name].itemsize
            arrays[name] = (self._names[name], self._types[name].str, count)
            file.close()
        self._cache.describe(arrays, facts)
        self._files = {}

    def discard(self) -> None:
        """Remove what was written, if it was not finished."""
        for name, file in self._files.items():
            file.close()
            (self._cache.folder / self._names[name]).unlink(missing_ok=True)
        self._files = {}
