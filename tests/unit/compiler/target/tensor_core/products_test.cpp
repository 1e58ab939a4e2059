// Products of matrices of which both may be computed: programs have the reference's bits, and a large product
// takes about as long as the array does.
#include "compiler/target/tensor_core/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/target/tensor_core/choose.h"
#include "compiler/target/tensor_core/network.h"
#include "hw/isa/instruction.h"
#include "tests/support/random_runs.h"
#include "tests/support/tensor_networks.h"

using namespace systole;
using namespace systole::tensor_core;

namespace {

using Axes = std::vector<std::uint32_t>;

ir::Shape shape_of_axes(const Axes& axes) {
    return ir::Shape(std::span<const std::uint32_t>(axes));
}

/// Draws products of inputs, of what is computed from them, and of constants.
class RandomProducts {
public:
    RandomProducts(std::mt19937& random, const machine::MachineConfig& machine)
        : random_(random), array_rows_(machine.matrix_unit.rows) {}

    ir::Graph draw() {
        graph_ = {};
        graph_.name = "products";
        const std::uint32_t m = extent();
        const std::uint32_t k = extent();
        const std::uint32_t n = extent();
        Axes leading;
        for (std::uint32_t axes = below(4); axes > 0; --axes) leading.push_back(1 + below(4));
        const std::int64_t transposed_a = below(3) == 0 ? 1 : 0;
        const std::int64_t transposed_b = below(3) == 0 ? 1 : 0;
        const bool a_constant = below(5) == 0;
        const bool b_constant = !a_constant && below(3) == 0;
        const ir::ValueId a = operand("a", leading, transposed_a == 1 ? Axes{k, m} : Axes{m, k}, a_constant);
        const ir::ValueId b = operand("b", leading, transposed_b == 1 ? Axes{n, k} : Axes{k, n}, b_constant);
        const auto product = [&] {
            const char* const precisions[] = {"default", "default", "high", "highest"};
            const ir::ValueId made = append("matrix_product",
                                            {{"transposed_a", transposed_a},
                                             {"transposed_b", transposed_b},
                                             {"sum_tile", std::int64_t{array_rows_}},
                                             {"precision", std::string(precisions[below(4)])}},
                                            {a, b});
            return below(2) == 0 ? chained(made) : made;
        };
        graph_.outputs = {product()};
        // The same weights, maybe in other parts.
        if (below(4) == 0) graph_.outputs.push_back(product());
        return std::move(graph_);
    }

private:
    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
    std::uint32_t extent() { return 1 + below(below(3) == 0 ? 60 : 12); }
    ir::ValueId append(const std::string& op, std::vector<ir::NamedAttribute> attributes,
                       std::vector<ir::ValueId> inputs, DataType type = DataType::Float32) {
        const auto data = static_cast<std::uint32_t>(inputs.size());
        return graph_.append(fmt::format("{}{}", op, graph_.nodes.size()), operators::registry().at(op),
                             std::move(attributes), std::move(inputs), DataType::Float32, {{.type = type}},
                             data);
    }
    ir::ValueId chain(std::vector<ir::ValueId> inputs, std::vector<std::string> steps,
                      DataType type = DataType::Float32) {
        return append("word_chain", {{"steps", std::move(steps)}}, std::move(inputs), type);
    }
    ir::ValueId constant(const Axes& axes) {
        std::vector<float> numbers(shape_of_axes(axes).elements());
        for (float& number : numbers) number = std::uniform_real_distribution<float>(-2.0F, 2.0F)(random_);
        return graph_.add_constant("c", shape_of_axes(axes), DataType::Float32, std::move(numbers));
    }

    /// Some of the leading axes are 1, and constants may lack the first ones.
    ir::ValueId operand(const std::string& name, const Axes& leading, const Axes& matrix, bool is_constant) {
        Axes axes{1};
        const bool is_whole = below(2) == 0;
        for (const std::uint32_t each : leading) axes.push_back(is_whole || below(3) > 0 ? each : 1);
        if (is_constant && below(2) == 0)
            axes.erase(axes.begin(), axes.begin() + 1 + below(static_cast<std::uint32_t>(axes.size())));
        axes.insert(axes.end(), matrix.begin(), matrix.end());
        if (is_constant) return constant(axes);
        const DataType type = below(3) == 0 ? DataType::Bfloat16 : DataType::Float32;
        const ir::ValueId input = graph_.add_input(name, shape_of_axes(axes), DataType::Float32);
        graph_.values[input].type = type;
        return below(2) == 0 ? chain({input}, {"tanh 0"}, type) : input;
    }

