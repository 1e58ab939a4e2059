"""Runs and their records, against what ``sim run`` prints."""

from __future__ import annotations

import gzip
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import systole

IMAGES = "models/mnist_cnn/digits-images.idx3-ubyte.gz"
LABELS = "models/mnist_cnn/digits-labels.idx1-ubyte.gz"
TIMED = {"machine": "tpu_v1", "model": "mnist_cnn", "timing_only": True}


def report_of(*arguments: str) -> Any:
    done = subprocess.run(
        [systole.find_simulator(), "run", *arguments, "--json"], capture_output=True, check=True, text=True
    )
    return json.loads(done.stdout)


def digits(count: int) -> np.ndarray:
    pixels = np.frombuffer(gzip.open(IMAGES).read(), np.uint8, offset=16)
    return pixels.reshape(-1, 28, 28, 1)[:count]


def digit_labels(count: int) -> np.ndarray:
    return np.frombuffer(gzip.open(LABELS).read(), np.uint8, offset=8)[:count]


def test_a_record_is_the_report_of_sim_run() -> None:
    record = systole.run(file="mnist_cnn", limit=40, settings={"machine.clock_mhz": 900})
    expected = report_of("mnist_cnn", "--limit", "40", "--set", "machine.clock_mhz=900")
    for each in (record, expected):
        each.pop("simulator")
    assert record.configuration["run"].pop("outputs") != ""  # the package's own folder
    expected["configuration"]["run"].pop("outputs")
    assert dict(record) == expected
    assert record.accuracy == 1.0
    assert record["energy"]["joules"] == record.energy.joules == expected["energy"]["joules"]
    assert record.metric("energy.joules") == expected["energy"]["joules"]
    assert record.metric("layers.conv2d.cycles") == record.metric("layers.0.cycles") == record.layers[0].cycles
    with pytest.raises(systole.Error, match=r"metric layers.conv9.cycles: the report has no conv9 there"):
        record.metric("layers.conv9.cycles")
    with pytest.raises(AttributeError, match="no cycels here"):
        record.cycels  # noqa: B018


def test_arrays_go_in_and_come_out() -> None:
    images, labels = digits(30), digit_labels(30)
    record = systole.run("tpu_v1", "mnist_cnn", images, labels=labels, batch=16)
    assert record.inferences == 30
    assert record.accuracy == 1.0
    assert record.predictions.tolist() == labels.tolist()
    (name,) = record.outputs
    scores = record.outputs[name]
    assert scores.shape == (30, 10)
    assert scores.dtype == np.float32
    assert scores.argmax(axis=1).tolist() == labels.tolist()
    from_file = systole.run("tpu_v1", "mnist_cnn", IMAGES, limit=30, batch=16)
    assert np.array_equal(from_file.outputs[name], scores)
    assert from_file.cycles == record.cycles
    # Other images give other answers: what goes in is what was given.
    turned = systole.run("tpu_v1", "mnist_cnn", images[::-1], calibration=images, batch=16)
    assert turned.predictions.tolist() == labels[::-1].tolist()


def test_eight_cores_give_the_bits_of_one() -> None:
    images = digits(27)  # the last batch is not full
    one = systole.run("tpu_v2_1core", "mnist_cnn", images, batch=2)
    eight = systole.run("tpu_v2_8", "mnist_cnn", images, batch=16)
    (name,) = one.outputs
    assert np.array_equal(eight.outputs[name].view(np.uint32), one.outputs[name].view(np.uint32))
    assert eight.cores == 8
    assert sorted(core for part in eight.parts for core in part.names if "core" in core) == [
        f"chip{chip}.core{core}" for chip in range(4) for core in range(2)
    ]
    with pytest.raises(systole.Error, match="multiple of 8"):
        systole.run("tpu_v2_8", "mnist_cnn", images, batch=12)


def test_arrays_by_the_names_of_inputs_and_in_lists() -> None:
    graph_input = systole.run("tpu_v1", "mnist_cnn", IMAGES, limit=4, batch=4)
    in_list = systole.run("tpu_v1", "mnist_cnn", [digits(2), digits(4)[2:]], batch=4)
    assert in_list.predictions.tolist() == graph_input.predictions.tolist()
    with pytest.raises(systole.Error, match="nothing"):
        systole.run("tpu_v1", "mnist_cnn", {"nothing": digits(4)}, batch=4)
    name = _input_name()
    by_name = systole.run("tpu_v1", "mnist_cnn", {name: digits(4)}, batch=4)
    assert by_name.predictions.tolist() == graph_input.predictions.tolist()


