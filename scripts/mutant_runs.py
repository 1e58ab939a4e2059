"""A copy of the tree with many faults, each behind a switch, and the tests that fail for them.

Each fault of a copy has a number. The environment variable SYSTOLE_FAULTS lists those that are on; where
SYSTOLE_FAULTS_REACHED names a file, byte n of it says whether a process has come to fault n. So one run of all tests
without a fault tells which tests can notice which faults.

A test then runs with many faults at once. If it passes, it notices none of them; if it fails, their halves run, down
to single faults. Groups are small at first and grow with the tests that their faults have survived, so that most of the
long tests run once, with all survivors. Faults that undo each other can hide in this way, which makes the count of those
found too small, never too large.

What is known is kept in the folder of the copy: a test runs again, after it or the simulator has changed, and only with
faults that are not found yet.
"""
import filecmp
import hashlib
import json
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from missing_includes import ROOT

# The chance at which a group of faults may fail a test, by the estimates of single faults.
CHANCE_OF_GROUP = 0.6
MOST_FAULTS = 4096
MOST_MEMORY = 8 << 30  # bytes of address space; a fault may ask for all there is
MOST_OUTPUT = 2 << 30

# The call is `const`, so that loops of hw/math make it once and stay vector loops.
SWITCH = f"""#pragma once
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <type_traits>
#include <unistd.h>

namespace systole_faults {{

constexpr int most = {MOST_FAULTS};

struct State {{
    bool on[most] = {{}};
    unsigned char* reached = nullptr;

    State() noexcept {{
        if (const char* text = std::getenv("SYSTOLE_FAULTS")) {{
            for (char* end = nullptr;; text = end + 1) {{
                const long number = std::strtol(text, &end, 10);
                if (end == text) break;
                on[number] = true;
                if (*end != ',') break;
            }}
        }}
        if (const char* const path = std::getenv("SYSTOLE_FAULTS_REACHED")) {{
            const int file = open(path, O_RDWR);
            void* const bytes = mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (bytes != MAP_FAILED) reached = static_cast<unsigned char*>(bytes);
            close(file);
        }}
    }}
}};

[[gnu::const, gnu::noinline]] inline bool is_on(int number) noexcept {{
    static const State state;
    if (state.reached != nullptr) state.reached[number] = 1;
    return state.on[number];
}}

}}  // namespace systole_faults

constexpr bool systole_fault(int number) {{
    return !__builtin_is_constant_evaluated() && systole_faults::is_on(number);
}}
"""


def write_if_new(path, text):
    """Equal files keep their times, so that they are not compiled again."""
    if path.is_file() and path.read_bytes() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    return True


def with_faults(text, faults):
    """The bytes of a file with its faults. The lines keep their numbers, so that errors name their faults."""
    for fault in sorted(faults, key=lambda each: each["begin"], reverse=True):
        # The first @ is the switch's; others are of the source.
        switch = f"systole_fault({fault['number']})"
        changed = re.sub(r"\s*\n\s*", " ", fault["becomes"]).replace("@", switch, 1)
        changed += "\n" * fault["text"].count("\n")
        text = text[:fault["begin"]] + changed.encode() + text[fault["end"]:]
    return text