    /// Element-wise work with something that is repeated for the product.
    ir::ValueId chained(ir::ValueId product) {
        const auto extents = graph_.values[product].shape.extents();
        Axes other(extents.begin(), extents.end());
        switch (below(4)) {
            case 0:
                return chain({product, constant({other.back()})}, {"add 0 1", "tanh 2"});
            case 1:
                other.back() = 1;
                return chain({product, constant(other)}, {"multiply 0 1"});
            case 2: {
                for (std::size_t axis = 1; axis < other.size(); ++axis) {
                    if (below(2) == 0) other[axis] = 1;
                }
                const ir::ValueId input = graph_.add_input("other", shape_of_axes(other), DataType::Float32);
                return chain({product, input}, {"subtract 1 0"});
            }
            default:
                return chain({product}, {"negate 0"});
        }
    }

    std::mt19937& random_;
    std::uint32_t array_rows_;
    ir::Graph graph_;
};

/// A product of two computed matrices, or of one and a constant that nobody knows.
ir::Graph one_product(const Axes& a, const Axes& b, bool b_is_constant, bool transposed_a = false,
                      bool transposed_b = false) {
    ir::Graph graph;
    graph.name = "product";
    const ir::ValueId first = graph.add_input("a", shape_of_axes(a), DataType::Float32);
    const ir::ValueId second = b_is_constant
                                   ? graph.add_constant("b", shape_of_axes(b), DataType::Float32,
                                                        std::vector<float>(shape_of_axes(b).elements(), 0.5F))
                                   : graph.add_input("b", shape_of_axes(b), DataType::Float32);
    graph.outputs = {graph.append("product", operators::registry().at("matrix_product"),
                                  {{"transposed_a", std::int64_t{transposed_a ? 1 : 0}},
                                   {"transposed_b", std::int64_t{transposed_b ? 1 : 0}},
                                   {"sum_tile", std::int64_t{128}},
                                   {"precision", std::string("default")}},
                                  {first, second}, DataType::Float32)};
    return graph;
}

struct ProductCost {
    Cycle cycles = 0;
    std::uint64_t instructions = 0;
};

ProductCost cost_of_product(const ir::Graph& graph) {
    machine::MachineConfig machine;
    machine.name = "core";
    machine.family = machine::Family::TensorCore;
    machine.clock_mhz = 700;
    machine.matrix_unit.formats = machine::float_array_formats();
    machine.matrix_unit.rows = machine.matrix_unit.columns = machine.vector_unit.lanes = 128;
    machine.vector_unit.sublanes = 8;
    machine.vector_memory.rows = 32768;
    machine.hbm.bytes = std::uint64_t{1} << 33U;
    machine.hbm.bandwidth_gb_per_s = 300;
    machine.cross_lane_unit.latency_cycles = 128;
    Network network = make_network(graph, machine, 1);
    const MappedProgram mapped = map_program(network, machine, {.images = 1}, {.batch = 1, .inferences = 1});
    return {.cycles = mapped.by_run.at(0), .instructions = mapped.program.instructions.size()};
}

}  // namespace

TEST_CASE("Matrices that follow each other and meet the same weights are one", "[tensor_core][products]") {
    const auto matrices_of = [](const Axes& a, const Axes& b) {
        const ir::Graph graph = one_product(a, b, false);
        return product_matrices({graph, graph.nodes[0]});
    };
    CHECK(matrices_of({1, 5, 2, 3}, {1, 1, 3, 4}) == ProductMatrices{});
    CHECK(matrices_of({1, 3, 2, 3}, {1, 3, 3, 4}) ==
          ProductMatrices{.sources = {0, 2, 4}, .weights = {0, 1, 2}, .rows = 2});
    CHECK(matrices_of({1, 2, 5, 2, 3}, {1, 2, 1, 3, 4}) ==
          ProductMatrices{.sources = {0, 10}, .weights = {0, 1}, .rows = 10});
    CHECK(matrices_of({1, 1, 2, 3}, {1, 3, 3, 4}) ==
          ProductMatrices{.sources = {0, 0, 0}, .weights = {0, 1, 2}, .rows = 2});
}