def test_networks_of_arrays_take_and_give_every_format(tmp_path: Path) -> None:
    graph = tmp_path / "net.txt"
    graph.write_text(
        'graph "net"\ninputs %0, %1, %2\noutputs %3, %4, %5\n'
        '%0 float32 1x2x3 "state[\'w\']"\n%1 int32 1x3 "mask" file bool\n%2 int32 1 "step" file uint32\n'
        '%3 float32 1x2x3 "state[\'w\']"\n%4 int32 1x3 "mask" file bool\n%5 int32 1 "step" file uint32\n'
        '%3 = word_chain(%0) "w" {steps ["negate 0"]}\n'
        '%4 = word_chain(%1) "m" {steps ["constant 0x1", "xor 0 1"]}\n'
        '%5 = word_chain(%2) "s" {steps ["constant 0x1", "add_int 0 1"]}\n'
    )
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    mask = np.array([True, False, True])
    by_name = {"state['w']": weights, "mask": mask, "step": np.uint32(2**32 - 2)}
    by_position = {0: weights.astype(np.float64), 1: mask, 2: np.array(2**32 - 2)}
    # ml_dtypes.bfloat16 is bytes without a type for NumPy itself.
    brain = (weights.view(np.uint32) >> 16).astype(np.uint16).view("V2")
    with_bfloat16 = {**by_name, "state['w']": brain}
    for given in (by_name, by_position, with_bfloat16):
        record = systole.run("tpu_v2_1core", graph, given)
        assert list(record.outputs) == ["state['w']", "mask", "step"]
        assert np.array_equal(record.outputs["state['w']"], -weights)
        assert record.outputs["state['w']"].dtype == np.float32
        assert record.outputs["mask"].tolist() == [False, True, False]
        assert record.outputs["mask"].dtype == np.bool_
        assert record.outputs["step"].shape == ()
        assert record.outputs["step"] == np.uint32(2**32 - 1)
        assert record.stored_outputs == {}
        assert record.predictions.size == 0
    with pytest.raises(systole.Error, match=r"^array: element \(1,\) is 2; input \"mask\" takes bool"):
        systole.run("tpu_v2_1core", graph, {**by_name, "mask": np.array([0, 2, 1])})
    with pytest.raises(systole.Error, match=r'an input has no array: "step"'):
        systole.run("tpu_v2_1core", graph, {"state['w']": weights, 1: mask})
    assert systole.run("tpu_v2_1core", graph, timing_only=True).outputs == {}


def _input_name() -> str:
    """The name that the simulator itself gives the input in its message about a wrong name."""
    try:
        systole.run("tpu_v1", "mnist_cnn", {"nothing": digits(1)})
    except systole.Error as error:
        return str(error).rsplit('"', 2)[-2] if '"' in str(error) else str(error).split()[-1]
    raise AssertionError("a wrong name is no error")


def test_a_timing_only_run_has_no_values() -> None:
    record = systole.run(**TIMED)
    assert record.outputs == {}
    assert record.predictions.size == 0
    assert record.cycles > 0


def test_the_float_reference_in_a_folder(tmp_path: Path) -> None:
    record = systole.run(
        "tpu_v1", "mnist_cnn", digits(8), float_outputs=tmp_path / "float", outputs=tmp_path / "chip", batch=8
    )
    (name,) = record.float_outputs
    assert np.abs(record.float_outputs[name] - record.outputs[name]).max() < 0.5
    assert not np.array_equal(record.float_outputs[name], record.outputs[name])
    assert (tmp_path / "chip" / f"{name}.npy").exists()


def test_a_machine_is_a_dictionary() -> None:
    machine = systole.machine("tpu_v1")
    assert machine == systole.machine("configs/machines/tpu_v1.json") == systole.machine(machine)
    batch = {"model": "mnist_cnn", "timing_only": True, "batch": 8}
    assert systole.run(machine, **batch).cycles == systole.run("tpu_v1", **batch).cycles
    machine["name"] = "slow"
    machine["clock_mhz"] = np.int64(350)
    record = systole.run(machine, **batch)
    assert record.machine == "slow"
    assert record.cycles == report_of(
        "--machine", "tpu_v1", "--model", "mnist_cnn", "--timing-only", "--batch", "8",
        "--set", "machine.clock_mhz=350"
    )["cycles"]  # fmt: skip
    assert systole.machine("tpu_v1", {"machine.weight_fifo.depth_tiles": 8})["weight_fifo"]["depth_tiles"] == 8


