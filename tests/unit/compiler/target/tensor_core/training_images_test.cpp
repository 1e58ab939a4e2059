// A step of training a network of images: a border, a convolution, batch normalization, ReLU, a 1 x 1
// convolution, and their gradients, as programs of JAX have them. Whatever the order of the steps, and
// however they are cut, the compiled program has the reference's bits.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"
#include "compiler/target/tensor_core/family.h"
#include "compiler/target/tensor_core/network.h"
#include "compiler/target/tensor_core/prepare.h"
#include "tests/support/random_runs.h"
#include "tests/support/tensor_networks.h"
#include "tests/support/text_graphs.h"

using namespace systole;
using namespace systole::tests;
using namespace systole::tensor_core;

namespace {

using Numbers = std::vector<std::int64_t>;
using Steps = std::vector<std::string>;

class ImageStep {
public:
    ImageStep(std::mt19937& random, const machine::MachineConfig& machine)
        : random_(random), lanes_(machine.vector_unit.lanes), rows_(machine.matrix_unit.rows) {}

    ir::Graph draw() {
        graph_.name = "step";
        const std::uint32_t images = 2 + below(6);
        const std::uint32_t height = 3 + below(6);
        const std::uint32_t width = 2 + below(7);
        const std::uint32_t channels = 1 + below(3);
        const std::uint32_t filters = 1 + below(20);
        const std::uint32_t answers = 1 + below(20);
        ir::Window window{.kernel_height = 1 + below(3), .kernel_width = 1 + below(2)};
        window.stride_y = window.stride_x = 1 + below(2);
        const ir::ValueId pixels = input("x", {1, images, height, width, channels});
        const ir::ValueId kernel =
            input("kernel", {1, window.kernel_height, window.kernel_width, channels, filters});
        const ir::ValueId weights = input("weights", {1, filters, answers});

        const std::int64_t border = below(2);
        const ir::ValueId padded = append(
            "pad", {{"before", Numbers{0, 0, border, border, 0}}, {"after", Numbers{0, 0, 1, border, 0}}},
            {rounded(pixels)}, DataType::Bfloat16);
        const ir::ValueId convolved = rounded(convolution(padded, rounded(kernel), window));
        // Batch normalization computes its means twice.
        const ir::ValueId centered = chain({convolved, mean(convolved)}, {"subtract 0 1"}, DataType::Float32);
        const ir::ValueId variance = sum(chain({centered}, {"multiply 0 0"}, DataType::Float32));
        const ir::ValueId normal = chain({convolved, mean(convolved), variance},
                                         {"subtract 0 1", "constant 0x3f800000", "add 2 4", "rsqrt 5",
                                          "multiply 3 6", "round_to_bfloat16 7"},
                                         DataType::Bfloat16);
        const ir::ValueId active =
            chain({normal}, {"constant 0x00000000", "maximum 0 1"}, DataType::Bfloat16);
        const ir::ValueId mask = chain({normal}, {"constant 0x00000000", "less 1 0"}, DataType::Int32);
        const ir::Shape shape = graph_.values[active].shape;
        const std::int64_t rows = std::int64_t{shape[1]} * shape[2] * shape[3];
        const ir::ValueId matrix = reshape(active, {1, rows, filters});
        const ir::ValueId result = product(matrix, rounded(weights), 0, 0);

        const ir::ValueId error = chain(
            {result}, {"constant 0x3d800000", "multiply 0 1", "round_to_bfloat16 2"}, DataType::Bfloat16);
        output(updated(weights, product(matrix, error, 1, 0)));
        const ir::ValueId back = rounded(
            reshape(product(error, rounded(weights), 0, 1), {1, shape[1], shape[2], shape[3], shape[4]}));
        const ir::ValueId masked =
            chain({mask, back}, {"constant 0x00000000", "select 0 1 2"}, DataType::Bfloat16);
        const ir::ValueId offset = sum(masked);
        const ir::ValueId scale = sum(chain({convolved, masked}, {"multiply 0 1"}, DataType::Float32));
        output(reshape(offset, {1, filters}));
        output(reshape(scale, {1, filters}));
        const ir::ValueId gradient =
            chain({masked, convolved, scale, offset},
                  {"multiply 1 2", "add 0 3", "subtract 5 4", "round_to_bfloat16 6"}, DataType::Bfloat16);
        output(updated({}, gradient_of_kernel(padded, gradient, window)));
        if (below(2) == 0) output(result);
        return std::move(graph_);
    }

private:
    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

