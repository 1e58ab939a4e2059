#include "compiler/target/tpu_v1/cost/step_costs.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/network_builder.h"
#include "tests/support/random_layers.h"
#include "tests/support/random_runs.h"
#include "tests/support/small_schedules.h"

namespace systole::tpu_v1 {
namespace {

using tests::NetworkBuilder;

machine::MachineConfig fast() {
    return tests::with_fast_memory(tests::small_machine());
}

/// The costs of a network on a machine, with all that they refer to.
struct Costed {
    Costed(Network of, const Target& target)
        : analysed(analyse(std::move(of), target)),
          network(analysed.network()),
          schedule(tests::planned(analysed, target)),
          costs(analysed, schedule) {}
    Costed(Network of, const machine::MachineConfig& machine)
        : Costed(std::move(of), tests::target_of(machine)) {}
    Costed(const Costed&) = delete;

    /// The only step that these operations of a layer make.
    Step step(std::uint32_t layer, const std::vector<Operation>& operations,
              std::uint32_t first_image = 0) const {
        const std::vector<Step> steps = costs.steps_of(layer, operations, first_image);
        REQUIRE(steps.size() == 1);
        return steps.front();
    }

    AnalysedNetwork analysed;
    const Network& network;
    Schedule schedule;
    StepCosts costs;
};

/// A stream of `lines` lines of a layer against `tiles` tiles from the layer's tile `first` on.
template <typename Work>
Work stream(std::uint32_t lines, std::uint32_t first, std::uint32_t tiles, bool accumulate = false) {
    Work work;
    work.chunk.lines = lines;
    work.first_element_tile = first;
    work.first_weight_tile = first;
    work.tiles = tiles;
    work.accumulate = accumulate;
    return work;
}

MultiplyImages multiply(std::uint32_t images, std::uint32_t first, std::uint32_t tiles,
                        bool accumulate = false) {
    return stream<MultiplyImages>(images, first, tiles, accumulate);
}

ActivatePixels activate(std::uint32_t pixels, std::uint32_t column = 0, std::uint32_t first_image = 0,
                        std::uint32_t first_pixel = 0) {
    return {.column = column, .first_image = first_image, .first_pixel = first_pixel, .pixels = pixels};
}

/// 16 elements and 6 channels: two column tiles of two tiles each.
Network dense_network() {
    NetworkBuilder builder({1, 1, 16});
    builder.dense(0, 6);
    return builder.network();
}

bool same(const LineRange& a, const LineRange& b) {
    return a.first == b.first && a.count == b.count;
}

/// The lines of the output that the chunk's lines are, for a window and an image of any height.
std::uint64_t lines_needed(const Network& network, const ir::Window& window, const LineRange& written) {
    const std::uint64_t height = network.tensors[0].shape.height;
    const std::uint64_t output_height = network.tensors[1].shape.height;
    std::uint64_t end = 0;
    for (std::uint64_t line = written.first; line < written.first + written.count; ++line) {
        for (std::uint32_t element = 0; element < window.kernel_height; ++element) {
            const auto at = static_cast<std::int64_t>(line % output_height * window.stride_y +
                                                      std::uint64_t{element} * window.dilation_y) -
                            window.pad_top;
            if (at < 0 || at >= static_cast<std::int64_t>(height)) continue;
            end = std::max(end, line / output_height * height + static_cast<std::uint64_t>(at) + 1);
        }
    }
    return end;
}

}  // namespace

TEST_CASE("A product's step has the array cycles of its streams and the fetches of its tiles",
          "[compiler][schedule][step_costs]") {
    const Costed slow(dense_network(), tests::small_machine());
    // Five images against two tiles of 32 bytes; five rows of four sums.
    const std::vector<Operation> operations{multiply(5, 0, 1), multiply(5, 1, 1, true), activate(5)};
    const Costed costed(dense_network(), fast());
    const Step step = costed.step(0, operations);
    CHECK(step.first_operation == 0);
    CHECK(step.operations == 3);
    CHECK(step.is_product);
    CHECK_FALSE(step.is_vector_work);
    CHECK_FALSE(step.column.has_value());
    CHECK(step.accumulator_rows == 5);
    CHECK(step.begins_sums);
    CHECK(step.ends_sums);
    CHECK(step.array_cycles == 2 * 5);
    CHECK(step.activation_cycles == 5);
    CHECK(same(step.written, {.first = 0, .count = 5}));
    CHECK(step.fetch_cycles == 2 * step.first_fetch);
    CHECK(step.first_fetch < 1);
    const std::vector<StreamOfStep> streams = slow.costs.streams_of(operations);
    REQUIRE(streams.size() == 2);
    for (const StreamOfStep& stream : streams) {
        CHECK(stream.fetch == 32);
        CHECK(stream.shape.span() == 5);
        CHECK_FALSE(stream.is_kept);
    }
}

TEST_CASE("One instruction streams against several tiles", "[compiler][schedule][step_costs]") {
    const Costed costed(dense_network(), tests::small_machine());
    // More images than a fetch takes cycles, so that it is one step.
    const std::vector<Operation> operations{multiply(40, 2, 2), activate(40, 1)};
    const std::vector<StreamOfStep> streams = costed.costs.streams_of(operations);
    REQUIRE(streams.size() == 2);
    const Step step = costed.step(0, operations);
    CHECK(step.array_cycles == 80);
    CHECK(step.fetch_cycles == 64);
    CHECK(step.first_fetch == 32);
    CHECK(step.longest() == 80);
}

TEST_CASE("A step is as long as the unit that is busy longest", "[compiler][schedule][step_costs]") {
    Step step;
    const std::array units{&Step::array_cycles, &Step::fetch_cycles, &Step::activation_cycles};
    for (double Step::*longest : units) {
        for (double Step::*unit : units) step.*unit = unit == longest ? 3 : 2;
        CHECK(step.longest() == 3);
    }
}

TEST_CASE("16-bit operands take more passes and larger tiles", "[compiler][schedule][step_costs]") {
    NetworkBuilder builder({1, 1, 16}, DataType::Int16);
    builder.dense(0, 4);
    auto& product = std::get<MatrixProduct>(builder.network().layers[0].work);
    product.weight_type = DataType::Int16;
    product.weights = ir::Constant::of(std::vector<std::int16_t>(16 * 4, 1));
    const Costed costed(builder.network(), tests::small_machine());
    const Step step = costed.step(0, {multiply(40, 0, 1), activate(40)});
    CHECK(step.array_cycles == 40 * 4);
    CHECK(step.first_fetch == 64);
    CHECK(step.activation_cycles == 40);  // eight bytes are a row
}

TEST_CASE("A stream of windows takes the cycles in which the data setup collects its lines",
          "[compiler][schedule][step_costs]") {
    NetworkBuilder builder({4, 4, 1});
    builder.convolution(0, 4, {.kernel_height = 3, .kernel_width = 3});
    const std::vector<Operation> operations{stream<ConvolveLines>(2, 0, 2), activate(4)};
    // Nine elements in two tiles. The first eight take three accesses, one for each kernel row, the ninth
    // one; a line has two pixels.
    Costed costed(builder.network(), fast());
    const std::vector<StreamOfStep> streams = costed.costs.streams_of(operations);
    REQUIRE(streams.size() == 2);
    CHECK(streams[0].shape.lines == 2);
    CHECK(streams[0].shape.line_rows == 2);
    CHECK(streams[0].shape.line_cycles == 3);
    CHECK(streams[1].shape.line_cycles == 2);
    const Step step = costed.step(0, operations);
    CHECK(step.array_cycles == 2 * 3 + 2 * 2);
    CHECK(step.accumulator_rows == 4);
    CHECK(same(step.written, {.first = 0, .count = 2}));
    machine::MachineConfig wide = fast();
    wide.systolic_data_setup.fetches_per_cycle = 2;
    CHECK(Costed(builder.network(), wide).step(0, operations).array_cycles == 2 * 2 + 2 * 2);
}

TEST_CASE("A tile that is kept is not fetched", "[compiler][schedule][step_costs]") {
    NetworkBuilder builder({1, 1, 8});
    builder.dense(0, 6);
    const Costed costed(builder.network(), tests::small_machine());
    MultiplyImages kept = multiply(40, 0, 1);
    kept.keep_weights = true;
    const Step again = costed.step(0, {kept, activate(40)});
    CHECK(again.fetch_cycles == 0);
    CHECK(again.column == 0U);
    CHECK(costed.costs.streams_of(std::vector<Operation>{kept}).front().is_kept);
    const Step first = costed.step(0, {multiply(40, 1, 1), activate(40, 1)});
    CHECK(first.fetch_cycles == 32);
    CHECK(first.column == 1U);
}

TEST_CASE("Weights in host memory take the host link", "[compiler][schedule][step_costs]") {
    machine::MachineConfig machine = tests::small_machine();
    machine.weight_memory.spill = true;
    machine.host_interface.read_gb_per_s = 0.25;
    machine.weight_memory.bytes = 4 * 32;
    const std::vector<Operation> operations{multiply(1000, 0, 2), activate(1000)};
    CHECK(Costed(dense_network(), machine).step(0, operations).fetch_cycles == 2 * 32);
    machine.weight_memory.bytes -= 1;
    CHECK(Costed(dense_network(), machine).step(0, operations).fetch_cycles == 2 * 4 * 32);
}

TEST_CASE("A product that waits for weights is cut into a step for each tile",
          "[compiler][schedule][step_costs]") {
    const Costed costed(dense_network(), tests::small_machine());
    MultiplyImages both = multiply(31, 0, 2);  // a tile takes 32 cycles
    both.accumulator_row = 7;
    const std::vector<Operation> operations{both, activate(31)};
    MultiplyImages first = both, second = both;
    first.tiles = second.tiles = 1;
    second.first_element_tile = second.first_weight_tile = 1;
    second.accumulate = true;
    const std::vector<Operation> split = costed.costs.split(operations);
    CHECK(split == std::vector<Operation>{first, second, activate(31)});
    const std::vector<Step> steps = costed.costs.steps_of(0, split, 0);
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].first_operation == 0);
    CHECK(steps[0].operations == 1);
    CHECK(steps[0].begins_sums);
    CHECK_FALSE(steps[0].ends_sums);
    CHECK(steps[1].first_operation == 1);
    CHECK(steps[1].operations == 2);
    CHECK_FALSE(steps[1].begins_sums);
    CHECK(steps[1].ends_sums);
    for (const Step& step : steps) {
        CHECK(step.is_product);
        // The first takes the rows, and waits for the lines, of all.
        CHECK(step.accumulator_rows == 31);
        CHECK(same(step.written, {.first = 0, .count = 31}));
        CHECK(step.array_cycles == 31);
        CHECK(step.fetch_cycles == 32);
        CHECK(step.first_fetch == 32);
    }
    CHECK(steps[0].activation_cycles == 0);
    CHECK(steps[1].activation_cycles == 31);
    // The parts of an instruction that adds to sums all add to them.
    both.accumulate = true;
    for (const Operation& part : costed.costs.split({both})) {
        CHECK(std::get<MultiplyImages>(part).accumulate);
    }
}

