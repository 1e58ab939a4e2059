// The root that norms divide by: that of the units against that of the reference, and both against real
// numbers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "compiler/operators/fixed_point_functions.h"
#include "compiler/reference/executor.h"
#include "compiler/target/edge_tpu/family.h"
#include "hw/isa/program.h"
#include "hw/math/inverse_root.h"
#include "hw/system/system.h"
#include "sim/functional/tiles/tile_executor.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/integer_graphs.h"
#include "tests/support/random_runs.h"

using namespace systole;

namespace {

void check_root(std::int32_t sum) {
    CAPTURE(sum);
    const math::InverseRoot root(sum);
    const operators::InverseRoot expected = operators::inverse_root_of(sum);
    REQUIRE(root.multiplier == expected.multiplier);
    REQUIRE(root.shift == expected.shift);
    const double real = 1.0 / std::sqrt(std::max(sum, 1));
    REQUIRE(std::abs(std::ldexp(root.multiplier, root.shift - 31) / real - 1) < 0x1p-19);
}

/// The result of a norm over channels, on the units.
std::vector<std::uint8_t> on_units(const ir::Graph& graph, const machine::MachineConfig& machine,
                                   const std::vector<std::uint8_t>& input) {
    const isa::Program program = edge_tpu::family.compile(graph, machine, {}).program;
    const auto buffer = [&](isa::BufferKind kind) {
        return *std::ranges::find(program.buffers, kind, &isa::HostBuffer::kind);
    };
    const tests::FreshSimulation simulation;
    hw::System system("system", machine, program, {.host = nullptr, .test_delta_delay = {}});
    std::ranges::copy(input, system.host_bytes(buffer(isa::BufferKind::Input)).begin());
    system.run();
    const auto result = system.host_bytes(buffer(isa::BufferKind::Output));
    return {result.begin(), result.end()};
}

}  // namespace

TEST_CASE("The inverse root of units is the reference's, and that of real numbers to 19 bits", "[tiles]") {
    constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
    constexpr std::int32_t scaled_down = 1 << 29;  // from here on, sums are divided first
    for (const std::int32_t sum :
         {0, 1, 2, 3, scaled_down - 1, scaled_down, scaled_down + 1, (1 << 30) - 1, 1 << 30, largest}) {
        check_root(sum);
    }
    for (std::int32_t bit = 0; bit < 31; ++bit) check_root(std::int32_t{1} << bit);
    std::mt19937 random(4);
    for (std::uint32_t run = 0; run < tests::random_runs(3000); ++run) {
        check_root(static_cast<std::int32_t>(random() >> (1 + random() % 31)));
    }
}

TEST_CASE("Norms of the largest sums of squares are the reference's", "[tiles]") {
    // 8257 squares of 255 are 2^29 and more, and 33000 of them nearly 2^31.
    for (const std::uint32_t channels : {8256U, 8257U, 16513U, 33000U}) {
        for (const std::int32_t zero_point : {0, 255}) {
            CAPTURE(channels, zero_point);
            tests::IntegerGraph made;
            const ir::ValueId input = made.input(
                {1, 1, channels}, {.scale = 0.5, .zero_point = zero_point, .type = DataType::Uint8});
            made.append("normalize", {input},
                        {.scale = 1.0 / 128, .zero_point = 128, .type = DataType::Uint8});
            machine::MachineConfig machine;
            machine.family = machine::Family::EdgeTpu;
            std::vector<std::uint8_t> bytes(channels, static_cast<std::uint8_t>(255 - zero_point));
            CHECK(on_units(made.graph(), machine, bytes) == reference::execute(made.graph(), bytes, 1));
            // One number is far from 0, and the others are nearly so.
            std::ranges::fill(bytes, static_cast<std::uint8_t>(std::abs(zero_point - 1)));
            bytes.back() = static_cast<std::uint8_t>(255 - zero_point);
            CHECK(on_units(made.graph(), machine, bytes) == reference::execute(made.graph(), bytes, 1));
        }
    }
}
