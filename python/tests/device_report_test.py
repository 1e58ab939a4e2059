"""What the device of JAX reports of calls, and what builds its library: without JAX."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from systole._pjrt_report import Function, write
from systole._record import Record


def record(cycles: int) -> Record:
    return Record({"model": "step", "machine": "m", "cycles": cycles, "seconds": cycles / 100})


def steps_of(calls: int) -> Record:
    """The first call takes 50 cycles, each further one 30."""
    return record(50 + 30 * (calls - 1))


def test_calls_with_state_are_timed_in_sequences(tmp_path: Path) -> None:
    runs: list[int] = []

    def run(calls: int) -> Record:
        runs.append(calls)
        return steps_of(calls)

    function = Function("step", "m", 1, 0.5, run)
    # Arrays 1 and 2 are state; a call leaves two arrays for the next, which may take them in another order.
    function.add(record(60), [1, 2], [10, 11, 12])
    for call in range(1, 6):
        function.add(record(60), [10 * call + 1, 10 * call], [10 * call + 10, 10 * call + 11, 10 * call + 12])
    function.add(record(60), [1, 2], [100, 101])  # begins again
    function.add(record(60), [100, 7], [200, 201])  # an array of its state comes from elsewhere
    function.add(record(60), [200, 201], [300, 301])
    entry = function.entry("folder")
    assert entry["calls"] == [{"cycles": 60, "seconds": 0.6}] * 9
    long, short = entry["with_state_kept"]
    assert (long["first_call"], long["calls"], long["cycles"], long["cycles_a_call"]) == (0, 6, 50 + 5 * 30, 30)
    assert long["seconds"] == pytest.approx(2.0)
    assert long["seconds_a_call"] == pytest.approx(0.3)
    assert (short["first_call"], short["calls"], short["cycles"], short["cycles_a_call"]) == (7, 2, 80, 30)
    assert entry["cycles"] == long["cycles"] + 60 + short["cycles"]
    assert sorted(runs) == [1, 2, 3, 4]  # no more calls than are needed are simulated
    write(tmp_path, "m", 1, [function, Function("unused", "m", 1, 0.1, run)])
    assert json.loads((tmp_path / "functions.json").read_text())["functions"] == [function.entry("step")]


def test_without_state_calls_are_what_they_are(tmp_path: Path) -> None:
    functions = []
    for cycles in (7, 9):
        functions.append(Function("step", "m", 8, 0.5, steps_of))
        for _ in range(3):
            functions[-1].add(record(cycles), [], [1])
    write(tmp_path / "new", "m", 8, functions)
    report = json.loads((tmp_path / "new" / "functions.json").read_text())
    assert (report["schema"], report["machine"], report["cores"]) == ("systole.functions/1", "m", 8)
    assert [each["folder"] for each in report["functions"]] == ["step", "step_2"]
    assert [each["cycles"] for each in report["functions"]] == [21, 27]
    assert [each["with_state_kept"] for each in report["functions"]] == [[], []]
    for each in report["functions"]:
        first = json.loads((tmp_path / "new" / each["folder"] / "report.json").read_text())
        assert first["cycles"] == each["calls"][0]["cycles"]


@pytest.mark.parametrize(
    ("arguments", "compiler", "message"),
    [
        ([], "no_such_compiler", "there is no compiler no_such_compiler; CXX names another"),
        (["--header", "pyproject.toml"], "true", "pyproject.toml is not version 0.90 of PJRT's interface"),
        (["--header", "no_such_file"], "true", "No such file or directory: 'no_such_file'"),
    ],
)
def test_what_a_build_lacks_is_said(tmp_path: Path, arguments: list[str], compiler: str, message: str) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": os.fspath(tmp_path), "CXX": compiler}
    command = [sys.executable, "-m", "systole.build_plugin", *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith("systole.build_plugin: ")
    assert message in ended.stderr
    assert not list(tmp_path.glob("**/*.so"))
