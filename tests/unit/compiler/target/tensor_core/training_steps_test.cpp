// Steps of training, as programs of JAX have them: kernels of float32 that products take as bfloat16, their
// gradients, and an optimizer. The compiled program has the reference's bits, and reads and writes no more
// than a step must.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/target/tensor_core/family.h"
#include "compiler/target/tensor_core/network.h"
#include "compiler/target/tensor_core/prepare.h"
#include "tests/support/random_runs.h"
#include "tests/support/tensor_networks.h"

using namespace systole;
using namespace systole::tensor_core;

namespace {

using Steps = std::vector<std::string>;

/// Fully connected layers with ReLU, and the sum of what they answer as the loss.
class TrainingStep {
public:
    struct Sizes {
        std::uint32_t examples = 8;
        std::vector<std::uint32_t> widths = {8, 8, 8};  ///< of the input and of each layer
        std::uint32_t sum_tile = 8;
    };

    explicit TrainingStep(Sizes sizes) : sizes_(std::move(sizes)) {}

    ir::Graph graph() {
        graph_.name = "step";
        const ir::ValueId examples =
            graph_.add_input("x", {1, sizes_.examples, sizes_.widths[0]}, DataType::Float32);
        graph_.values[examples].type = DataType::Bfloat16;
        for (std::size_t layer = 0; layer < layers(); ++layer) add_state(layer);
        activations_ = {chain(examples, Steps{"tanh 0"}, DataType::Bfloat16)};
        for (std::size_t layer = 0; layer < layers(); ++layer) {
            const ir::ValueId sums = product(activations_.back(), rounded_kernel(layer), 0, 0);
            // ReLU of the rounded sums.
            activations_.push_back(chain(sums,
                                         Steps{"round_to_bfloat16 0", "constant 0x00000000", "maximum 1 2"},
                                         DataType::Bfloat16));
        }
        const ir::ValueId answers = chain(activations_.back(), Steps{"or 0 0"}, DataType::Float32);
        ir::ValueId gradient =
            chain(answers, Steps{"constant 0x3c000000", "multiply 0 1"}, DataType::Bfloat16);
        for (std::size_t layer = layers(); layer-- > 0;) {
            gradient =
                append("word_chain", {{"steps", Steps{"constant 0x00000000", "less 2 1", "select 3 0 2"}}},
                       {gradient, activations_[layer + 1]}, DataType::Bfloat16);
            update(layer, product(activations_[layer], gradient, 1, 0));
            if (layer == 0) break;
            gradient = chain(product(gradient, rounded_kernel(layer), 0, 1), Steps{"round_to_bfloat16 0"},
                             DataType::Bfloat16);
        }
        return std::move(graph_);
    }

private:
    std::size_t layers() const { return sizes_.widths.size() - 1; }
    ir::ValueId append(const std::string& op, std::vector<ir::NamedAttribute> attributes,
                       std::vector<ir::ValueId> inputs, DataType type) {
        const auto data = static_cast<std::uint32_t>(inputs.size());
        return graph_.append(fmt::format("{}{}", op, graph_.nodes.size()), operators::registry().at(op),
                             std::move(attributes), std::move(inputs), DataType::Float32, {{.type = type}},
                             data);
    }
    ir::ValueId chain(ir::ValueId input, Steps steps, DataType type) {
        return append("word_chain", {{"steps", std::move(steps)}}, {input}, type);
    }
    ir::ValueId product(ir::ValueId a, ir::ValueId b, std::int64_t transposed_a, std::int64_t transposed_b) {
        return append("matrix_product",
                      {{"transposed_a", transposed_a},
                       {"transposed_b", transposed_b},
                       {"sum_tile", std::int64_t{sizes_.sum_tile}},
                       {"precision", std::string("default")}},
                      {a, b}, DataType::Float32);
    }
    void add_state(std::size_t layer) {
        for (const char* const name : {"kernel", "rms", "momentum"}) {
            graph_.state.push_back({.input = static_cast<std::uint32_t>(graph_.inputs.size()),
                                    .output = static_cast<std::uint32_t>(graph_.state.size())});
            state_.push_back(graph_.add_input(fmt::format("{}{}", name, layer),
                                              {1, sizes_.widths[layer], sizes_.widths[layer + 1]},
                                              DataType::Float32));
        }
        graph_.outputs.resize(graph_.state.size());
    }
    ir::ValueId rounded_kernel(std::size_t layer) {
        return chain(state_[3 * layer], Steps{"round_to_bfloat16 0"}, DataType::Bfloat16);
    }
    /// RMSProp with momentum.
    void update(std::size_t layer, ir::ValueId gradient) {
        const auto work = [&](Steps steps, std::vector<ir::ValueId> inputs) {
            return append("word_chain", {{"steps", std::move(steps)}}, std::move(inputs), DataType::Float32);
        };
        const ir::ValueId* const old = &state_[3 * layer];
        const ir::ValueId rms =
            work({"constant 0x3dcccccd", "multiply 0 0", "subtract 3 1", "multiply 4 2", "add 1 5"},
                 {gradient, old[1]});
        const ir::ValueId momentum = work({"constant 0x3f666666", "multiply 1 3", "constant 0x3f800000",
                                           "add 2 5", "rsqrt 6", "multiply 0 7", "add 4 8"},
                                          {gradient, old[2], rms});
        graph_.outputs[3 * layer] = work({"subtract 0 1"}, {old[0], momentum});
        graph_.outputs[(3 * layer) + 1] = rms;
        graph_.outputs[(3 * layer) + 2] = momentum;
    }

