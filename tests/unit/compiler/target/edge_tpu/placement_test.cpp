// Which layers the tiles compute, and why the others are the host's (docs/edge_tpu.md, "What runs on the
// tiles").
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/target/edge_tpu/family.h"
#include "hw/isa/instruction.h"
#include "hw/machine/machine_config.h"
#include "tests/support/integer_graphs.h"

using namespace systole;

namespace {

using Numbers = std::vector<std::int64_t>;

const ir::Encoding uint8{.scale = 0.5, .zero_point = 7, .type = DataType::Uint8};
const ir::Encoding int8{.scale = 0.5, .zero_point = -7, .type = DataType::Int8};

machine::MachineConfig edge_tpu_machine() {
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    return machine;
}

/// A network whose first layer, a pool, is on the tiles.
struct Made : tests::IntegerGraph {
    explicit Made(const ir::Encoding& encoding = uint8, const ir::FeatureMap& map = {8, 8, 4}) {
        first = pool("max_pool", input(map, encoding), {});
    }

    ir::ValueId first;
};

mapping::Compiled compiled(const ir::Graph& graph,
                           const machine::MachineConfig& machine = edge_tpu_machine()) {
    mapping::Options options;
    options.explain = true;
    return edge_tpu::family.compile(graph, machine, options);
}

/// What is said of the last layer.
std::string said_of_last(const ir::Graph& graph) {
    const ir::Node& last = graph.nodes.back();
    const std::string head = std::string(last.op->name()) + " " + last.name + ": ";
    for (const mapping::Choice& choice : compiled(graph).choices) {
        if (choice.of.starts_with(head)) return choice.of.substr(head.size());
    }
    return "nothing";
}

const std::string mapped = "mapped to the tiles";

}  // namespace

TEST_CASE("Each refused layer has its reason", "[tiles]") {
    const auto said = [](const std::string& op, const ir::Encoding& result,
                         std::vector<ir::NamedAttribute> attributes, const ir::Encoding& input = uint8) {
        Made made(input);
        made.append(op, {made.first}, result, std::move(attributes));
        return said_of_last(made.graph());
    };
    const std::string host = "runs on the host: ";
    const Numbers none{0, 0, 0, 0};
    CHECK(said("pad", uint8, {{"before", Numbers{0, 1, 2, 0}}, {"after", none}}) == mapped);
    CHECK(said("pad", uint8, {{"before", Numbers{0, 0, 0, 1}}, {"after", none}}) ==
          host + "it pads channels");
    CHECK(said("pad", uint8, {{"before", none}, {"after", Numbers{1, 0, 0, 0}}}) ==
          host + "\"layer1\" is no image and no vector");
    CHECK(said("pad", uint8,
               {{"before", Numbers{0, 1, 0, 0}}, {"after", none}, {"mode", std::string("reflect")}}) ==
          host + "it pads by reflect");
    const std::string two_types = host + "it has numbers of uint8 and of int8";
    CHECK(said("pad", int8, {{"before", none}, {"after", none}}, uint8) == two_types);
    const auto slice = [&](std::int64_t step) {
        return said("strided_slice", uint8,
                    {{"first", none}, {"step", Numbers{1, 1, step, 1}}, {"count", Numbers{1, 2, 2, 2}}});
    };
    CHECK(slice(1) == mapped);
    CHECK(slice(2) == host + "its steps are not 1");
    const auto reduced = [&](const std::string& op, const ir::Encoding& encoding, const Numbers& axes) {
        return said(op, encoding, {{"axes", axes}, {"keep", std::int64_t{1}}}, encoding);
    };
    CHECK(reduced("reduce_mean", int8, {1, 2}) == mapped);
    CHECK(reduced("reduce_mean", int8, {3}) == mapped);
    CHECK(reduced("reduce_mean", int8, {1, 3}) == mapped);
    CHECK(reduced("reduce_mean", int8, {2, 3}) == mapped);
    CHECK(reduced("reduce_mean", int8, {1, 2, 3}) ==
          host + "it reduces lines, columns and channels together");
    CHECK(reduced("reduce_mean", int8, {0, 3}) == host + "it reduces the batch");
    CHECK(reduced("reduce_sum", uint8, {1}) == mapped);
    CHECK(reduced("reduce_sum", int8, {1}) == mapped);
    CHECK(reduced("reduce_max", uint8, {2}) == mapped);
    CHECK(reduced("reduce_min", uint8, {2}) == mapped);
    CHECK(reduced("reduce_min", uint8, {3}) == mapped);
    const auto resized = [&](const std::string& mode, const Numbers& shape) {
        return said("resize", uint8, {{"shape", shape}, {"mode", mode}});
    };
    CHECK(resized("linear", {1, 5, 9, 4}) == mapped);
    CHECK(resized("nearest", {1, 5, 16, 4}) == mapped);
    CHECK(resized("nearest", {1, 8, 8, 8}) == host + "it resizes channels or the batch");
    const ir::Encoding share{.scale = 1.0 / 128, .zero_point = 128, .type = DataType::Uint8};
    CHECK(said("normalize", share, {}) == mapped);
    CHECK(said("normalize", share, {{"axis", std::int64_t{3}}}) == mapped);
    CHECK(said("normalize", share, {{"axis", std::int64_t{2}}}) == host + "it is not over channels");
    CHECK(said("transpose", uint8, {{"permutation", Numbers{0, 3, 1, 2}}}) == mapped);
    CHECK(said("transpose", int8, {{"permutation", Numbers{0, 2, 1, 3}}}, uint8) == two_types);
    CHECK(said("transpose", uint8, {{"permutation", Numbers{3, 1, 2, 0}}}) ==
          host + "\"layer1\" is no image and no vector");
    CHECK(said("rsqrt", uint8, {}) ==
          host + "rsqrt is not among the operators of the tiles, though the chip's own compiler maps it");
}

