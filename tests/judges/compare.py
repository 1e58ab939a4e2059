#!/usr/bin/env python3
"""Compares `sim` with the expected outputs of all cases in a folder."""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

from simulator import FAILED, NOT_CLAIMED, Judge, print_table, table


def main() -> None:
    arguments = parse_arguments()
    if not arguments.sim.exists():
        sys.exit(f"compare.py: there is no {arguments.sim}; `make run` builds it")
    cases = sorted(path.parent for path in arguments.cases.glob("*/case.json"))
    cases = [case for case in cases if arguments.only in case.name]
    if not cases:
        sys.exit(f"compare.py: no cases in {arguments.cases}")
    settings = chain.from_iterable(("--set", f"machine.{each}") for each in arguments.set)
    options = [*settings, *arguments.option]
    judge = Judge(
        arguments.sim, arguments.machine, arguments.answers, arguments.seconds, options=options
    )
    with ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = list(chain.from_iterable(pool.map(judge.judge, cases)))
    if arguments.rows:
        print(f"{'case':36} {arguments.machine + ': cycles':>24} {'layers on host':>15} {'seconds':>8}  result")
        for each in verdicts:
            figures = f"{each.cycles:24,} {each.layers_on_host:15} {each.seconds:8.1f}"
            print(f"{each.case:36} {figures}  {each.result}")
    for verdict in verdicts:
        if verdict.result == FAILED or (arguments.refusals and verdict.result == NOT_CLAIMED):
            print(f"{verdict.result}: {verdict.case}: {verdict.message}")
    if not print_table(table(verdicts)):
        sys.exit(1)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--cases", type=Path, default=Path("build/judges/cases"), help="folder of cases")
    add("--only", default="", metavar="TEXT", help="only cases with this text in their name")
    add("--sim", type=Path, default=Path("build/release/sim"), help="the simulator")
    add("--machine", default="tpu_v1", help="the machine (tpu_v1)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="a key of the machine")
    add("--rows", action="store_true", help="also print a row for each case")
    add("--answers", type=Path, default=Path("build/judges/answers"), help="what `sim` writes")
    add("--option", action="append", default=[], help="a further option for `sim run`")
    add("--refusals", action="store_true", help="also print why cases are not claimed")
    add("--seconds", type=float, default=120, help="after which `sim` has failed (120)")
    add("--jobs", type=int, default=2, help="simulators at a time (2)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
