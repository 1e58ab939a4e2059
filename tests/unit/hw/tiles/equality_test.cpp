// Random programs on random machines with tiles: both engines give the same times, counters and values, in
// every order of the kernel's processes, and the values are those of sim/functional.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "hw/isa/assembly.h"
#include "hw/isa/encoding.h"
#include "tests/support/random_runs.h"
#include "tests/support/random_tiles/random_tiles.h"

using namespace systole;

namespace {

void check_tiles(std::uint64_t first_seed) {
    for (std::uint64_t seed = first_seed; seed < first_seed + tests::random_runs(60); ++seed) {
        tests::Choices choices(seed);
        const tests::TileCase random = tests::random_tiles(choices);
        const auto failure = tests::judge(random);
        if (!failure) continue;
        FAIL("seed " << seed << ": " << *failure << "\n"
                     << machine::to_json(random.machine).dump() << "\n"
                     << isa::disassemble(random.program));
    }
    SUCCEED("all alike");
}

}  // namespace

TEST_CASE("Engines of tiles, process orders and sim/functional agree on random programs, part 1",
          "[equality]") {
    check_tiles(1000);
}
TEST_CASE("Engines of tiles, process orders and sim/functional agree on random programs, part 2",
          "[equality]") {
    check_tiles(20000);
}

TEST_CASE("Random programs for tiles meet every instruction in all its forms", "[equality]") {
    std::map<std::string, int> met;
    for (std::uint64_t seed = 1000; seed < 1400; ++seed) {
        tests::Choices choices(seed);
        const tests::TileCase random = tests::random_tiles(choices);
        for (const isa::Instruction& instruction : random.program.instructions) {
            ++met[std::string(isa::mnemonic(instruction))];
            if (const auto* const multiply = std::get_if<isa::TileMultiply>(&instruction)) {
                const std::string product = fmt::format("product {}", static_cast<int>(multiply->product));
                ++met[product];
                ++met[fmt::format("{} scaling {}", product, static_cast<int>(multiply->scaling))];
                if (multiply->streamed) ++met[product + " streamed"];
                if (multiply->by_channel) ++met[product + " by channel"];
                if (multiply->with_margins) ++met[product + " with margins"];
            } else if (const auto* const vector = std::get_if<isa::TileVector>(&instruction)) {
                ++met[fmt::format("operation {}", static_cast<int>(vector->operation))];
                if (vector->with_margins) ++met["operations with margins"];
                if (vector->result == vector->source) ++met["operations in place"];
                if (vector->has_other() && vector->result == vector->other) ++met["replaced second operands"];
            } else if (const auto* const set = std::get_if<isa::SetConfig>(&instruction)) {
                const bool is_margin =
                    set->reg == isa::Register::ResultTop || set->reg == isa::Register::ResultBottom ||
                    set->reg == isa::Register::ResultLeft || set->reg == isa::Register::ResultRight;
                if (is_margin && static_cast<std::int32_t>(set->value) < 0) ++met["strips"];
            } else if (const auto* const sent = std::get_if<isa::Multicast>(&instruction)) {
                if (sent->groups > 1) ++met["several groups"];
                if (sent->repeats > 1) ++met["several repeats"];
                if (sent->rows > random.machine.tile_array.weight_buffer_rows) ++met["several parts"];
            }
        }
    }
    const auto often = [&](const std::string& what, int least) {
        INFO(what << ": " << met[what]);
        CHECK(met[what] >= least);
    };
    for (const char* const name :
         {"read_parameters", "read_tensor", "write_tensor", "stream_parameters", "multicast", "collect",
          "exchange", "move", "permute", "tile_multiply", "tile_vector", "interrupt", "tag"}) {
        often(name, 30);
    }
    for (const int product : {0, 1, 2}) {
        for (const int scaling : {0, 1, 2, 3})
            often(fmt::format("product {} scaling {}", product, scaling), 10);
        often(fmt::format("product {} by channel", product), 20);
        if (product < 2) often(fmt::format("product {} streamed", product), 15);
        if (product < 2) often(fmt::format("product {} with margins", product), 15);
    }
    often("replaced second operands", 10);
    for (std::size_t operation = 0; operation < isa::tile_operation_count; ++operation)
        often(fmt::format("operation {}", operation), 5);
    for (const char* const what : {"several groups", "several repeats", "several parts",
                                   "operations with margins", "operations in place", "strips"})
        often(what, 30);
}
