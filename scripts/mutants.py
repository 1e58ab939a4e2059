#!/usr/bin/env python3
"""Put small faults into the sources, one at a time; a test must fail for each.

    scripts/mutants.py [--jobs N] [NAME...]         by default all faults of tests/mutants/faults.json
    scripts/mutants.py --programs PROGRAM... -- NAME...  builds and runs these test programs alone: minutes instead of hours
    scripts/mutants.py --random COUNT --seed SEED...  faults that are drawn by rule
    scripts/mutants.py --survivors                    of these, those that no test has found yet

A fault of the list has a name, the file and the exact text that it replaces (once in the file), what the text becomes
(nothing: it is dropped), and one sentence of what is wrong then. docs/mutants.md is written again with a test that fails
for each.

Random faults are drawn by lines of code (mutant_places.py has the rules). Faults that change nothing which anybody
could notice are in tests/mutants/equivalent.json, each with the reason; they are not counted. The rates by folder go to
tests/mutants/rates.json and to docs/mutants.md, the survivors to the output, with file, line and fault. Tests that take
longer than --longest are not run. --survivors goes on with the faults that the last run has not found, also where it
was stopped: it builds what has changed, such as new tests, and runs the tests of changed programs.

All faults are compiled at once, into a copy of the tree in build/mutants or build/random_mutants; drawn faults need
build/dev with all tests. mutant_runs.py says how they are switched on, and how tests are run. Exit code 1 if no test
fails for a fault of the list, or for more random faults of a folder than may survive.
"""
import argparse
import json
import os
import re
import sys
from pathlib import Path

import mutant_places
from missing_includes import ROOT
from mutant_runs import MOST_FAULTS, Copy, CopyOfLibraries, Runs, write_if_new

LIST = "tests/mutants/faults.json"
LIST_TEST = "tests/system/mutants_test.cpp"  # finds the texts of faults twice in the copy
EQUIVALENT = "tests/mutants/equivalent.json"
RATES = "tests/mutants/rates.json"
PAGE = "docs/mutants.md"
SURVIVES = "**none**"
NOT_RUN = "not run yet"
# In the folder of the copy: the faults drawn, and what is known of them.
DRAWN = "drawn.json"
KNOWN = "known.json"

# The folders of the rates, and the shares of their random faults that tests must find.
AIMS = {"base": 0.90, "hw": 0.90, "compiler": 0.85, "sim/run": 0.85, "sim/view": 0.85, "sim/study": 0.85,
        "sim/functional": 0.0, "sim/cli": 0.0}

INTRODUCTION = """# Faults that tests find

A test that passes says little unless it would fail if the code were wrong. So `make mutants` and `make mutants-random`
put faults into the code, one at a time, and run the tests. The faults are small and typical: an off-by-one, a swapped
operand, a dropped wait, a wrong rounding, a forgotten reset.

"""
RANDOM = """## Drawn faults

`make mutants-random` draws {drawn} faults for each of the seeds `MUTANT_SEEDS="1 2 3"`, by rule: a comparison or its
boundary, a sign, the order of operands, min and max, a dropped term, a constant one more or less, rows and columns, a
forgotten field, a skipped branch, a wrong unit. Each line of code is as likely as any other; headers have no drawn
faults. A fault that nobody could notice (a reserve, an order that does not matter) is listed with the reason in
[{equivalent}](../{equivalent}) and not counted.

Tests that take more than 5 CPU seconds are not run: they find more. `scripts/mutants.py --survivors` goes on with the
faults that are not found, for instance with new tests. "Before" and "after" are before and after tests were written for
the survivors of these seeds.

| seed | when | {folders} |
|---|---|{dashes}|
{rows}
Each cell has the faults that a test finds, those drawn, and the share.
The aims: {aims}.

"""
LISTED = """## Listed faults

The table shows a test that fails, by its name in CTest; others may fail as well. "Hangs" means that the test does not
end. The list of the {count} faults is [{list}](../{list}); `scripts/mutants.py` writes this page.

| fault | file | what is wrong then | test that fails |
|---|---|---|---|
"""


def read_json(name, default):
    path = ROOT / name
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else default


