"""Studies: what ``sim sweep`` runs and keeps. docs/studies.md describes the file of results."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Union

import numpy as np

from ._binary import find_simulator
from ._command import run_command
from ._errors import Error, SimulatorWarning
from ._progress import ProgressLine
from ._worker import to_json

if TYPE_CHECKING:
    import pandas

FilePath = Union[str, "os.PathLike[str]"]
_SOME_FAILED = 1  # exit code of a study with points that failed


class Study:
    """The results of a study: a line for each point, with a column for each key that varies and each metric.

    It reads the file each time, so that a study that still runs shows what is there.
    """

    def __init__(self, file: FilePath) -> None:
        self.file = Path(file)
        self.columns  # raises Error if it is no such file

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        with self._cursor() as cursor:
            return _columns(cursor.execute("SELECT * FROM results LIMIT 0"))

    def rows(self) -> list[dict[str, Any]]:
        """All points, by number. A metric that a point does not have is ``None``."""
        with self._cursor() as cursor:
            rows = cursor.execute("SELECT * FROM results")
            columns = _columns(rows)
            return [dict(zip(columns, row)) for row in rows]

    def to_pandas(self) -> pandas.DataFrame:
        """All points as a pandas DataFrame, whose index is the point's number."""
        import pandas

        with self._cursor() as cursor:
            rows = cursor.execute("SELECT * FROM results")
            frame = pandas.DataFrame(rows.fetchall(), columns=_columns(rows)).set_index("point")
        for column in frame.columns:  # without any number, pandas knows no type
            if column != "error" and frame[column].isna().all():
                frame[column] = frame[column].astype(float)
        return frame

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


def _columns(cursor: sqlite3.Cursor) -> list[str]:
    return [column[0] for column in cursor.description]


class _Reading:
    """A connection for one reading, so that no lock stays.

    It may write, so that its end removes the files that SQLite keeps beside an open one; in a folder that cannot be
    written, the file is read as it is.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def __enter__(self) -> sqlite3.Cursor:
        if not self._file.is_file():
            raise Error(f"{self._file}: there is no such file")
        folder = self._file.resolve().parent
        mode = "mode=rw" if os.access(folder, os.W_OK) and os.access(self._file, os.W_OK) else "immutable=1"
        try:
            self._connection = sqlite3.connect(f"{self._file.resolve().as_uri()}?{mode}", uri=True)
            self._connection.execute("PRAGMA query_only = ON")
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


#: Options that take several values in one word.
_LISTS = ("points", "show", "pivot", "pareto")


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, range, np.ndarray))


def _text(value: Any) -> str:
    """A value as the command line takes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if _is_list(value):
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
    if _is_list(value) and name not in _LISTS:
        return [part for each in value for part in (flag, _text(each))]
    return [flag, _text(value)]


def _show(file: Optional[Path], line: ProgressLine) -> None:
    """How far the study is of which this is the file of results."""
    if file is None or not file.is_file():
        return
    try:
        with _Reading(file) as cursor:
            states = cursor.execute("SELECT state, COUNT(*) FROM points JOIN runs USING (key) GROUP BY state")
            counts: dict[str, int] = dict(states)
    except (Error, sqlite3.Error):
        return  # it is being made
    failed = counts.get("failed", 0)
    line.set_total(sum(counts.values()))
    line.show(counts.get("done", 0) + failed, failed)


def _name_of(study: Union[FilePath, Mapping[str, Any]], options: Mapping[str, Any]) -> Optional[str]:
    """The name of the study's file of results, as ``sim sweep`` gives it; absent where that is not sure."""
    if options.get("name"):
        return str(options["name"])
    if isinstance(study, Mapping):
        return str(study.get("name") or "study")
    name = os.fspath(study)
    return Path(name).stem if not name.endswith(".json") else None


def sweep(
    study: Union[FilePath, Mapping[str, Any]],
    out: FilePath,
    workers: Optional[int] = None,
    progress: bool = True,
    **options: Any,
) -> Study:
    """Runs a study into the folder ``out``, or goes on with it, and returns its results.

    ``study`` is a name in configs/studies, a file, a dictionary with the keys of a study file, or a run to vary:
    ``sweep("mnist_cnn", "results", axis={"batch": "1:64:*4", "machine.clock_mhz": [700, 1050]})``. Options are those
    of ``sim sweep``, with _ for -: ``set={"limit": 100}``, ``points=[1, 2]``, ``retry_failed=True``. Points that
    failed are rows with their error. Ctrl-C finishes the points that run. Raises Error if the study cannot be run.
    """
    with tempfile.TemporaryDirectory(prefix="systole-") as folder:
        name = _name_of(study, options)
        if isinstance(study, Mapping):
            file = Path(folder) / "study.json"
            file.write_text(to_json({"schema": "sim.study/1", **study}), encoding="utf-8")
            study = file
        command = [find_simulator(), "sweep", os.fspath(study), "--out", os.fspath(out), "--json"]
        for option, value in {**options, "workers": workers}.items():
            command += _option(option, value)
        results = Path(out) / f"{name}.sqlite" if name else None
        line = ProgressLine(0, progress, "points")
        ended = run_command(command, line, lambda: _show(results, line))
    for warning in ended.warnings:
        warnings.warn(warning, SimulatorWarning, stacklevel=2)
    if ended.code not in (0, _SOME_FAILED) or not ended.printed:
        raise ended.error("sim sweep")
    return load_study(Path(out) / f"{json.loads(ended.printed)['study']}.sqlite")
