#!/usr/bin/env python3
"""Change one term of the sources at a time; tests must notice.

    scripts/mutants.py [--sources hw/timing] [--target unit_hw_timing] [--count 20] [--seed 1]

A mutant is a copy of the tree with one change: a number plus one, + for -, * for +, < for <=, std::min for std::max.
Each is built in build/mutants (every source by itself, so that little is compiled anew) and its tests are run. What
no test notices is printed with its line: it is a missing test, or a change that means the same. Exit code 1 if any
mutant survives.
"""
import argparse
import filecmp
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

from missing_includes import ROOT

CHANGES = [
    (re.compile(r"(?<![\w.\"'])(\d+)(?=[\s;,)}]|U\b)"), lambda match: str(int(match.group(1)) + 1)),
    (re.compile(r" \+ (?!=)"), lambda match: " - "),
    (re.compile(r" - (?!=)"), lambda match: " + "),
    (re.compile(r" \* (?=\w)"), lambda match: " + "),
    (re.compile(r" < (?=\w)"), lambda match: " <= "),
    (re.compile(r" > (?=\w)"), lambda match: " >= "),
    (re.compile(r"std::min(?=\(|<)"), lambda match: "std::max"),
    (re.compile(r"std::max(?=\(|<)"), lambda match: "std::min"),
]


def mutants_of(path):
    """(begin, end, replacement) of each change of a file, outside comments, strings, includes and templates."""
    text = path.read_text(encoding="utf-8")
    found = []
    offset = 0
    for line in text.splitlines(keepends=True):
        code = line.split("//")[0]
        if not code.lstrip().startswith(("#", "template", "using", "static_assert")) and '"' not in code:
            for pattern, replacement in CHANGES:
                found += [(offset + match.start(), offset + match.end(), replacement(match))
                          for match in pattern.finditer(code)]
        offset += len(line)
    return found


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", default="hw/timing", help="file or folder that is changed")
    parser.add_argument("--target", default="unit_hw_timing", help="test program that must notice")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    # A copy: a mutant never stands in the tree that people edit.
    copy = ROOT / "build/mutants/tree"
    build = ROOT / "build/mutants/build"
    copy.mkdir(parents=True, exist_ok=True)
    files = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).stdout
    for name in filter(None, files.split("\0")):
        original, copied = ROOT / name, copy / name
        # Equal files keep their times, so that they are not compiled again.
        if original.is_file() and not (copied.is_file() and filecmp.cmp(original, copied, shallow=False)):
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(original, copied)
    subprocess.run(["cmake", "--preset", "daily", "-B", str(build)], cwd=copy, check=True, stdout=subprocess.DEVNULL)
    compile_target = ["cmake", "--build", str(build), "--parallel", str(options.jobs), "--target", options.target]
    test = [str(build / options.target)]
    if run(*compile_target).returncode != 0 or run(*test).returncode != 0:
        sys.exit(f"{options.target} fails without a mutant")

    source = copy / options.sources
    paths = sorted(each for each in source.rglob("*") if each.suffix in (".h", ".cpp")) if source.is_dir() else [source]
    everything = [(path, *mutant) for path in paths for mutant in mutants_of(path)]
    chosen = random.Random(options.seed).sample(everything, min(options.count, len(everything)))
    print(f"{len(chosen)} of {len(everything)} mutants of {options.sources}, seed {options.seed}", flush=True)
    caught, uncompiled = 0, 0
    for path, begin, end, replacement in chosen:
        text = path.read_text(encoding="utf-8")
        path.write_text(text[:begin] + replacement + text[end:], encoding="utf-8")
        try:
            if run(*compile_target).returncode != 0:
                uncompiled += 1
                continue
            try:
                survived = run(*test, timeout=600).returncode == 0
            except subprocess.TimeoutExpired:
                survived = False
            if not survived:
                caught += 1
                continue
            line = text.count("\n", 0, begin) + 1
            print(f"survives: {path.relative_to(copy)}:{line}: {text.splitlines()[line - 1].strip()}"
                  f"   [{text[begin:end].strip()} -> {replacement.strip()}]", flush=True)
        finally:
            path.write_text(text, encoding="utf-8")
    print(f"{caught} of {len(chosen) - uncompiled} caught; {uncompiled} did not compile")
    if caught + uncompiled < len(chosen):
        sys.exit(1)


if __name__ == "__main__":
    main()