TEST_CASE("Products of matrices give the reference's bits on a tensor core", "[tensor_core][products]") {
    std::map<std::string, int> met;
    const int count = static_cast<int>(tests::random_runs(300));
    for (int seed = 1; seed <= count; ++seed) {
        std::mt19937 random(static_cast<std::uint32_t>(seed));
        machine::MachineConfig machine = tests::random_core(random);
        // Half of the arrays are square, as those of Cloud TPUs: transposed weights are loaded as they are.
        if (random() % 2 == 0) machine.matrix_unit.rows = machine.vector_unit.lanes;
        const ir::Graph graph = RandomProducts(random, machine).draw();
        mapping::Batches batches;
        batches.batch = static_cast<std::uint32_t>(1 + random() % 3);
        batches.inferences = batches.batch + random() % 2;
        INFO("seed " << seed << ": " << machine::to_json(machine).dump() << "\nbatch " << batches.batch
                     << "\n"
                     << ir::to_text(graph));
        const Network network = make_network(graph, machine, 1);
        std::map<std::string, std::size_t> passes_of_constants;
        for (const Step& step : network.steps) {
            if (step.kind != StepKind::Product) continue;
            const Tensor& weights = network.tensors[step.weights];
            if (weights.is_weights) {
                const auto [found, is_new] =
                    passes_of_constants.try_emplace(weights.name, step.passes.size());
                met["a constant in two layouts"] += (found->second == 1) != (step.passes.size() == 1) ? 1 : 0;
            }
            met["several matrices"] += step.matrices.count() > 1 ? 1 : 0;
            met["transposed loads"] += step.weights_transposed ? 1 : 0;
            met["several passes"] += step.passes.size() > 1 ? 1 : 0;
            met["tiles of weights"] += network.tensors[step.weights].is_weights ? 1 : 0;
            met["chains"] += step.chains.empty() ? 0 : 1;
        }
        isa::Program program;
        try {
            program = tests::random_program(random, graph, machine, batches).program;
        } catch (const ModelError& error) {
            REQUIRE(std::string(error.what()).find("rows of vector memory") != std::string::npos);
            continue;
        }
        ++met["programs"];
        const tests::WordTensors inputs = tests::random_inputs(random, graph, batches.inferences);
        tests::check_bits(program, machine, inputs, tests::expected_outputs(graph, batches, inputs),
                          program.instructions.size() < 10000);
    }
    CHECK(met["programs"] * 10 >= count * 9);
    for (const char* const what :
         {"several matrices", "transposed loads", "several passes", "tiles of weights", "chains"}) {
        INFO(what << ": " << met[what]);
        CHECK(met[what] * 10 >= count);
    }
    CHECK(met["a constant in two layouts"] >= count / 100);  // too rare for a short run
}

TEST_CASE("A product of thousands of rows and columns takes about as long as the array",
          "[tensor_core][products]") {
    // Each of 16 x 8 tiles of weights meets all 4096 rows.
    const Cycle of_array = Cycle{4096} * 16 * 8;
    for (const bool transposed_a : {false, true}) {
        for (const bool transposed_b : {false, true}) {
            for (const bool is_constant : {false, true}) {
                CAPTURE(transposed_a, transposed_b, is_constant);
                const Axes a = transposed_a ? Axes{1, 2048, 4096} : Axes{1, 4096, 2048};
                Axes b = transposed_b ? Axes{1024, 2048} : Axes{2048, 1024};
                if (!is_constant) b.insert(b.begin(), 1);
                const ProductCost cost =
                    cost_of_product(one_product(a, b, is_constant, transposed_a, transposed_b));
                CHECK(cost.cycles > of_array);
                CHECK(cost.cycles < of_array + of_array / 3 + (transposed_a ? 200000 : 0));
                CHECK(cost.instructions < 40000);
            }
        }
    }
}
