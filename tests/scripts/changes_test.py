#!/usr/bin/env python3
"""Which files clang-tidy reads again (scripts/changes.py), in a small project of two libraries. Needs git and CMake.

usage: changes_test.py
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from changes import changed_files  # noqa: E402 (the path says where it is)

FILES = {
    ".clang-tidy": "# Why.\nChecks: bugprone-*\nHeaderFilterRegex: '/(hw|sim)/'\n",
    "tests/.clang-tidy": "Checks: misc-*\n",
    ".gitignore": "/build/\n",
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
include(cmake/Options.cmake)
file(GLOB_RECURSE sources hw/*.cpp base/*.cpp sim/*.cpp tests/*.cpp)
add_library(small ${sources})
target_include_directories(small PRIVATE "${CMAKE_SOURCE_DIR}")
""",
    "CMakePresets.json": """{"version": 6, "configurePresets": [{"name": "release", "generator": "Ninja",
  "binaryDir": "${sourceDir}/build/release", "cacheVariables": {"CMAKE_CXX_FLAGS": "-Og", "CMAKE_UNITY_BUILD": "ON"}}]}
""",
    "cmake/Options.cmake": "add_compile_options(-Wall)\n",
    "scripts/packages_build.txt": "cmake\n",
    "scripts/packages_test.txt": "clang-tidy\n",
    "scripts/packages_judge.txt": "python3\n",
    "hw/base/sum.h": "#pragma once\n\nnamespace small {\nint sum(int first, int second);\nint twice(int number);\n}\n",
    "hw/base/sum.cpp": '#include "hw/base/sum.h"\n\nint small::sum(int first, int second) {\n    return first + second;\n}\n'
                       "int small::twice(int number) {\n    return sum(number, number);\n}\n",
    "hw/chip.h": "#pragma once\n\nint chip();\n",
    "hw/chip.cpp": '#include "hw/base/sum.h"\n#include "hw/chip.h"\n\nint chip() { return small::sum(1, 2); }\n',
    "sim/run.cpp": '#include <vector>\n\n#include "hw/chip.h"\n\nint run() { return chip(); }\n',
    "tests/a_test.cpp": '#include "hw/chip.h"\n\nint test() { return chip(); }\n',
}