TEST_CASE("Channels of a mean on tiles are a multiple of 4", "[tiles]") {
    const auto said = [](const std::string& op, std::uint32_t channels) {
        Made made(uint8, {8, 8, channels});
        made.append(op, {made.first}, uint8, {{"axes", Numbers{3}}, {"keep", std::int64_t{1}}});
        return said_of_last(made.graph());
    };
    CHECK(said("reduce_mean", 4) == mapped);
    CHECK(said("reduce_mean", 5) ==
          "runs on the host: it is a mean of 5 channels; they must be a multiple of 4");
    CHECK(said("reduce_mean", 8) == mapped);
    CHECK(said("reduce_sum", 5) == mapped);
    CHECK(said("reduce_max", 5) == mapped);
}

TEST_CASE("Images on tiles have at most 65535 lines and columns", "[tiles]") {
    const auto transposed = [](std::uint32_t channels, const Numbers& permutation) {
        Made made(uint8, {1, 1, channels});
        made.append("transpose", {made.first}, uint8, {{"permutation", permutation}});
        return said_of_last(made.graph());
    };
    const std::string host = "runs on the host: ";
    CHECK(transposed(65535, {0, 3, 1, 2}) == mapped);
    CHECK(transposed(65535, {0, 1, 3, 2}) == mapped);
    CHECK(transposed(65536, {0, 3, 1, 2}) ==
          host + "\"layer1\" has 65536 lines and 1 columns; the most are 65535");
    CHECK(transposed(65536, {0, 1, 3, 2}) ==
          host + "\"layer1\" has 1 lines and 65536 columns; the most are 65535");
    // Channels that are reduced become columns.
    const auto reduced = [](std::uint32_t channels) {
        Made made(uint8, {1, 1, channels});
        made.append("reduce_sum", {made.first}, uint8, {{"axes", Numbers{3}}, {"keep", std::int64_t{1}}});
        return said_of_last(made.graph());
    };
    CHECK(reduced(65535) == mapped);
    CHECK(reduced(65536) == host + "it reduces 65536 channels; the most are 65535");
}

TEST_CASE("A norm on tiles is over at most 33000 channels", "[tiles]") {
    const auto said = [](std::uint32_t channels) {
        Made made(uint8, {1, 1, channels});
        made.append("normalize", {made.first}, {.scale = 1.0 / 128, .zero_point = 128});
        return said_of_last(made.graph());
    };
    CHECK(said(33000) == mapped);
    CHECK(said(33001) == "runs on the host: it is over 33001 channels; the most are 33000");
}