    Sizes sizes_;
    ir::Graph graph_;
    std::vector<ir::ValueId> state_;  ///< of each layer: kernel, mean square, momentum
    std::vector<ir::ValueId> activations_;
};

/// As it is compiled.
ir::Graph prepared(const ir::Graph& graph) {
    return tensor_core::prepared(graph, tests::core_of_16_lanes(8192));
}

}  // namespace

TEST_CASE("Steps of training give the reference's bits with any mapping", "[tensor_core][training_steps]") {
    std::map<std::string, std::uint32_t> met;
    const std::uint32_t count = tests::random_runs(150);
    for (std::uint32_t seed = 1; seed <= count; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
        machine::MachineConfig machine = tests::random_core(random);
        machine.matrix_unit.rows = below(4) == 0 ? 1 + below(16) : machine.vector_unit.lanes;
        TrainingStep::Sizes sizes{
            .examples = 1 + below(40), .widths = {}, .sum_tile = machine.matrix_unit.rows};
        for (std::uint32_t layer = 2 + below(3); layer > 0; --layer) sizes.widths.push_back(1 + below(40));
        const ir::Graph graph = TrainingStep(sizes).graph();
        const std::uint64_t steps = 1 + below(2);
        INFO("seed " << seed << ": " << machine::to_json(machine).dump() << "\n"
                     << steps << " steps\n"
                     << ir::to_text(graph));
        const ir::Graph compiled = prepared(graph);
        const Network network = make_network(compiled, machine, 1);
        for (const Step& step : network.steps) {
            met["further results"] += static_cast<std::uint32_t>(step.further.size());
            for (const TensorId written : written_by(step))
                met["packed results"] += network.tensors[written].is_packed ? 1 : 0;
            if (step.kind != StepKind::Product) continue;
            const bool is_packed = network.tensors[step.source].is_packed;
            met[step.source_transposed ? "packed and transposed sources" : "packed sources"] +=
                is_packed ? 1 : 0;
            met["transposed sources"] += step.source_transposed && !is_packed ? 1 : 0;
            met["packed weights"] += network.tensors[step.weights].is_packed ? 1 : 0;
            met["operands of float32"] += network.tensors[step.weights].is_bfloat16 ? 0 : 1;
        }
        const mapping::Batches batches{.batch = 1, .inferences = steps};
        isa::Program program;
        try {
            if (below(3) == 0) {
                mapping::Options options;
                options.batches = batches;
                if (below(2) == 0) options.mapping = machine::mapping_named(machine::MappingName::Best);
                program = family.compile(graph, machine, options).program;
            } else {
                program =
                    tests::random_program(random, below(2) == 0 ? compiled : graph, machine, batches).program;
            }
        } catch (const ModelError& error) {
            REQUIRE(std::string(error.what()).find("rows of vector memory") != std::string::npos);
            continue;
        }
        ++met["programs"];
        const tests::WordTensors inputs = tests::random_inputs(random, graph, steps);
        const tests::WordTensors expected = tests::expected_of_steps(graph, steps, inputs);
        const std::string wrong = tests::difference(tests::without_time(program, machine, inputs), expected);
        if (!wrong.empty()) FAIL("without time: " << wrong);
        if (seed % 4 != 0) continue;
        Cycle cycles = 0;
        CHECK(tests::difference(
                  tests::on_units(program, machine, machine::Engine::Wavefront, inputs, &cycles), expected)
                  .empty());
    }
    CHECK(met["programs"] * 10 >= count * 9);
    for (const char* const what :
         {"further results", "packed results", "packed sources", "packed weights",
          "packed and transposed sources", "transposed sources", "operands of float32"}) {
        INFO(what << ": " << met[what]);
        CHECK(met[what] * 10 >= count);
    }
}