    ir::ValueId input(const char* name, const ir::Shape& shape) {
        const ir::ValueId made = graph_.add_input(name, shape, DataType::Float32);
        graph_.values[made].type = DataType::Float32;
        return made;
    }
    void output(ir::ValueId id) { graph_.outputs.push_back(id); }
    ir::ValueId append(const std::string& op, std::vector<ir::NamedAttribute> attributes,
                       std::vector<ir::ValueId> inputs, DataType type) {
        return graph_.append(fmt::format("{}{}", op, graph_.nodes.size()), operators::registry().at(op),
                             std::move(attributes), std::move(inputs), DataType::Float32, {{.type = type}});
    }
    ir::ValueId chain(std::vector<ir::ValueId> inputs, Steps steps, DataType type) {
        return append("word_chain", {{"steps", std::move(steps)}}, std::move(inputs), type);
    }
    ir::ValueId rounded(ir::ValueId id) { return chain({id}, {"round_to_bfloat16 0"}, DataType::Bfloat16); }
    ir::ValueId reshape(ir::ValueId id, Numbers shape) {
        return append("reshape", {{"shape", std::move(shape)}}, {id}, graph_.values[id].type);
    }
    ir::ValueId transpose(ir::ValueId id, Numbers axes) {
        return append("transpose", {{"permutation", std::move(axes)}}, {id}, graph_.values[id].type);
    }
    /// Over all axes but the last.
    ir::ValueId sum(ir::ValueId id) {
        return append("word_reduce",
                      {{"reduction", std::string("sum")},
                       {"axes", Numbers{1, 2, 3}},
                       {"keep", std::int64_t{1}},
                       {"sum_tile", std::int64_t{lanes_}}},
                      {id}, DataType::Float32);
    }
    ir::ValueId mean(ir::ValueId id) {
        return chain({sum(id)}, {"constant 0x3c000000", "multiply 0 1"}, DataType::Float32);
    }
    ir::ValueId product(ir::ValueId a, ir::ValueId b, std::int64_t transposed_a, std::int64_t transposed_b) {
        return append("matrix_product",
                      {{"transposed_a", transposed_a},
                       {"transposed_b", transposed_b},
                       {"sum_tile", std::int64_t{rows_}},
                       {"precision", std::string("default")}},
                      {a, b}, DataType::Float32);
    }
    ir::ValueId convolution(ir::ValueId image, ir::ValueId kernel, const ir::Window& window) {
        auto attributes = ir::attributes_of(window);
        attributes.emplace_back("groups", std::int64_t{1});
        attributes.emplace_back("sum_tile", std::int64_t{rows_});
        attributes.emplace_back("precision", std::string("default"));
        return append("word_convolution", std::move(attributes), {image, kernel}, DataType::Float32);
    }
    /// What an optimizer makes of a gradient, or the gradient itself.
    ir::ValueId updated(std::optional<ir::ValueId> weights, ir::ValueId gradient) {
        if (below(3) == 0) return gradient;
        if (!weights) return rounded(gradient);
        return chain({*weights, gradient}, {"constant 0x3c23d70a", "multiply 1 2", "subtract 0 3"},
                     DataType::Float32);
    }
    /// Channels as images, and images as channels.
    ir::ValueId gradient_of_kernel(ir::ValueId image, ir::ValueId gradient, const ir::Window& window) {
        const ir::Shape shape = graph_.values[gradient].shape;
        return convolution(transpose(image, {0, 4, 2, 3, 1}), transpose(gradient, {0, 2, 3, 1, 4}),
                           {.kernel_height = shape[2],
                            .kernel_width = shape[3],
                            .dilation_y = window.stride_y,
                            .dilation_x = window.stride_x});
    }

    std::mt19937& random_;
    std::uint32_t lanes_;
    std::uint32_t rows_;
    ir::Graph graph_;
};

/// Of which only the array's height differs from a drawn one: so that images of a line often are whole cuts.
machine::MachineConfig drawn_core(std::mt19937& random) {
    machine::MachineConfig machine = random_core(random);
    machine.matrix_unit.rows = 1U << (random() % 5);
    return machine;
}

/// The most rows of high-bandwidth memory that live at a time.
std::uint64_t most_rows(const Network& network, std::uint64_t lanes) {
    std::vector<std::uint64_t> rows(network.steps.size());
    for (const Tensor& tensor : network.tensors) {
        for (std::size_t step = tensor.first; step <= tensor.last && step < rows.size(); ++step)
            rows[step] += tensor.memory_rows(tensor.rows) * divide_up(tensor.columns, lanes);
    }
    return std::ranges::max(rows);
}

}  // namespace

