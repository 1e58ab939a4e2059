// The matrix unit of a machine that computes in floats, with both engines, between neighbours that the test
// writes: docs/isa.md, "Sums in order".
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/data_type.h"
#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/common/matrix_interfaces.h"
#include "hw/common/registers.h"
#include "hw/common/trace.h"
#include "hw/common/unit_module.h"
#include "hw/common/value_workers.h"
#include "hw/machine/machine_config.h"
#include "hw/math/floats/float_values.h"
#include "tests/support/floats.h"
#include "tests/support/hard_numbers.h"
#include "tests/support/random_runs.h"
#include "tests/unit/hw/matrix_unit/matrix_bench.h"

using namespace systole;
using tests::any_engine;
using tests::bits_of;
using tests::float_infinity;
using tests::MatrixBench;

namespace {

constexpr std::uint32_t accumulator_rows = 300;

struct ArrayOfFloats {
    std::uint32_t rows = 3;
    std::uint32_t columns = 2;
    std::uint32_t mac_latency = 1;
    std::uint32_t stage = 1;
    std::uint32_t weight_switch = 1;
    std::uint32_t setup = 0;
    std::uint32_t write = 1;
};

machine::MachineConfig machine_of_floats(const ArrayOfFloats& array, machine::Engine engine) {
    machine::MachineConfig machine;
    machine.matrix_unit = {.rows = array.rows,
                           .columns = array.columns,
                           .engine = engine,
                           .mac_latency_cycles = array.mac_latency,
                           .cells_per_stage = array.stage,
                           .weight_switch = array.weight_switch,
                           .setup_cycles = array.setup,
                           .row_sums = false,
                           .formats = {{.activations = DataType::Bfloat16,
                                        .weights = DataType::Bfloat16,
                                        .accumulators = DataType::Float32}}};
    machine.accumulators.write_cycles = array.write;
    machine.accumulators.rows = accumulator_rows;
    return machine;
}

/// Rows of float32 in memory. What lies between two rows must not be read; it is infinite or NaN, and so
/// spoils every sum that it gets into.
struct Rows {
    std::vector<float> values;
    std::size_t row_elements = 0;

    float at(std::size_t row, std::size_t column) const { return values[row * row_elements + column]; }
    const std::uint8_t* bytes() const { return reinterpret_cast<const std::uint8_t*>(values.data()); }
    std::size_t row_bytes() const { return row_elements * sizeof(float); }
};

template <class Number>
Rows rows_of(std::size_t rows, std::size_t used, std::size_t row_elements, Number number) {
    Rows made{.values = std::vector<float>(rows * row_elements), .row_elements = row_elements};
    for (std::size_t i = 0; i < made.values.size(); ++i) {
        const float outside = i % 2 == 0 ? float_infinity : math::float_nan;
        made.values[i] = i % row_elements < used ? number() : outside;
    }
    return made;
}

struct WeightTile {
    std::uint32_t rows = 1;
    std::uint32_t columns = 1;
    Rows weights;
    Cycle whole_at = 0;

    hw::Tile whole() const {
        return {.rows = rows,
                .columns = columns,
                .useful_macs = rows * columns,
                .type = DataType::Bfloat16,
                .whole_at = whole_at,
                .values = weights.bytes(),
                .row_bytes = weights.row_bytes()};
    }
};

/// Gives the rows of a stream where they lie, or builds them when they are asked for.
struct FloatSource final : hw::RowSource {
    hw::StreamRows enter(std::uint32_t /*elements*/) override {
        if (!with_values) return {};
        return [this](std::vector<std::uint8_t>& memory) {
            if (!builds) return hw::RowBlock{rows.bytes(), rows.row_bytes()};
            memory.resize(rows.values.size() * sizeof(float));
            std::memcpy(memory.data(), rows.bytes(), memory.size());
            return hw::RowBlock{memory.data(), rows.row_bytes()};
        };
    }