TEST_CASE("A product whose weights arrive as fast as it is streamed is one step",
          "[compiler][schedule][step_costs]") {
    const Costed costed(dense_network(), tests::small_machine());
    const std::vector<Operation> operations{multiply(32, 0, 2), activate(32)};
    CHECK(costed.costs.split(operations) == operations);
    const std::vector<Operation> tiles{multiply(32, 0, 1), multiply(32, 1, 1, true), activate(32)};
    CHECK(costed.costs.steps_of(0, tiles, 0).size() == 1);
    // One tile cannot be cut, and other work is not.
    const std::vector<Operation> rest{multiply(1, 0, 1), activate(1), PoolLines{}, RunSegment{}};
    CHECK(costed.costs.split(rest) == rest);
}

TEST_CASE("Each chunk of a layer is a step, with the transfers behind it",
          "[compiler][schedule][step_costs]") {
    NetworkBuilder builder({1, 1, 16});
    builder.lookup(builder.dense(0, 4));
    const Costed costed(builder.network(), fast());
    const std::vector<Operation> product{multiply(4, 0, 2), activate(4), multiply(3, 0, 2), activate(3, 0, 4),
                                         WriteOutput{}};
    const std::vector<Step> steps = costed.costs.steps_of(0, product, 0);
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].operations == 2);
    CHECK(steps[1].first_operation == 2);
    CHECK(steps[1].operations == 3);
    CHECK(same(steps[1].written, {.first = 4, .count = 3}));
    const std::vector<Operation> vector{ElementwiseRows{.layer = 1, .rows = {.first = 0, .count = 2}},
                                        ElementwiseRows{.layer = 1, .rows = {.first = 2, .count = 1}},
                                        WriteOutput{}};
    const std::vector<Step> of_vector = costed.costs.steps_of(1, vector, 0);
    REQUIRE(of_vector.size() == 2);
    CHECK(of_vector[0].is_vector_work);
    CHECK_FALSE(of_vector[0].is_product);
    CHECK(of_vector[1].operations == 2);
    // Transfers alone are neither.
    const Step sent = costed.step(1, {WriteOutput{}});
    CHECK_FALSE(sent.is_product);
    CHECK_FALSE(sent.is_vector_work);
    CHECK(sent.written.count == 0);
    CHECK(costed.costs.steps_of(1, {}, 0).empty());
}