TEST_CASE("A transposition may give the batch's place to another axis of one element", "[tiles]") {
    const auto said = [](const ir::FeatureMap& map, const Numbers& permutation) {
        Made made(uint8, map);
        made.append("transpose", {made.first}, uint8, {{"permutation", permutation}});
        return said_of_last(made.graph());
    };
    CHECK(said({1, 6, 5}, {1, 0, 3, 2}) == mapped);
    CHECK(said({4, 1, 5}, {2, 3, 1, 0}) == mapped);
}

TEST_CASE("A softmax on tiles is over one vector of at most 16000 elements", "[tiles]") {
    const auto said = [](const ir::FeatureMap& map) {
        Made made(uint8, map);
        made.append("integer_softmax", {made.first}, {.scale = std::ldexp(1.0, -8), .zero_point = 0});
        return said_of_last(made.graph());
    };
    CHECK(said({1, 1, 16000}) == mapped);
    CHECK(said({1, 1, 16001}) == "runs on the host: its vector has 16001 elements; the most are 16000");
    CHECK(said({1, 2, 10}) == "runs on the host: it is over an image; it must be over one vector");
}

TEST_CASE("Operands of one line, one column or one pixel are repeated", "[tiles]") {
    const auto said = [](const ir::FeatureMap& map, bool is_first) {
        Made made(uint8, {8, 8, 4});
        const Numbers count{1, map.height, map.width, map.channels};
        const ir::ValueId part =
            made.append("strided_slice", {made.first}, uint8,
                        {{"first", Numbers{0, 0, 0, 0}}, {"step", Numbers{1, 1, 1, 1}}, {"count", count}});
        made.append("add", is_first ? std::vector{part, made.first} : std::vector{made.first, part}, uint8);
        return said_of_last(made.graph());
    };
    for (const bool is_first : {false, true}) {
        CHECK(said({1, 1, 4}, is_first) == mapped);
        CHECK(said({1, 8, 4}, is_first) == mapped);
        CHECK(said({8, 1, 4}, is_first) == mapped);
        CHECK(
            said({8, 8, 1}, is_first) ==
            "runs on the host: its inputs have several numbers of channels, or one is no part of the other's "
            "image");
    }
}

TEST_CASE("All behind the first layer that is not mapped is the host's, or nothing may be", "[tiles]") {
    Made made;
    const ir::ValueId sums = made.append("cumulative_sum", {made.first}, uint8, {{"axis", std::int64_t{1}}});
    made.pool("max_pool", sums, {});
    CHECK(said_of_last(made.graph()) == "runs on the host: it comes behind \"layer1\"");
    CHECK(compiled(made.graph()).choices.front().of == "placement: after_first_unsupported");
    machine::MachineConfig machine = edge_tpu_machine();
    machine.program.placement = machine::TilePlacement::ChipAlone;
    CHECK_THROWS_WITH(
        compiled(made.graph(), machine),
        "made: layer \"layer1\" is not mapped: cumulative_sum is not among the operators of the tiles; with "
        "program.placement chip_alone it must be");
    CHECK(compiled(Made().graph(), machine).choices.front().of == "placement: chip_alone");
}

TEST_CASE("A resized image that does not fit narrow memory is the host's", "[tiles]") {
    Made made;
    const ir::ValueId large =
        made.append("resize", {made.first}, uint8,
                    {{"shape", Numbers{1, 256, 256, 4}}, {"mode", std::string("nearest")}});
    made.pool("max_pool", large, {.kernel_height = 2, .kernel_width = 2, .stride_y = 2, .stride_x = 2});
    machine::MachineConfig machine = edge_tpu_machine();
    // 4 x 4 tiles of 64 x 64 pixels of 4 bytes.
    machine.narrow_memory.bytes = 21000;
    CHECK(compiled(made.graph(), machine).program.host_segments.size() == 0);
    machine.narrow_memory.bytes = 16000;
    const mapping::Compiled on_host = compiled(made.graph(), machine);
    CHECK(on_host.program.host_segments.size() == 1);
    CHECK(std::ranges::any_of(on_host.choices, [](const mapping::Choice& choice) {
        return choice.of.starts_with("resize layer1: runs on the host: layer \"layer1\": its tensors take ");
    }));
}

