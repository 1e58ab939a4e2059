#!/usr/bin/env python3
"""Holds the cycles of a machine with a tensor core to the rules as they are written. Needs nothing but Python itself.

Draws machines and programs: weights and products, chains and reductions, transfers from and to high-bandwidth memory,
with results that other units wait for. When each instruction begins and ends is computed here from docs/timing.md
alone ("Machines with a tensor core"), and cycles and counters of the report must be the same, on both engines.

usage: tensor_cycles_test.py SIM [--seed SEED] [--programs COUNT]
"""

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

INSTRUCTIONS = 30
SEMAPHORES = 16
FUNCTIONS = {"add": 1, "multiply": 1, "exp": 0}  # operations of a step; 0: those of a function


def up(a: int, b: int) -> int:
    return -(-a // b)


@dataclass
class Instruction:
    unit: str
    text: str
    cycles: int = 0  # of its unit
    latency: int = 0  # from its release to its results
    reads: list["Instruction"] = field(default_factory=list)
    rows: int = 0  # of its result
    result: int = 0  # its first row
    weights: "Instruction | None" = None  # of a product that takes them
    bytes: int = 0
    macs: int = 0
    begun: int = 0
    released: int = 0
    complete: int = 0


def draw_machine(draw: random.Random) -> dict:
    lanes = draw.choice([4, 8])
    return {
        "schema": "sim.machine/1",
        "name": "drawn",
        "family": "tensor_core",
        "clock_mhz": 500,
        "matrix_unit": {
            "rows": draw.randint(2, 8),
            "columns": lanes,
            "arrays": draw.randint(1, 2),
            "mac_latency_cycles": draw.randint(1, 2),
            "setup_cycles": draw.randint(0, 3),
            "weight_switch": draw.randint(0, 1),
        },
        "vector_unit": {
            "lanes": lanes,
            "sublanes": draw.choice([2, 4]),
            "operations_per_cycle": draw.randint(1, 3),
            "loads_per_cycle": draw.randint(1, 2),
            "stores_per_cycle": draw.randint(1, 2),
            "function_operations": draw.randint(2, 9),
            "latency_cycles": draw.randint(0, 4),
        },
        "cross_lane_unit": {"vectors_per_cycle": draw.randint(1, 2), "latency_cycles": draw.randint(0, 9)},
        "vector_memory": {"rows": 4096},
        "hbm": {"bytes": 1 << 20, "bandwidth_gb_per_s": draw.randint(3, 30), "latency_cycles": draw.randint(0, 5)},
        # Instructions are there at once.
        "host_interface": {"read_gb_per_s": 100000},
        "sequencer": {"issue_cycles": 0, "queue_depth": 1000, "instruction_buffer_bytes": 1 << 20},
    }


class Program:
    """Draws instructions, each with rows of its own, which read the results of others or rows that nobody writes."""

    def __init__(self, draw: random.Random, machine: dict):
        self.draw = draw
        self.array = machine["matrix_unit"]
        self.vector = machine["vector_unit"]
        self.cross = machine["cross_lane_unit"]
        self.hbm = machine["hbm"]
        self.lanes = self.vector["lanes"]
        self.next_row = 300
        self.all: list[Instruction] = []
        self.chains: list[str] = []
        self.operations = self.loads = self.stores = self.vectors = 0
        self.waits = 0
        kinds = [self.product, self.product, self.chain, self.reduce_rows, self.reduce_lanes, self.dma_in, self.dma_out]
        while len(self.all) < INSTRUCTIONS:
            draw.choice(kinds)()

    def place(self, rows: int) -> int:
        self.next_row += rows
        return self.next_row - rows

    def source(self, instruction: Instruction, rows: int) -> int:
        """The first of so many rows that it reads."""
        for each in reversed(self.all[-8:]):
            if each.rows < rows or self.draw.random() < 0.5:
                continue
            if each.unit != instruction.unit:
                if self.waits == SEMAPHORES:
                    continue
                self.waits += 1
            instruction.reads.append(each)
            return each.result
        return self.draw.randint(0, 100)

    def add(self, instruction: Instruction) -> None:
        self.all.append(instruction)

    def vectors_of(self, rows: int, columns: int) -> int:
        return up(rows, self.vector["sublanes"]) * up(columns, self.lanes)

    def product(self) -> None:
        array = self.array
        rows, depth = self.draw.randint(1, 20), self.draw.randint(1, array["rows"])
        columns = self.draw.randint(1, self.lanes)
        size = f"depth={depth} columns={columns}"
        load = Instruction("weights", "", cycles=array["rows"])
        load.text = f"load_weights src={self.source(load, depth)} {size}"
        panels = up(depth, self.lanes)
        product = Instruction("matrix", "", rows=rows, macs=rows * depth * columns)
        source = self.source(product, rows * panels)
        product.cycles = max(up(rows, array["arrays"]), up(rows * panels, self.vector["sublanes"]))
        # Behind the row that enters last: one cycle before the release.
        travel = array["rows"] * array["mac_latency_cycles"] + array["columns"] - 1 + 1
        product.latency = array["setup_cycles"] + travel - 1
        product.result = self.place(rows)
        product.text = f"product dst={product.result} src={source} rows={rows} {size}"
        before = [each for each in self.all if each.unit == "matrix"]
        if before and before[-1].text.endswith((size, size + " keep")) and self.draw.random() < 0.8:
            product.text += " keep"
        else:
            product.weights = load
            self.add(load)
        self.add(product)

    def on_vector_unit(self, operations: int, loads: int, stores: int) -> int:
        self.operations += operations
        self.loads += loads
        self.stores += stores
        unit = self.vector
        return max(
            up(operations, unit["operations_per_cycle"]),
            up(loads, unit["loads_per_cycle"]),
            up(stores, unit["stores_per_cycle"]),
        )

    def chain(self) -> None:
        rows, columns = self.draw.randint(1, 12), self.draw.randint(1, self.lanes)
        made = Instruction("vector", "", rows=rows, latency=self.vector["latency_cycles"])
        first = self.source(made, rows)
        vectors = self.vectors_of(rows, columns)
        with_row = self.draw.random() < 0.5
        name = self.draw.choice(["exp", "add", "multiply"])
        row = "; .source row" if with_row else ""
        values = 2 if with_row else 1
        operands = "0" if name == "exp" else f"0 {values - 1}"
        at = len(self.chains)
        self.chains.append(f".chain c{at}; .source rows{row}; .step {name} {operands}; .result {values}")
        each = FUNCTIONS[name] or self.vector["function_operations"]
        loads = vectors + (up(columns, self.lanes) if with_row else 0)
        made.cycles = self.on_vector_unit(each * vectors, loads, vectors)
        made.result = self.place(rows)
        second = " b=7" if with_row else ""
        made.text = f"chain {at} rows={rows} columns={columns} dst={made.result} a={first}{second}"
        self.add(made)

    def reduce_rows(self) -> None:
        rows, columns = self.draw.randint(1, 12), self.draw.randint(1, self.lanes)
        made = Instruction("vector", "", rows=1, latency=self.vector["latency_cycles"])
        first = self.source(made, rows)
        vectors, panels = self.vectors_of(rows, columns), up(columns, self.lanes)
        halves = math.ceil(math.log2(self.vector["sublanes"]))
        operations = vectors + halves * panels * up(rows, self.lanes)
        made.cycles = self.on_vector_unit(operations, vectors, panels)
        made.result = self.place(1)
        made.text = f"reduce_rows sum dst={made.result} src={first} rows={rows} columns={columns}"
        self.add(made)

    def reduce_lanes(self) -> None:
        rows, columns = self.draw.randint(1, 12), self.draw.randint(1, self.lanes)
        made = Instruction("cross_lane", "", rows=rows, latency=self.cross["latency_cycles"])
        first = self.source(made, rows)
        vectors = self.vectors_of(rows, columns)
        self.vectors += vectors
        made.cycles = up(vectors, self.cross["vectors_per_cycle"])
        made.result = self.place(rows)
        made.text = f"reduce_lanes sum dst={made.result} src={first} rows={rows} columns={columns}"
        self.add(made)

    def dma_in(self) -> None:
        rows = self.draw.randint(1, 12)
        made = Instruction("dma_in", "", rows=rows, latency=self.hbm["latency_cycles"], bytes=4 * self.lanes * rows)
        made.result = self.place(rows)
        made.text = f"dma_in hbm={self.draw.randint(0, 50)} at={made.result} rows={rows}"
        self.add(made)

    def dma_out(self) -> None:
        rows = self.draw.randint(1, 12)
        made = Instruction("dma_out", "", latency=self.hbm["latency_cycles"], bytes=4 * self.lanes * rows)
        made.text = f"dma_out hbm={1000 + 20 * len(self.all)} at={self.source(made, rows)} rows={rows}"
        self.add(made)

    def assembly(self) -> str:
        signals: dict[int, list[str]] = {}
        waits: dict[int, list[str]] = {}
        semaphore = 0
        for each in self.all:
            for other in each.reads:
                if other.unit == each.unit:
                    continue
                signals.setdefault(id(other), []).append(f"sync.signal {other.unit} sem={semaphore}")
                waits.setdefault(id(each), []).append(f"sync.wait {each.unit} sem={semaphore}")
                semaphore += 1
        lines = [f".tensor_core {self.array['rows']} {self.array['columns']} lanes={self.lanes}", *self.chains]
        for each in self.all:
            lines += [*waits.get(id(each), []), each.text, *signals.get(id(each), [])]
        return "\n".join([*lines, "halt"]) + "\n"


def run_rules(program: Program, machine: dict) -> dict[str, int]:
    """When each instruction begins, and what the report counts."""
    array = machine["matrix_unit"]
    rate = Fraction(machine["hbm"]["bandwidth_gb_per_s"] * 10**9, machine["clock_mhz"] * 10**6)
    queues: dict[str, list[Instruction]] = {}
    for each in program.all:
        queues.setdefault(each.unit, []).append(each)
    free = dict.fromkeys(queues, 0)
    done: set[int] = set()
    plane_free = 0  # the shadow plane, once the product that takes the weights in it has begun
    planes = 1  # that are free
    memory_free = Fraction(0)
    counted = dict.fromkeys(["active", "stall", "shift", "none", "vector", "weights"], 0)
    matrix_until = 0
    while any(queues.values()):
        # Of all instructions that are the first of their queues, the one that can begin first. Transfers of one
        # cycle go in before out.
        ready = []
        for unit, queue in queues.items():
            if not queue:
                continue
            first = queue[0]
            if not all(id(other) in done for other in first.reads):
                continue
            if first.weights is not None and id(first.weights) not in done:
                continue
            if unit == "weights" and planes == 0:
                continue
            begin = max([free[unit], *(other.complete for other in first.reads)])
            ready.append((begin, unit != "dma_in", unit, begin))
        _, _, unit, begin = min(ready)
        each = queues[unit].pop(0)
        if unit == "weights":
            each.begun = begin
            begin = max(begin, plane_free)
            planes -= 1
        if unit == "matrix":
            there = begin  # its rows are, from here on
            if each.weights is not None:
                begin = max(begin, each.weights.complete)
                plane_free, planes = begin + array["weight_switch"], 1
                # Weights are whole when their instruction begins; then they shift in.
                lacking = max(there, matrix_until)
                whole = min(max(lacking, each.weights.begun), begin)
                counted["stall"] += whole - lacking
                counted["shift"] += begin - whole
            counted["none"] += max(there, matrix_until) - matrix_until
            matrix_until = begin + each.cycles
            counted["active"] += each.cycles
        if unit in ("dma_in", "dma_out"):
            memory_free = max(memory_free, Fraction(begin + 1)) + each.bytes / rate
            each.cycles = max(math.floor(memory_free) - begin, 2)
        if unit == "vector":
            counted["vector"] += each.cycles
        if unit == "weights":
            counted["weights"] += each.cycles
        each.released = free[unit] = begin + each.cycles
        each.complete = each.released + each.latency
        done.add(id(each))
    cycles = max(each.complete for each in program.all)
    arrays = array["arrays"]
    moved = {unit: sum(each.bytes for each in program.all if each.unit == unit) for unit in ("dma_in", "dma_out")}
    return {
        "cycles": cycles,
        "matrix_unit.active_cycles": arrays * counted["active"],
        "matrix_unit.weight_shift_cycles": arrays * counted["shift"],
        "matrix_unit.weight_stall_cycles": arrays * counted["stall"],
        "matrix_unit.non_matrix_cycles": arrays * (counted["none"] + cycles - matrix_until),
        "matrix_unit.useful_macs": sum(each.macs for each in program.all),
        "weight_load.busy_cycles": counted["weights"],
        "vector_unit.busy_cycles": counted["vector"],
        "vector_unit.operations": program.operations,
        "vector_unit.loads": program.loads,
        "vector_unit.stores": program.stores,
        "cross_lane_unit.vectors": program.vectors,
        "hbm.read_bytes": moved["dma_in"],
        "hbm.written_bytes": moved["dma_out"],
    }


def report_of(sim: str, folder: Path, engine: str) -> dict[str, int]:
    command = [sim, "run", str(folder / "program.asm"), "--machine", str(folder / "machine.json"), "--quiet"]
    command += ["--set", f"machine.matrix_unit.engine={engine}", "--out", str(folder / "out")]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"{' '.join(command)}: {ended.stderr}")
    report = json.loads((folder / "out/report.json").read_text())
    counters = {f"{unit}.{name}": value for unit, group in report["units"].items() for name, value in group.items()}
    return {"cycles": report["cycles"], **counters}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sim")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=12)
    arguments = parser.parse_args()
    for seed in range(arguments.seed, arguments.seed + arguments.programs):
        draw = random.Random(seed)
        machine = draw_machine(draw)
        program = Program(draw, machine)
        expected = run_rules(program, machine)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "machine.json").write_text(json.dumps(machine))
            (folder / "program.asm").write_text(program.assembly())
            for engine in ("wavefront", "pe"):
                found = report_of(arguments.sim, folder, engine)
                wrong = [f"{key} {found[key]} instead of {value}" for key, value in expected.items() if found[key] != value]
                if wrong:
                    print(json.dumps(machine), program.assembly(), sep="\n")
                    sys.exit(f"seed {seed}, {engine}: {', '.join(wrong)}")
    print(f"{arguments.programs} programs: all cycles and counters are those of the rules")


if __name__ == "__main__":
    main()
