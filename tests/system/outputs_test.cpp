// Files that sim writes: whole or not at all, of one run, and where the user says.
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "tests/system/sim_process.h"

using namespace systole;
using tests::bash;
using tests::Folder;
using tests::Outcome;
using tests::text_in;

namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
    return names;
}

const std::string program = (tests::project / "docs/micro_benchmarks/tile_cost.asm").string();

/// A run of a few milliseconds.
const std::string run = "sim run '" + program + "' --machine tpu_v1 --quiet --no-explain --out results ";

/// A run of many minutes.
const std::string long_run =
    "sim run mnist_cnn --set machine.matrix_unit.engine=pe --quiet --trace csv,waves --trace-to 100000 --out "
    "results ";

/// Starts a command in a process group of its own, as a terminal does, and sends the group a signal as soon
/// as the pattern of files matches. Prints the exit code, then the processes and files that are left.
Outcome end_early(const std::string& command, const std::string& pattern, const std::string& signal,
                  const Folder& folder) {
    return bash(
        "set -m\n"
        "mkdir -p scratch results && export TMPDIR=$PWD/scratch\n" +
            command +
            "&\n"
            "group=$!\n"
            "for ((i = 0; i < 1200; ++i)); do compgen -G '" +
            pattern +
            "' >seen && break; sleep 0.05; done\n"
            "kill -" +
            signal +
            " -- -$group\n"
            "wait $group\n"
            "echo code $?\n"
            "for ((i = 0; i < 200; ++i)); do pgrep -g $group >/dev/null || break; sleep 0.05; done\n"
            "pgrep -g $group\n"
            "test -s seen || echo too late\n"
            "find scratch results -mindepth 1 | sort\n",
        folder.path());
}

}  // namespace

TEST_CASE("Ctrl-C during a run says one line, exits with 130 and leaves no file", "[system][outputs]") {
    const Folder folder;
    const Outcome outcome = end_early(long_run + "--no-explain", "results/.part-*", "INT", folder);
    CHECK(outcome.err == "sim: interrupted; no unfinished file is left\n");
    CHECK(outcome.out == "code 130\n");
}

TEST_CASE("Ctrl-C ends the simulations of changes, too", "[system][outputs]") {
    const Folder folder;
    const Outcome outcome = end_early("sim explain --machine tpu_v1 --model cnn1 --batch 64",
                                      "scratch/systole_*/*", "INT", folder);
    CHECK(outcome.err == "sim: interrupted; no unfinished file is left\n");
    CHECK(outcome.out == "code 130\n");
}

TEST_CASE("SIGTERM ends a run as Ctrl-C does", "[system][outputs]") {
    const Folder folder;
    const Outcome outcome = end_early(long_run + "--no-explain", "results/.part-*", "TERM", folder);
    CHECK(outcome.err == "sim: interrupted by SIGTERM; no unfinished file is left\n");
    CHECK(outcome.out == "code 143\n");
}

TEST_CASE("A signal that is ignored from the beginning stays ignored", "[system][outputs]") {
    const Folder folder;
    const Outcome outcome = bash("trap '' HUP\n" + run + "&\nkill -HUP $!\nwait $!\n", folder.path());
    CHECK(outcome.err.empty());
    CHECK(outcome.exit_code == 0);
}

TEST_CASE("A kill leaves no file of the final name", "[system][outputs]") {
    const Folder folder;
    const Outcome outcome = end_early(long_run + "--no-explain", "results/.part-*", "KILL", folder);
    CHECK(outcome.out.starts_with("code 137\n"));
    for (const std::string& name : names_in(folder / "results")) CHECK(name.starts_with(".part-"));
}

TEST_CASE("A disk that gets full leaves the older files as they were, and no half file",
          "[system][outputs]") {
    const Folder folder;
    // A limit on the size of files, whose error is another one.
    const std::string limited = "ulimit -f 8\n";
    REQUIRE(bash(run, folder.path()).exit_code == 0);
    const std::string before = text_in(folder / "results/report.json");
    Outcome outcome = bash(limited + run + "--set machine.clock_mhz=350 --instructions", folder.path());
    CHECK(outcome.err == "sim: results/report.json: cannot be written: File too large\n");
    CHECK(outcome.exit_code == 2);
    CHECK(names_in(folder / "results") == std::set<std::string>{"report.html", "report.json"});
    CHECK(text_in(folder / "results/report.json") == before);

    outcome = bash(limited + run + "--trace waves", folder.path());
    CHECK(outcome.err == "sim: results/waves.vcd: cannot be written completely; is the disk full?\n");
    CHECK(outcome.exit_code == 2);
    CHECK(names_in(folder / "results").empty());  // no older report beside the traces of a run that failed
}