    Rows rows;
    bool builds = false;
    bool with_values = true;
};

hw::Stream float_stream(std::uint64_t lines) {
    return {.lines = lines, .activations = DataType::Bfloat16, .weights = DataType::Bfloat16};
}

struct FloatStream {
    hw::Stream stream;
    Rows rows;
    bool builds = false;
    Cycle ready = 0;
    std::size_t tile = 0;
};

struct FloatProgram {
    ArrayOfFloats array = {};
    std::vector<WeightTile> tiles = {};
    std::vector<FloatStream> streams = {};
    std::vector<std::int32_t> before = {};  ///< bits of what is in the accumulators at first
};

/// Everything that a run shows.
struct Outcome {
    std::vector<Cycle> entered;
    std::vector<Cycle> completed;
    std::vector<Cycle> released;
    std::vector<hw::StreamTimes> streams;
    std::vector<hw::MatrixIdleTimes> idle;
    std::vector<std::uint64_t> counters = {};

    bool operator==(const Outcome&) const = default;
};

struct Run {
    Outcome outcome;
    std::vector<std::int32_t> words;
};

Run run(const FloatProgram& program, machine::Engine engine, hw::Values values, std::size_t threads = 0) {
    MatrixBench bench(machine_of_floats(program.array, engine), values, {}, threads);
    bench.accumulators.sums = program.before;
    for (const WeightTile& tile : program.tiles) bench.fifo.tiles.push_back(tile.whole());
    std::deque<FloatSource> sources;
    bench.process([&] {
        for (const FloatStream& each : program.streams) {
            sources.emplace_back();
            sources.back().rows = each.rows;
            sources.back().builds = each.builds;
            sources.back().with_values = values == hw::Values::Computed;
            hw::Stream stream = each.stream;
            stream.source = &sources.back();
            bench.at(each.ready);
            bench.enter(stream);
        }
    });
    bench.run();
    bench.workers.finish();
    bench.finish(bench.completed.back());
    Run made{.outcome = {.entered = bench.entered,
                         .completed = bench.completed,
                         .released = bench.fifo.released,
                         .streams = bench.streams,
                         .idle = bench.idle},
             .words = bench.accumulators.sums};
    for (const hw::PlacedCounters& placed : bench.unit.counter_groups()) {
        for (const hw::Counter& counter : *placed.group) made.outcome.counters.push_back(counter.value());
    }
    return made;
}

/// The accumulators' words, an operation at a time.
std::vector<std::int32_t> expected_words(const FloatProgram& program) {
    std::vector<std::int32_t> words = program.before;
    for (const FloatStream& each : program.streams) {
        const WeightTile& tile = program.tiles[each.tile];
        const hw::Stream& stream = each.stream;
        for (std::uint64_t row = 0; row < stream.lines * stream.line_rows; ++row) {
            for (std::uint32_t column = 0; column < tile.columns; ++column) {
                float sum = 0.0F;
                for (std::uint32_t k = 0; k < tile.rows; ++k) {
                    sum = math::settled(std::fma(each.rows.at(row, k), tile.weights.at(k, column), sum));
                }
                std::int32_t& word = words[(stream.accumulator_row + row) * program.array.columns + column];
                if (stream.accumulate) sum = math::settled(std::bit_cast<float>(word) + sum);
                word = std::bit_cast<std::int32_t>(sum);
            }
        }
    }
    return words;
}

constexpr ArrayOfFloats arrays[] = {
    {.rows = 3, .columns = 5},
    {.rows = 3, .columns = 5, .mac_latency = 3, .weight_switch = 0, .setup = 2},
    {.rows = 8, .columns = 8, .mac_latency = 2, .setup = 1, .write = 3},
    {.rows = 8, .columns = 8, .stage = 4, .weight_switch = 0, .write = 0},
    {.rows = 6, .columns = 4, .mac_latency = 3, .stage = 2, .setup = 1},
    {.rows = 1, .columns = 1, .write = 0},
    {.rows = 5, .columns = 37, .weight_switch = 0, .setup = 1},
    {.rows = 40, .columns = 2, .mac_latency = 2},
};

FloatProgram random_program(std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
    const auto numbers = [&] { return tests::HardNumbers(static_cast<std::uint32_t>(random())); };
    FloatProgram program;
    program.array = arrays[below(std::size(arrays))];
    const ArrayOfFloats& array = program.array;
    tests::HardNumbers before = numbers();
    for (std::uint32_t i = 0; i < accumulator_rows * array.columns; ++i) {
        program.before.push_back(std::bit_cast<std::int32_t>(before()));
    }
    Cycle whole_at = 0;
    Cycle ready = 0;
    const std::size_t tiles = below(4) + 1;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        // Often a full tile, and often as few rows as leave many cells below.
        const std::uint32_t rows = below(3) == 0 ? array.rows : below(array.rows) + 1;
        const std::uint32_t columns = below(3) == 0 ? array.columns : below(array.columns) + 1;
        whole_at += below(2 * array.rows + 5);
        program.tiles.push_back({.rows = rows,
                                 .columns = columns,
                                 .weights = rows_of(rows, columns, columns + below(3), numbers()),
                                 .whole_at = whole_at});
        const std::size_t streams = below(3) + 1;
        for (std::size_t i = 0; i < streams; ++i) {
            // Sometimes more rows than a product takes at once.
            hw::Stream stream = float_stream(below(10) == 0 ? below(100) + 1 : below(4) + 1);
            stream.line_rows = below(3) + 1;
            stream.line_cycles = stream.line_rows + (below(3) == 0 ? below(20) : 0);
            const std::uint64_t count = stream.lines * stream.line_rows;
            stream.accumulator_row = random() % (accumulator_rows - count + 1);
            stream.accumulate = below(2) == 0;
            stream.keep_weights = i > 0;
            ready += below(2) == 0 ? 0 : below(30);
            program.streams.push_back({.stream = stream,
                                       .rows = rows_of(count, rows, rows + below(3), numbers()),
                                       .builds = below(2) == 0,
                                       .ready = ready,
                                       .tile = tile});
        }
    }
    return program;
}

