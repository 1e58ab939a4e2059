// sim and the hardware library, installed into a fresh prefix; where names are found.
#include "tests/system/install.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/system/paths.h"
#include "tests/system/sim_process.h"

using namespace systole;
using tests::bash;
using tests::Folder;
using tests::Outcome;
using tests::text_in;

namespace {

namespace fs = std::filesystem;

/// A run file for a network and a machine, in a folder that is no project.
std::string run_file(const std::string& machine, const std::string& model) {
    return "{\"schema\": \"sim.run/1\", \"machine\": \"" + machine + "\", \"model\": \"" + model +
           "\", \"timing_only\": true}";
}

/// tpu_v1 with another name and clock.
std::string machine_file(const std::string& name) {
    nlohmann::ordered_json machine =
        nlohmann::ordered_json::parse(text_in(tests::project / "configs/machines/tpu_v1.json"));
    machine["name"] = name;
    return machine.dump();
}

}  // namespace

TEST_CASE("The binary of a build finds the project's files from any folder", "[system][install]") {
    const Folder folder;
    const Outcome outcome = bash("exec sim run mnist_cnn --limit 8 --batch 8 --show summary", folder.path());
    CHECK(outcome.err.empty());
    CHECK(outcome.out.find("mnist_cnn on tpu_v1: 8 inferences") == 0);
    CHECK(bash("exec sim configs/runs/mnist_cnn.json --limit 8 --quiet", folder.path()).exit_code == 0);
    CHECK(bash("exec sim run docs/micro_benchmarks/tile_cost.asm --machine tpu_v1 --quiet", folder.path())
              .exit_code == 0);
}

TEST_CASE("An installed sim finds its files, and shells find its completions", "[system][install]") {
    const Folder folder;
    const fs::path prefix = tests::install("simulator", folder);
    for (const char* const file :
         {"bin/sim", "share/systole/configs/machines/tpu_v1.json",
          "share/systole/models/mnist_cnn/mnist_cnn.h5", "share/systole/models/isca17/mlp0.json",
          "share/bash-completion/completions/sim", "share/zsh/site-functions/_sim",
          "share/fish/vendor_completions.d/sim.fish"}) {
        INFO(file);
        CHECK(fs::file_size(prefix / file) > 0);
    }
    CHECK_FALSE(fs::exists(prefix / "include"));
    const fs::path empty = folder / "empty";
    fs::create_directory(empty);
    const Outcome names = bash("exec sim complete-words -- run --model ml", empty, prefix / "bin");
    CHECK(names.out == "files\nmlp0\tmodels\nmlp1\tmodels\n");
    const Outcome wrong = bash("exec sim run --machine chip --model mlp0", empty, prefix / "bin");
    CHECK(wrong.err.find((prefix / "share/systole").string()) != std::string::npos);
    CHECK(wrong.err.find(tests::project.string()) == std::string::npos);
}

TEST_CASE("DESTDIR stands before the prefix", "[system][install]") {
    const Folder folder;
    const Outcome outcome =
        bash("DESTDIR=$PWD/package exec cmake --install '" + std::string(tests::build_dir()) +
                 "' --prefix /opt/systole --component simulator",
             folder.path());
    CHECK(outcome.exit_code == 0);
    CHECK(fs::exists(folder / "package/opt/systole/bin/sim"));
}

