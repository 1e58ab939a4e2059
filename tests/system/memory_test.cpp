#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "hw/system/system.h"
#include "tests/bench/bench_programs.h"
#include "tests/support/chip.h"
#include "tests/system/sim_process.h"

using namespace systole;

namespace {

constexpr std::uint64_t mebibyte = 1U << 20U;

/// The peak memory of a process that runs a program with this number of tiles, all of them used.
[[maybe_unused]] std::uint64_t resident_bytes(std::uint32_t tiles) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        // Any error ends the child and shows in its status; only the parent reports to Catch.
        const tests::FreshSimulation simulation;
        const isa::Program program = bench::every_tile_once(tiles);
        hw::System system("system", tests::tpu_v1(), program, {.trace = nullptr, .test_delta_delay = {}});
        system.run();
        _exit(system.counter("matrix_unit.tiles").value() == tiles ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int status = 0;
    rusage usage{};
    REQUIRE(wait4(child, &status, 0, &usage) == child);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == EXIT_SUCCESS);
    constexpr std::uint64_t kibibyte = 1024;
    return static_cast<std::uint64_t>(usage.ru_maxrss) * kibibyte;
}

/// The peak memory of `sim run --out` with a program of few instructions that fetches `blocks` times 256
/// tiles.
[[maybe_unused]] std::uint64_t resident_bytes_with_out(std::uint32_t blocks) {
    std::string program = ".array 4 4\n";
    for (int tile = 0; tile < 256; ++tile) program += ".tile 4 4 fill 1\n";
    for (std::uint32_t block = 0; block < blocks; ++block) {
        program += "read_weights tile=0 count=256\nmatmul ub=0 acc=0 rows=1 repeat=255\n";
    }
    const tests::Folder folder;
    const tests::Outcome outcome =
        tests::sim("run " + folder.file("tiles.asm", program + "halt\n") +
                   " --machine tpu_v1 --set machine.matrix_unit.rows=4 --set machine.matrix_unit.columns=4 "
                   "--timing-only --no-explain --quiet --out " +
                   (folder / "out").string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const auto report = nlohmann::json::parse(tests::text_in(folder / "out/report.json"));
    return report.at("simulator").at("peak_rss_bytes");
}

}  // namespace

TEST_CASE("A simulation holds its weights once", "[system][memory]") {
#ifdef __SANITIZE_ADDRESS__
    WARN("SKIPPED: AddressSanitizer holds memory of its own");
#else
    // docs/performance.md states the constant.
    constexpr std::uint64_t constant = 64 * mebibyte;
    constexpr std::uint32_t tiles = 2048;
    const machine::MachineConfig machine = tests::tpu_v1();
    const std::uint64_t weights = tiles * machine.tile_bytes();
    const std::uint64_t accumulators =
        std::uint64_t{4} * machine.accumulators.rows * machine.matrix_unit.columns;
    const std::uint64_t resident = resident_bytes(tiles);
    CHECK(resident * 10 <= 12 * (weights + machine.unified_buffer_bytes() + accumulators) + 10 * constant);
    // The constant does not hide a copy: four times the weights take three times the weights more memory.
    const std::uint64_t fewer = resident_bytes(tiles / 4);
    CHECK((resident - fewer) * 10 <= 12 * (weights - weights / 4));
    CHECK(resident >= weights);
#endif
}

TEST_CASE("The memory for the record of tiles does not grow with their number", "[system][memory]") {
#ifdef __SANITIZE_ADDRESS__
    WARN("SKIPPED: AddressSanitizer holds memory of its own");
#else
    constexpr std::uint32_t blocks = 2000;  // half a million tiles
    const std::uint64_t many = resident_bytes_with_out(blocks);
    const std::uint64_t few = resident_bytes_with_out(blocks / 4);
    CHECK(many <= few + 8 * mebibyte);
#endif
}