/// The words of column 0 after a stream of one row through a tile of one column.
struct OneColumn {
    std::vector<float> weights;
    std::vector<float> elements;
    float before = 7.0F;
    bool accumulate = false;

    std::uint32_t word(machine::Engine engine, std::uint32_t array_rows) const {
        const auto count = static_cast<std::uint32_t>(weights.size());
        FloatProgram program{.array = {.rows = array_rows}};
        program.tiles = {{.rows = count, .columns = 1, .weights = {weights, 1}}};
        FloatStream only{.stream = float_stream(1), .rows = {elements, elements.size()}};
        only.stream.accumulate = accumulate;
        program.streams = {only};
        program.before.assign(std::size_t{accumulator_rows} * program.array.columns,
                              std::bit_cast<std::int32_t>(before));
        return static_cast<std::uint32_t>(run(program, engine, hw::Values::Computed).words[0]);
    }
};

/// One that must not be asked.
struct NoRegisters final : hw::RegisterSink {
    void cycle(Cycle /*cycle*/, const hw::ArrayRegisters& /*registers*/) override {
        throw std::logic_error("registers of floats");
    }
};

}  // namespace

TEST_CASE("Random streams of floats: both engines give the definition's words in the same cycles",
          "[hw][matrix_unit]") {
    const std::uint32_t runs = tests::random_runs(1500);
    std::uint32_t not_a_number = 0;
    std::uint32_t infinite = 0;
    std::uint32_t minus_zero = 0;
    for (std::uint32_t seed = 0; seed < runs; ++seed) {
        INFO("seed " << seed);
        const FloatProgram program = random_program(seed);
        const std::vector<std::int32_t> expected = expected_words(program);
        const Run pe = run(program, machine::Engine::Pe, hw::Values::Computed);
        REQUIRE(pe.words == expected);
        const std::size_t threads = seed % 2 == 0 ? 0 : 2;
        const Run wavefront = run(program, machine::Engine::Wavefront, hw::Values::Computed, threads);
        REQUIRE(wavefront.words == expected);
        REQUIRE(wavefront.outcome == pe.outcome);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            if (expected[i] == program.before[i]) continue;
            const float number = std::bit_cast<float>(expected[i]);
            not_a_number += number != number ? 1 : 0;
            infinite += std::abs(number) == float_infinity ? 1 : 0;
            minus_zero += bits_of(number) == bits_of(-0.0F) ? 1 : 0;
        }
    }
    CHECK(not_a_number >= tests::random_share(1000));
    CHECK(infinite >= tests::random_share(300));
    CHECK(minus_zero >= tests::random_share(100));
}

