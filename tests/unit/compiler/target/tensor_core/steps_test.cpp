// What becomes of a network before there are instructions: steps, tiles and places.
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"
#include "compiler/target/tensor_core/family.h"
#include "compiler/target/tensor_core/memory.h"
#include "compiler/target/tensor_core/moves.h"
#include "compiler/target/tensor_core/network.h"
#include "compiler/target/tensor_core/phase_windows.h"
#include "compiler/target/tensor_core/tiles.h"

using namespace systole;
using namespace systole::tensor_core;

namespace {

machine::MachineConfig small_machine() {
    machine::MachineConfig machine;
    machine.name = "small";
    machine.family = machine::Family::TensorCore;
    machine.matrix_unit.formats = machine::float_array_formats();
    machine.matrix_unit.rows = 8;
    machine.matrix_unit.columns = 8;
    machine.vector_unit.lanes = 8;
    machine.vector_memory.rows = 1000;
    machine.hbm.bytes = 1 << 20U;
    return machine;
}

/// A graph that grows node by node; the last one is the output.
struct StepGraph {
    explicit StepGraph(const ir::Shape& shape) {
        graph.name = "net";
        last = graph.add_input("x", shape, DataType::Float32);
    }
    ir::ValueId constant(const ir::Shape& shape) {
        return graph.add_constant("c", shape, DataType::Float32, std::vector<float>(shape.elements(), 0.5F));
    }
    ir::ValueId add(const std::string& name, const std::string& op,
                    std::vector<ir::NamedAttribute> attributes, std::vector<ir::ValueId> inputs) {
        last = graph.append(name, operators::registry().at(op), std::move(attributes), std::move(inputs),
                            DataType::Float32);
        graph.outputs = {last};
        return last;
    }
    ir::ValueId dense(const std::string& name, std::uint32_t elements, std::uint32_t units) {
        const ir::ValueId weights = constant({elements, units});
        return add(name, "dense", {{"sum_tile", std::int64_t{8}}, {"precision", std::string("default")}},
                   {last, weights});
    }
    ir::ValueId chain(const std::string& name, std::vector<ir::ValueId> inputs,
                      std::vector<std::string> steps) {
        return add(name, "word_chain", {{"steps", std::move(steps)}}, std::move(inputs));
    }