class Copy:
    """The copy of the tree, its build and its tests."""

    def __init__(self, folder, left_out=()):
        """`left_out` are files that the copy does not have."""
        self.folder = folder
        self.tree = folder / "tree"
        self.build_folder = self.tree / "build/dev"
        self.left_out = set(left_out)

    def update(self, faults, unimportant=()):
        """Brings the copy up to date; returns whether anything but the files `unimportant` has changed."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                                capture_output=True, text=True, check=True).stdout
        names = {name for name in listed.split("\0")
                 if name and name not in self.left_out and (ROOT / name).is_file()}
        changed = write_if_new(self.folder / "fault.h", SWITCH.encode())
        by_file = {}
        for fault in faults:
            by_file.setdefault(fault["file"], []).append(fault)
        for file, in_file in by_file.items():
            changed |= write_if_new(self.tree / file, with_faults((ROOT / file).read_bytes(), in_file))
        for name in sorted(names - set(by_file)):
            original, copied = ROOT / name, self.tree / name
            if not (copied.is_file() and filecmp.cmp(original, copied, shallow=False)):
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(original, copied)
                changed |= name not in unimportant
        for folder, folders, files in os.walk(self.tree):
            if Path(folder) == self.tree and "build" in folders:
                folders.remove("build")
            for file in files:
                path = Path(folder, file)
                if str(path.relative_to(self.tree)) not in names:
                    path.unlink()
                    changed = True
        return changed

    def run(self, *command):
        """The messages of a command in the copy; empty if it ends well."""
        # The flags reach the example that a test of the installation compiles, too: installed headers have faults.
        environment = {**os.environ, "CXXFLAGS": f'-include "{self.folder}/fault.h"',
                       "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE": "1"}
        run = subprocess.run(command, cwd=self.tree, capture_output=True, text=True, env=environment)
        (self.folder / "build.log").write_text(run.stdout + run.stderr, encoding="utf-8")
        return "" if run.returncode == 0 else run.stdout + run.stderr

    def configure(self):
        return self.run("cmake", "--preset", "dev", "-DSYSTOLE_WARNINGS_AS_ERRORS=OFF", "-DCMAKE_CXX_FLAGS_DEBUG=-Og")

    def build(self, targets, jobs):
        """The errors of the compiler, as text; empty if all was built."""
        return self.configure() or self.run("cmake", "--build", "--preset", "dev", "--parallel", str(jobs), "--target",
                                            *targets, "--", "-k", "0")

    def build_without(self, faults, targets, jobs):
        """Builds without the faults that do not compile; returns the others."""
        while True:
            self.update(faults)
            errors = self.build(targets, jobs)
            if not errors:
                return faults
            wrong = self.faults_of(errors, faults)
            if not wrong:
                sys.exit(f"the copy with all faults does not compile; {self.folder}/build.log has the errors")
            print(f"{len(wrong)} faults do not compile", flush=True)
            faults = [fault for fault in faults if fault["number"] not in wrong]

    def faults_of(self, errors, faults):
        """The numbers of the faults on lines with errors, or else on lines that lead to errors."""
        place = rf"^(?:In file included from |\s+from )?{re.escape(str(self.tree))}/(\S+?):(\d+):"
        for pattern in (place + r"\d+: (?:fatal )?error", place):
            lines = {(match[1], int(match[2])) for match in re.finditer(pattern, errors, re.M)}
            wrong = {fault["number"] for fault in faults
                     if any((fault["file"], line) in lines
                            for line in range(fault["line"], fault["line"] + fault["text"].count("\n") + 1))}
            if wrong:
                return wrong
        return set()

    def tests(self):
        """All tests of CTest, each a process of its own."""
        return tests_of(self.build_folder, self.build_folder)


class CopyOfLibraries(Copy):
    """A copy whose tests are those of build/dev, linked with the libraries and the `sim` of the copy: no header has a
    fault, so that only the libraries are compiled."""

    def build(self, targets, jobs):
        """As above; `targets` are the names of test programs."""
        if errors := self.configure():
            return errors
        original = ROOT / "build/dev"
        links = {target: self.link_of(target, original) for target in targets}
        libraries = sorted({library for _, used in links.values() for library in used})
        if errors := self.run("cmake", "--build", "--preset", "dev", "--parallel", str(jobs), "--target", "sim", *libraries,
                              "--", "-k", "0"):
            return errors
        with ThreadPoolExecutor(jobs) as pool:
            newest = max((self.build_folder / library).stat().st_mtime for library in libraries)
            old = [command for target, (command, _) in links.items() if not (self.build_folder / target).is_file() or
                   (self.build_folder / target).stat().st_mtime < max(newest, (original / target).stat().st_mtime)]
            list(pool.map(lambda command: subprocess.run(command, cwd=original, shell=True, check=True), old))
        return ""

    def link_of(self, target, original):
        """The command that links a test program with the libraries of the copy, and the names of these."""
        commands = subprocess.run(["ninja", "-t", "commands", "-s", target], cwd=original, capture_output=True, text=True,
                                  check=True).stdout
        command = re.search(rf"&& (\S+ .* -o {target} .*?) &&", commands)[1]
        libraries = re.findall(r"(?<= )(?:base|hw|compiler|sim\.dir)/\S+\.a(?= |$)", command)
        for library in set(libraries):
            command = command.replace(f" {library}", f" {self.build_folder}/{library}")
        return command.replace(f" -o {target} ", f" -o {self.build_folder}/{target} "), libraries

    def tests(self):
        tests = tests_of(ROOT / "build/dev", self.build_folder) + self.operator_tests()
        # The path of `sim` is in the programs. In a namespace of its own, a test sees the one of the copy there.
        own_namespace = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c",
                         'mount --bind "$0" "$1" && shift && exec "$@"', str(self.build_folder / "sim"),
                         str(ROOT / "build/dev/sim")]
        for test in tests:
            test["command"] = own_namespace + test["command"]
        return tests

    def operator_tests(self):
        """"golden: operators" has hundreds of cases: a test for each operator."""
        script = ROOT / "tests/golden/operators_test.py"
        names = {path.parent.name.rpartition("_")[0] for path in script.parent.glob("operators/*/case.json")}
        names = {re.sub(r"_(float|u?int|bool)\d*$", "", name) for name in names}
        program = hashlib.sha256((self.build_folder / "sim").read_bytes()).hexdigest()[:16]
        return [{"name": f"golden: operators --only {name}_", "cwd": str(ROOT), "program": program,
                 "command": ["/usr/bin/python3", str(script), str(self.build_folder / "sim"), "--only", f"{name}_"]}
                for name in sorted(names)]


def tests_of(listed, build_folder):
    """The tests that CTest knows in the folder `listed`, of the programs in a build folder. Each has the contents of the
    programs that it may run."""
    digests = {}

    def program_of(name):
        for each in (name, "sim"):
            if each not in digests:
                path = build_folder / each
                digests[each] = hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else ""
        return f"{digests[name]} {digests['sim']}"

    known = subprocess.run(["ctest", "--show-only=json-v1"], cwd=listed, capture_output=True, text=True, check=True)
    tests = []
    for test in json.loads(known.stdout)["tests"]:
        folder = test["name"].split(":")[0]
        if folder == "system" or folder.startswith("unit/"):
            properties = {each["name"]: each["value"] for each in test["properties"]}
            name = Path(test["command"][0]).name
            tests.append({"name": test["name"], "command": [str(build_folder / name), *test["command"][1:]],
                          "program": program_of(name), "cwd": properties["WORKING_DIRECTORY"]})
    return tests


def ended(process, seconds):
    """Waits for a process; whether it ended by itself in time, and the CPU seconds of it and of those it waited for."""
    until = time.monotonic() + seconds
    pause = 0.002
    while True:
        number, status, usage = os.wait4(process.pid, os.WNOHANG)
        if number:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode != -signal.SIGXCPU, usage.ru_utime + usage.ru_stime
        if time.monotonic() > until:
            return False, 0.0
        time.sleep(pause)
        pause = min(0.1, 1.2 * pause)


def outcome(test, numbers, cpu_seconds, seconds, reached=None):
    """How a test ends with some faults: "passes", "fails", or "hangs" if it or a process that it starts takes longer; and
    the CPU seconds that it took."""
    environment = {**os.environ, "SYSTOLE_FAULTS": ",".join(map(str, numbers))}
    for name in ("SYSTOLE_WRITE_GOLDEN", "SYSTOLE_WRITE_SEEDS"):
        environment.pop(name, None)
    if reached is not None:
        environment["SYSTOLE_FAULTS_REACHED"] = str(reached)

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_OUTPUT, MOST_OUTPUT))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    # Some tests write files of fixed names; the same test may run with other faults at this time.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(test["command"], cwd=test["cwd"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=limit, env={**environment, "TMPDIR": folder})
        try:
            in_time, taken = ended(process, seconds)
            return ("hangs" if not in_time else "passes" if process.returncode == 0 else "fails"), taken
        finally:
            # Also what the test has started and left behind.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


class Runs:
    """Which tests notice which faults."""

    def __init__(self, tests, faults, jobs, longest=None, kept=None):
        """Tests that take more than `longest` CPU seconds are not run. `kept` is a file for what is known of tests and
        of faults: for each test the program it belongs to, its CPU seconds, the faults that it reaches, and those with
        which it passed; for each fault the test that finds it."""
        self.faults = {fault["number"]: fault for fault in faults}
        self.jobs = jobs
        self.longest = longest
        self.kept = kept
        known = json.loads(kept.read_text(encoding="utf-8")) if kept is not None and kept.is_file() else {}
        self.of_other_tests = known.get("tests", {})
        self.found_by = {number: name for number, name in known.get("found", []) if number in self.faults}
        self.alive = set(self.faults) - set(self.found_by)
        self.survived = dict.fromkeys(self.faults, 0)  # tests that reach a fault and pass with it
        self.lock = threading.Lock()
        self.saved = time.monotonic()
        self.tests = self.known = tests
        for test in tests:
            of_test = known.get("tests", {}).get(test["name"], {})
            if "reaches" in of_test:
                test.update({**of_test, "program": test["program"]}, reaches=set(of_test["reaches"]),
                            passed=set(of_test["passed"]))
                if of_test["program"] != test["program"]:
                    # What it reached is a guide still; that it passes without a fault is to be seen.
                    test.update(passed=set(), is_changed=True)
                for number in test["passed"] & self.alive & test["reaches"]:
                    self.survived[number] += 1

    def save(self):
        if self.kept is not None:
            tests = {test["name"]: {"program": "" if test.get("is_changed") else test["program"], "cpu": test["cpu"], "seconds": test["seconds"],
                                    "reaches": sorted(test["reaches"]), "passed": sorted(test["passed"])}
                     for test in self.known if "cpu" in test}
            text = json.dumps({"found": sorted(self.found_by.items()), "tests": {**self.of_other_tests, **tests}})
            new = self.kept.with_suffix(".new")
            new.write_text(text, encoding="utf-8")
            new.replace(self.kept)
        self.saved = time.monotonic()

    def record(self):
        """Runs the tests without a fault: their seconds, and the faults that each reaches. Drops those that fail, for
        they depend on the text of sources or on the speed of the machine, and those that take too long."""
        most = self.longest or 3600
        dropped = {"failing": [], "long": []}

        def run(test):
            if "cpu" not in test:
                with tempfile.NamedTemporaryFile() as file:
                    file.truncate(MOST_FAULTS)
                    begin = time.monotonic()
                    # The seconds are of a machine that others use, too.
                    how, cpu = outcome(test, [], math.ceil(most), 8 * most, file.name)
                    reached = Path(file.name).read_bytes()
                if how == "fails":
                    return "failing"
                test.update(cpu=cpu if how == "passes" else 2.0 * most, seconds=time.monotonic() - begin, passed=set(),
                            reaches={number for number, byte in enumerate(reached) if byte})
            return "long" if test["cpu"] > most else ""

        with ThreadPoolExecutor(self.jobs) as pool:
            kinds = list(pool.map(run, self.tests))
        self.save()
        for kind, names in dropped.items():
            names += [test["name"] for test, of_test in zip(self.tests, kinds) if of_test == kind]
        self.tests = [test for test, kind in zip(self.tests, kinds) if not kind]
        if not self.tests:
            sys.exit("without a fault, all tests fail")
        return dropped

    def passes(self, test, numbers):
        with self.lock:
            numbers = [number for number in numbers if number in self.alive]
        if not numbers:
            return True
        # It hangs if it takes several times as long as without a fault.
        limits = math.ceil(2 + 3 * test["cpu"]), 10 + 5 * test["seconds"]
        how, _ = outcome(test, numbers, *limits)
        if how != "passes" and test.get("is_changed"):
            test["is_changed"] = outcome(test, [], *limits)[0] != "passes"
            if test["is_changed"]:
                print(f"it fails without a fault: {test['name']}", flush=True)
                return True
        with self.lock:
            if how == "passes":
                test["passed"].update(numbers)
                for number in numbers:
                    self.survived[number] += number in test["reaches"]
            elif len(numbers) == 1 and numbers[0] in self.alive:
                self.alive.remove(numbers[0])
                self.found_by[numbers[0]] = test["name"] + (" (hangs)" if how == "hangs" else "")
        return how == "passes"

    def notice(self, test, numbers):
        """Marks those of the faults for which a test fails."""
        if not self.passes(test, numbers) and len(numbers) > 1:
            self.notice(test, numbers[:len(numbers) // 2])
            self.notice(test, numbers[len(numbers) // 2:])

    def groups(self, test):
        """The faults that a test reaches, in groups; with the last one come those that it does not reach, which shows
        whether `reaches` is true."""
        with self.lock:
            left = self.alive - test["passed"]
            survived = dict(self.survived)
        groups, chance = [[]], 0.0
        for number in sorted(left & test["reaches"], key=lambda each: (survived[each], each)):
            own = 1 / (3 + survived[number])
            if groups[-1] and chance + own > CHANCE_OF_GROUP:
                groups.append([])
                chance = 0.0
            groups[-1].append(number)
            chance += own
        return groups, sorted(left - test["reaches"])

    def run(self, report):
        """All tests, the quickest first, with the faults that they reach."""
        done = 0

        def run(test):
            nonlocal done
            groups, rest = self.groups(test)
            for group in groups[:-1]:
                self.notice(test, group)
            if rest and self.passes(test, groups[-1] + rest):
                rest = []
            else:
                self.notice(test, groups[-1])
            self.notice(test, rest)
            with self.lock:
                done += 1
                report(done, len(self.tests), len(self.alive))
                if time.monotonic() - self.saved > 20:
                    self.save()

        ordered = sorted(self.tests, key=lambda test: test["cpu"])
        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(run, ordered))
        self.save()