TEST_CASE("Steps of training images give the reference's bits", "[tensor_core][training_images]") {
    std::map<std::string, int> met;
    const std::uint32_t runs = random_runs(200);
    std::uint32_t compiled = 0;
    for (std::uint32_t seed = 1; seed <= runs; ++seed) {
        std::mt19937 random(seed);
        const machine::MachineConfig machine = drawn_core(random);
        const ir::Graph graph = ImageStep(random, machine).draw();
        const mapping::Batches batches{.batch = 1 + static_cast<std::uint32_t>(random() % 2),
                                       .inferences = 1 + random() % 3};
        INFO("seed " << seed << ": " << machine::to_json(machine).dump() << "\n" << ir::to_text(graph));
        const ir::Graph made = prepared(graph, machine);
        REQUIRE(ir::find_fault(made).value_or("") == "");
        const Network network = make_network(made, machine, 1);
        for (const Step& step : network.steps) {
            if (step.by_depth) ++met[step.window ? "kernels line by line" : "rows of both operands"];
            if (step.by_depth && !step.chains.empty()) ++met["chains behind parts of the depth"];
            if (!step.before.empty()) ++met["chains before reductions"];
            if (!step.before.empty() && network.tensors[step.source].is_packed)
                ++met["packed rows before reductions"];
            if (step.by_depth && network.tensors[step.source].is_packed) ++met["packed rows by parts"];
            if (!step.sums.empty())
                ++met[step.kind == StepKind::Chain ? "sums beside chains" : "sums beside sums"];
            if (step.reads_lines) ++met["lines of narrow images"];
            if (step.kind == StepKind::Product && step.window && network.tensors[step.source].is_packed)
                ++met["windows of packed rows"];
        }
        isa::Program program;
        try {
            program = random_program(random, graph, machine, batches).program;
        } catch (const ModelError& error) {
            INFO(error.what());
            REQUIRE(std::string(error.what()).find("rows of vector memory") != std::string::npos);
            continue;
        }
        ++compiled;
        const WordTensors inputs = random_inputs(random, graph, batches.inferences);
        check_bits(program, machine, inputs, expected_outputs(graph, batches, inputs), seed % 5 == 0);
    }
    CHECK(compiled * 10 >= runs * 7);
    if (runs < 100) return;
    for (const char* const what :
         {"kernels line by line", "rows of both operands", "chains behind parts of the depth",
          "chains before reductions", "packed rows before reductions", "packed rows by parts",
          "lines of narrow images", "sums beside sums", "sums beside chains"}) {
        INFO(what << ": " << met[what]);
        CHECK(met[what] >= 5);
    }
}

namespace {

/// Layers of one width, whose gradients of weights all come after the gradients of activations.
ir::Graph gradients_at_the_end(std::int64_t layers, const machine::MachineConfig& machine) {
    constexpr std::uint32_t examples = 200;
    constexpr std::uint32_t width = 12;
    ir::Graph graph;
    graph.name = "layers";
    const auto append = [&](const char* op, std::vector<ir::NamedAttribute> attributes,
                            std::vector<ir::ValueId> inputs) {
        return graph.append(fmt::format("{}{}", op, graph.nodes.size()), operators::registry().at(op),
                            std::move(attributes), std::move(inputs), DataType::Float32,
                            {{.type = DataType::Float32}});
    };
    const auto product = [&](ir::ValueId a, ir::ValueId b, std::int64_t first, std::int64_t second) {
        return append("matrix_product",
                      {{"transposed_a", first},
                       {"transposed_b", second},
                       {"sum_tile", std::int64_t{machine.matrix_unit.rows}},
                       {"precision", std::string("default")}},
                      {a, b});
    };
    const auto add_input = [&](const ir::Shape& shape) {
        const ir::ValueId made = graph.add_input("input", shape, DataType::Float32);
        graph.values[made].type = DataType::Float32;
        return made;
    };
    std::vector<ir::ValueId> activations{add_input({1, examples, width})};
    std::vector<ir::ValueId> weights;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        weights.push_back(add_input({1, width, width}));
        const ir::ValueId sums = product(activations.back(), weights.back(), 0, 0);
        activations.push_back(append("word_chain", {{"steps", Steps{"tanh 0"}}}, {sums}));
    }
    std::vector<ir::ValueId> gradients{
        append("word_chain", {{"steps", Steps{"negate 0"}}}, {activations.back()})};
    for (std::int64_t layer = layers; layer-- > 1;)
        gradients.push_back(product(gradients.back(), weights[static_cast<std::size_t>(layer)], 0, 1));
    for (std::size_t layer = 0; layer < weights.size(); ++layer)
        graph.outputs.push_back(product(activations[layer], gradients[weights.size() - 1 - layer], 1, 0));
    return graph;
}

}  // namespace