def read_faults():
    """The faults of the list, numbered from 1."""
    faults = read_json(LIST, [])
    names = set()
    for number, fault in enumerate(faults, start=1):
        fault["number"] = number
        if fault["name"] in names:
            sys.exit(f"{LIST}: {fault['name']} is the name of two faults")
        names.add(fault["name"])
    return faults


def placed(faults):
    """The faults of the list as mutant_runs.py takes them."""
    ends = {}
    result = []
    for fault in faults:
        file = fault["file"]
        if not (ROOT / file).is_file():
            sys.exit(f"{LIST}: {fault['name']}: there is no file {file}")
        source, text = (ROOT / file).read_bytes(), fault["text"].encode()
        count = source.count(text)
        if count != 1:
            sys.exit(f"{LIST}: {fault['name']}: its text occurs {count} times in {file}; it must occur once")
        begin = source.index(text)
        for other, (other_begin, other_end) in ends.setdefault(file, {}).items():
            if begin < other_end and other_begin < begin + len(text):
                sys.exit(f"{LIST}: {other} and {fault['name']} overlap in {file}")
        ends[file][fault["name"]] = (begin, begin + len(text))
        right, wrong = fault["text"], fault["becomes"]
        becomes = (f"{{ if (@) {{ {wrong} }} else {{ {right} }} }}" if right.endswith(";") else
                   f"(@ ? ({wrong}) : ({right}))")
        result.append({"number": fault["number"], "file": file, "line": source.count(b"\n", 0, begin) + 1, "begin": begin,
                       "end": begin + len(text), "text": right, "becomes": becomes})
    return result


def test_programs():
    """As in tests/CMakeLists.txt: one program for each folder with tests."""
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests/unit").rglob("*_test.cpp")}
    return sorted("_".join(folder.parts) for folder in folders) + ["system"]


def rows_of_page():
    """The last cell of each row, by the fault's name."""
    if not (ROOT / PAGE).is_file():
        return {}
    rows = re.findall(r"^\| `(\w+)` \|.*(?<!\\)\| (.*) \|$", (ROOT / PAGE).read_text(encoding="utf-8"), re.MULTILINE)
    return dict(rows)


def text_of_rates():
    rates = read_json(RATES, [])
    if not rates:
        return ""
    rows = ""
    for run in rates:
        cells = []
        for folder in AIMS:
            found, drawn = run["folders"].get(folder, [0, 0])
            cells.append(f"{found} of {drawn}, {100 * found / drawn:.0f} %" if drawn else "")
        rows += f"| {run['seed']} | {run['when']} | {' | '.join(cells)} |\n"
    aims = ", ".join(f"{aim:.0%} in `{folder}`".replace("%", " %") for folder, aim in AIMS.items() if aim > 0)
    return RANDOM.format(drawn=300, equivalent=EQUIVALENT, folders=" | ".join(f"`{each}`" for each in AIMS),
                         dashes="|".join(["---"] * len(AIMS)), rows=rows, aims=aims)


def write_page(faults, caught_by):
    text = INTRODUCTION + text_of_rates() + LISTED.format(count=len(faults), list=LIST)
    for fault in faults:
        text += (f"| `{fault['name']}` | [{fault['file']}](../{fault['file']}) | {fault['wrong']} | "
                 f"{caught_by.get(fault['name'], NOT_RUN)} |\n")
    write_if_new(ROOT / PAGE, text.encode())


def run_tests(runs):
    """The tests that find faults, by the faults' numbers."""
    print(f"{len(runs.tests)} tests without a fault", flush=True)
    dropped = runs.record()
    for name in dropped["failing"]:
        print(f"not run, for it fails without a fault: {name}")
    if dropped["long"]:
        print(f"{len(dropped['long'])} tests take longer than {runs.longest} s and are not run", flush=True)

    def report(done, of, alive):
        if done % 100 == 0 or done == of:
            print(f"{done} of {of} tests: {alive} of {len(runs.faults)} faults are not found yet", flush=True)

    runs.run(report)
    return runs.found_by


