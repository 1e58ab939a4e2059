// Layers that go through the matrix unit together: their weights, their parameters, their activations.
#include <catch2/catch.hpp>

#include "compiler/target/tpu_v1/emit/emit_program.h"
#include "compiler/target/tpu_v1/emit/program_data.h"
#include "hw/isa/registers.h"

namespace systole::tpu_v1 {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Numbers that identify their layer: those of layer l count from 50 * l on.
MatrixProduct convolution(std::uint32_t layer, std::uint32_t channels, std::uint32_t filters) {
    MatrixProduct product;
    product.window = ir::Window{};
    std::vector<std::int8_t> weights;
    for (std::uint32_t i = 0; i < channels * filters; ++i) {
        weights.push_back(static_cast<std::int8_t>(50 * layer + i));
    }
    product.weights = ir::Constant::of(std::move(weights));
    for (std::uint32_t filter = 0; filter < filters; ++filter) {
        product.requantization.bias.push_back(static_cast<std::int32_t>(50 * layer + filter));
        product.requantization.multiplier.push_back(static_cast<std::int32_t>(100 + 50 * layer + filter));
        product.requantization.shift.push_back(static_cast<std::int8_t>(-1 - static_cast<int>(filter)));
    }
    return product;
}

/// Two convolutions of a 1 x 2 x 3 image, of 2 filters and of 5, which a table makes 16-bit numbers.
Network parallel_convolutions() {
    Network network;
    network.name = "parallel";
    network.tensors = {{.name = "image", .shape = {1, 2, 3}},
                       {.name = "a", .shape = {1, 2, 2}},
                       {.name = "b", .shape = {1, 2, 5}, .type = DataType::Int16}};
    MatrixProduct wide = convolution(1, 3, 5);
    wide.requantization.minimum = -7;
    wide.requantization.maximum = 300;
    wide.requantization.table = WideTable{};
    network.layers = {
        {.name = "first", .inputs = {0}, .output = 1, .work = convolution(0, 3, 2), .macs = 2 * 3 * 2},
        {.name = "second", .inputs = {0}, .output = 2, .work = wide, .macs = 2 * 3 * 5}};
    network.outputs = {2};
    return network;
}

/// An array of two rows: of the 3 elements, two tiles.
Target target() {
    return {.geometry = {.rows = 2, .columns = 4},
            .accumulator_rows = 16,
            .unified_buffer_rows = 1000,
            .weight_memory_bytes = 1 << 20};
}

/// The operands and registers of an `activate`.
struct Activation {
    std::uint32_t first_column, columns, pixel_bytes, channel_offset, parameters_row;
    std::int32_t maximum;
    bool load, lookup, wide;

    bool operator==(const Activation&) const = default;
};

std::vector<Activation> activations(const isa::Program& program) {
    using isa::Register;
    std::vector<Activation> found;
    isa::Registers registers;
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* config = std::get_if<isa::SetConfig>(&instruction)) {
            registers.set(config->reg, config->value);
        }
        const auto* activate = std::get_if<isa::Activate>(&instruction);
        if (activate == nullptr) continue;
        found.push_back({.first_column = registers[Register::ActivationFirstColumn],
                         .columns = registers[Register::ActivationColumns],
                         .pixel_bytes = registers[Register::ActivationPixelBytes],
                         .channel_offset = registers[Register::ActivationChannelOffset],
                         .parameters_row = registers[Register::ActivationParametersRow],
                         .maximum = registers.as_signed(Register::OutputMaximum),
                         .load = activate->load_parameters,
                         .lookup = activate->function == isa::ActivationFunction::Lookup,
                         .wide = bytes_of(activate->output) == 2});
    }
    return found;
}

}  // namespace

TEST_CASE("Tiles of parallel convolutions have the columns of one layer beside those of the other",
          "[compiler][emit][parallel]") {
    const Network network = parallel_convolutions();
    const auto tiles = weight_image(network, make_schedule(network, target(), {}));
    REQUIRE(tiles.size() == 4);
    // Column tile 0: both filters of the first, two of the second; then the other three.
    CHECK(tiles[0].values == Bytes{0, 1, 50, 51, 2, 3, 55, 56});
    CHECK(tiles[1].values == Bytes{4, 5, 60, 61});
    CHECK(tiles[2].values == Bytes{52, 53, 54, 57, 58, 59});
    CHECK(tiles[3].values == Bytes{62, 63, 64});
    for (const isa::WeightTile& tile : tiles) {
        CHECK(tile.useful_macs == tile.rows * tile.columns);
        CHECK(tile.useful_macs == tile.values.size());
    }
}

TEST_CASE("Each segment of joined columns has parameters of its own", "[compiler][emit][parallel]") {
    const Network network = parallel_convolutions();
    const Schedule plan = make_schedule(network, target(), {});
    const Bytes constants = constant_rows(network, plan);
    const auto at = [&](std::size_t row, std::size_t count) {
        const auto begin = constants.begin() + static_cast<std::ptrdiff_t>(2 * row);
        return Bytes(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    // Nine bytes a channel, in rows of two. -1 and so on are the shifts.
    CHECK(at(0, 18) == Bytes{0, 0, 0, 0, 1, 0, 0, 0, 100, 0, 0, 0, 101, 0, 0, 0, 255, 254});
    CHECK(at(9, 18) == Bytes{50, 0, 0, 0, 51, 0, 0, 0, 150, 0, 0, 0, 151, 0, 0, 0, 255, 254});
    CHECK(at(18, 27) == Bytes{52, 0, 0,   0, 53, 0, 0,   0, 54, 0, 0,   0,   152, 0,
                              0,  0, 153, 0, 0,  0, 154, 0, 0,  0, 253, 252, 251});
}

TEST_CASE("Joined columns are activated segment by segment", "[compiler][emit][parallel]") {
    const isa::Program program = compile(parallel_convolutions(), target(), {.batch = 1, .inferences = 1});
    const Activation first{.first_column = 0,
                           .columns = 2,
                           .pixel_bytes = 2,
                           .channel_offset = 0,
                           .parameters_row = 0,
                           .maximum = 255,
                           .load = true,
                           .lookup = false,
                           .wide = false};
    const Activation second{.first_column = 2,
                            .columns = 2,
                            .pixel_bytes = 10,
                            .channel_offset = 0,
                            .parameters_row = 9,
                            .maximum = 300,
                            .load = true,
                            .lookup = true,
                            .wide = true};
    Activation rest = second;
    rest.first_column = 0;
    rest.columns = 3;
    rest.channel_offset = 2 * 2;
    rest.parameters_row = 18;
    CHECK(activations(program) == std::vector<Activation>{first, second, rest});
}

TEST_CASE("The first joined convolution has the tag and the multiply-accumulates of all",
          "[compiler][emit][parallel]") {
    const isa::Program program = compile(parallel_convolutions(), target(), {.batch = 2, .inferences = 6});
    REQUIRE(program.layers.size() == 2);
    CHECK(program.layers[0] == isa::LayerInfo{.name = "first", .kind = "convolution", .macs = 2 * 3 * 7});
    CHECK(program.layers[1] == isa::LayerInfo{.name = "second", .kind = "joined to first", .macs = 0});
    std::uint16_t tag = 0;
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* tagged = std::get_if<isa::DebugTag>(&instruction)) tag = tagged->tag;
        const bool of_layer = std::holds_alternative<isa::Convolve>(instruction) ||
                              std::holds_alternative<isa::Activate>(instruction) ||
                              std::holds_alternative<isa::ReadWeights>(instruction);
        if (of_layer) CHECK(tag == 1);
    }
}

}  // namespace systole::tpu_v1