TEST_CASE("A folder of results keeps no file of an earlier run, and every file of the user",
          "[system][outputs]") {
    const Folder folder;
    REQUIRE(bash(run + "--trace timeline,csv,text,waves", folder.path()).exit_code == 0);
    CHECK(names_in(folder / "results") == std::set<std::string>{"instructions.csv", "instructions.txt",
                                                                "report.html", "report.json",
                                                                "timeline.json.gz", "waves.vcd"});
    folder.file("results/notes.txt", "mine");
    REQUIRE(bash(run + "--trace text", folder.path()).exit_code == 0);
    CHECK(names_in(folder / "results") ==
          std::set<std::string>{"instructions.txt", "notes.txt", "report.html", "report.json"});
    folder.file("results/instructions.txt", "How to build my chip");
    folder.file("results/waves.vcd", "");
    REQUIRE(bash(run, folder.path()).exit_code == 0);
    CHECK(names_in(folder / "results") ==
          std::set<std::string>{"instructions.txt", "notes.txt", "report.html", "report.json", "waves.vcd"});
    CHECK(text_in(folder / "results/instructions.txt") == "How to build my chip");
}

TEST_CASE("The traces of a run that fails stand beside no older report", "[system][outputs]") {
    const Folder folder;
    REQUIRE(bash(run + "--trace waves", folder.path()).exit_code == 0);
    const std::string waits =
        folder.file("waits.s", "sync.wait matrix sem=0\nmatmul ub=0 acc=0 rows=1\nhalt\n");
    const Outcome outcome = bash(
        "sim run waits.s --machine tpu_v1 --quiet --no-explain --trace csv --out results", folder.path());
    CHECK(outcome.exit_code == 2);
    CHECK(names_in(folder / "results") == std::set<std::string>{"instructions.csv"});
}

TEST_CASE("Files that are replaced keep their links and permissions", "[system][outputs]") {
    const Folder folder;
    folder.file("real/pages.md", "old");
    fs::create_symlink("real/pages.md", folder / "link.md");
    fs::permissions(folder / "real/pages.md", fs::perms::owner_read | fs::perms::owner_write);
    REQUIRE(bash("sim schema --page link.md", folder.path()).exit_code == 0);
    CHECK(fs::is_symlink(folder / "link.md"));
    CHECK(text_in(folder / "real/pages.md").size() > 1000);
    CHECK(fs::status(folder / "real/pages.md").permissions() ==
          (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(names_in(folder / "real") == std::set<std::string>{"pages.md"});
}

TEST_CASE("FIFOs and /dev/stdout are outputs, too", "[system][outputs]") {
    const Folder folder;
    const std::string assembled = "sim asm '" + program + "' --quiet -o ";
    REQUIRE(bash(assembled + "plain.tpu", folder.path()).exit_code == 0);
    const std::string plain = text_in(folder / "plain.tpu");
    CHECK(bash("mkfifo fifo && (cat fifo >read & " + assembled + "fifo && wait)", folder.path()).exit_code ==
          0);
    CHECK(text_in(folder / "read") == plain);
    CHECK(fs::is_fifo(folder / "fifo"));
    CHECK(bash(assembled + "/dev/stdout", folder.path()).out == plain);
    CHECK(bash(assembled + "/dev/stdout | cat", folder.path()).out == plain);
}

TEST_CASE("File names outside of ASCII are printed as they are", "[system][outputs]") {
    const Folder folder;
    const std::string text = text_in(program);
    folder.file("größe/träge.asm", text);
    const Outcome assembled = bash("sim asm größe/träge.asm -o größe/träge.tpu", folder.path());
    CHECK(assembled.out.starts_with("größe/träge.tpu: "));
    const Outcome ran =
        bash("sim run größe/träge.tpu --machine tpu_v1 --no-explain --out größe/ergebnis", folder.path());
    CHECK(ran.out.find("träge on tpu_v1") != std::string::npos);
    CHECK(ran.out.find("größe/ergebnis/report.json") != std::string::npos);
    CHECK(bash("sim report größe/ergebnis --out größe/seite.html", folder.path()).out ==
          "Page in größe/seite.html\n");
    CHECK(text_in(folder / "größe/ergebnis/report.json").find("träge") != std::string::npos);
    CHECK(bash("sim run größe/keine.json", folder.path()).err.starts_with("sim: größe/keine.json: "));
    CHECK(bash("sim disasm größe/keins.tpu", folder.path()).err.starts_with("sim: größe/keins.tpu: "));
    CHECK(bash("sim run mnist_cnn --model größe/träge.asm", folder.path())
              .err.starts_with("sim: größe/träge.asm: "));
    CHECK(bash("sim run mnist_cnn --input größe/träge.asm", folder.path())
              .err.starts_with("sim: größe/träge.asm: "));
    CHECK(bash("sim run mnist_cnn --out größe/träge.asm/x", folder.path())
              .err.starts_with("sim: größe/träge.asm/x: "));
    CHECK(bash("sim größe", folder.path()).err.starts_with("sim: größe: "));
}