TEST_CASE(
    "Names are found in the current folder, the user's own, SYSTOLE_PATH and the project, in this order",
    "[system][install]") {
    const Folder folder;
    folder.file("here/configs/machines/chip.json", machine_file("of_here"));
    folder.file("own/systole/machines/chip.json", machine_file("of_own"));
    folder.file("a/machines/chip.json", machine_file("of_a"));
    folder.file("b/configs/machines/chip.json", machine_file("of_b"));
    folder.file("b/configs/machines/tpu_v1.json", machine_file("of_b"));
    folder.file("b/models/nets/net.json", text_in(tests::project / "models/isca17/mlp1.json"));
    folder.file("b/runs/mine.json", run_file("chip", "net"));
    fs::create_directory(folder / "empty");
    const auto machine_of = [&](const std::string& environment, const std::string& arguments,
                                const std::string& where) {
        const Outcome outcome =
            bash(environment + " exec sim run " + arguments + " --timing-only --json", folder / where);
        INFO(outcome.err);
        REQUIRE(outcome.exit_code == 0);
        return outcome.json()["machine"].get<std::string>();
    };
    const std::string own = "XDG_CONFIG_HOME=" + (folder / "own").string();
    const std::string a = (folder / "a").string();
    const std::string b = (folder / "b").string();
    const std::string chip = "--machine chip --model mlp0";
    const std::string all = own + " SYSTOLE_PATH=" + a + ":" + b;
    CHECK(machine_of(all, chip, "here") == "of_here");
    CHECK(machine_of(all, chip, "empty") == "of_own");
    CHECK(machine_of("SYSTOLE_PATH=" + a + ":" + b, chip, "empty") == "of_a");
    CHECK(machine_of("SYSTOLE_PATH=" + b + ":" + a, chip, "empty") == "of_b");
    CHECK(machine_of("SYSTOLE_PATH=::../b", chip, "empty") == "of_b");
    CHECK(machine_of("SYSTOLE_PATH=" + b, "--machine tpu_v1 --model mlp0", "empty") == "of_b");
    CHECK(machine_of("SYSTOLE_PATH=" + a, "--machine tpu_v1 --model mlp0", "empty") == "tpu_v1");
    CHECK(machine_of(all, "mine", "empty") == "of_b");  // its folder before the user's own
    const std::string home = "XDG_CONFIG_HOME= HOME=" + (folder / "home").string();
    folder.file("home/.config/systole/machines/chip.json", machine_file("of_home"));
    CHECK(machine_of(home, chip, "empty") == "of_home");

    const Outcome unknown = bash(all + " exec sim run --machine chop --model mlp0", folder / "empty");
    CHECK(unknown.err ==
          "sim: chop: there is no such file, nor a configs/machines/chop.json; looked in the current "
          "folder and those above it, " +
              (folder / "own/systole").string() + ", " + a + ", " + b + ", " +
              fs::canonical(tests::project).string() + "; did you mean \"chip\"?\n");
    const Outcome completed = bash(all + " exec sim complete-words -- run --machine ch", folder / "empty");
    CHECK(completed.out == "files\nchip\tconfigs/machines\n");
}

TEST_CASE("A package that the library uses and that is not there is named by find_package",
          "[system][install]") {
#ifdef __SANITIZE_ADDRESS__
    WARN("SKIPPED: libraries under sanitizers are not installed");
#else
    const Folder folder;
    const fs::path prefix = tests::install("development", folder);
    const auto configured = [&](const std::string& how) {
        folder.file(
            "project/CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES CXX)\nfind_package(systole " + how +
                ")\nfind_package(systole QUIET)\nmessage(STATUS \"found: ${systole_FOUND}; "
                "${systole_NOT_FOUND_MESSAGE}\")\n");
        // SystemC is found by pkg-config alone.
        return bash("PKG_CONFIG_LIBDIR=/none exec cmake -S project -B build -G Ninja -DCMAKE_PREFIX_PATH='" +
                        prefix.string() + "'",
                    folder.path());
    };
    const std::string reason = "these packages, which it uses, are not found: SystemC 2.3.4";
    const Outcome optional = configured("QUIET");
    INFO(optional.err);
    CHECK(optional.exit_code == 0);
    CHECK(optional.out.find("-- found: 0; " + reason) != std::string::npos);
    CHECK(optional.err.empty());
    const Outcome required = configured("REQUIRED");
    CHECK(required.exit_code == 1);
    CHECK(required.err.find("not found: SystemC 2.3.4") != std::string::npos);
#endif
}

TEST_CASE("examples/own_weight_memory builds against the installed library", "[system][install]") {
#ifdef __SANITIZE_ADDRESS__
    WARN("SKIPPED: libraries under sanitizers are not installed");
#else
    const Folder folder;
    const fs::path prefix = tests::install("development", folder);
    const fs::path example = tests::project / "examples/own_weight_memory";
    const Outcome built = bash("cmake -S '" + example.string() + "' -B build -G Ninja -DCMAKE_PREFIX_PATH='" +
                                   prefix.string() + "' && cmake --build build",
                               folder.path());
    INFO(built.out);
    INFO(built.err);
    REQUIRE(built.exit_code == 0);
    const std::string page = text_in(example / "README.md");
    for (const char* const cycles : {"100", "1000"}) {
        const std::string command = std::string("build/own_weight_memory ") + cycles;
        const Outcome outcome = bash("exec " + command, folder.path());
        CHECK(outcome.exit_code == 0);
        INFO(outcome.out);
        CHECK(page.find("$ " + command + "\n" + outcome.out) != std::string::npos);
    }
    const std::string targets = text_in(prefix / "lib/cmake/systole/systole-targets.cmake");
    CHECK(targets.find("systole::hw") != std::string::npos);
    CHECK(targets.find(tests::project.string()) == std::string::npos);  // nothing of the checkout
#endif
}