def run_listed(names, jobs, programs):
    faults = read_faults()
    if absent := set(programs) - set(test_programs()):
        sys.exit(f"there is no test program {sorted(absent)[0]}")
    unknown = set(names) - {fault["name"] for fault in faults}
    if unknown:
        sys.exit(f"{LIST} has no fault {sorted(unknown)[0]}")
    caught_by = rows_of_page()
    write_page(faults, caught_by)  # the copy has it, too: other pages link to it
    copy = Copy(ROOT / "build/mutants", left_out=[LIST_TEST])
    all_placed = placed(faults)
    copy.update(all_placed)
    if copy.build(programs or test_programs(), jobs):
        sys.exit(f"the copy with all faults does not compile; {copy.folder}/build.log has the errors")
    chosen = [fault for fault in all_placed if not names or faults[fault["number"] - 1]["name"] in names]
    tests = [test for test in copy.tests() if not programs or Path(test["command"][0]).name in programs]
    found_by = run_tests(Runs(tests, chosen, jobs))
    survivors = 0
    for fault in chosen:
        name, failed = faults[fault["number"] - 1]["name"], found_by.get(fault["number"])
        survivors += failed is None
        caught_by[name] = SURVIVES if failed is None else failed.replace("|", "\\|")
        print(f"{name}: {failed or 'no test fails'}")
    write_page(faults, caught_by)
    print(f"{len(chosen) - survivors} of {len(chosen)} faults are caught")
    return 1 if survivors else 0


def described(fault):
    """A random fault for a list that outlives changes elsewhere in its file."""
    text = (ROOT / fault["file"]).read_bytes()
    start, end = text.rfind(b"\n", 0, fault["begin"]) + 1, text.find(b"\n", fault["begin"])
    line = text[start:end].decode()
    column = len(text[start:fault["begin"]].decode().lstrip()) + 1
    return {"file": fault["file"], "line": line.strip(), "column": column, "rule": fault["rule"],
            "becomes": re.sub(r"\s+", " ", fault["becomes"])}