TEST_CASE("Streams of floats take the cycles of integers, with and without values", "[hw][matrix_unit]") {
    const std::uint32_t runs = tests::random_runs(50);
    for (std::uint32_t seed = 0; seed < runs; ++seed) {
        INFO("seed " << seed);
        const FloatProgram program = random_program(seed);
        const Run computed = run(program, machine::Engine::Wavefront, hw::Values::Computed);
        for (const auto engine : {machine::Engine::Wavefront, machine::Engine::Pe}) {
            const Run timing_only = run(program, engine, hw::Values::TimingOnly);
            REQUIRE(timing_only.outcome == computed.outcome);
            REQUIRE(timing_only.words == program.before);
        }
        machine::MachineConfig integers = machine_of_floats(program.array, machine::Engine::Pe);
        integers.matrix_unit.formats = machine::byte_array_formats();
        MatrixBench bench(integers);
        for (const WeightTile& tile : program.tiles) {
            hw::Tile bytes = tile.whole();
            bytes.type = DataType::Int8;
            bench.fifo.tiles.push_back(bytes);
        }
        bench.process([&] {
            for (const FloatStream& each : program.streams) {
                hw::Stream stream = each.stream;
                stream.activations = DataType::Uint8;
                stream.weights = DataType::Int8;
                bench.at(each.ready);
                bench.enter(stream);
            }
        });
        bench.run();
        REQUIRE(bench.entered == computed.outcome.entered);
        REQUIRE(bench.completed == computed.outcome.completed);
    }
}

TEST_CASE("A sum of -0 stays -0 on its way through cells without weights", "[hw][matrix_unit]") {
    const auto engine = any_engine();
    const auto array_rows = GENERATE(1U, 2U, 8U);
    // The product is -2^-127: too small for a normal number.
    const OneColumn column{.weights = {0x1p-63F}, .elements = {-0x1p-64F}};
    CHECK(column.word(engine, array_rows) == bits_of(-0.0F));
    // +0 + -0 is +0, by a cell's addition or by that of the accumulators.
    CHECK(OneColumn{{0x1p-63F, 1.0F}, {-0x1p-64F, 0.0F}}.word(engine, 8) == bits_of(0.0F));
    CHECK(OneColumn{{0x1p-63F}, {-0x1p-64F}, 0.0F, true}.word(engine, 8) == bits_of(0.0F));
    CHECK(OneColumn{{0x1p-63F}, {-0x1p-64F}, -0.0F, true}.word(engine, 8) == bits_of(-0.0F));
}

TEST_CASE("A column begins with +0", "[hw][matrix_unit]") {
    const auto engine = any_engine();
    CHECK(OneColumn{{-0.0F}, {1.0F}}.word(engine, 3) == bits_of(0.0F));
}

TEST_CASE("Infinite sums stay so on their way through cells without weights", "[hw][matrix_unit]") {
    const auto engine = any_engine();
    CHECK(OneColumn{{float_infinity}, {-2.0F}}.word(engine, 8) == bits_of(-float_infinity));
    CHECK(OneColumn{{1.0F, 3.0F}, {1.0F, float_infinity}}.word(engine, 8) == bits_of(float_infinity));
    CHECK(OneColumn{{0.0F, 3.0F}, {float_infinity, 1.0F}}.word(engine, 8) == math::float_nan_bits);
}

TEST_CASE("A cell rounds once and settles its sum", "[hw][matrix_unit]") {
    const auto engine = any_engine();
    // Products that would be lost or infinite by themselves: twice 1.5 * 2^-150, and 2^128.
    CHECK(OneColumn{{0x1p-26F, 0x1.8p-75F, 0x1.8p-75F}, {0x1p-100F, 0x1p-75F, 0x1p-75F}}.word(engine, 3) ==
          bits_of(0x1p-126F + 0x1p-148F));
    CHECK(OneColumn{{1.0F, 2.0F}, {-0x1p127F, 0x1p127F}}.word(engine, 3) == bits_of(0x1p127F));
    // 2^-127 is zero for the next cell.
    CHECK(OneColumn{{0x1p-63F, 0x1p-63F}, {0x1p-64F, 0x1p-63F}}.word(engine, 3) == bits_of(0x1p-126F));
    CHECK(OneColumn{{-float_infinity}, {0.0F}}.word(engine, 3) == math::float_nan_bits);
}

