#!/usr/bin/env python3
"""clang-tidy on the sources that differ from the last green commit, and on each header that differs, once.

    scripts/tidy.py BUILD_DIRECTORY [--all] [--jobs N]

The last green commit is the one that .ci/green names: it passed the whole of .ci/run. scripts/changes.py says what
differs; files that only moved do not. Where git does not know the commit, or where the packages differ, all sources are
checked. A header is checked where one source includes it: a source that has not changed hardly gets a finding by a
header that has, and a header that everything includes would bring everything back (--all finds these).

clang-tidy reads what the build compiles, sixteen sources as one: headers, which take most of the time, are read once
for all of them. Sources among them that have not changed are left out. There, names of one source shadow those of
another, so this warning is off here; g++ warns of the others.
"""
import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from changes import changed_files, clang_command, sources_of
from missing_includes import ROOT, Tree


def covering(compiled, changed):
    """Sources that read every changed source and header, few of them, by the compiled file that they belong to."""
    tree = Tree(["base", "hw", "compiler", "sim", "tests"])
    compiled_in = {source: each for each in compiled for source in sources_of(each, ROOT)}
    read = {source: tree.closure(source) for source in compiled_in}
    chosen = compiled_in.keys() & changed
    left = {path for path in changed if path in tree.sources}.difference(*(read[source] for source in chosen))
    while left:
        best = max(sorted(read), key=lambda source: len(read[source] & left))
        if not read[best] & left:  # what is left is read by nothing that the build compiles
            break
        chosen.add(best)
        left -= read[best]
    parts = {}
    for source in sorted(chosen):
        parts.setdefault(compiled_in[source], []).append(source)
    return parts


def write_part(compiled, sources, command):
    """A file with the includes of these sources alone, and its command, if the build compiles them with others."""
    if set(sources) == sources_of(compiled, ROOT):
        return compiled, None
    path = Path(compiled).with_name(f"tidy_{Path(compiled).name}")  # below the same .clang-tidy
    path.write_text("".join(f'#include "{ROOT / source}"\n' for source in sources), encoding="utf-8")
    return str(path), command | {"file": str(path), "command": command["command"].replace(compiled, str(path))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--all", action="store_true", help="all sources, whatever has changed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    commands = json.loads((options.build / "compile_commands.json").read_text(encoding="utf-8"))
    compiled = sorted({command["file"] for command in commands if "cmake_pch" not in command["file"]})
    green = (ROOT / ".ci/green").read_text(encoding="utf-8").strip()
    changed, reason = (None, "--all") if options.all else changed_files(ROOT, green, options.build)
    parts = {each: sorted(sources_of(each, ROOT)) for each in compiled} if changed is None else covering(compiled, changed)
    print(f"clang-tidy on {sum(map(len, parts.values()))} sources of {len(parts)} of {len(compiled)} compiled files: "
          f"{reason}", flush=True)

    database = options.build / "tidy"
    database.mkdir(exist_ok=True)
    for command in commands:
        command["command"] = clang_command(command["command"])
    command_of = {command["file"]: command for command in commands}
    compiled = []
    for each, sources in parts.items():
        path, command = write_part(each, sources, command_of[each])
        compiled.append(path)
        commands += [command] if command else []
    (database / "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")

    def check(path):
        return subprocess.run(["clang-tidy", "--quiet", "-p", str(database), "--extra-arg=-Wno-shadow", path],
                              capture_output=True, text=True)

    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for path, result in zip(compiled, pool.map(check, compiled)):
            if result.returncode != 0:
                failed += 1
                print(result.stdout + result.stderr, flush=True)
    if failed:
        sys.exit(f"clang-tidy: {failed} of {len(compiled)} compiled files have findings")


if __name__ == "__main__":
    main()