TEST_CASE("Activations take a cycle for each row that they write, without loading parameters",
          "[compiler][schedule][step_costs]") {
    machine::MachineConfig machine = fast();
    machine.matrix_unit.columns = 32;
    NetworkBuilder builder({4, 4, 8});
    builder.convolution(0, 20);
    builder.convolution(0, 6);
    const Costed costed(builder.network(), machine);
    REQUIRE(costed.schedule.layers[1].joined_to == 0U);
    ActivatePixels second = activate(16);
    second.segment = 1;
    // 20 bytes are three rows, 6 are one.
    const ConvolveLines lines = stream<ConvolveLines>(4, 0, 1);
    CHECK(costed.step(0, {lines, activate(16)}).activation_cycles == 16 * 3);
    CHECK(costed.step(0, {lines, activate(16), second}).activation_cycles == 16 * 3 + 16);
}

TEST_CASE("Vector work takes the cycles of its reads or its writes", "[compiler][schedule][step_costs]") {
    NetworkBuilder builder({4, 4, 4});
    builder.sum(0, 0);                                                                       // layer 0
    builder.lookup(0);                                                                       // layer 1
    builder.pool(0, {.kernel_height = 2, .kernel_width = 2, .stride_y = 2, .stride_x = 2});  // layer 2
    builder.concat({1, 2});                                                                  // layer 3
    const Costed costed(builder.network(), fast());
    const auto rows = [](std::uint32_t layer) {
        return ElementwiseRows{.layer = layer, .rows = {.first = 0, .count = 5}};
    };
    const auto cycles = [&](std::uint32_t layer, const Operation& operation) {
        const Step step = costed.step(layer, {operation});
        CHECK(step.is_vector_work);
        CHECK(step.array_cycles == 0);
        CHECK(step.accumulator_rows == 0);
        return step.activation_cycles;
    };
    CHECK(cycles(0, rows(0)) == 2 * 5);
    CHECK(cycles(1, rows(1)) == 32 + 5);  // with its table of 256 bytes
    // Two kernel rows of two windows, 16 bytes together, for each line.
    CHECK(cycles(2, PoolLines{.layer = 2, .chunk = {.lines = 3}}) == 3 * 2 * 2);
    // Lines of 16 bytes.
    CHECK(cycles(3, CopyLines{.layer = 3, .input = 1, .chunk = {.lines = 3}}) == 3 * 2);
}