TEST_CASE("The accumulators round once and settle their sum", "[hw][matrix_unit]") {
    const auto engine = any_engine();
    // 1 + 2^-24 lies half way, and the even number is 1. With 2^-24 in the column first, it is above.
    CHECK(OneColumn{{1.0F}, {0x1p-24F}, 1.0F, true}.word(engine, 3) == bits_of(1.0F));
    CHECK(OneColumn{{1.0F, 1.0F}, {0x1p-24F, 0x1p-30F}, 1.0F, true}.word(engine, 3) ==
          bits_of(1.0F + 0x1p-23F));
    // 2^-126 - 1.5 * 2^-126 is -2^-127.
    CHECK(OneColumn{{-0x1.8p-63F}, {0x1p-63F}, 0x1p-126F, true}.word(engine, 3) == bits_of(-0.0F));
    CHECK(OneColumn{{1.0F}, {float_infinity}, -float_infinity, true}.word(engine, 3) == math::float_nan_bits);
    // What is replaced does not count.
    CHECK(OneColumn{{1.0F}, {3.0F}, math::float_nan, false}.word(engine, 3) == bits_of(3.0F));
}

TEST_CASE("A stream that keeps the weights finds them in the array, not in memory", "[hw][matrix_unit]") {
    const auto engine = any_engine();
    MatrixBench bench(machine_of_floats({}, engine), hw::Values::Computed);
    WeightTile tile{.rows = 2, .columns = 2, .weights = {{1.0F, 2.0F, 3.0F, 4.0F}, 2}};
    bench.fifo.tiles = {tile.whole()};
    FloatSource source;
    source.rows = {{10.0F, 1.0F}, 2};
    bench.process([&] {
        hw::Stream stream = float_stream(1);
        stream.source = &source;
        bench.enter(stream);
        bench.at(bench.completed.back());
        std::fill(tile.weights.values.begin(), tile.weights.values.end(), 0.0F);
        stream.keep_weights = true;
        stream.accumulator_row = 1;
        bench.enter(stream);
    });
    bench.run();
    const auto thirteen = std::bit_cast<std::int32_t>(13.0F);
    const auto twenty_four = std::bit_cast<std::int32_t>(24.0F);
    CHECK(std::vector<std::int32_t>(bench.accumulators.sums.begin(), bench.accumulators.sums.begin() + 4) ==
          std::vector<std::int32_t>{thirteen, twenty_four, thirteen, twenty_four});
}

TEST_CASE("The cost of a product of floats is counted", "[hw][matrix_unit]") {
    MatrixBench bench(machine_of_floats({}, machine::Engine::Wavefront), hw::Values::Computed);
    const WeightTile tile{.rows = 3, .columns = 2, .weights = {std::vector<float>(6, 1.0F), 2}};
    bench.fifo.tiles = {tile.whole()};
    FloatSource source;
    source.rows = {std::vector<float>(15, 1.0F), 3};
    bench.process([&] {
        hw::Stream stream = float_stream(5);
        stream.source = &source;
        bench.enter(stream);
    });
    bench.run();
    CHECK(bench.unit.gemm().calls == 1);
    CHECK(bench.unit.gemm().macs == 5 * 3 * 2);
    CHECK(bench.unit.gemm().seconds > 0.0);
}

TEST_CASE("A stream that an array of floats cannot take is a fault of the simulator", "[hw][matrix_unit]") {
    const auto engine = any_engine();
    const auto message_of = [&](const hw::Stream& stream, DataType weights) {
        MatrixBench bench(machine_of_floats({}, engine));
        hw::Tile whole = WeightTile{}.whole();
        whole.type = weights;
        bench.fifo.tiles = {whole};
        bench.process([&] { bench.enter(stream); });
        try {
            bench.run();
        } catch (const std::logic_error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(message_of({.lines = 1}, DataType::Int8) ==
          "a stream of number formats that the machine does not list");
    const std::string one_pass = "a stream of floats takes one pass a row, and its weights no zero point";
    hw::Stream stream = float_stream(1);
    stream.passes = stream.line_cycles = 2;
    CHECK(message_of(stream, DataType::Bfloat16) == one_pass);
    stream = float_stream(1);
    stream.weight_zero_point = 1;
    CHECK(message_of(stream, DataType::Bfloat16) == one_pass);
    CHECK(message_of(float_stream(1), DataType::Bfloat16).empty());
}

TEST_CASE("Registers of floats are not reported", "[hw][matrix_unit]") {
    NoRegisters sink;
    const machine::MachineConfig machine = machine_of_floats({}, machine::Engine::Pe);
    CHECK_THROWS_WITH(MatrixBench(machine, hw::Values::TimingOnly, {.registers = &sink}),
                      "registers of floats are not reported");
}