TEST_CASE("Gradients of weights come early where there is no room for all activations",
          "[tensor_core][training_images]") {
    machine::MachineConfig machine = core_of_16_lanes(8192);
    constexpr std::int64_t layers = 12;
    const ir::Graph graph = gradients_at_the_end(layers, machine);
    const std::uint64_t lanes = machine.vector_unit.lanes;
    const std::uint64_t as_written = most_rows(make_network(graph, machine, 1), lanes);
    const std::uint64_t early = most_rows(make_network(graph, machine, 1, {.frees_early = true}), lanes);
    // All activations and all gradients; or all activations and some gradients.
    constexpr std::uint64_t rows = 200;
    CHECK(as_written > (2 * layers - 3) * rows);
    CHECK(early < (layers + 4) * rows);
    // Between both, only the second order fits.
    machine.hbm.bytes = (early + as_written) / 2 * machine.vector_row_bytes();
    mapping::Options options;
    const isa::Program program = family.compile(graph, machine, options).program;
    std::mt19937 random(1);
    const WordTensors inputs = random_inputs(random, graph, 1);
    check_bits(program, machine, inputs, expected_outputs(graph, options.batches, inputs));
}

TEST_CASE("Lines of a kernel meet images that could stay in vector memory",
          "[tensor_core][training_images]") {
    for (std::uint32_t seed = 1; seed <= random_runs(60); ++seed) {
        std::mt19937 random(seed);
        const machine::MachineConfig machine = drawn_core(random);
        const std::uint32_t rows = machine.matrix_unit.rows;
        const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
        const std::uint32_t images = 1 + below(4);
        const std::uint32_t pixels = 1 + below(3);
        const std::uint32_t channels = rows * (1 + below(2));
        // Windows have elements outside of the image, and are larger than what they make.
        const std::string text = fmt::format(
            "graph \"g\"\ninputs %0, %1\noutputs %3\n%0 float32 1x{0}x{1}x{1}x{2} \"x\"\n"
            "%1 float32 1x{3}x3x{2}x5 \"k\"\n%2 {4} 1x{0}x{1}x{1}x{2} \"n\"\n"
            "%3 float32 1x{0}x{5}x{1}x5 \"c\"\n%2 = word_chain(%0) \"n\" {{steps [\"tanh 0\"]}}\n"
            "%3 = word_convolution(%2, %1) \"c\" {{kernel [{3}, 3], padding [1, 1, 1, 1], sum_tile {6}, "
            "precision \"default\"}}\n",
            images, pixels, channels, pixels + 2, below(2) == 0 ? "float32" : "bfloat16", 1, rows);
        INFO("seed " << seed << ": " << machine::to_json(machine).dump() << "\n" << text);
        const ir::Graph graph = graph_of_text(text);
        const Network network = make_network(graph, machine, 1);
        CHECK(std::ranges::any_of(network.steps, [](const Step& step) { return step.by_depth; }));
        const mapping::Batches batches{.batch = 1 + below(3), .inferences = 3};
        const WordTensors inputs = random_inputs(random, graph, batches.inferences);
        const isa::Program program = random_program(random, graph, machine, batches).program;
        check_bits(program, machine, inputs, expected_outputs(graph, batches, inputs), seed % 5 == 0);
    }
}

TEST_CASE("Each line of the images and each part of a kernel comes in once",
          "[tensor_core][training_images]") {
    // Windows of nearly the whole image: of each line of the kernel, three lines meet it.
    constexpr std::uint32_t images = 4;
    constexpr std::uint32_t pixels = 24;
    constexpr std::uint32_t taps = 22;
    constexpr std::uint32_t lanes = 16;
    const ir::Graph graph = graph_of_text(fmt::format(
        "graph \"g\"\ninputs %0, %1\noutputs %2\n%0 float32 1x{0}x{1}x{1}x{3} \"x\"\n"
        "%1 float32 1x{2}x{2}x{3}x{3} \"k\"\n%2 float32 1x{0}x{4}x{4}x{3} \"c\"\n"
        "%2 = word_convolution(%0, %1) \"c\" {{kernel [{2}, {2}], sum_tile {3}, precision \"default\"}}\n",
        images, pixels, taps, lanes, pixels - taps + 1));
    const std::uint64_t source = images * pixels * pixels;
    const std::uint64_t kernel = taps * taps * lanes;
    // Much room, and room for a few lines and cuts of the kernel.
    for (const std::uint32_t rows : {16384U, 2048U, 1024U}) {
        const machine::MachineConfig machine = core_of_16_lanes(rows);
        Network network = make_network(graph, machine, 1);
        REQUIRE(network.steps.size() == 1);
        CHECK(network.steps[0].by_depth);
        const isa::Program program =
            map_program(network, machine, {.images = 1}, {.batch = 1, .inferences = 1}).program;
        INFO(rows << " rows of vector memory");
        CHECK(rows_moved(program) >= source + kernel);
        CHECK(rows_moved(program) <= source + kernel + 100);
        std::mt19937 random(rows);
        const WordTensors inputs = random_inputs(random, graph, 1);
        check_bits(program, machine, inputs, expected_outputs(graph, {.batch = 1, .inferences = 1}, inputs));
    }
}
