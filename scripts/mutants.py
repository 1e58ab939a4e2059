#!/usr/bin/env python3
"""Put small faults into the sources, one at a time; a test must fail for each.

    scripts/mutants.py [--jobs N] [NAME...]     by default all faults of tests/mutants/faults.json

A fault has a name, the file and the exact text that it replaces (once in the file), what the text becomes (nothing:
it is dropped), and one sentence of what is wrong then.

All faults are compiled at once, into a copy of the tree in build/mutants: `text` becomes `(fault N ? becomes : text)`,
or an if statement where it ends with a semicolon. The environment variable SYSTOLE_FAULT says which fault is on; the
function that reads it is in a header that the compiler includes on top of every source. Code that is evaluated at
compile time has no faults.

First all unit and system tests must pass without a fault. Then they run for each fault until one fails: those of the
file's folder first, then those of its neighbours, the system tests last. A test that takes ten times as long as
without a fault, and a minute, has failed: it hangs. docs/mutants.md is written again with the test that failed for
each fault. Exit code 1 if no test fails for a fault.
"""
import argparse
import filecmp
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from missing_includes import ROOT

LIST = "tests/mutants/faults.json"
LIST_TEST = "tests/system/mutants_test.cpp"  # finds the texts of faults twice in the copy
PAGE = "docs/mutants.md"
WORK = ROOT / "build/mutants"
TREE = WORK / "tree"
BUILD = TREE / "build/dev"
PASSED = WORK / "passed.json"  # the seconds of each test without a fault

# The call is `const`, so that loops of hw/math read it once and stay vector loops.
SWITCH = """#pragma once
#include <cstdlib>

[[gnu::const, gnu::noinline]] inline int systole_chosen_fault() noexcept {
    static const int chosen = [] {
        const char* const text = std::getenv("SYSTOLE_FAULT");
        return text == nullptr ? 0 : std::atoi(text);
    }();
    return chosen;
}

constexpr bool systole_fault(int number) {
    return !__builtin_is_constant_evaluated() && systole_chosen_fault() == number;
}
"""

INTRODUCTION = """# Faults that tests find

A test that passes says little unless it would fail if the code were wrong. `make mutants` therefore puts each of the {count}
faults below into the code, one at a time, and runs the tests until one fails. The faults are small and typical: an
off-by-one, a swapped operand, a dropped wait, a wrong rounding, a forgotten reset.

The table shows the test that fails first, by its name in CTest; others may fail as well. The tests of the folder with
the fault run first, then those of its neighbours, and the system tests last. "Hangs" means that the test does not end. The list of the faults is
[{list}](../{list}); `scripts/mutants.py` writes this page.

| fault | file | what is wrong then | test that fails |
|---|---|---|---|
"""
NOT_RUN = "not run yet"
SURVIVES = "**none**"


def read_faults():
    """The faults, numbered from 1."""
    faults = json.loads((ROOT / LIST).read_text(encoding="utf-8"))
    names = set()
    for number, fault in enumerate(faults, start=1):
        fault["number"] = number
        if fault["name"] in names:
            sys.exit(f"{LIST}: {fault['name']} is the name of two faults")
        names.add(fault["name"])
    return faults


def with_faults(file, faults):
    """The text of a file with its faults, each behind its switch."""
    text = (ROOT / file).read_text(encoding="utf-8")
    places = []
    for fault in faults:
        count = text.count(fault["text"])
        if count != 1:
            sys.exit(f"{LIST}: {fault['name']}: its text occurs {count} times in {file}; it must occur once")
        begin = text.index(fault["text"])
        places.append((begin, begin + len(fault["text"]), fault))
    places.sort(key=lambda place: place[0], reverse=True)
    for (begin, _, later), (_, end, earlier) in zip(places, places[1:]):
        if begin < end:
            sys.exit(f"{LIST}: {earlier['name']} and {later['name']} overlap in {file}")
    for begin, end, fault in places:
        switch, right, wrong = f"systole_fault({fault['number']})", fault["text"], fault["becomes"]
        if right.endswith(";"):
            changed = f"{{ if ({switch}) {{ {wrong} }} else {{ {right} }} }}"
        else:
            changed = f"({switch} ? ({wrong}) : ({right}))"
        text = text[:begin] + changed + text[end:]
    return text


def write_if_new(path, text):
    """Equal files keep their times, so that they are not compiled again."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True


def copy_tree(faults):
    """Brings the copy up to date; returns whether it has changed. The page that this script writes is no change."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout
    names = {name for name in listed.split("\0") if name and name != LIST_TEST and (ROOT / name).is_file()}
    changed = write_if_new(WORK / "fault.h", SWITCH)
    by_file = {}
    for fault in faults:
        by_file.setdefault(fault["file"], []).append(fault)
    for file, in_file in by_file.items():
        if file not in names:
            sys.exit(f"{LIST}: {in_file[0]['name']}: there is no file {file}")
        changed |= write_if_new(TREE / file, with_faults(file, in_file))
    for name in sorted(names - set(by_file)):
        original, copied = ROOT / name, TREE / name
        if not (copied.is_file() and filecmp.cmp(original, copied, shallow=False)):
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(original, copied)
            changed |= name != PAGE
    for folder, folders, files in os.walk(TREE):
        if Path(folder) == TREE and "build" in folders:
            folders.remove("build")
        for file in files:
            path = Path(folder, file)
            if str(path.relative_to(TREE)) not in names:
                path.unlink()
                changed = True
    return changed


def test_programs():
    """As in tests/CMakeLists.txt: one program for each folder with tests."""
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests/unit").rglob("*_test.cpp")}
    return sorted("_".join(folder.parts) for folder in folders) + ["system"]


