// The predicted cycles of a product, against the sum over all of its chunks.
#include "compiler/target/tpu_v1/cost/cost.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/target/tpu_v1/cost/unit_times.h"
#include "tests/support/random_layers.h"
#include "tests/support/random_runs.h"

namespace systole::tpu_v1 {
namespace {

using tests::between;
using tests::one_of;

/// Stream after stream of products that follow each other, without a shortcut. All divide the accumulators
/// into as many parts.
Cycle sum_of_chunks(const std::vector<MappedProduct>& products, const machine::MachineConfig& machine) {
    UnitTimes times(machine);
    std::vector<double> free(products.front().cut.parts, 0.0);
    std::size_t part = 0;
    const auto add_column = [&](const MappedProduct& product, std::size_t column) {
        const std::vector<TileCost> tiles = tile_costs(product, product.tiling.columns[column], machine);
        const std::vector<ActivatedColumns>& segments = product.activated[column];
        bool is_first = true;
        for (const Chunk& chunk : product.cut.chunks) {
            double sums = 0;
            for (std::size_t t = 0; t < tiles.size(); ++t) {
                timing::StreamShape stream = tiles[t].line;
                stream.lines = chunk.lines;
                std::optional<UnitTimes::Fetch> fetch;
                if (is_first || tiles.size() > 1) {
                    fetch = UnitTimes::Fetch{.cycles = tiles[t].fetch, .latency = tiles[t].latency};
                }
                sums = times.add_stream(stream, t == 0 ? free[part] : 0.0, fetch);
            }
            Cycle activation = 0;
            for (const ActivatedColumns& segment : segments) {
                activation += activation_cycles(segment, chunk.lines * product.grid.width,
                                                is_first || segments.size() > 1, machine);
            }
            free[part] = times.add_activation(sums, static_cast<double>(activation));
            part = (part + 1) % free.size();
            is_first = false;
        }
    };
    for (const MappedProduct& product : products) {
        for (std::size_t j = 0; j < product.tiling.columns.size(); ++j) add_column(product, j);
    }
    return static_cast<Cycle>(std::llround(times.end()));
}

machine::MachineConfig any_machine(std::mt19937& random) {
    machine::MachineConfig machine = tests::random_machine(random);
    machine.activation_unit.latency_cycles = one_of(random, {1U, 40U, 300U});
    return machine;
}

/// Chunks of at most so many lines: equal ones, the larger first, or those of one image after the other.
std::vector<Chunk> any_chunks(std::mt19937& random, std::size_t count, std::uint32_t most_lines) {
    std::vector<Chunk> chunks(count);
    const std::uint32_t lines = between(random, 1, most_lines);
    const std::uint32_t kind = between(random, 0, 2);
    const std::size_t image = between(random, 2, 5);  // chunks
    const std::size_t larger = between(random, 0, kind == 1 ? static_cast<std::uint32_t>(count) : 4U);
    for (std::size_t c = 0; c < count; ++c) {
        const bool is_larger = kind != 0 && (kind == 1 ? c : c % image) < larger;
        chunks[c].lines = is_larger ? lines : std::max(lines - 1, 1U);
    }
    return chunks;
}

MappedProduct any_product(std::mt19937& random, const machine::MachineConfig& machine, std::uint32_t parts,
                          std::size_t chunks) {
    MappedProduct product;
    product.spilled = between(random, 0, 4) == 0;
    const bool is_convolution = between(random, 0, 1) == 0;
    const std::uint32_t size = between(random, 3, 16);
    product.grid = is_convolution ? ir::FeatureMap{size, size, 1} : ir::FeatureMap{1, 1, 1};
    product.input = product.grid;
    std::uint32_t most_tiles = 5;
    if (is_convolution) {
        product.input.channels = between(random, 1, 300);
        product.window = ir::same_window(product.input, {3, 3}, {1, 1});
        most_tiles = std::min(most_tiles, divide_up(9 * product.input.channels, machine.matrix_unit.rows));
    }
    for (std::uint32_t column = between(random, 1, 3); column > 0; --column) {
        const std::uint32_t channels = between(random, 1, machine.matrix_unit.columns);
        TileRun run;
        run.tiles = between(random, 1, most_tiles);
        product.tiling.columns.push_back({.first_channel = 0, .channels = channels, .runs = {run}});
        ActivatedColumns segment;
        segment.columns = segment.pixel_bytes = channels;
        segment.pixels = product.grid;
        product.activated.emplace_back(between(random, 1, 2), segment);
    }
    product.cut.parts = parts;
    product.cut.chunks =
        any_chunks(random, chunks, std::max(1U, machine.accumulators.rows / parts / product.grid.width));
    return product;
}

}  // namespace

TEST_CASE("The predicted cycles of many chunks are the sum of all of them", "[compiler][mapping]") {
    constexpr std::uint32_t first_seed = 9800;
    std::size_t with_many = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(1000); ++seed) {
        std::mt19937 random(seed);
        const machine::MachineConfig machine = any_machine(random);
        const std::uint32_t parts = one_of(random, {1U, 2U, 4U, 8U, 16U});
        std::vector<MappedProduct> products;
        for (std::uint32_t left = between(random, 1, 2); left > 0; --left) {
            const std::size_t chunks = one_of(random, {1U, 2U, 31U, 32U, 33U, 47U, 100U, 1000U, 3001U});
            products.push_back(any_product(random, machine, parts, chunks));
            with_many += chunks > 32;
        }
        CAPTURE(seed);
        CHECK(predicted_cycles(products, machine) == sum_of_chunks(products, machine));
        CHECK(predicted_cycles(products.front(), machine) == sum_of_chunks({products.front()}, machine));
    }
    CHECK(with_many >= tests::random_share(500));
}

TEST_CASE("A stream against a new tile begins a shift and a switch behind the one before") {
    const auto weight_switch = GENERATE(0U, 1U);
    CAPTURE(weight_switch);
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 32;
    machine.matrix_unit.weight_switch = weight_switch;
    UnitTimes times(machine);
    // The tiles are in the FIFO from the beginning; the first has been shifted in.
    const timing::StreamShape row{.lines = 1};
    for (std::uint32_t stream = 0; stream < 4; ++stream) {
        CHECK(times.stream_begin(0.0, UnitTimes::Fetch{}) == stream * (32.0 + weight_switch));
        times.add_stream(row, 0.0, UnitTimes::Fetch{});
    }
    // One that is long enough hides both.
    times.add_stream({.lines = 32 + weight_switch}, 0.0, UnitTimes::Fetch{});
    CHECK(times.stream_begin(0.0, UnitTimes::Fetch{}) == times.matrix());
    CHECK(times.matrix() == 5 * (32.0 + weight_switch));
}

}  // namespace systole::tpu_v1
