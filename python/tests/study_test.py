"""Studies: the file of results, and ``sim sweep``."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import systole

AXES = {"batch": [1, 4], "machine.clock_mhz": [350, 700]}


def study(out: Path) -> systole.Study:
    return systole.sweep({"name": "small", "run": "mnist_cnn", "axes": AXES, "set": {"limit": 8}}, out, workers=1)


def test_a_study_from_a_dictionary(tmp_path: Path) -> None:
    results = study(tmp_path)
    assert results.file == tmp_path / "small.sqlite"
    rows = results.rows()
    assert [(row["batch"], row["machine.clock_mhz"]) for row in rows] == [(1, 350), (1, 700), (4, 350), (4, 700)]
    assert [row["point"] for row in rows] == [1, 2, 3, 4] and len(results) == 4
    assert {row["state"] for row in rows} == {"done"}
    record = systole.run(file="mnist_cnn", limit=8, batch=4, timing_only=True, settings={"machine.clock_mhz": 350})
    assert rows[2]["cycles"] == record.cycles
    assert rows[2]["watts"] == record.energy.watts
    assert list(results) == systole.load_study(results.file).rows()


def test_a_study_in_pandas(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    table = study(tmp_path).to_pandas()
    assert table.index.name == "point"
    assert table.loc[2, "batch"] == 1
    assert table.pivot(index="batch", columns="machine.clock_mhz", values="cycles").shape == (2, 2)


def test_a_study_in_parquet(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    results = study(tmp_path)
    results.to_parquet(tmp_path / "a.parquet")
    assert pandas.read_parquet(tmp_path / "a.parquet").equals(results.to_pandas())


def test_options_of_sweep(tmp_path: Path) -> None:
    results = systole.sweep(
        "mnist_cnn", tmp_path, axis={"batch": "1:16:*4", "machine.clock_mhz": [350, 700]}, set={"limit": 8},
        where=["batch > 1"], metric={"per_mhz": "inferences_per_second / machine.clock_mhz"}, name="named",
    )  # fmt: skip
    assert results.file.name == "named.sqlite"
    assert [row["batch"] for row in results.rows()] == [4, 4, 16, 16]
    assert results.rows()[0]["per_mhz"] == pytest.approx(results.rows()[0]["inferences_per_second"] / 350)


def test_points_that_fail_are_rows(tmp_path: Path) -> None:
    results = systole.sweep("mnist_cnn", tmp_path, axis={"machine.unified_buffer.rows": [2, 98304]}, set={"limit": 8})
    failed, done = results.rows()
    assert failed["state"] == "failed" and failed["cycles"] is None
    assert "unified buffer" in failed["error"]
    assert done["state"] == "done" and done["error"] is None


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(systole.Error, match=r"^a study needs an axis: "):
        systole.sweep("mnist_cnn", tmp_path)
    with pytest.raises(systole.Error, match="axis.*|.*bach"):
        systole.sweep("mnist_cnn", tmp_path, axis={"bach": [1]})
    with pytest.raises(systole.Error, match="there is no such file"):
        systole.load_study(tmp_path / "none.sqlite")
    (tmp_path / "text.sqlite").write_text("text, and long enough not to be an empty file of SQLite" * 20)
    with pytest.raises(systole.Error, match="it is no file of a study's results: "):
        systole.load_study(tmp_path / "text.sqlite")
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE a(b)").connection.commit()
    with pytest.raises(systole.Error, match="it is no file of a study's results: no such table: results"):
        systole.load_study(tmp_path / "other.sqlite")


def test_columns_are_those_of_the_rows(tmp_path: Path) -> None:
    first = systole.sweep("mnist_cnn", tmp_path, axis={"batch": [1], "machine.clock_mhz": [700]}, set={"limit": 4})
    with pytest.warns(systole.SimulatorWarning, match="it had a study of batch, machine.clock_mhz"):
        systole.sweep("mnist_cnn", tmp_path, axis={"batch": range(2, 4)}, set={"limit": 4})
    assert [row["batch"] for row in first.rows()] == [2, 3]
    assert "machine.clock_mhz" not in first.columns
    assert {row["state"] for row in first} == {"done"}
    assert sorted(file.suffix for file in tmp_path.glob("*.sqlite*")) == [".sqlite"]  # nothing is left beside it


def test_lists_of_points_and_numbers_without_values(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    results = systole.sweep("mnist_cnn", tmp_path, axis={"batch": [1, 2, 4]}, set={"limit": 4}, points=[1, 3])
    table = results.to_pandas()
    assert list(table["state"]) == ["done", "pending", "done"]
    assert pandas.api.types.is_float_dtype(table["p99_ms"])


def test_an_interrupted_study_finishes_what_runs(tmp_path: Path) -> None:
    script = (
        "import systole; systole.sweep('mnist_cnn', 'OUT', workers=1, axis={'batch': '1:200:+1'}, set={'limit': 500})"
    ).replace("OUT", str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE)
    file = tmp_path / "mnist_cnn.sqlite"

    def finished() -> int:
        return sum(row["state"] == "done" for row in systole.load_study(file)) if file.exists() else 0

    while process.poll() is None:
        try:
            if finished() >= 2:
                break
        except systole.Error:
            pass  # it is being made
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert b"KeyboardInterrupt" in said
    states = [row["state"] for row in systole.load_study(file)]
    assert states.count("running") == 0 and states.count("done") >= 2