    ir::Graph graph;
    ir::ValueId last = 0;
};

std::string refusal(const ir::Graph& graph, const machine::MachineConfig& machine, std::uint32_t batch = 1) {
    try {
        mapping::Options options;
        options.batches = {.batch = batch, .inferences = batch};
        static_cast<void>(tensor_core::family.compile(graph, machine, options));
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("Element-wise work joins the product that it follows", "[tensor_core][steps]") {
    StepGraph made({1, 12});
    made.dense("d", 12, 10);
    made.chain("bias", {made.last, made.constant({10})}, {"add 0 1"});
    made.chain("relu", {made.last}, {"constant 0x0", "maximum 0 1"});
    const Network network = make_network(made.graph, small_machine(), 3);
    REQUIRE(network.steps.size() == 1);
    CHECK(network.steps[0].kind == StepKind::Product);
    REQUIRE(network.steps[0].chains.size() == 1);
    const ChainUse& chain = network.steps[0].chains[0];
    CHECK(chain.operands.size() == 2);
    CHECK(chain.steps.size() == 3);
    CHECK(chain.steps[2].operands == std::vector<std::uint8_t>{2, 3});
    // It counts for the product's layer.
    REQUIRE(network.layers.size() == 1);
    CHECK(network.layers[0].name == "d");
    CHECK(network.layers[0].macs == 120);
}

TEST_CASE("A value that something else reads is written before element-wise work", "[tensor_core][steps]") {
    StepGraph made({1, 12});
    const ir::ValueId product = made.dense("d", 12, 10);
    const ir::ValueId half = made.chain("half", {product}, {"constant 0x3f000000", "multiply 0 1"});
    made.chain("sum", {product, half}, {"add 0 1"});
    const Network network = make_network(made.graph, small_machine(), 1);
    REQUIRE(network.steps.size() == 2);
    CHECK(network.steps[0].chains.empty());
    CHECK(network.steps[1].kind == StepKind::Chain);
}

TEST_CASE("A number that a node computes is read as it is, however many elements it meets",
          "[tensor_core][steps]") {
    StepGraph made({1, 6, 20});
    const ir::ValueId input = made.last;
    const ir::ValueId sum = made.add("sum", "word_reduce",
                                     {{"reduction", std::string("sum")},
                                      {"axes", std::vector<std::int64_t>{1, 2}},
                                      {"keep", std::int64_t{1}},
                                      {"sum_tile", std::int64_t{8}}},
                                     {input});
    made.chain("scaled", {input, sum}, {"multiply 0 1"});
    const Network network = make_network(made.graph, small_machine(), 2);
    const Step& last = network.steps.back();
    CHECK(last.kind == StepKind::Chain);
    REQUIRE(last.chains.at(0).operands.size() == 2);
    const Operand& number = last.chains[0].operands[1];
    CHECK(number.kind == OperandKind::Number);
    CHECK(network.tensors[number.tensor].rows == 1);
    CHECK(network.tensors[number.tensor].columns == 1);
    for (const Step& step : network.steps) {
        if (step.kind == StepKind::Move) CHECK(network.tensors[step.result].columns == 120);  // of the sum
    }
}

TEST_CASE("A number for the only row of each image is read for all images at once", "[tensor_core][steps]") {
    StepGraph made({1, 20});
    const ir::ValueId input = made.last;
    const ir::ValueId sum = made.add(
        "sum", "word_reduce",
        {{"reduction", std::string("sum")}, {"keep", std::int64_t{1}}, {"sum_tile", std::int64_t{8}}},
        {input});
    made.chain("scaled", {input, sum}, {"multiply 0 1"});
    const Network network = make_network(made.graph, small_machine(), 2);
    CHECK(network.steps.back().chains.at(0).operands.at(1).kind == OperandKind::Column);
}

TEST_CASE("A flattened image is read by windows over all of it", "[tensor_core][steps]") {
    StepGraph made({1, 2, 3, 5});
    made.add("flat", "reshape", {{"shape", std::vector<std::int64_t>{1, 30}}}, {made.last});
    made.dense("d", 30, 4);
    const Network network = make_network(made.graph, small_machine(), 1);
    REQUIRE(network.steps.size() == 1);
    REQUIRE(network.steps[0].window.has_value());
    CHECK(network.steps[0].window->kernel_width == 6);
}

TEST_CASE("Tiles of lines read the lines around them", "[tensor_core][steps]") {
    StepGraph made({1, 9, 4, 2});
    const ir::Window window{
        .kernel_height = 3, .kernel_width = 3, .stride_y = 2, .pad_top = 1, .pad_bottom = 1};
    auto attributes = ir::attributes_of(window);
    attributes.emplace_back("sum_tile", std::int64_t{8});
    attributes.emplace_back("precision", std::string("default"));
    made.add("c", "convolution", std::move(attributes), {made.last, made.constant({3, 3, 2, 4})});
    const Network network = make_network(made.graph, small_machine(), 2);
    const Step& step = network.steps.at(0);
    const ResultRows of = result_rows(network, step, network.images);
    CHECK(of.images == 2);
    CHECK(of.lines == 5);
    CHECK(of.width == 2);
    // Lines 0 and 1 of the output reach from line -1 to 3; the second image begins at row 36.
    const SourceRows first = source_rows(network, step, of, {.image = 1, .line = 0, .lines = 2});
    CHECK(first.first == 36);
    CHECK(first.lines == 4);
    CHECK(first.lines_above == 1);
    const SourceRows next = source_rows(network, step, of, {.image = 0, .line = 2, .lines = 2});
    CHECK(next.first == 3 * 4);
    CHECK(next.lines == 5);
    CHECK(next.lines_above == 0);
    const SourceRows last = source_rows(network, step, of, {.image = 0, .line = 4, .lines = 1});
    CHECK(last.first == 7 * 4);
    CHECK(last.lines == 2);
    // Two whole images.
    CHECK(source_rows(network, step, of, {.images = 2, .lines = 5}).count == 72);
    // The upper tap is outside the image for the first line.
    const TapOutputs tap = outputs_of_tap(step, {.lines = 5}, 0, 0);
    CHECK(tap.line == 1);
    CHECK(tap.lines == 4);
    CHECK(tap.source_line == 1);
    CHECK(tap.columns == 2);
}

TEST_CASE("Outputs of convolutions over spread pixels meet the taps between which zeros are left out",
          "[tensor_core][steps]") {
    // Pixels at 0, 2, 4, 6, 8; windows of 3 begin one place before: outputs 0, 2, .. meet tap 1 alone.
    const std::vector<PhaseWindows> phases =
        phase_windows({.pixels = 5, .spread = 2, .kernel = 3, .pad = 1, .outputs = 9});
    REQUIRE(phases.size() == 2);
    CHECK(phases[0].outputs == std::vector<std::uint32_t>{1, 3, 5, 7});
    CHECK(phases[0].taps == std::vector<std::uint32_t>{0, 2});
    CHECK(phases[0].pad == 0);
    CHECK(phases[0].skipped == 0);
    CHECK(phases[0].stride == 1);
    CHECK(phases[0].dilation == 1);
    CHECK(phases[1].outputs == std::vector<std::uint32_t>{0, 2, 4, 6, 8});
    CHECK(phases[1].taps == std::vector<std::uint32_t>{1});
    // Without a border, output 1 begins with the second pixel.
    const std::vector<PhaseWindows> inside =
        phase_windows({.pixels = 5, .spread = 2, .kernel = 2, .outputs = 8});
    REQUIRE(inside.size() == 2);
    CHECK(inside[1].outputs.front() == 1);
    CHECK(inside[1].taps == std::vector<std::uint32_t>{1});
    CHECK(inside[1].skipped == 1);
    // Outputs 3 places apart, of a kernel of one tap: every other one meets no pixel.
    const std::vector<PhaseWindows> apart =
        phase_windows({.pixels = 5, .spread = 2, .kernel = 1, .stride = 3, .outputs = 3});
    REQUIRE(apart.size() == 2);
    CHECK(apart[0].outputs == std::vector<std::uint32_t>{0, 2});
    CHECK(apart[0].stride == 3);
    CHECK(apart[1].taps.empty());
    // All windows are behind the last pixel.
    const std::vector<PhaseWindows> behind =
        phase_windows({.pixels = 1, .spread = 2, .kernel = 2, .dilation = 2, .outputs = 2});
    REQUIRE(behind.size() == 2);
    CHECK(behind[0].taps == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("A tile of scattered sums meets the windows over its lines", "[tensor_core][steps]") {
    Step step{.kind = StepKind::SelectAndScatter};
    step.window = ir::Window{.kernel_height = 3, .kernel_width = 1, .stride_y = 2, .pad_top = 1};
    step.image = {.height = 8, .width = 5};
    step.output = {.height = 4, .width = 5};
    // Windows 0 to 3 cover lines -1 to 1, 1 to 3, 3 to 5 and 5 to 7.
    const TileWindows windows = windows_of_tile(step, {.line = 2, .lines = 2});
    CHECK(windows.tile.line == 1);
    CHECK(windows.tile.lines == 2);
    CHECK(windows.rows == 10);
    // Their upper taps are on lines 1 and 3, of which the tile has one; their lower ones on 3 and 5.
    const TapOutputs upper =
        lines_inside(step, {.line = 2, .lines = 2}, outputs_of_tap(step, windows.tile, 0, 0));
    CHECK(upper.line == 2);
    CHECK(upper.lines == 1);
    CHECK(upper.source_line == 3);
    const TapOutputs lower =
        lines_inside(step, {.line = 2, .lines = 2}, outputs_of_tap(step, windows.tile, 2, 0));
    CHECK(lower.line == 1);
    CHECK(lower.lines == 1);
    CHECK(lower.source_line == 3);
    const TapOutputs middle =
        lines_inside(step, {.line = 3, .lines = 1}, outputs_of_tap(step, windows.tile, 1, 0));
    CHECK(middle.lines == 0);
    CHECK(windows_of_tile(step, {.line = 0, .lines = 8}).rows == 20);
    // Windows that are apart leave lines that none covers.
    step.window->kernel_height = 1;
    step.window->stride_y = 3;
    step.window->pad_top = 0;
    step.output.height = 3;
    CHECK(windows_of_tile(step, {.line = 1, .lines = 2}).rows == 0);
    CHECK(windows_of_tile(step, {.line = 1, .lines = 3}).tile.line == 1);
}

TEST_CASE("An image of few channels lies line by line if only convolutions read it", "[tensor_core][steps]") {
    const ir::Window window{.kernel_height = 3, .kernel_width = 3};
    const auto convolution = [&](StepGraph& made, ir::ValueId from) {
        auto attributes = ir::attributes_of(window);
        attributes.emplace_back("sum_tile", std::int64_t{8});
        attributes.emplace_back("precision", std::string("default"));
        return made.add("c", "convolution", std::move(attributes), {from, made.constant({3, 3, 2, 4})});
    };
    StepGraph made({1, 9, 12, 2});
    const ir::ValueId input = made.last;
    // Element-wise work goes on in lines.
    const ir::ValueId scaled = made.chain("scaled", {input}, {"constant 0x3f000000", "multiply 0 1"});
    convolution(made, scaled);
    const Network network = make_network(made.graph, small_machine(), 1);
    REQUIRE(network.steps.size() == 2);
    CHECK(network.steps[1].reads_lines);
    for (const TensorId tensor : {network.inputs[0], network.steps[0].result}) {
        CHECK(network.tensors[tensor].rows == 9);
        CHECK(network.tensors[tensor].columns == 24);
    }
    CHECK(network.tensors[network.steps[1].result].rows == 7 * 10);
    CHECK(!make_network(made.graph, small_machine(), 1, {.by_lines = false}).steps[1].reads_lines);
    // A pool reads pixels, so all of them do.
    auto pool = ir::attributes_of(window);
    pool.emplace_back("reduction", std::string("maximum"));
    const ir::ValueId product = made.last;
    made.add("p", "word_windows", std::move(pool), {scaled});
    made.graph.outputs.push_back(product);
    const Network with_pool = make_network(made.graph, small_machine(), 1);
    CHECK(with_pool.tensors[with_pool.inputs[0]].columns == 2);
    CHECK(!with_pool.steps[1].reads_lines);
    // Five channels of eight lanes are not few.
    StepGraph wide({1, 9, 12, 5});
    auto attributes = ir::attributes_of(window);
    attributes.emplace_back("sum_tile", std::int64_t{8});
    attributes.emplace_back("precision", std::string("default"));
    wide.add("c", "convolution", std::move(attributes), {wide.last, wide.constant({3, 3, 5, 4})});
    CHECK(!make_network(wide.graph, small_machine(), 1).steps[0].reads_lines);
}

TEST_CASE("Only dense layers read an image: all of it is one row", "[tensor_core][steps]") {
    StepGraph made({1, 6, 6, 1});  // 40 rows of pixels; 2 rows in 5 panels
    made.add("flat", "reshape", {{"shape", std::vector<std::int64_t>{1, 36}}}, {made.last});
    made.dense("d", 36, 4);
    const Network network = make_network(made.graph, small_machine(), 1);
    REQUIRE(network.steps.size() == 1);
    CHECK(!network.steps[0].window.has_value());
    CHECK(network.tensors[network.inputs[0]].rows == 1);
    CHECK(network.tensors[network.inputs[0]].columns == 36);
}

TEST_CASE("Rows that are put together alike are moved together", "[tensor_core][moves]") {
    StepGraph made({1, 3, 2});
    const ir::ValueId other = made.chain("other", {made.last}, {"negate 0"});
    made.add("joined", "concat", {{"axis", std::int64_t{2}}}, {0, other});
    const ir::NodeView view(made.graph, made.graph.nodes.back());
    const std::vector<OriginMap> origins = origins_of(view, {0, 1});
    REQUIRE(origins.size() == 1);
    CHECK(origins[0][2] == Origin{.source = 1, .element = 0});
    CHECK(origins[0][4] == Origin{.source = 0, .element = 2});
    const std::vector<MovedRows> rows = rows_of_origins(origins[0], 4, {2, 2});
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].rows == std::vector<std::uint64_t>{0, 1, 2});
    REQUIRE(rows[0].columns.size() == 2);
    CHECK(rows[0].columns[1].to == 2);
    CHECK(rows[0].columns[1].source == 1);
    CHECK(rows[0].columns[1].rows == std::vector<std::uint64_t>{0, 1, 2});
}

TEST_CASE("What is added beside a tensor comes from none", "[tensor_core][moves]") {
    StepGraph made({1, 2});
    made.add("padded", "pad",
             {{"before", std::vector<std::int64_t>{0, 1}},
              {"after", std::vector<std::int64_t>{0, 0}},
              {"value", 1.5}},
             {made.last});
    const ir::NodeView view(made.graph, made.graph.nodes.back());
    const OriginMap origins = origins_of(view, {0}).at(0);
    REQUIRE(origins.size() == 3);
    CHECK(origins[0] == Origin{.source = Origin::none, .element = 0x3FC00000});
    CHECK(origins[2] == Origin{.source = 0, .element = 1});
}

TEST_CASE("A tile lies behind the one before it where there is room", "[tensor_core][memory]") {
    TilePool pool;
    pool.resize(100);
    CHECK(pool.take(30) == 0U);
    pool.give_back(0);
    CHECK(pool.take(30) == 30U);
    CHECK(pool.take(30) == 60U);
    CHECK(pool.largest_gap() == 30);
    CHECK(pool.take(31) == std::nullopt);
    pool.give_back(30);
    CHECK(pool.largest_gap() == 60);
    CHECK(pool.take(20) == 0U);  // 10 rows are left behind row 90
    CHECK(pool.take(40) == 20U);
}

TEST_CASE("Tensors stay in vector memory, and others go through it", "[tensor_core][memory]") {
    StepGraph made({1, 5, 5, 3});
    const std::vector<ir::NamedAttribute> attributes{{"sum_tile", std::int64_t{8}},
                                                     {"precision", std::string("default")}};
    made.add("a", "convolution", attributes, {made.last, made.constant({1, 1, 3, 20})});
    made.add("b", "convolution", attributes, {made.last, made.constant({1, 1, 20, 4})});
    const machine::MachineConfig machine = small_machine();
    Network network = make_network(made.graph, machine, 2);
    const MemoryPlan plan = place_tensors(network, machine, {});
    // 50 rows in each of three panels, at the end.
    const Tensor& kept = network.tensors[network.steps[0].result];
    CHECK(kept.home == Home::VectorMemory);
    CHECK(kept.row == 850);
    CHECK(kept.panel_rows == 50);
    CHECK(plan.tile_rows == std::vector<std::uint64_t>{850, 850});
    // Inputs and outputs are moved by the host's link.
    CHECK(network.tensors[network.outputs[0]].home == Home::Hbm);
    CHECK(network.tensors[network.inputs[0]].panel_rows == 56);  // tiles of 8 rows
    // Weights in tiles of 8 x 8, two rows in one: 3 panels of one tile.
    REQUIRE(plan.constants.size() == 2);
    CHECK(plan.constants[0].values.size() == std::size_t{3} * 4 * 8 * 4);
    CHECK(plan.constants[0].values[0] == 0x00);
    CHECK(plan.constants[0].values[1] == 0x3F);
    CHECK(plan.constants[0].values[3] == 0x3F);
}

TEST_CASE("What a tensor core does not compute is refused in one line", "[tensor_core][steps]") {
    StepGraph sorted({1, 12});
    sorted.add("s", "cumulative_sum", {}, {sorted.last});
    CHECK(refusal(sorted.graph, small_machine()) ==
          "net: layer s: cumulative_sum is not computed by a tensor core");
    StepGraph other_cut({1, 12});
    other_cut.dense("d", 12, 10);
    machine::MachineConfig machine = small_machine();
    machine.matrix_unit.rows = 16;
    CHECK(refusal(other_cut.graph, machine) ==
          "net: layer d: its sums are cut every 8; the array has 16 rows");
    machine = small_machine();
    machine.matrix_unit.columns = 4;
    CHECK(refusal(other_cut.graph, machine) ==
          "net: networks are compiled for arrays of as many columns as there are lanes; machine small has 4 "
          "and "
          "8");
}

TEST_CASE("A network that high-bandwidth memory does not hold is refused with the bytes that it needs",
          "[tensor_core][memory]") {
    StepGraph made({1, 12});
    made.dense("d", 12, 10);
    machine::MachineConfig machine = small_machine();
    machine.hbm.bytes = 512;
    // Two panels of two tiles of 4 rows for the weights, two panels of 2 rows for each tensor: 32 bytes each.
    CHECK(refusal(made.graph, machine) ==
          "net: 1 image at a time, the network needs 768 bytes of high-bandwidth memory; machine small has "
          "512");
}