def nearest_first(file, tests):
    """The tests of the file's folder, or of the nearest folder above, then of its neighbours, then all others."""
    parts = Path(file).parent.parts
    folders = {test["folder"] for test in tests}
    above = ["/".join(("unit", *parts[:depth])) for depth in range(len(parts), 0, -1)]
    own = next((folder for folder in above if folder in folders), None)
    return sorted(tests, key=lambda test: (test["folder"] != own, test["folder"] == "system",
                                           not test["folder"].startswith(f"unit/{parts[0]}/"), test["folder"]))


def build(programs, jobs):
    # The flags reach the example that a test of the installation compiles, too: installed headers have faults.
    os.environ["CXXFLAGS"] = f'-include "{WORK}/fault.h"'
    os.environ.setdefault("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1")
    log = WORK / "build.log"
    with open(log, "w", encoding="utf-8") as output:
        for command in (["cmake", "--preset", "dev", "-DSYSTOLE_WARNINGS_AS_ERRORS=OFF", "-DCMAKE_CXX_FLAGS_DEBUG=-Og"],
                        ["cmake", "--build", "--preset", "dev", "--parallel", str(jobs), "--target", *programs]):
            if subprocess.run(command, cwd=TREE, stdout=output, stderr=output).returncode != 0:
                sys.exit(f"the copy with all faults does not compile; {log} has the errors")


def list_tests():
    """The tests of the programs, each a process of its own, as CTest runs them."""
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=BUILD, capture_output=True, text=True, check=True)
    tests = []
    for test in json.loads(listed.stdout)["tests"]:
        folder = test["name"].split(":")[0]
        if folder == "system" or folder.startswith("unit/"):
            properties = {each["name"]: each["value"] for each in test["properties"]}
            tests.append({"name": test["name"], "folder": folder, "command": test["command"],
                          "cwd": properties["WORKING_DIRECTORY"]})
    return tests


def failure(test, fault, seconds=None):
    """How a test fails, as text of the page; None if it passes. It hangs if it takes longer than `seconds`."""
    environment = {**os.environ, "SYSTOLE_FAULT": str(fault)}
    for writes in ("SYSTOLE_WRITE_GOLDEN", "SYSTOLE_WRITE_SEEDS"):
        environment.pop(writes, None)
    # Some tests write files of fixed names; the same test may run for another fault at this time.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(test["command"], cwd=test["cwd"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True,
                                   env={**environment, "TMPDIR": folder})
        try:
            return test["name"] if process.wait(seconds) != 0 else None
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"{test['name']} (hangs)"


def run_without_fault(tests, jobs):
    """The seconds that each test takes, by its name. Ends this script if one fails."""
    if PASSED.is_file():
        return json.loads(PASSED.read_text(encoding="utf-8"))
    print(f"{len(tests)} tests without a fault", flush=True)

    def seconds_of(test):
        begin = time.monotonic()
        if failure(test, 0) is not None:
            sys.exit(f"without a fault, this test fails: {test['name']}")
        return time.monotonic() - begin

    with ThreadPoolExecutor(jobs) as pool:
        seconds = dict(zip((test["name"] for test in tests), pool.map(seconds_of, tests)))
    PASSED.write_text(json.dumps(seconds), encoding="utf-8")
    return seconds


def first_failure(fault, tests, seconds):
    """The first test that fails, as text of the page; None if none does."""
    for test in nearest_first(fault["file"], tests):
        failed = failure(test, fault["number"], 60 + 10 * seconds[test["name"]])
        if failed is not None:
            return failed
    return None


def rows_of_page():
    """The last cell of each row, by the fault's name."""
    if not (ROOT / PAGE).is_file():
        return {}
    rows = re.findall(r"^\| `(\w+)` \|.*(?<!\\)\| (.*) \|$", (ROOT / PAGE).read_text(encoding="utf-8"), re.MULTILINE)
    return dict(rows)


def write_page(faults, caught_by):
    text = INTRODUCTION.format(count=len(faults), list=LIST)
    for fault in faults:
        text += (f"| `{fault['name']}` | [{fault['file']}](../{fault['file']}) | {fault['wrong']} | "
                 f"{caught_by.get(fault['name'], NOT_RUN)} |\n")
    write_if_new(ROOT / PAGE, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="run these faults only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many tests run at a time")
    options = parser.parse_args()

    faults = read_faults()
    unknown = set(options.names) - {fault["name"] for fault in faults}
    if unknown:
        sys.exit(f"{LIST} has no fault {sorted(unknown)[0]}")
    chosen = [fault for fault in faults if not options.names or fault["name"] in options.names]
    programs = test_programs()
    caught_by = rows_of_page()
    write_page(faults, caught_by)  # the copy has it, too: other pages link to it
    WORK.mkdir(parents=True, exist_ok=True)
    if copy_tree(faults):
        PASSED.unlink(missing_ok=True)
    build(programs, options.jobs)
    tests = list_tests()
    seconds = run_without_fault(tests, options.jobs)

    survivors = []
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = {pool.submit(first_failure, fault, tests, seconds): fault for fault in chosen}
        for run in as_completed(runs):
            fault, failed = runs[run], run.result()
            if failed is None:
                survivors.append(fault["name"])
            caught_by[fault["name"]] = SURVIVES if failed is None else failed.replace("|", "\\|")
            print(f"{fault['name']}: {failed or 'no test fails'}", flush=True)
            write_page(faults, caught_by)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} faults are caught")
    if survivors:
        sys.exit(1)


if __name__ == "__main__":
    main()