TEST_CASE("A step reads and writes what it must: 28 bytes a parameter for the optimizer, 12 for products",
          "[tensor_core][training_steps]") {
    // Few examples: all that counts is what has the size of a kernel, in rows of 16 words.
    const std::uint32_t width = 512;
    const ir::Graph graph =
        prepared(TrainingStep({.examples = 2, .widths = {width, width, width}, .sum_tile = 16}).graph());
    const machine::MachineConfig machine = tests::core_of_16_lanes(16384);
    const auto moved = [&](const NetworkForm& form) {
        Network network = make_network(graph, machine, 1, form);
        const MappedProgram mapped =
            map_program(network, machine, {.images = 1}, {.batch = 1, .inferences = 1});
        const double kernels = 2.0 * width * width / 16;
        return static_cast<double>(tests::rows_moved(mapped.program)) / kernels;
    };
    // Words a parameter: the kernel for the forward pass; for the second layer, once more for the gradient;
    // the gradient out and in, four numbers of the optimizer in and three out.
    CHECK(moved({}) > 0.5 + 1 + 8);
    CHECK(moved({}) < (0.5 + 1 + 8) * 1.03);
    // Three chains read the gradient again, and what they have computed.
    CHECK(moved({.joins_steps = false}) > 0.5 + 1 + 10.9);
}

TEST_CASE("Results that are not kept are written once, and read by each step that needs them",
          "[tensor_core][training_steps]") {
    // Many examples in narrow layers, for all of which there is room, in rows of 16 words.
    const std::uint32_t examples = 512;
    const ir::Graph graph =
        prepared(TrainingStep({.examples = examples, .widths = {16, 16, 16, 16}, .sum_tile = 16}).graph());
    const machine::MachineConfig machine = tests::core_of_16_lanes(16384);
    const auto mapped = [&](Network& network) {
        return tests::rows_moved(
            map_program(network, machine, {.images = 1}, {.batch = 1, .inferences = 1}).program);
    };
    Network keeping = make_network(graph, machine, 1);
    const std::uint64_t least = mapped(keeping);
    Network apart = make_network(graph, machine, 1, {.keeps_results = false});
    const std::uint64_t most = mapped(apart);
    std::uint64_t kept = 0;
    for (const Step& step : keeping.steps) {
        const auto count = [&](const std::vector<TensorId>& ids) {
            for (const TensorId id : std::set(ids.begin(), ids.end())) {
                const Tensor& tensor = keeping.tensors[id];
                CHECK(apart.tensors[id].home == Home::Hbm);
                if (tensor.home != Home::VectorMemory) continue;
                kept += tensor.memory_rows(tensor.rows) * divide_up(tensor.columns, std::uint64_t{16});
            }
        };
        count(read_by(step));
        count(written_by(step));
    }
    CHECK(kept > 12 * examples / 2);
    CHECK(most - least == kept);
}

TEST_CASE("Rows of bfloat16 take half of the transfers", "[tensor_core][training_steps]") {
    // Many examples, which do not stay in vector memory.
    const ir::Graph graph =
        prepared(TrainingStep({.examples = 4096, .widths = {32, 32, 32}, .sum_tile = 16}).graph());
    const machine::MachineConfig machine = tests::core_of_16_lanes(2048);
    const auto moved = [&](const NetworkForm& form) {
        Network network = make_network(graph, machine, 1, form);
        return static_cast<double>(tests::rows_moved(
            map_program(network, machine, {.images = 1}, {.batch = 1, .inferences = 1}).program));
    };
    CHECK(moved({}) < 0.6 * moved({.packs_rows = false}));
}