TEST_CASE("The lines that a step writes count from the first image of its slice",
          "[compiler][schedule][step_costs]") {
    NetworkBuilder builder({6, 4, 4});
    builder.convolution(0, 4, {.kernel_height = 3, .pad_top = 1});  // layer 0: 5 lines of 4 pixels
    builder.pool(0, {.kernel_height = 2, .stride_y = 2});           // layer 1: 3 lines
    builder.sum(0, 0);                                              // layer 2: 12 rows for 6 lines
    builder.concat({0, 3});                                         // layer 3: 6 lines
    const Costed costed(builder.network(), fast());
    const auto written = [&](std::uint32_t layer, const Operation& operation) {
        const LineRange lines = costed.step(layer, {operation}, 10).written;
        return std::pair(lines.first, lines.count);
    };
    using Range = std::pair<std::uint64_t, std::uint64_t>;
    CHECK(written(0, activate(8, 0, 10, 0)) == Range{0, 2});
    CHECK(written(0, activate(12, 0, 10, 8)) == Range{2, 3});
    CHECK(written(0, activate(20, 0, 13, 0)) == Range{15, 5});
    CHECK(written(0, activate(60, 0, 11, 0)) == Range{5, 15});  // three images
    const auto pooled = [](std::uint32_t image, std::uint32_t line, std::uint32_t lines) {
        return PoolLines{.layer = 1, .chunk = {.first_image = image, .first_line = line, .lines = lines}};
    };
    CHECK(written(1, pooled(10, 1, 2)) == Range{1, 2});
    CHECK(written(1, pooled(12, 0, 6)) == Range{6, 6});
    const auto summed = [](std::uint32_t first, std::uint32_t count) {
        return ElementwiseRows{.layer = 2, .rows = {.first = first, .count = count}};
    };
    CHECK(written(2, summed(10 * 12, 6)) == Range{0, 3});
    CHECK(written(2, summed(10 * 12 + 3, 2)) == Range{1, 2});  // half of lines 1 and 2
    CHECK(written(2, summed(11 * 12, 24)) == Range{6, 12});
    CHECK(written(3, CopyLines{.layer = 3,
                               .input = 0,
                               .chunk = {.first_image = 11, .first_line = 2, .lines = 3}}) == Range{8, 3});
}

