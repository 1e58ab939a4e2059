#!/usr/bin/env python3
"""Holds the cycles of a machine with a tensor core to the rules as they are written. Needs nothing but Python itself.

Draws machines of one to four cores, and programs: weights and products, also of windows, chains, reductions,
transpositions and moves of up to two panels, transfers of blocks from and to high-bandwidth memory, and collectives, with
results that other units wait for. When each instruction begins and ends is computed here from docs/timing.md
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
    entering: int = 0  # of these, those in which rows of a product enter the arrays: the first ones
    by_core: list[int] = field(default_factory=list)  # of a collective, in place of these
    latency: int = 0  # from its release to its results
    reads: list["Instruction"] = field(default_factory=list)
    rows: int = 0  # of the memory, that its result has
    result: int = 0  # its first row
    weights: "Instruction | None" = None  # of a product that takes them
    bytes: int = 0
    arrival: int = 0  # cycles in which its unit waits for its bytes
    macs: int = 0


def draw_machine(draw: random.Random) -> dict:
    lanes = draw.choice([4, 8])
    # A chip has one core: the cores of one share its memory and its link (tests/unit/hw/system).
    return {
        "schema": "sim.machine/1",
        "name": "drawn",
        "family": "tensor_core",
        "system": {"chips": draw.choice([1, 1, 2, 3, 4]), "cores": 1},
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
        "interconnect": {
            "gb_per_s": draw.randint(2, 20),
            "chunk_bytes": draw.choice([16, 32, 64, 4096]),
            "latency_cycles": draw.randint(0, 4),
        },
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
        self.cores = machine["system"]["chips"]
        self.links = machine["interconnect"]
        self.link_rate = Fraction(self.links["gb_per_s"] * 10**9, machine["clock_mhz"] * 10**6)
        self.lanes = self.vector["lanes"]
        self.next_row = 300
        self.all: list[Instruction] = []
        self.chains: list[str] = []
        self.operations = self.loads = self.stores = self.vectors = 0
        self.waits = 0
        kinds = [self.product, self.product, self.windows, self.chain, self.reduce_rows, self.reduce_lanes]
        kinds += [self.transpose, self.move_lanes, self.dma_in, self.dma_out, self.gather_rows]
        if self.cores > 1:
            kinds += [self.collective]
        while len(self.all) < INSTRUCTIONS:
            draw.choice(kinds)()

    def place(self, rows: int) -> int:
        self.next_row += rows
        return self.next_row - rows

    def source(self, instruction: Instruction, rows: int) -> int:
        """The first of so many rows of the memory that it reads."""
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

    def columns(self) -> int:
        """Of one panel or of two."""
        return self.draw.randint(1, 2 * self.lanes)

    def panels(self, columns: int) -> int:
        return up(columns, self.lanes)

    def vectors_of(self, rows: int, columns: int) -> int:
        return up(rows, self.vector["sublanes"]) * self.panels(columns)

    def product(self) -> None:
        rows, depth = self.draw.randint(1, 20), self.draw.randint(1, self.array["rows"])
        read = rows * self.panels(depth)
        self.stream(rows, depth, read, read)

    def windows(self) -> None:
        """Windows of one image, all inside it."""
        draw = self.draw
        height, width = draw.randint(1, 5), draw.randint(1, 6)
        kernel_height, kernel_width = draw.randint(1, min(2, height)), draw.randint(1, min(3, width))
        most = self.array["rows"] // (kernel_height * kernel_width)
        if most == 0:
            return
        channels = draw.randint(1, most)
        down, right = draw.randint(1, 3), draw.randint(1, 3)
        lines, across = (height - kernel_height) // down + 1, (width - kernel_width) // right + 1
        pixels = {tap + at * right for tap in range(kernel_width) for at in range(across)}
        read = lines * kernel_height * len(pixels) * self.panels(channels)
        registers = {
            "input_height": height,
            "input_width": width,
            "channels": channels,
            "image_rows": height * width,
            "kernel_height": kernel_height,
            "kernel_width": kernel_width,
            "stride_y": down,
            "stride_x": right,
            "output_height": lines,
            "output_width": across,
        }
        before = "".join(f"set window.{name} {value}; " for name, value in registers.items())
        depth = kernel_height * kernel_width * channels
        self.stream(lines * across, depth, read, height * width * self.panels(channels), before)

    def stream(self, rows: int, depth: int, read: int, source_rows: int, windows: str = "") -> None:
        """A product that reads `read` rows of a source of `source_rows`, and often its weights."""
        array = self.array
        columns = self.draw.randint(1, self.lanes)
        size = f"depth={depth} columns={columns}"
        load = Instruction("weights", "", cycles=array["rows"])
        load.text = f"load_weights src={self.source(load, depth)} {size}"
        product = Instruction("matrix", "", rows=rows, macs=rows * depth * columns)
        source = self.source(product, source_rows)
        product.entering = up(rows, array["arrays"])
        product.cycles = max(product.entering, up(read, self.vector["sublanes"]))
        # Behind the row that enters last.
        travel = array["rows"] * array["mac_latency_cycles"] + array["columns"] - 1 + 1
        last = product.entering - 1 + array["setup_cycles"] + travel
        product.latency = max(last - product.cycles, 0)
        product.result = self.place(rows)
        product.text = f"{windows}product dst={product.result} src={source} rows={rows} {size}"
        if windows:
            product.text += " windows"
        if self.draw.random() < 0.3:
            product.text += " accumulate"
        before = [each for each in self.all if each.unit == "matrix"]
        if before and f" {size} " in f"{before[-1].text} " and self.draw.random() < 0.8:
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
        rows, columns = self.draw.randint(1, 12), self.columns()
        panels, vectors = self.panels(columns), self.vectors_of(rows, columns)
        made = Instruction("vector", "", rows=rows * panels, latency=self.vector["latency_cycles"])
        first = self.source(made, rows * panels)
        packed = not made.reads and self.draw.random() < 0.3
        spread = self.draw.choice(["", "row", "column", "result"])
        name = self.draw.choice(["exp", "add", "multiply"])
        values = 2 if spread else 1
        steps = f"; .step {name} " + ("0" if name == "exp" else f"0 {values - 1}")
        if self.draw.random() < 0.3:
            steps += f"; .step constant 0x3f800000; .step add {values} {values + 1}"
            operations = [FUNCTIONS[name], 1]
            result = values + 2
        else:
            operations, result = [FUNCTIONS[name]], values
        results = self.draw.randint(1, 2)
        at = len(self.chains)
        source = f"; .source {spread}" if spread else ""
        written = f"; .result {result}" * results
        self.chains.append(f".chain c{at}; .source rows{' packed' * packed}{source}{steps}{written}")
        each = sum(count or self.vector["function_operations"] for count in operations) + packed
        loads = {"": 0, "row": panels, "column": up(rows, self.vector["sublanes"]), "result": vectors}[spread]
        made.cycles = self.on_vector_unit(each * vectors, vectors + loads, results * vectors)
        made.result = self.place(rows * panels)
        made.text = f"chain {at} rows={rows} columns={columns} dst={made.result} a={first} b=7"
        if results == 2:
            made.text += f" dst2={self.place(rows * panels)}"
        if not spread:
            made.text = made.text.replace(" b=7", "")
        self.add(made)

    def reduce_rows(self) -> None:
        rows, columns = self.draw.randint(1, 12), self.columns()
        panels, vectors = self.panels(columns), self.vectors_of(rows, columns)
        made = Instruction("vector", "", rows=panels, latency=self.vector["latency_cycles"])
        first = self.source(made, rows * panels)
        accumulate = self.draw.random() < 0.5
        halves = math.ceil(math.log2(self.vector["sublanes"]))
        operations = vectors + halves * panels * up(rows, self.lanes)
        made.cycles = self.on_vector_unit(operations, vectors + panels * accumulate, panels)
        made.result = self.place(panels)
        made.text = f"reduce_rows sum dst={made.result} src={first} rows={rows} columns={columns}"
        made.text += " accumulate" * accumulate
        self.add(made)

    def between_lanes(self, made: Instruction, vectors: int) -> None:
        self.vectors += vectors
        made.cycles = up(vectors, self.cross["vectors_per_cycle"])
        made.latency = self.cross["latency_cycles"]
        self.add(made)

    def reduce_lanes(self) -> None:
        rows, columns = self.draw.randint(1, 12), self.columns()
        made = Instruction("cross_lane", "", rows=rows)
        first = self.source(made, rows * self.panels(columns))
        made.result = self.place(rows)
        made.text = f"reduce_lanes sum dst={made.result} src={first} rows={rows} columns={columns}"
        self.between_lanes(made, self.vectors_of(rows, columns))

    def transpose(self) -> None:
        rows, columns = self.draw.randint(1, self.lanes), self.draw.randint(1, self.lanes)
        made = Instruction("cross_lane", "", rows=columns)
        first = self.source(made, rows)
        made.result = self.place(columns)
        made.text = f"transpose dst={made.result} src={first} rows={rows} columns={columns}"
        sublanes = self.vector["sublanes"]
        self.between_lanes(made, max(up(rows, sublanes), up(columns, sublanes)))

    def move_lanes(self) -> None:
        rows, columns = self.draw.randint(1, 12), self.columns()
        first, to = self.draw.randint(0, self.lanes), self.draw.randint(0, self.lanes)
        made = Instruction("cross_lane", "", rows=rows * self.panels(to + columns))
        source = self.source(made, rows * self.panels(first + columns))
        made.result = self.place(made.rows)
        touched = [self.panels(begin % self.lanes + columns) for begin in (first, to)]
        made.text = f"move_lanes dst={made.result} src={source} rows={rows} columns={columns} first={first} to={to}"
        self.between_lanes(made, up(rows, self.vector["sublanes"]) * max(touched))

    def blocks(self, made: Instruction) -> str:
        """The bytes of a transfer, and the rest of its text; its rows in vector memory follow each other."""
        rows, blocks = self.draw.randint(1, 12), self.draw.randint(1, 3)
        apart = rows + self.draw.randint(0, 5)
        made.bytes = 4 * self.lanes * rows * blocks
        made.text = f"set dma.hbm_rows {apart}; {made.unit}"
        made.rows = rows * blocks
        return f"rows={rows} blocks={blocks}"

    def dma_in(self) -> None:
        made = Instruction("dma_in", "", latency=self.hbm["latency_cycles"])
        size = self.blocks(made)
        made.result = self.place(made.rows)
        made.text += f" hbm={self.draw.randint(0, 50)} at={made.result} {size}"
        self.add(made)

    def gather_rows(self) -> None:
        """The rows of a table that a row of zeros names, of memory that nothing has written: two transfers."""
        latency = self.hbm["latency_cycles"]
        indices = Instruction("dma_in", "", latency=latency, arrival=latency, bytes=4 * self.lanes)
        rows, blocks = self.draw.randint(1, self.lanes), self.draw.randint(1, 3)
        made = Instruction("dma_in", "", latency=latency, bytes=4 * self.lanes * rows * blocks, rows=rows * blocks)
        made.result = self.place(made.rows)
        apart = rows + self.draw.randint(0, 5)
        indices.text = f"set dma.hbm_rows {apart}; gather_rows hbm={self.draw.randint(0, 50)} table={rows}"
        indices.text += f" indices=900 at={made.result} rows={rows} blocks={blocks}"
        self.add(indices)
        self.add(made)

    def dma_out(self) -> None:
        made = Instruction("dma_out", "", latency=self.hbm["latency_cycles"])
        size = self.blocks(made)
        made.text += f" hbm={1000 + 60 * len(self.all)} at={self.source(made, made.rows)} {size}"
        made.rows = 0  # in vector memory
        self.add(made)

    def through_links(self, data: int, piece: int, links: int) -> int:
        if links == 0:
            return 0
        chunk = min(piece, self.links["chunk_bytes"])
        return math.ceil((data + (links - 1) * chunk) / self.link_rate) + links * self.links["latency_cycles"]

    def collective(self) -> None:
        kind = self.draw.choice(["all_reduce", "reduce_scatter", "all_gather", "broadcast"])
        rows, cores = self.draw.randint(1, 12), self.cores
        made = Instruction("collective", "", rows=rows * (cores if kind == "all_gather" else 1))
        source = self.source(made, rows * (cores if kind == "reduce_scatter" else 1))
        size = 4 * self.lanes * rows
        for core in range(cores):
            behind = cores - 1 - core
            up_and_back = cores - 1 + behind
            if kind == "all_reduce":
                cycles = self.through_links(size, size, up_and_back)
            elif kind == "reduce_scatter":
                cycles = self.through_links(cores * size, cores * size, up_and_back)
            elif kind == "all_gather":
                cycles = max(self.through_links(side * size, size, side) for side in (core, behind))
            else:
                cycles = self.through_links(size, size, core or 1)
            made.by_core.append(max(cycles, 1))
        made.result = self.place(made.rows)
        made.text = f"collective {kind} cores={cores} dst={made.result} src={source} rows={rows}"
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
        size = f".tensor_core {self.array['rows']} {self.array['columns']} lanes={self.lanes}"
        lines = [f"{size} cores={self.cores}", *self.chains]
        for each in self.all:
            lines += [*waits.get(id(each), []), each.text, *signals.get(id(each), [])]
        return "\n".join([*lines, "halt"]) + "\n"


class Core:
    """What a core has done so far."""

    def __init__(self, program: Program, machine: dict, number: int):
        self.array = machine["matrix_unit"]
        self.rate = Fraction(machine["hbm"]["bandwidth_gb_per_s"] * 10**9, machine["clock_mhz"] * 10**6)
        self.number = number
        self.queues: dict[str, list[Instruction]] = {}
        for each in program.all:
            self.queues.setdefault(each.unit, []).append(each)
        self.free = dict.fromkeys(self.queues, 0)
        self.complete: dict[int, int] = {}
        self.begun: dict[int, int] = {}
        self.plane_free = 0  # the shadow plane, once the product that takes the weights in it has begun
        self.planes = 1  # that are free
        self.memory_free = Fraction(0)
        self.counted = dict.fromkeys(["active", "stall", "shift", "none", "vector", "weights", "links", "peers"], 0)
        self.matrix_until = 0

    def begin_of(self, unit: str) -> int | None:
        """When the first one of a queue can begin, if all that it needs has begun."""
        queue = self.queues[unit]
        if not queue:
            return None
        first = queue[0]
        if not all(id(other) in self.complete for other in first.reads):
            return None
        if first.weights is not None and id(first.weights) not in self.complete:
            return None
        if unit == "weights" and self.planes == 0:
            return None
        return max([self.free[unit], *(self.complete[id(other)] for other in first.reads)])

    def run(self, unit: str, begin: int) -> None:
        each = self.queues[unit].pop(0)
        counted = self.counted
        cycles = each.by_core[self.number] if each.by_core else each.cycles
        self.begun[id(each)] = begin
        if unit == "weights":
            begin = max(begin, self.plane_free)
            self.planes -= 1
        if unit == "matrix":
            there = begin  # its rows are, from here on
            if each.weights is not None:
                begin = max(begin, self.complete[id(each.weights)])
                self.plane_free, self.planes = begin + self.array["weight_switch"], 1
                # Weights are whole when their instruction begins; then they shift in.
                lacking = max(there, self.matrix_until)
                whole = min(max(lacking, self.begun[id(each.weights)]), begin)
                counted["stall"] += whole - lacking
                counted["shift"] += begin - whole
            counted["none"] += max(there, self.matrix_until) - self.matrix_until
            self.matrix_until = begin + cycles
            counted["active"] += each.entering
            counted["none"] += cycles - each.entering
        if unit in ("dma_in", "dma_out"):
            self.memory_free = max(self.memory_free, Fraction(begin + 1)) + each.bytes / self.rate
            cycles = max(math.floor(self.memory_free) - begin, 2) + each.arrival
        if unit == "vector":
            counted["vector"] += cycles
        if unit == "weights":
            counted["weights"] += cycles
        if unit == "collective":
            counted["links"] += cycles
        self.free[unit] = begin + cycles
        self.complete[id(each)] = begin + cycles + each.latency


def run_rules(program: Program, machine: dict) -> dict[str, int]:
    """When each instruction begins, and what the report counts."""
    cores = [Core(program, machine, number) for number in range(machine["system"]["chips"])]
    while any(any(core.queues.values()) for core in cores):
        # Of all instructions that are the first of their queues, the one that can begin first. Transfers of one
        # cycle go in before out.
        ready = []
        for core in cores:
            for unit in core.queues:
                begin = core.begin_of(unit)
                if begin is not None and unit != "collective":
                    ready.append((begin, unit != "dma_in", unit, core.number))
        together = [core.begin_of("collective") if "collective" in core.queues else None for core in cores]
        meets = None if None in together else max(begin for begin in together if begin is not None)
        if meets is not None and all(meets <= first[0] for first in ready):
            for core, begin in zip(cores, together, strict=True):
                core.counted["peers"] += meets - (begin or 0)
                core.run("collective", meets)
            continue
        begin, _, unit, number = min(ready)
        cores[number].run(unit, begin)
    cycles = max(max(core.complete.values()) for core in cores)
    arrays = machine["matrix_unit"]["arrays"]

    def sum_of(name: str) -> int:
        return sum(core.counted[name] for core in cores)

    moved = {unit: sum(each.bytes for each in program.all if each.unit == unit) for unit in ("dma_in", "dma_out")}
    without = sum_of("none") + sum(cycles - core.matrix_until for core in cores)
    counters = {
        "cycles": cycles,
        "matrix_unit.active_cycles": arrays * sum_of("active"),
        "matrix_unit.weight_shift_cycles": arrays * sum_of("shift"),
        "matrix_unit.weight_stall_cycles": arrays * sum_of("stall"),
        "matrix_unit.non_matrix_cycles": arrays * without,
        "matrix_unit.useful_macs": len(cores) * sum(each.macs for each in program.all),
        "weight_load.busy_cycles": sum_of("weights"),
        "vector_unit.busy_cycles": sum_of("vector"),
        "vector_unit.operations": len(cores) * program.operations,
        "vector_unit.loads": len(cores) * program.loads,
        "vector_unit.stores": len(cores) * program.stores,
        "cross_lane_unit.vectors": len(cores) * program.vectors,
        "hbm.read_bytes": len(cores) * moved["dma_in"],
        "hbm.written_bytes": len(cores) * moved["dma_out"],
    }
    if len(cores) > 1:
        counters["collective_unit.busy_cycles"] = sum_of("links")
        counters["collective_unit.peer_cycles"] = sum_of("peers")
    return counters


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
    parser.add_argument("--programs", type=int, default=24)
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
                wrong = [f"{key} {found.get(key)} instead of {value}" for key, value in expected.items() if found.get(key) != value]
                if wrong:
                    print(json.dumps(machine), program.assembly(), sep="\n")
                    sys.exit(f"seed {seed}, {engine}: {', '.join(wrong)}")
    print(f"{arguments.programs} programs: all cycles and counters are those of the rules")


if __name__ == "__main__":
    main()