TEST_CASE("An image scaled by its own mean is in every tile once", "[tiles]") {
    // The first tile keeps all of the image for the mean, so each tile has room for it, and the product takes
    // its place. The mean, repeated for each pixel, takes no more than the pixels of a tile.
    Made made(uint8, {28, 28, 128});
    const ir::ValueId mean =
        made.append("reduce_mean", {made.first}, uint8, {{"axes", Numbers{1, 2}}, {"keep", std::int64_t{1}}});
    made.append("multiply", {made.first, mean}, uint8);
    machine::MachineConfig machine = edge_tpu_machine();
    machine.narrow_memory.bytes = 2 * 28 * 28 * 128;
    CHECK(compiled(made.graph(), machine).program.host_segments.size() == 0);
}

TEST_CASE("A spread image is as large as the result and the kernel's border", "[tiles]") {
    Made made(uint8, {4, 4, 2});
    const tests::IntegerWeights weights{.values = std::vector<std::int8_t>(2 * 2 * 2 * 3, 1)};
    made.append("transposed_convolution", made.with_weights({made.first}, {2, 2, 2, 3}, weights), uint8,
                {{"kernel", Numbers{2, 2}}, {"stride", Numbers{2, 2}}});
    const isa::Program program = compiled(made.graph()).program;
    std::size_t moves = 0;
    std::size_t products = 0;
    for (const isa::Instruction& instruction : program.instructions) {
        moves += std::holds_alternative<isa::Move>(instruction);
        products += std::holds_alternative<isa::TileMultiply>(instruction);
    }
    CHECK(moves == 1);
    CHECK(products == 1);
    CHECK(said_of_last(made.graph()) == mapped);
}

TEST_CASE("Operators are counted by kind, place and reason, in the order of the layers", "[tiles]") {
    Made made;
    made.pool("max_pool", made.first, {});
    const ir::ValueId least = made.append("cumulative_sum", {made.first}, uint8, {{"axis", std::int64_t{1}}});
    made.pool("max_pool", least, {});
    const std::vector<mapping::PlacedOperators> placed = compiled(made.graph()).placed;
    const auto check = [&](std::size_t i, const std::string& op, std::size_t count,
                           const std::string& where) {
        CHECK(placed.at(i).op == op);
        CHECK(placed.at(i).count == count);
        CHECK(placed.at(i).where() == where);
    };
    REQUIRE(placed.size() == 3);
    check(0, "max_pool", 2, mapped);
    check(1, "cumulative_sum", 1, "runs on the host: cumulative_sum is not among the operators of the tiles");
    check(2, "max_pool", 1, "runs on the host: it comes behind \"layer2\"");
}

TEST_CASE("A constant operand of several pixels comes from host memory with every call", "[tiles]") {
    const auto program = [](const std::string& op, const ir::Shape& shape, bool is_first) {
        Made made(uint8, {8, 8, 4});
        const ir::ValueId constant = made.graph().add_constant(
            "constant", shape, DataType::Uint8, std::vector<std::uint8_t>(shape.elements(), 3));
        made.store(constant, uint8);
        made.append(op, is_first ? std::vector{constant, made.first} : std::vector{made.first, constant},
                    uint8);
        CHECK(said_of_last(made.graph()) == mapped);
        return compiled(made.graph()).program;
    };
    const auto reads = [](const isa::Program& made) {
        return std::ranges::count_if(made.instructions, [](const isa::Instruction& instruction) {
            return std::holds_alternative<isa::ReadTensor>(instruction);
        });
    };
    for (const bool is_first : {false, true}) {
        for (const std::string op : {"add", "subtract", "multiply", "maximum", "minimum"}) {
            CHECK(reads(program(op, ir::Shape{4}, is_first)) == 1);  // the image alone
            CHECK(reads(program(op, ir::Shape{1, 1, 1, 4}, is_first)) == 1);
            CHECK(reads(program(op, ir::Shape{1}, is_first)) == 1);
            CHECK(reads(program(op, ir::Shape{8, 1}, is_first)) == 2);
            CHECK(reads(program(op, ir::Shape{8, 1, 4}, is_first)) == 2);
            CHECK(reads(program(op, ir::Shape{1, 8, 8, 4}, is_first)) == 2);
        }
    }
    CHECK(reads(program("prelu", ir::Shape{1, 1, 4}, false)) == 1);
    CHECK(reads(program("prelu", ir::Shape{8, 8, 4}, false)) == 2);
}