TEST_CASE("The last blocks of pixels may reach out of an image", "[compiler][schedule][step_costs]") {
    NetworkBuilder builder({5, 6, 8});
    builder.convolution(0, 1);
    Target target = tests::target_of(fast());
    target.choices.blocks = {{.width = 2, .height = 2}};
    const Costed costed(builder.network(), target);
    // Three lines of three blocks for five lines of six pixels.
    const auto written = [&](std::uint32_t first_pixel, std::uint32_t pixels, std::uint32_t image = 0) {
        const LineRange lines = costed.step(0, {activate(pixels, 0, image, first_pixel)}).written;
        return std::pair(lines.first, lines.count);
    };
    using Range = std::pair<std::uint64_t, std::uint64_t>;
    CHECK(written(0, 3) == Range{0, 2});
    CHECK(written(3, 3) == Range{2, 2});
    CHECK(written(6, 3) == Range{4, 1});
    CHECK(written(0, 9, 1) == Range{5, 5});
    CHECK(written(0, 18) == Range{0, 10});
}

TEST_CASE("A step needs the lines of the windows that it writes", "[compiler][schedule][step_costs]") {
    const std::uint32_t first_seed = 2700;
    std::uint32_t exact = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(1000); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        ir::Window window;
        window.kernel_height = tests::between(random, 1, 4);
        window.stride_y = tests::between(random, 1, 3);
        window.pad_top = tests::between(random, 0, 5);
        window.pad_bottom = tests::between(random, 0, 5);
        const bool pools = tests::between(random, 0, 1) == 0;
        if (pools) {
            window.pad_top %= window.kernel_height;
            window.pad_bottom = 0;
        } else {
            window.dilation_y = tests::between(random, 1, 2);
        }
        NetworkBuilder builder({tests::between(random, 7, 12), 1, 1});
        pools ? builder.pool(0, window) : builder.convolution(0, 1, window);
        const Costed costed(builder.network(), fast());
        const std::uint64_t output_height = builder.shape(1).height;
        Step step;
        step.written.first = random() % (3 * output_height);
        step.written.count = random() % (3 * output_height - step.written.first) + 1;
        const std::uint64_t read = costed.costs.lines_read(0, 0, step);
        const std::uint64_t needed = lines_needed(costed.network, window, step.written);
        CHECK(read >= needed);
        // A last line whose windows end in the padding asks for a line of its image all the same.
        const std::uint64_t height = builder.shape(0).height;
        const std::uint64_t last = (step.written.first + step.written.count - 1);
        const std::uint64_t bottom = last % output_height * window.stride_y +
                                     ir::covered_extent(window.kernel_height, window.dilation_y);
        if (bottom <= window.pad_top) {
            CHECK(read == last / output_height * height + 1);
        } else if (bottom <= window.pad_top + height) {
            CHECK(read == needed);
            ++exact;
        } else {
            CHECK(read == (last / output_height + 1) * height);
        }
    }
    CHECK(exact >= tests::random_share(300));
}

TEST_CASE("Work without windows needs the lines that it writes, or whole images",
          "[compiler][schedule][step_costs]") {
    NetworkBuilder builder({6, 4, 4});
    builder.sum(0, 0);       // layer 0
    builder.concat({1, 0});  // layer 1
    builder.dense(0, 4);     // layer 2
    builder.lookup(0);       // layer 3: the same elements in other lines
    builder.network().tensors.back().shape = {3, 8, 4};
    const Costed costed(builder.network(), fast());
    const auto read = [&](std::uint32_t layer, std::uint64_t first, std::uint64_t count) {
        Step step;
        step.written = {.first = first, .count = count};
        return costed.costs.lines_read(layer, 0, step);
    };
    for (const std::uint32_t layer : {0U, 1U}) {
        CHECK(read(layer, 0, 1) == 1);
        CHECK(read(layer, 2, 2) == 4);
        CHECK(read(layer, 2, 9) == 11);
        CHECK(read(layer, 2, 10) == 12);
    }
    CHECK(read(2, 0, 1) == 6);
    CHECK(read(2, 0, 3) == 18);
    CHECK(read(3, 0, 1) == 6);
    CHECK(read(3, 2, 2) == 12);
    CHECK(read(0, 0, 0) == 0);  // a transfer
}

}  // namespace systole::tpu_v1