class Changed(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name).resolve()
        for path, text in FILES.items():
            self.write(path, text)
        self.git("init", "-q")
        self.commit = self.committed()

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def edit(self, path, text, becomes):
        before = (self.root / path).read_text(encoding="utf-8")
        self.assertIn(text, before)
        self.write(path, before.replace(text, becomes))

    def git(self, *arguments):
        identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        return subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True,
                              text=True).stdout.strip()

    def committed(self):
        self.git("add", "--all")
        self.git("commit", "-q", "-m", "change")
        return self.git("rev-parse", "HEAD")

    def changed(self):
        subprocess.run(["cmake", "--preset", "release"], cwd=self.root, check=True, capture_output=True)
        return changed_files(self.root, self.commit, self.root / "build/release")[0]

    def move_base(self):
        self.git("mv", "hw/base", "base")
        for path in ["base/sum.cpp", "hw/chip.cpp"]:
            self.edit(path, "hw/base/sum.h", "base/sum.h")

    def test_nothing(self):
        self.assertEqual(self.changed(), set())

    def test_what_changes_is_read_before_and_after_it_is_committed(self):
        self.edit("hw/chip.cpp", "(1, 2)", "(1, 3)")
        self.edit("hw/chip.h", "int", "long")
        self.write("sim/new.cpp", "int added;\n")
        self.assertEqual(self.changed(), {"hw/chip.cpp", "hw/chip.h", "sim/new.cpp"})
        self.committed()
        self.assertEqual(self.changed(), {"hw/chip.cpp", "hw/chip.h", "sim/new.cpp"})

    def test_a_file_that_is_gone_is_not_read(self):
        self.git("rm", "-q", "sim/run.cpp")
        self.assertEqual(self.changed(), set())

    def test_what_moves_is_not_read_and_neither_is_what_includes_it(self):
        self.move_base()
        self.edit("hw/chip.cpp", '#include "base/sum.h"\n#include "hw/chip.h"',
                  '#include "hw/chip.h"\n\n#include "base/sum.h"')
        self.edit(".clang-tidy", "hw|", "base|hw|")
        self.committed()
        self.assertEqual(self.changed(), set())

    def test_what_moves_and_changes_is_read(self):
        self.move_base()
        self.edit("base/sum.h", "first", "one")
        self.edit("base/sum.cpp", "number, number", "number, 2")
        self.committed()
        self.assertEqual(self.changed(), {"base/sum.h", "base/sum.cpp"})

    def test_another_namespace_is_read_where_it_is_written(self):
        self.move_base()
        for path in ["base/sum.h", "base/sum.cpp", "hw/chip.cpp"]:
            self.edit(path, "small", "little")
        self.committed()
        self.assertEqual(self.changed(), {"base/sum.h", "base/sum.cpp", "hw/chip.cpp"})

    def test_another_header_is_read_where_it_is_included(self):
        self.edit("sim/run.cpp", "<vector>", "<string>")
        self.edit("tests/a_test.cpp", "#include", '#include "hw/base/sum.h"\n#include')
        self.assertEqual(self.changed(), {"sim/run.cpp", "tests/a_test.cpp"})

    def test_a_header_of_which_a_part_moves_has_not_moved(self):
        self.move_base()
        self.write("hw/base/sum.h", "#pragma once\n\nnamespace small {\nint twice(int number);\n}\n")
        self.committed()
        self.assertEqual(self.changed(), {"base/sum.h", "base/sum.cpp", "hw/base/sum.h", "hw/chip.cpp"})

    def test_a_file_that_moves_below_another_clang_tidy_is_read(self):
        self.git("mv", "sim/run.cpp", "tests/run.cpp")
        self.assertEqual(self.changed(), {"tests/run.cpp"})

    def test_what_a_clang_tidy_is_for_is_read_when_it_changes(self):
        self.edit(".clang-tidy", "Why.", "Why not.")
        self.assertEqual(self.changed(), set())
        self.edit("tests/.clang-tidy", "misc-*", "misc-*, bugprone-*")
        self.assertEqual(self.changed(), {"tests/a_test.cpp"})
        self.edit(".clang-tidy", "bugprone-*", "performance-*")
        self.assertEqual(self.changed(), {path for path in FILES if path.endswith((".h", ".cpp"))})

    def test_sources_are_read_where_options_change_that_matter(self):
        self.edit("CMakePresets.json", "-Og", "-O3 -g")
        self.edit("CMakePresets.json", '"CMAKE_UNITY_BUILD": "ON"', '"CMAKE_UNITY_BUILD": "OFF"')
        self.edit("CMakeLists.txt", "target_include_directories(small",
                  "target_compile_definitions(small PRIVATE SMALL=1)\ntarget_include_directories(small SYSTEM")
        self.assertEqual(self.changed(), set())
        self.write("CMakeLists.txt", (self.root / "CMakeLists.txt").read_text(encoding="utf-8")
                   + "set_source_files_properties(sim/run.cpp PROPERTIES COMPILE_OPTIONS -std=c++20)\n")
        self.assertEqual(self.changed(), {"sim/run.cpp"})
        self.edit("cmake/Options.cmake", "-Wall", "-Wall -Wshadow")
        self.assertEqual(self.changed(), {path for path in FILES if path.endswith(".cpp")})

    def test_everything_is_read_where_packages_change(self):
        self.edit("scripts/packages_judge.txt", "python3", "python3 python3-venv")
        self.assertEqual(self.changed(), set())
        self.edit("scripts/packages_test.txt", "clang-tidy", "clang-tidy-19")
        self.assertIsNone(self.changed())

    def test_everything_is_read_where_the_commit_is_unknown_or_cannot_be_configured(self):
        self.edit("cmake/Options.cmake", "add_", "message(FATAL_ERROR)\nadd_")
        self.commit = self.committed()
        self.edit("cmake/Options.cmake", "message(FATAL_ERROR)\n", "")
        self.assertIsNone(self.changed())
        self.commit = "0" * 40
        self.assertIsNone(self.changed())


if __name__ == "__main__":
    unittest.main()