def draw_all(places, count, seeds):
    """The faults that are drawn by each seed, numbered from 1 through all seeds. No two overlap, so that one build has
    them all; where two seeds draw the same place, the later one draws again."""
    taken, drawn = {}, []
    for seed in seeds:
        # Some do not compile.
        for fault in mutant_places.draw(places, count + count // 4, seed, taken):
            drawn.append({**fault, "seed": seed, "number": len(drawn) + 1})
    if len(drawn) >= MOST_FAULTS:
        sys.exit(f"{len(drawn)} faults are drawn; at most {MOST_FAULTS - 1} fit into one build")
    return drawn


def rates_of(faults, found_by):
    """Faults found and drawn, by folder."""
    rates = {}
    for area in AIMS:
        there = [fault for fault in faults if fault["file"].startswith(f"{area}/")]
        if there:
            rates[area] = [sum(fault["number"] in found_by for fault in there), len(there)]
    return rates


def moved(fault):
    """A fault of the last run in the sources of today, if its line is still there."""
    text = (ROOT / fault["file"]).read_bytes() if (ROOT / fault["file"]).is_file() else b""
    code = fault["code"].encode()
    starts = [match.start() for match in re.finditer(rb"^" + re.escape(code), text, re.M)]
    if not starts:
        return None
    begin = min(starts, key=lambda start: abs(start + fault["column"] - fault["begin"])) + fault["column"]
    return {**fault, "begin": begin, "end": begin + len(fault["text"].encode()), "line": text.count(b"\n", 0, begin) + 1}


def with_code(fault):
    """A fault with the lines that it is on, by which moved() finds it again."""
    text = (ROOT / fault["file"]).read_bytes()
    start, end = text.rfind(b"\n", 0, fault["begin"]) + 1, text.find(b"\n", fault["end"])
    return {**fault, "code": text[start:end].decode(), "column": fault["begin"] - start}


def drawn_anew(copy, count, seeds, jobs):
    places = mutant_places.find(ROOT / "build/dev", copy.folder / "places", jobs)
    print(f"{len(places)} places", flush=True)
    built = copy.build_without(draw_all(places, count, seeds), test_programs(), jobs)
    result = []
    for seed in seeds:
        of_seed = [with_code(fault) for fault in built if fault["seed"] == seed]
        if len(of_seed) < count:
            sys.exit(f"only {len(of_seed)} of the faults drawn by seed {seed} compile")
        result += [{**fault, "spare": position >= count} for position, fault in enumerate(of_seed)]
    return result


def drawn_before(copy, jobs):
    """The faults of the last run."""
    faults = []
    for fault in json.loads((copy.folder / DRAWN).read_text(encoding="utf-8")):
        now = moved(fault)
        if now is None:
            print(f"{fault['file']}:{fault['line']}: {fault['rule']}: its line is no longer there; not counted")
        else:
            faults.append(now)
    return copy.build_without(faults, test_programs(), jobs)


def forget_found(known):
    """What is known of programs holds for new faults, too: whoever changes a program changes its contents."""
    if known.is_file():
        kept = json.loads(known.read_text(encoding="utf-8"))
        known.write_text(json.dumps({**kept, "found": []}), encoding="utf-8")


def run_random(options):
    folder = ROOT / "build/random_mutants"
    copy = CopyOfLibraries(folder, left_out=[LIST_TEST])
    if options.survivors:
        faults = drawn_before(copy, options.jobs)
    else:
        forget_found(folder / KNOWN)
        faults = drawn_anew(copy, options.random, options.seed, options.jobs)
        write_if_new(folder / DRAWN, json.dumps(faults).encode())
    # Spare ones stand in for faults that do not compile. They stay in the copy, where they are never switched on.
    faults = [fault for fault in faults if not fault["spare"]]
    equivalent = [{key: value for key, value in each.items() if key != "reason"}
                  for each in read_json(EQUIVALENT, [])]
    seeds = sorted({fault["seed"] for fault in faults})
    by_seed = {seed: [fault for fault in faults
                      if fault["seed"] == seed and described(fault) not in equivalent] for seed in seeds}
    found_by = run_tests(Runs(copy.tests(), [fault for faults in by_seed.values() for fault in faults], options.jobs,
                              options.longest, folder / KNOWN))

    failed = False
    runs = [run for run in read_json(RATES, []) if run["seed"] not in seeds or run["when"] != options.when]
    for seed, of_seed in by_seed.items():
        survivors = [fault for fault in of_seed if fault["number"] not in found_by]
        for fault in survivors:
            print(f"{fault['file']}:{fault['line']}: {fault['rule']}: {fault['text']} becomes {fault['becomes']}")
        write_if_new(folder / f"survivors_{seed}.json",
                     (json.dumps([described(each) for each in survivors], indent=2) + "\n").encode())
        rates = rates_of(of_seed, found_by)
        for area, (found, of) in rates.items():
            failed |= found < AIMS[area] * of
            print(f"seed {seed}, {area}: {found} of {of} found, {100 * found / of:.1f} % (aim: {AIMS[area]:.0%})")
        print(f"seed {seed}: {len(of_seed) - len(survivors)} of {len(of_seed)} faults are found; "
              f"{sum(fault['seed'] == seed for fault in faults) - len(of_seed)} more are equivalent")
        runs.append({"seed": seed, "when": options.when, "folders": rates})
    if options.when:
        runs.sort(key=lambda run: (run["seed"], run["when"]))
        write_if_new(ROOT / RATES, (json.dumps(runs, indent=2) + "\n").encode())
        write_page(read_faults(), rows_of_page())
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="run these faults of the list only")
    parser.add_argument("--programs", nargs="+", default=[], metavar="PROGRAM",
                        help="with faults of the list: the test programs that may find them (default: all)")
    parser.add_argument("--random", type=int, metavar="COUNT", help="draw so many faults instead")
    parser.add_argument("--survivors", action="store_true", help="go on with the faults drawn by the last run")
    parser.add_argument("--longest", type=float, default=5.0, metavar="SECONDS",
                        help="tests that take more CPU seconds are not run with drawn faults (default: 5)")
    parser.add_argument("--seed", type=int, nargs="+", default=[1], help="of the drawn faults; each draws COUNT")
    parser.add_argument("--when", default="", help="keep the rates under this name, such as a date")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many tests run at a time")
    options = parser.parse_args()
    if options.random or options.survivors:
        sys.exit(run_random(options))
    sys.exit(run_listed(options.names, options.jobs, options.programs))


if __name__ == "__main__":
    main()
