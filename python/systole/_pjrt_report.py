"""What the JAX device reports: how long the calls of each function take."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable, Optional, Sequence

from ._record import Record

#: As sim train (docs/decisions/073): enough calls for the pipeline to be full between the first and the last.
_TIMED_CALLS = 4
#: The run of so many calls, one after the other, without values.
RunOfCalls = Callable[[int], Record]


@dataclass(frozen=True)
class _Time:
    """Cycles of the machine, and seconds, which include the work of its host."""

    cycles: int
    seconds: float

    def __add__(self, other: _Time) -> _Time:
        return _Time(self.cycles + other.cycles, self.seconds + other.seconds)

    def __mul__(self, count: int) -> _Time:
        return _Time(self.cycles * count, self.seconds * count)

    def keys(self, suffix: str = "") -> dict[str, Any]:
        return {f"cycles{suffix}": self.cycles, f"seconds{suffix}": self.seconds}


def _time_of(record: Record) -> _Time:
    return _Time(record.cycles, record.seconds)


@dataclass
class Function:
    """A program and its calls."""

    name: str
    machine: str
    devices: int
    #: How long this computer took.
    compile_seconds: float
    run: RunOfCalls
    calls: list[_Time] = field(default_factory=list)
    #: The report of the first call.
    first: Optional[Record] = None
    #: How many calls follow each other, each with the state that the one before has left.
    sequences: list[int] = field(default_factory=list)
    #: The numbers of the arrays that the last call has left.
    left: frozenset[int] = frozenset()

    def add(self, record: Record, state: Sequence[int], results: Iterable[int]) -> None:
        """A call, with the numbers of the arrays that are its state, and of its results."""
        self.calls.append(_time_of(record))
        if self.first is None:
            self.first = record
        if state and self.left.issuperset(state):
            self.sequences[-1] += 1
        else:
            self.sequences.append(1)
        self.left = frozenset(results)

    def _kept(self, count: int) -> tuple[_Time, _Time]:
        """The time of so many calls whose state stays in memory, and of each further one."""
        timed = min(count, _TIMED_CALLS)
        of_timed, of_less = _time_of(self.run(timed)), _time_of(self.run(timed - 1))
        one = of_timed + of_less * -1
        return of_timed + one * (count - timed), one

    def entry(self, folder: str) -> dict[str, Any]:
        total, kept, place = _Time(0, 0.0), [], 0
        times: dict[int, tuple[_Time, _Time]] = {}
        for count in self.sequences:
            if count == 1:
                total += self.calls[place]
            else:
                of_all, one = times[count] = times.get(count) or self._kept(count)
                kept.append({"first_call": place, "calls": count, **of_all.keys(), **one.keys("_a_call")})
                total += of_all
            place += count
        return {
            "name": self.name,
            "folder": folder,
            "machine": self.machine,
            "devices": self.devices,
            "compile_seconds": self.compile_seconds,
            **total.keys(),
            "calls": [call.keys() for call in self.calls],
            "with_state_kept": kept,
        }


def write(folder: Path, machine: str, cores: int, functions: Iterable[Function]) -> None:
    """FOLDER/functions.json, and a folder with the report of the first call for each function that was called."""
    taken: set[str] = set()
    entries = []
    for function in functions:
        if function.first is None:
            continue
        name, number = function.name, 1
        while name in taken:
            number += 1
            name = f"{function.name}_{number}"
        taken.add(name)
        function.first.save(folder / name)
        entries.append(function.entry(name))
    report = {"schema": "systole.functions/1", "machine": machine, "cores": cores, "functions": entries}
    (folder / "functions.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
