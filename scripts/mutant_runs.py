"""A copy of the tree with many faults, each behind a switch, and the tests that fail for them.

Each fault of a copy has a number. The environment variable SYSTOLE_FAULTS lists those that are on; where
SYSTOLE_FAULTS_REACHED names a file, byte n of it says whether a process has come to fault n. So one run of all tests
without a fault tells which tests can notice which faults.

A test then runs with many faults at once. If it passes, it notices none of them; if it fails, their halves run, down
to single faults. Faults that undo each other can hide in this way, which makes the count of those found too small,
never too large.
"""
import filecmp
import json
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

# Faults that run at once. With more, the first tests fail for almost every group.
AT_ONCE = 16
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
        changed = re.sub(r"\s*\n\s*", " ", fault["becomes"]).replace("@", f"systole_fault({fault['number']})")
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

    def build(self, targets, jobs):
        """The errors of the compiler, as text; empty if all was built."""
        # The flags reach the example that a test of the installation compiles, too: installed headers have faults.
        environment = {**os.environ, "CXXFLAGS": f'-include "{self.folder}/fault.h"',
                       "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE": "1"}
        text = ""
        for command in (["cmake", "--preset", "dev", "-DSYSTOLE_WARNINGS_AS_ERRORS=OFF",
                         "-DCMAKE_CXX_FLAGS_DEBUG=-Og"],
                        ["cmake", "--build", "--preset", "dev", "--parallel", str(jobs), "--target", *targets, "--",
                         "-k", "0"]):
            run = subprocess.run(command, cwd=self.tree, capture_output=True, text=True, env=environment)
            text += run.stdout + run.stderr
            (self.folder / "build.log").write_text(text, encoding="utf-8")
            if run.returncode != 0:
                return text
        return ""

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
        listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.build_folder, capture_output=True, text=True,
                                check=True)
        tests = []
        for test in json.loads(listed.stdout)["tests"]:
            folder = test["name"].split(":")[0]
            if folder == "system" or folder.startswith("unit/"):
                properties = {each["name"]: each["value"] for each in test["properties"]}
                tests.append({"name": test["name"], "folder": folder, "command": test["command"],
                              "cwd": properties["WORKING_DIRECTORY"]})
        return tests


def limit_resources():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_OUTPUT, MOST_OUTPUT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def outcome(test, numbers, seconds=None, reached=None):
    """How a test ends with some faults: "passes", "fails", or "hangs" if it takes longer than `seconds`."""
    environment = {**os.environ, "SYSTOLE_FAULTS": ",".join(map(str, numbers))}
    for name in ("SYSTOLE_WRITE_GOLDEN", "SYSTOLE_WRITE_SEEDS"):
        environment.pop(name, None)
    if reached is not None:
        environment["SYSTOLE_FAULTS_REACHED"] = str(reached)
    # Some tests write files of fixed names; the same test may run with other faults at this time.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(test["command"], cwd=test["cwd"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=limit_resources, env={**environment, "TMPDIR": folder})
        try:
            return "passes" if process.wait(seconds) == 0 else "fails"
        except subprocess.TimeoutExpired:
            return "hangs"
        finally:
            # Also what the test has started and left behind.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


class Runs:
    """Which tests notice which faults."""

    def __init__(self, tests, faults, jobs):
        self.tests = tests
        self.alive = {fault["number"]: fault for fault in faults}
        self.jobs = jobs
        self.found_by = {}  # number of the fault: name of the test, and whether it hangs
        self.lock = threading.Lock()

    def record(self):
        """Runs all tests without a fault: their seconds, and the faults that each reaches."""
        def run(test):
            with tempfile.NamedTemporaryFile() as file:
                file.truncate(MOST_FAULTS)
                begin = time.monotonic()
                if outcome(test, [], reached=file.name) != "passes":
                    sys.exit(f"without a fault, this test fails: {test['name']}")
                reached = Path(file.name).read_bytes()
            test["seconds"] = time.monotonic() - begin
            test["reaches"] = {number for number, byte in enumerate(reached) if byte}

        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(run, self.tests))

    def notice(self, test, numbers):
        """Marks those of the faults for which a test fails. It hangs if it takes ten times as long as without."""
        with self.lock:
            numbers = [number for number in numbers if number in self.alive]
        if not numbers:
            return
        how = outcome(test, numbers, 20 + 10 * test["seconds"])
        if how == "passes":
            return
        if len(numbers) > 1:
            self.notice(test, numbers[:len(numbers) // 2])
            self.notice(test, numbers[len(numbers) // 2:])
            return
        with self.lock:
            if self.alive.pop(numbers[0], None) is not None:
                self.found_by[numbers[0]] = test["name"] + (" (hangs)" if how == "hangs" else "")

    def run(self, report):
        """All tests, the quickest first, with the faults that they reach. Then once more with all that is left and that
        they do not reach: that shows whether `reaches` is true."""
        done = 0

        def run(test):
            nonlocal done
            numbers = sorted(test["reaches"])
            for begin in range(0, len(numbers), AT_ONCE):
                self.notice(test, numbers[begin:begin + AT_ONCE])
            with self.lock:
                done += 1
                report(done, len(self.tests), len(self.alive))

        def run_rest(test):
            self.notice(test, sorted(set(self.alive) - test["reaches"]))

        ordered = sorted(self.tests, key=lambda test: test["seconds"])
        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(run, ordered))
            list(pool.map(run_rest, ordered))
