"""Which sources and headers clang-tidy sees with other eyes than at a commit that it has passed.

A file is the same to it, however git shows it, if these are:
- its text, apart from blank lines, the order of its #includes, and the paths of headers that git shows as moved;
- the .clang-tidy that is nearest above it, apart from comments and from HeaderFilterRegex: that leaves out no header
  of the project, and it must change where headers move into a folder that it does not name;
- the compiler's options, apart from those that clang-tidy does not look at (optimization, debug information,
  precompiled headers, which sources are compiled as one) and from -D, -I and -fopenmp: these say which libraries a
  target uses, and a source that lacks one of them does not compile.
Where the lists of packages differ, no file is the same: headers and clang-tidy itself come from packages.
"""
import json
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

PACKAGES = {"scripts/packages_build.txt", "scripts/packages_test.txt"}
OF_CMAKE = re.compile(r"(^|/)(CMakeLists\.txt|CMakePresets\.json|[^/]+\.cmake)$")
INCLUDE = re.compile(r"\s*#\s*include\b")


def sources_of(compiled, root):
    """The project's sources in a file that the build compiles: itself, or those that a unity file includes."""
    path = Path(compiled)
    if "/Unity/" not in compiled:
        return {str(path.relative_to(root))}
    included = re.findall(r'^#include "([^"]+\.cpp)"', path.read_text(encoding="utf-8"), re.M)
    return {str((root / each).relative_to(root)) for each in included}


def clang_command(command):
    """GCC's precompiled headers are not clang's: it reads the headers that each source includes. Nor are the warnings of
    its flow analysis, which an optimized build leaves out."""
    return re.sub(r" -Winvalid-pch| -include \S*cmake_pch\.hxx| -Wno-\S+", "", command)


def options_of(build, root):
    """The options that matter here of each source that the build in a folder compiles."""
    left_out = re.compile(r"-[DIOg]|-isystem|-fopenmp|-f(file|macro|debug)-prefix-map=|/")
    options = {}
    for command in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if "cmake_pch" not in command["file"]:
            command_line = shlex.split(clang_command(command["command"]).partition(" -o ")[0])
            kept = [option for option in command_line if not left_out.match(option)]
            options |= {source: kept for source in sources_of(command["file"], root)}
    return options


def text_of(path, moved):
    """The lines that are no #include, and the #includes in order, with `moved` headers by their new paths."""
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    includes = [re.sub('"(.+?)"', lambda header: f'"{moved.get(header[1], header[1])}"', line)
                for line in lines if INCLUDE.match(line)]
    return [line for line in lines if not INCLUDE.match(line)], sorted(includes)


def rules_for(path):
    """What the nearest .clang-tidy says, without what is left out here."""
    files = (folder / ".clang-tidy" for folder in path.parents)
    text = next((file.read_text(encoding="utf-8") for file in files if file.exists()), "")
    return re.sub(r"^(#|HeaderFilterRegex:).*\n", "", text, flags=re.M)


def changed_files(root, commit, build):
    """The sources and headers that differ from the commit, or None for all, and why.

    `build` is a folder in which the preset `release` is configured. Where files of CMake differ, that is done for the
    commit as well, in seconds.
    """
    def git(*arguments):
        result = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
        return result.stdout.split("\0")[:-1] if result.returncode == 0 else None

    difference = git("diff", "--name-status", "--find-renames", "-l0", "-z", commit, "--")
    if difference is None:
        return None, f"git does not know {commit}"
    old_paths = {path: path for path in git("ls-files", "-z")}
    old_paths |= {path: None for path in git("ls-files", "--others", "--exclude-standard", "-z")}
    differing = set()
    fields = iter(difference)
    for status in fields:
        old = new = next(fields)
        if status[0] == "R":
            new = next(fields)
        differing |= {old, new}
        if status[0] in "AR":
            old_paths[new] = old if status[0] == "R" else None
    packages = sorted(differing & PACKAGES)
    if packages:
        return None, f"{packages[0]} differs from {commit[:10]}"
    moved = {old: new for new, old in old_paths.items() if old is not None}

    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder).resolve()
        subprocess.run(f"git archive {commit} | tar -x -C '{before}'", shell=True, check=True, cwd=root)
        options = old_options = {}
        if any(map(OF_CMAKE.search, differing)):
            configured = subprocess.run(["cmake", "--preset", "release"], cwd=before, capture_output=True)
            if configured.returncode != 0:
                return None, f"the build of {commit[:10]} cannot be configured here"
            options, old_options = options_of(build, root), options_of(before / "build/release", before)

        def is_same(new, old):
            return (old is not None and options.get(new) == old_options.get(old)
                    and (new not in differing or text_of(root / new, {}) == text_of(before / old, moved))
                    and rules_for(root / new) == rules_for(before / old))

        sources = {path: old for path, old in old_paths.items() if path.endswith((".h", ".cpp"))}
        changed = {new for new, old in sources.items() if (root / new).exists() and not is_same(new, old)}
    return changed, f"differs from {commit[:10]}"