WRONG = [
    (dict(TIMED, bach=3), 'run: bach is 3; it is not a known key; did you mean "batch"?'),
    (dict(TIMED, batch=0), "run: batch is 0; it must be a whole number from 1 to 4294967295"),
    (dict(TIMED, machine={"schema": "sim.machine/1", "clock": 1}), "machine: clock is 1; it is not a known key"),
    (dict(TIMED, settings={"machine.clock_mhz": -1}), "configs/machines/tpu_v1.json and settings: clock_mhz is -1"),
    (dict(TIMED, settings=[1]), 'settings: a dictionary is needed, as in {"machine.clock_mhz": 900}'),
    (dict(TIMED, batch=float("nan")), "the request cannot be sent to the simulator: "),
    (dict(TIMED, batch=object()), "the request cannot be sent to the simulator: object is no value of a key"),
    (dict(TIMED, model="nothing"), "nothing: there is no such file"),
    (dict(TIMED, timing_only=False, input=3), "input: int is neither a path nor a NumPy array"),
    (dict(TIMED, timing_only=False, input=np.array([{}])), "input: the array cannot be written: "),
    (dict(TIMED, timing_only=False, input=np.zeros((2, 3), np.uint8)), "input (array): the images are 2x3x1"),
    ({}, 'run: machine is missing; a run needs a machine, as in "tpu_v1"'),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_errors_are_those_of_the_simulator(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(systole.Error) as caught:
        systole.run(**arguments)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_many_runs_in_their_order() -> None:
    clocks = list(range(400, 460, 5))
    runs = [dict(TIMED, settings={"machine.clock_mhz": clock}) for clock in clocks]
    runs.insert(3, dict(TIMED, bach=3))
    records = systole.run_many(runs, workers=2, progress=False)
    assert isinstance(records[3], systole.Error)
    assert "bach is 3" in str(records.pop(3))
    assert [record.configuration.machine.clock_mhz for record in records] == clocks
    assert records[4].cycles == systole.run(**runs[5]).cycles
    assert systole.run_many([], progress=True) == []
    with pytest.raises(systole.Error, match="workers is 0; it must be at least 1"):
        systole.run_many(runs, workers=0)


def own_messages(text: str) -> str:
    """Without the lines of AddressSanitizer, which does not know the stacks of SystemC's processes."""
    of_sanitizer = ("ASan is ignoring requested", "False positive error reports may follow", "google/sanitizers")
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not any(part in line for part in of_sanitizer))


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    systole.run_many([TIMED, dict(TIMED, bach=3)], workers=1)
    said = capsys.readouterr().err
    assert "1 of 2 runs, " in said and " s left" in said
    assert "2 of 2 runs, 1 failed" in said
    systole.run_many([TIMED], progress=False)
    assert own_messages(capsys.readouterr().err) == ""


def test_a_record_says_what_the_host_does() -> None:
    record = systole.run(**dict(TIMED, batch=4, limit=4))
    html = record._repr_html_()
    assert "on the host" not in html and "a batch every" not in html and "latency" in html
    assert "a batch every" in systole.run(**dict(TIMED, batch=2, limit=4))._repr_html_()
    record["host_share"] = {"layers": [{"name": "a<b"}, {"name": "c"}], "macs_share": 0.25}
    record["left_out"] = {"requests": "the reason"}
    html = record._repr_html_()
    assert html.index("25.0 % of the multiply-accumulates: a&lt;b, c") < html.index("cycles")
    assert "<th>no requests</th><td>the reason</td>" in html


def test_a_record_for_notebooks_and_files(tmp_path: Path) -> None:
    record = systole.run(**TIMED)
    assert f"{record.cycles:,} cycles" in record._repr_html_()
    assert f"{record.cycles:,} cycles" in repr(record)
    assert json.loads(record.save(tmp_path / "a").read_text()) == dict(record)
    subprocess.run(
        [systole.find_simulator(), "report", tmp_path / "a", "--out", tmp_path / "a.html"],
        check=True,
        capture_output=True,
    )
    assert (tmp_path / "a.html").stat().st_size > 100_000


def program(folder: Path, script: str) -> str:
    file = folder / "sim"
    file.write_text("#!/bin/sh\n" + script)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return os.fspath(file)


def test_a_simulator_that_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYSTOLE_SIM", program(tmp_path, "echo 'sim: no disk' >&2; exit 3\n"))
    with pytest.raises(systole.Error, match=r"^the simulator ended with code 3: sim: no disk$"):
        systole.run(**TIMED)
    monkeypatch.setenv("SYSTOLE_SIM", program(tmp_path, "kill -9 $$\n"))
    with pytest.raises(systole.Error, match=r"^the simulator ended with signal 9 \(SIGKILL\)$"):
        systole.run(**TIMED)
    assert len([e for e in systole.run_many([TIMED] * 3, workers=2) if isinstance(e, systole.Error)]) == 3


def test_where_the_simulator_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = program(tmp_path, "")
    monkeypatch.delenv("SYSTOLE_SIM", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert systole.find_simulator() == given
    monkeypatch.setenv("SYSTOLE_SIM", os.fspath(tmp_path / "none"))
    with pytest.raises(systole.Error, match="SYSTOLE_SIM is .*; that is no program that can be run"):
        systole.find_simulator()


def test_warnings_of_the_simulator(recwarn: pytest.WarningsRecorder) -> None:
    record = systole.run("tpu_v1", "mnist_cnn", digits(4).astype(np.float32), batch=4)
    assert record.warnings == [str(each.message) for each in recwarn if each.category is systole.SimulatorWarning]
    assert len(record.warnings) == 1
    assert record.warnings[0].startswith("input (array): the largest value is 247; the network expects")


def test_progress_in_a_notebook(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, data: dict[str, str], raw: bool) -> None:
            assert raw
            shown.append(data["text/plain"])

    notebook, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    notebook.get_ipython = object  # type: ignore[attr-defined]
    display.display = lambda data, raw, display_id: Handle()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    systole.run_many([TIMED, TIMED], workers=1)
    assert shown[0].startswith("1 of 2 runs, ")
    assert shown[1] == "2 of 2 runs"
    assert own_messages(capsys.readouterr().err) == ""


def test_an_interrupt_ends_the_simulators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = tmp_path / "pids"
    monkeypatch.setenv("SYSTOLE_SIM", program(tmp_path, f"echo $$ >> {pids}\nexec sleep 1000\n"))

    def interrupt() -> None:
        while not pids.exists() or len(pids.read_text().split()) < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        systole.run_many([TIMED] * 4, workers=2, progress=False)
    thread.join()
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_arrays_of_other_layouts_and_lists_of_labels() -> None:
    images, labels = digits(8), digit_labels(8)
    expected = systole.run("tpu_v1", "mnist_cnn", images, labels=labels).predictions
    floats = (images / 255).astype(">f4")
    assert systole.run("tpu_v1", "mnist_cnn", floats, labels=labels.tolist()).predictions.tolist() == expected.tolist()
    turned = images[..., 0].transpose(2, 1, 0).copy().T  # the same numbers, in column-major order with gaps
    for other in (np.asfortranarray(images), turned, np.repeat(images, 2, axis=0)[::2]):
        assert not other.flags.c_contiguous
        assert (other.reshape(images.shape) == images).all()
        assert systole.run("tpu_v1", "mnist_cnn", other, labels=labels).predictions.tolist() == expected.tolist()


def test_nothing_stays_in_the_temporary_folder(tmp_path: Path) -> None:
    script = "import numpy as np, systole\n"
    script += "images = np.ones((2, 28, 28), np.uint8)\n"
    runs = "systole.run('tpu_v1', 'mnist_cnn', images)\n"
    runs += "systole.run_many([{'file': 'mnist_cnn', 'timing_only': True}] * 3, workers=2, progress=False)\n"
    runs += "systole.machine('tpu_v1')\n"
    environment = dict(os.environ, TMPDIR=os.fspath(tmp_path))
    subprocess.run([sys.executable, "-c", script + runs], env=environment, check=True)
    assert os.listdir(tmp_path) == []


def test_a_killed_process_leaves_only_what_the_next_one_removes(tmp_path: Path) -> None:
    environment = dict(os.environ, TMPDIR=os.fspath(tmp_path))
    script = "import os, signal\nfrom systole._scratch import ScratchFolder\nfolder = ScratchFolder()\n"
    ended = subprocess.run([sys.executable, "-c", script + "os.kill(os.getpid(), signal.SIGKILL)"], env=environment)
    assert ended.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    an_hour_ago = time.time() - 3600
    os.utime(left / ".lock", (an_hour_ago, an_hour_ago))
    waits = [sys.executable, "-c", script + "print(folder.name, flush=True)\ninput()"]
    with subprocess.Popen(waits, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as living:
        assert living.stdout is not None
        held = Path(living.stdout.readline().decode().strip())
        os.utime(held / ".lock", (an_hour_ago, an_hour_ago))
        subprocess.run([systole.find_simulator(), "worker"], stdin=subprocess.DEVNULL, env=environment, check=True)
        assert list(tmp_path.iterdir()) == [held]
        living.communicate(b"\n")
    assert os.listdir(tmp_path) == []


def test_settings_may_be_nested_and_runs_are_dictionaries() -> None:
    nested = systole.run(file="mnist_cnn", timing_only=True, settings={"machine": {"clock_mhz": 350}})
    assert nested.configuration.machine.clock_mhz == 350
    with pytest.raises(systole.Error, match="is no dictionary of arguments"):
        systole.run_many(["mnist_cnn"])  # type: ignore[list-item]
    with pytest.raises(systole.Error, match="bach"):
        systole.run_many([{"file": "mnist_cnn", "bach": 1}], raise_errors=True)
