#include "sim/run/registers.h"

#include <catch2/catch.hpp>

#include "hw/machine/config_error.h"

using namespace systole;
using run::read_cycle_range;

TEST_CASE("A range of cycles is all, one cycle, or first to last", "[run]") {
    CHECK(read_cycle_range("all").first == 0);
    CHECK(read_cycle_range("all").last == UINT64_MAX);
    CHECK(read_cycle_range("17").first == 17);
    CHECK(read_cycle_range("17").last == 17);
    CHECK(read_cycle_range("3-3").last == 3);
    CHECK(read_cycle_range("3-18446744073709551615").last == UINT64_MAX);
    for (const char* text : {"", "-", "3-", "-3", "4-3", "a", "3-4-5", "1.5", "18446744073709551616", " 1"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(read_cycle_range(text), machine::ConfigError);
    }
}

TEST_CASE("The registers of the cycles in a range are recorded, and no others", "[run]") {
    run::RegisterDump dump;
    run::RegisterRecorder recorder({.first = 5, .last = 7}, dump);
    for (std::int16_t cycle = 3; cycle < 10; ++cycle) {
        const std::vector<std::int16_t> words{cycle, 1};
        const std::vector<std::int32_t> sums{-cycle, 2};
        recorder.cycle(static_cast<Cycle>(cycle), {.rows = 1,
                                                   .columns = 2,
                                                   .activations = words,
                                                   .weights = words,
                                                   .shadow_weights = words,
                                                   .partial_sums = sums});
    }
    CHECK(dump.rows == 1);
    CHECK(dump.columns == 2);
    REQUIRE(dump.cycles.size() == 3);
    CHECK(dump.cycles.front().cycle == 5);
    CHECK(dump.cycles.back().cycle == 7);
    CHECK(dump.cycles.back().activations == std::vector<std::int16_t>{7, 1});
    CHECK(dump.cycles.back().partial_sums == std::vector<std::int32_t>{-7, 2});
}

TEST_CASE("A range of cycles behind the end of the program is an error", "[run]") {
    run::RegisterDump dump;
    const run::RegisterRecorder recorder({.first = 40, .last = 50}, dump);
    CHECK_NOTHROW(recorder.check(40));
    CHECK_THROWS_WITH(recorder.check(39),
                      "registers: cycle 40 is behind the end; the program ends in cycle 39");
}

TEST_CASE("Registers of too many cycles are an error", "[run]") {
    run::RegisterDump dump;
    run::RegisterRecorder recorder({}, dump);
    constexpr std::size_t side = 1024;
    const std::vector<std::int16_t> words(side * side);
    const std::vector<std::int32_t> sums(side * side);
    const hw::ArrayRegisters registers{.rows = side,
                                       .columns = side,
                                       .activations = words,
                                       .weights = words,
                                       .shadow_weights = words,
                                       .partial_sums = sums};
    constexpr std::uint64_t cycle_bytes = 10 * side * side;
    constexpr std::uint64_t most = run::RegisterRecorder::most_bytes / cycle_bytes;
    for (std::uint64_t cycle = 0; cycle < most; ++cycle) recorder.cycle(cycle, registers);
    CHECK(dump.cycles.size() == most);
    CHECK_THROWS_AS(recorder.cycle(most, registers), machine::ConfigError);
}
