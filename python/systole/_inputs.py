"""Arrays that go into a run, as files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Mapping

import numpy as np
from numpy.typing import NDArray

from ._errors import Error

#: The keys of a run that name files of arrays.
KEYS = ("input", "labels", "calibration")


class ArrayFiles:
    """Writes arrays as .npy files into a folder, which must outlive the run."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._names: dict[str, str] = {}  # by file

    def named(self, text: str) -> str:
        """A message with the names of arrays in place of their files."""
        for file, name in self._names.items():
            text = text.replace(file, name)
        return text

    def value(self, key: str, value: Any) -> Any:
        """The value of a run's key with files in place of arrays.

        A dictionary gives each input of the network by its name; a list has several files or arrays.
        """
        if isinstance(value, np.ndarray):
            return self._write(key, value)
        if isinstance(value, Mapping):
            return [f"{name}={self._file('', each)}" for name, each in value.items()]
        if key == "labels" and isinstance(value, (list, tuple)) and not any(isinstance(each, str) for each in value):
            return self._write(key, np.asarray(value))
        if isinstance(value, (list, tuple)):
            return [self._file(key, each) for each in value]
        return self._file(key, value)

    def _file(self, key: str, value: Any) -> str:
        if isinstance(value, (np.ndarray, np.generic)):
            return self._write(key, np.asarray(value))
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        raise Error(f"{key or 'input'}: {type(value).__name__} is neither a path nor a NumPy array")

    def _write(self, key: str, array: NDArray[Any]) -> str:
        file = self._folder / f"array_{len(self._names)}.npy"
        if array.dtype == np.bool_:
            array = array.astype(np.uint8)
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        try:
            np.save(file, array, allow_pickle=False)
        except ValueError as error:
            raise Error(f"{key}: the array cannot be written: {error}") from None
        self._names[os.fspath(file)] = f"{key} (array)" if key else "array"
        return os.fspath(file)
