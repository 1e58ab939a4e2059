"""Studies: what ``sim sweep`` runs and keeps. docs/studies.md describes the file of results."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Union

from ._binary import find_simulator
from ._errors import Error
from ._worker import to_json

if TYPE_CHECKING:
    import pandas

FilePath = Union[str, "os.PathLike[str]"]
_MESSAGE = "sim: "
_SOME_FAILED = 1  # exit code of a study with points that failed


class Study:
    """The results of a study: a line for each point, with a column for each key that varies and each metric.

    It reads the file each time, so that a study that still runs shows what is there.
    """

    def __init__(self, file: FilePath) -> None:
        self.file = Path(file)
        with self._cursor() as cursor:
            cursor.execute("SELECT * FROM results LIMIT 0")
            self.columns: list[str] = [column[0] for column in cursor.description]

    def rows(self) -> list[dict[str, Any]]:
        """All points, by number. A metric that a point does not have is ``None``."""
        with self._cursor() as cursor:
            return [dict(zip(self.columns, row)) for row in cursor.execute("SELECT * FROM results")]

    def to_pandas(self) -> pandas.DataFrame:
        """All points as a pandas DataFrame, whose index is the point's number."""
        import pandas

        return pandas.DataFrame(self.rows(), columns=self.columns).set_index("point")

    def to_parquet(self, file: FilePath) -> None:
        """Writes all points as a Parquet file; pandas needs pyarrow or fastparquet for it."""
        self.to_pandas().to_parquet(os.fspath(file))

    def __len__(self) -> int:
        with self._cursor() as cursor:
            return int(cursor.execute("SELECT COUNT(*) FROM results").fetchone()[0])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows())

    def __repr__(self) -> str:
        return f"<systole.Study {self.file}: {len(self)} points>"

    def _cursor(self) -> _Reading:
        return _Reading(self.file)


class _Reading:
    """A connection for one reading, so that no lock stays."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __enter__(self) -> sqlite3.Cursor:
        if not self._file.is_file():
            raise Error(f"{self._file}: there is no such file")
        try:
            self._connection = sqlite3.connect(f"{self._file.resolve().as_uri()}?mode=ro", uri=True)
            return self._connection.cursor()
        except sqlite3.Error as error:
            raise Error(f"{self._file}: it cannot be read: {error}") from None

    def __exit__(self, kind: Any, error: Optional[BaseException], trace: Any) -> None:
        self._connection.close()
        if isinstance(error, sqlite3.Error):
            raise Error(f"{self._file}: it is no file of a study's results: {error}") from None


def load_study(file: FilePath) -> Study:
    """The results in a file NAME.sqlite that ``sim sweep`` wrote. Raises Error if it is no such file."""
    return Study(file)


def _text(value: Any) -> str:
    """A value as the command line takes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, (list, tuple)):
        return ",".join(_text(each) for each in value)
    return to_json(value)


def _option(name: str, value: Any) -> list[str]:
    """An option of ``sim sweep``: True is a flag, a dictionary has KEY=VALUE pairs, a list repeats the option."""
    flag = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    if isinstance(value, Mapping):
        return [part for key, each in value.items() for part in (flag, f"{key}={_text(each)}")]
    if isinstance(value, (list, tuple)):
        return [part for each in value for part in (flag, _text(each))]
    return [flag, _text(value)]


def sweep(
    study: Union[FilePath, Mapping[str, Any]],
    out: FilePath,
    workers: Optional[int] = None,
    **options: Any,
) -> Study:
    """Runs a study into the folder ``out``, or goes on with it, and returns its results.

    ``study`` is a name in configs/studies, a file, a dictionary with the keys of a study file, or a run to vary:
    ``sweep("mnist_cnn", "results", axis={"batch": "1:64:*4", "machine.clock_mhz": [700, 1050]})``. Options are those
    of ``sim sweep``, with _ for -: ``set={"limit": 100}``, ``retry_failed=True``. Points that failed are rows with
    their error. Raises Error if the study cannot be run.
    """
    with tempfile.TemporaryDirectory(prefix="systole-") as folder:
        if isinstance(study, Mapping):
            file = Path(folder) / "study.json"
            file.write_text(to_json({"schema": "sim.study/1", **study}), encoding="utf-8")
            study = file
        command = [find_simulator(), "sweep", os.fspath(study), "--out", os.fspath(out), "--json"]
        for name, value in {**options, "workers": workers}.items():
            command += _option(name, value)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode not in (0, _SOME_FAILED) or not done.stdout:
        lines = done.stderr.decode(errors="replace").splitlines()
        said = [line[len(_MESSAGE) :] for line in lines if line.startswith(_MESSAGE)]
        raise Error(said[-1] if said else f"sim sweep ended with code {done.returncode}")
    name = json.loads(done.stdout)["study"]
    return load_study(Path(out) / f"{name}.sqlite")
