"""Runs, one or many."""

from __future__ import annotations

import json
import os
import queue
import threading
import warnings
from pathlib import Path
from typing import Any, Iterable, Literal, Mapping, Optional, Sequence, Union, overload

from numpy.typing import NDArray

from ._errors import Error, SimulatorWarning
from ._inputs import KEYS, ArrayFiles
from ._progress import ProgressLine
from ._record import Record, read_record
from ._scratch import ScratchFolder
from ._worker import Worker

FilePath = Union[str, "os.PathLike[str]"]
Arrays = Union[FilePath, "NDArray[Any]"]
#: A dictionary has names or positions of inputs.
Input = Union[Arrays, Sequence[Arrays], Mapping[str, Arrays], Mapping[int, Arrays], Mapping[Union[str, int], Arrays]]


def _request(files: ArrayFiles, folder: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What the simulator is asked for. The simulator checks keys and values."""
    request: dict[str, Any] = {"arrays": str(Path(folder) / "outputs")}
    keys = dict(arguments)
    file = keys.pop("file", None)
    if file is not None:
        request["file"] = file
    settings = keys.pop("settings", None)
    if settings is not None:
        request["settings"] = _setting_pairs(settings)
    if isinstance(keys.get("machine"), Mapping):
        request["machine"] = keys.pop("machine")
    for key in ("machine", "model", "input"):
        if keys.get(key, 0) is None:
            del keys[key]
    request["run"] = {
        key: files.value(key, value) if key in KEYS and value is not None else value for key, value in keys.items()
    }
    return request


def _setting_pairs(settings: Any) -> list[list[Any]]:
    if not isinstance(settings, Mapping):
        raise Error('settings: a dictionary is needed, as in {"machine.clock_mhz": 900}')
    pairs: list[list[Any]] = []
    for key, value in settings.items():
        if isinstance(value, Mapping):  # {"machine": {"clock_mhz": 900}}
            pairs += [[f"{key}.{inner}", each] for inner, each in _setting_pairs(value)]
        else:
            pairs.append([key, value])
    return pairs


def run_on(worker: Worker, arguments: Mapping[str, Any]) -> Record:
    """The run of these arguments of ``run``."""
    with ScratchFolder() as folder:
        files = ArrayFiles(folder)
        try:
            text, said = worker.ask(_request(files, folder, arguments))
        except Error as error:
            raise Error(files.named(str(error))) from None
        return read_record(text, [files.named(line) for line in said])


def tell(record: Record) -> None:
    """Passes the simulator's warnings on."""
    for text in record.warnings:
        warnings.warn(text, SimulatorWarning, stacklevel=3)


def run(
    machine: Union[None, FilePath, Mapping[str, Any]] = None,
    model: Optional[FilePath] = None,
    input: Optional[Input] = None,
    *,
    file: Optional[FilePath] = None,
    settings: Optional[Mapping[str, Any]] = None,
    **keys: Any,
) -> Record:
    """Runs a network, or a program, on a machine.

    ``machine`` is a name ("tpu_v1"), a file, or a dictionary with the keys of a machine file. ``model`` is a name
    ("mnist_cnn") or a file. ``input`` is a file or folder, a NumPy array (first axis: the images), a list of these, or
    a dictionary of them by the names of the network's inputs; ``labels`` and ``calibration`` take arrays too.
    ``file`` is a run file, or its name in configs/runs, whose keys the others replace. ``settings`` are those of
    ``--set``: {"machine.clock_mhz": 900}. All further arguments are keys of a run file (``batch``, ``timing_only``,
    ``preset``, ...: docs/configuration.md); ``None`` removes a key of ``file``.

    Raises Error with the simulator's message.
    """
    with Worker() as worker:
        record = run_on(
            worker, dict(keys, machine=machine, model=model, input=input, file=file, settings=settings)
        )
    tell(record)
    return record


@overload
def run_many(
    runs: Iterable[Mapping[str, Any]],
    workers: Optional[int] = None,
    progress: bool = True,
    *,
    raise_errors: Literal[True],
) -> list[Record]: ...


@overload
def run_many(
    runs: Iterable[Mapping[str, Any]],
    workers: Optional[int] = None,
    progress: bool = True,
    *,
    raise_errors: bool = False,
) -> list[Union[Record, Error]]: ...


def run_many(
    runs: Iterable[Mapping[str, Any]],
    workers: Optional[int] = None,
    progress: bool = True,
    *,
    raise_errors: bool = False,
) -> Any:
    """Runs many, each a dictionary of arguments of ``run``, and returns their records in the same order.

    A run that fails has its Error in the list, and the others go on; with ``raise_errors``, the first Error of the
    list is raised at the end. ``workers`` processes run at once, by default one for each core.
    """
    asked = list(runs)
    for arguments in asked:
        if not isinstance(arguments, Mapping):
            raise Error(f'runs: {arguments!r} is no dictionary of arguments, as {{"file": "mnist_cnn"}}')
    count = len(os.sched_getaffinity(0)) if workers is None else workers
    if count < 1:
        raise Error(f"workers is {workers}; it must be at least 1")
    results: list[Union[None, Record, Error]] = [None] * len(asked)
    finished: queue.Queue[Union[int, BaseException]] = queue.Queue()
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(asked)):
        waiting.put(number)
    begun: list[Worker] = []
    stopped = threading.Event()
    guard = threading.Lock()

    def new_worker() -> Worker:
        with guard:  # a worker that begins after the end of all would stay
            if stopped.is_set():
                raise Error("interrupted")
            worker = Worker()
            begun.append(worker)
            return worker

    def serve() -> None:
        worker: Optional[Worker] = None
        try:
            while not stopped.is_set():
                try:
                    number = waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    if worker is None or not worker.is_alive:
                        worker = new_worker()
                    results[number] = run_on(worker, asked[number])
                except Error as error:
                    results[number] = error
                finished.put(number)
        except BaseException as error:  # is raised where the caller waits
            finished.put(error)

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(min(count, len(asked)))]
    line = ProgressLine(len(asked), progress)
    try:
        for thread in threads:
            thread.start()
        failed = 0
        for done in range(1, len(asked) + 1):
            end = finished.get()
            if isinstance(end, BaseException):
                raise end
            failed += isinstance(results[end], Error)
            line.show(done, failed)
    finally:
        stopped.set()
        with guard:
            for worker in begun:
                worker.kill()
        for thread in threads:
            thread.join()
        for worker in begun:
            worker.close()
        line.finish()
    answers = [result for result in results if result is not None]
    for answer in answers:
        if isinstance(answer, Record):
            tell(answer)
        elif raise_errors:
            raise answer
    return answers


def machine(name: Union[FilePath, Mapping[str, Any]], settings: Optional[Mapping[str, Any]] = None) -> dict[str, Any]:
    """A machine as a dictionary with every key of its file, to be changed and given to ``run``.

    ``name`` is a name in configs/machines, a file, or a dictionary. Raises Error for a machine that cannot be built.
    """
    request: dict[str, Any] = {"machine": name}
    if settings is not None:
        request["settings"] = _setting_pairs(settings)
    with Worker() as worker:
        text, _ = worker.ask(request)
    answer: dict[str, Any] = json.loads(text)
    return answer
