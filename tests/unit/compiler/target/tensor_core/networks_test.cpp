// Random networks on random machines with a tensor core: the compiled program gives the bits of the
// reference, on the units and without time.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"
#include "compiler/target/tensor_core/choose.h"
#include "compiler/target/tensor_core/family.h"
#include "compiler/target/tensor_core/network.h"
#include "hw/isa/program_rules.h"
#include "tests/support/random_runs.h"
#include "tests/support/tensor_networks.h"
#include "tests/support/text_graphs.h"

using namespace systole;
using namespace systole::tests;

namespace {

/// Draws graphs of what tensor cores compute.
class RandomWords {
public:
    RandomWords(std::mt19937& random, const machine::MachineConfig& machine)
        : random_(random),
          rows_(machine.matrix_unit.rows),
          lanes_(machine.vector_unit.lanes),
          cores_(machine.cores()) {}

    ir::Graph draw() {
        graph_ = {};
        graph_.name = "random";
        values_.clear();
        const auto side = [&] { return below(9) + 1; };
        const ir::Shape shape =
            below(5) == 0 ? ir::Shape{1, 1 + below(60)} : ir::Shape{1, side(), side(), 1 + below(20)};
        values_.push_back(graph_.add_input("input", shape, DataType::Float32));
        const std::size_t nodes = 1 + below(7);
        for (int attempts = 0; graph_.nodes.size() < nodes && attempts < 200; ++attempts) add_node();
        if (graph_.nodes.empty()) values_.push_back(chain({values_[0]}, {"negate 0"}));
        graph_.outputs.push_back(values_.back());
        if (below(4) == 0 && values_.size() > 2 && values_[1] != values_.back())
            graph_.outputs.push_back(values_[1]);
        ir::remove_unread(graph_);
        return std::move(graph_);
    }

    /// A network that begins with convolutions on an image of few channels.
    ir::Graph draw_from_image() {
        graph_ = {};
        graph_.name = "random";
        const std::uint32_t channels = 1 + below(std::max(1U, lanes_ / 4));
        const ir::Shape shape{1, 1 + below(12), 2 + below(20), channels};
        const ir::ValueId input = graph_.add_input("input", shape, DataType::Float32);
        ir::ValueId image = input;
        if (below(3) == 0) image = chain({image}, {"constant 0x3f000000", "multiply 0 1", "tanh 2"});
        if (below(4) == 0) image = chain({image, constant({})}, {"subtract 0 1"});
        values_.clear();
        for (std::uint32_t readers = 1 + below(5) / 4; readers > 0; --readers) {
            ir::Window window;
            do window = window_for(ir::feature_map(shape), true);
            while (window == ir::Window{});
            auto attributes = of_product(ir::attributes_of(window));
            attributes.emplace_back("groups", std::int64_t{1});
            const std::uint32_t filters = 1 + below(3 * lanes_ / 2);
            try {
                values_.push_back(append(
                    "convolution", std::move(attributes),
                    {image, constant({window.kernel_height, window.kernel_width, channels, filters})}));
            } catch (const ModelError&) {
                ++readers;  // the window covers more than the image
                continue;
            }
            const ir::Shape result = shape_of(values_.back());
            if (below(3) > 0) values_.back() = chain({values_.back(), constant({filters})}, {"add 0 1"});
            if (below(3) == 0)
                values_.back() = chain({constant({filters}), values_.back()}, {"multiply 0 1"});
            // Work that needs the rows of the result in their order.
            if (below(4) == 0) {
                const ir::Shape rows{1, result[1], result[2], below(2) == 0 ? 1 : filters};
                values_.back() = chain({values_.back(), constant(rows)}, {"maximum 0 1"});
            }
        }
        const std::size_t nodes = graph_.nodes.size() + below(3);
        for (int attempts = 0; graph_.nodes.size() < nodes && attempts < 50; ++attempts) add_node();
        graph_.outputs.push_back(values_.back());
        ir::remove_unread(graph_);
        return std::move(graph_);
    }

private:
    static std::uint32_t count(const std::vector<ir::ValueId>& values) {
        return static_cast<std::uint32_t>(values.size());
    }
    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

    float number() {
        const std::uint32_t kind = below(40);
        if (kind == 0) return 0.0F;
        if (kind == 1) return -0.0F;
        return std::uniform_real_distribution<float>(-2.0F, 2.0F)(random_);
    }
    std::vector<float> numbers(std::uint64_t count) {
        std::vector<float> all(count);
        for (float& each : all) each = number();
        return all;
    }
    ir::ValueId constant(const ir::Shape& shape) {
        return graph_.add_constant("constant", shape, DataType::Float32, numbers(shape.elements()));
    }
    ir::ValueId append(const std::string& op, std::vector<ir::NamedAttribute> attributes,
                       std::vector<ir::ValueId> inputs) {
        return graph_.append(op + std::to_string(graph_.nodes.size()), operators::registry().at(op),
                             std::move(attributes), std::move(inputs), DataType::Float32);
    }
    ir::ValueId chain(std::vector<ir::ValueId> inputs, std::vector<std::string> steps) {
        return append("word_chain", {{"steps", std::move(steps)}}, std::move(inputs));
    }
    const ir::Shape& shape_of(ir::ValueId id) const { return graph_.values[id].shape; }
    ir::ValueId any() { return below(2) == 0 ? values_.back() : values_[below(count(values_))]; }
    std::vector<std::int64_t> extents_of(ir::ValueId id) const {
        return {shape_of(id).extents().begin(), shape_of(id).extents().end()};
    }
    static bool is_image(const ir::Shape& shape) { return shape.rank() == 4 && shape[0] == 1; }

    ir::Window window_for(const ir::FeatureMap& map, bool may_be_outside) {
        ir::Window window;
        window.kernel_height = 1 + below(std::min(4U, map.height));
        window.kernel_width = 1 + below(std::min(4U, map.width));
        window.stride_y = 1 + below(3);
        window.stride_x = 1 + below(3);
        if (below(2) == 0) {
            const std::uint32_t beyond = may_be_outside ? 1 : 0;
            window.pad_top = below(window.kernel_height + beyond);
            window.pad_bottom = below(window.kernel_height + beyond);
            window.pad_left = below(window.kernel_width + beyond);
            window.pad_right = below(window.kernel_width + beyond);
        }
        if (below(5) == 0 && (window.kernel_height - 1) * 2 + 1 <= map.height) window.dilation_y = 2;
        if (below(5) == 0 && (window.kernel_width - 1) * 2 + 1 <= map.width) window.dilation_x = 2;
        return window;
    }

    std::vector<ir::NamedAttribute> of_product(std::vector<ir::NamedAttribute> attributes) {
        attributes.emplace_back("sum_tile", std::int64_t{rows_});
        const char* const names[] = {"default", "default", "default", "high", "highest"};
        attributes.emplace_back("precision", std::string(names[below(5)]));
        return attributes;
    }

    void add_node() {
        const ir::ValueId source = any();
        const ir::Shape shape = shape_of(source);
        if (shape.elements() > 5000) return;
        try {
            values_.push_back(node(source, shape));
        } catch (const ModelError&) {
            // Another one.
        }
    }

    ir::ValueId node(ir::ValueId source, const ir::Shape& shape) {
        if (shape.rank() < 2) return element_wise(source, shape);
        switch (below(19)) {
            case 0:
            case 1:
                if (is_image(shape)) return convolution(source, shape);
                return dense(source, shape);
            case 2:
                return dense(source, shape);
            case 3:
                if (is_image(shape)) return depthwise(source, shape);
                [[fallthrough]];
            case 4:
                if (is_image(shape)) return windows(source, shape);
                [[fallthrough]];
            case 5:
            case 6:
            case 7:
            case 8:
                return element_wise(source, shape);
            case 9:
            case 10:
                return reduction(source, shape);
            case 11:
                return reshape(source, shape);
            case 12:
                return transpose(source, shape);
            case 13:
                return concat(source, shape);
            case 14:
                return strided_slice(source, shape);
            case 15:
                return pad(source, shape);
            case 16:
                return all_reduce(source);
            case 17:
                return gather(source, shape);
            default:
                return resize(source, shape);
        }
    }

    ir::ValueId convolution(ir::ValueId source, const ir::Shape& shape) {
        const ir::FeatureMap map = ir::feature_map(shape);
        const ir::Window window = below(3) == 0 ? ir::Window{} : window_for(map, true);
        std::uint32_t groups = 1;
        if (below(6) == 0 && map.channels % 2 == 0) groups = 2;
        const std::uint32_t filters = groups * (1 + below(20));
        auto attributes = of_product(ir::attributes_of(window));
        attributes.emplace_back("groups", std::int64_t{groups});
        return append(
            "convolution", std::move(attributes),
            {source, constant({window.kernel_height, window.kernel_width, map.channels / groups, filters})});
    }

    /// Rows of a table, or of another value, by the last bits of the source's numbers.
    ir::ValueId gather(ir::ValueId source, const ir::Shape& shape) {
        const auto places = static_cast<std::uint32_t>(shape.elements());
        const ir::ValueId other = any();
        const ir::Shape of = shape_of(other);
        const std::uint32_t columns = of.extents().back();
        const auto rows = static_cast<std::uint32_t>(of.elements()) / columns;
        if (std::uint64_t{places} * columns > 5000) return element_wise(source, shape);
        const ir::ValueId flat =
            append("reshape", {{"shape", std::vector<std::int64_t>{1, places}}}, {source});
        const std::string mask = fmt::format("constant {:#x}", std::bit_floor(rows) - 1);
        const ir::ValueId indices = graph_.append("index" + std::to_string(graph_.nodes.size()),
                                                  operators::registry().at("word_chain"),
                                                  {{"steps", std::vector<std::string>{mask, "and 0 1"}}},
                                                  {flat}, DataType::Float32, {{DataType::Int32}});
        const std::vector<ir::NamedAttribute> of_table{{"counts_from_end", std::int64_t{0}}};
        if (below(2) == 0) return append("gather", of_table, {constant({rows, columns}), indices});
        const ir::ValueId table =
            append("reshape", {{"shape", std::vector<std::int64_t>{1, rows, columns}}}, {other});
        return append("gather", {{"axis", std::int64_t{1}}, of_table.front()}, {table, indices});
    }

    ir::ValueId dense(ir::ValueId source, const ir::Shape& shape) {
        std::vector<ir::ValueId> inputs{source};
        auto elements = static_cast<std::uint32_t>(shape.elements());
        if (below(6) == 0) {
            inputs.push_back(any());
            elements += static_cast<std::uint32_t>(shape_of(inputs[1]).elements());
        }
        const std::uint32_t units = 1 + below(40);
        inputs.push_back(constant({elements, units}));
        return append("dense", of_product({}), std::move(inputs));
    }

    ir::ValueId depthwise(ir::ValueId source, const ir::Shape& shape) {
        const ir::FeatureMap map = ir::feature_map(shape);
        const ir::Window window = window_for(map, false);
        const std::uint32_t multiplier = 1 + (below(3) == 0 ? 1 : 0);
        auto attributes = ir::attributes_of(window);
        attributes.emplace_back("multiplier", std::int64_t{multiplier});
        attributes.emplace_back("in_order", std::int64_t{1});
        return append(
            "depthwise_convolution", std::move(attributes),
            {source, constant({window.kernel_height, window.kernel_width, 1, map.channels * multiplier})});
    }

    std::string reduction_name() {
        const char* const names[] = {"sum", "product", "maximum", "minimum"};
        return names[below(4)];
    }

    ir::ValueId windows(ir::ValueId source, const ir::Shape& shape) {
        auto attributes = ir::attributes_of(window_for(ir::feature_map(shape), false));
        attributes.emplace_back("reduction", reduction_name());
        return append("word_windows", std::move(attributes), {source});
    }

    ir::ValueId element_wise(ir::ValueId source, const ir::Shape& shape) {
        const char* const unary[] = {"negate 0", "absolute 0", "exp 0", "tanh 0", "logistic 0", "floor 0"};
        const char* const binary[] = {"add 0 1", "multiply 0 1", "subtract 1 0", "maximum 0 1"};
        const std::uint32_t kind = below(9);
        if (kind == 0) return chain({source}, {unary[below(6)]});
        if (kind == 1) return chain({source}, {"constant 0x3f000000", "multiply 0 1", "tanh 2"});
        if (kind == 2) return chain({source, source, constant({})}, {"multiply 0 1", "add 3 2"});
        // Another tensor of this shape, or one that is repeated for it.
        const auto extents = shape.extents();
        std::vector<std::uint32_t> other(extents.begin(), extents.end());
        if (kind < 6) {
            if (kind == 3 && other.size() > 1) {
                other = {other.back()};
            } else {
                for (std::size_t axis = 0; axis < other.size(); ++axis) {
                    if (below(2) == 0) other[axis] = 1;
                }
            }
            const ir::ValueId second = constant(ir::Shape(std::span<const std::uint32_t>(other)));
            if (below(3) > 0) return chain({source, second}, {binary[below(4)]});
            const ir::ValueId third = constant(ir::Shape{extents.back()});
            return chain({source, second, third}, {"multiply 0 1", "add 3 2"});
        }
        std::vector<ir::ValueId> same;
        for (const ir::ValueId value : values_) {
            try {
                const ir::Shape& with = shape_of(value);
                if (with.rank() == shape.rank() && value != source) {
                    bool fits = true;
                    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
                        fits &= with[axis] == shape[axis] || with[axis] == 1;
                    if (fits) same.push_back(value);
                }
            } catch (const ModelError&) {
            }
        }
        if (same.empty()) return chain({source}, {unary[below(6)]});
        return chain({source, same[below(count(same))]}, {binary[below(4)]});
    }

    ir::ValueId reduction(ir::ValueId source, const ir::Shape& shape) {
        std::vector<std::int64_t> axes;
        for (std::size_t axis = 1; axis < shape.rank(); ++axis) {
            if (below(2) == 0) axes.push_back(static_cast<std::int64_t>(axis));
        }
        if (axes.empty()) axes.push_back(static_cast<std::int64_t>(shape.rank()) - 1);
        return append("word_reduce",
                      {{"reduction", reduction_name()},
                       {"axes", axes},
                       {"keep", std::int64_t{below(4) == 0 ? 0 : 1}},
                       {"sum_tile", std::int64_t{lanes_}}},
                      {source});
    }

    ir::ValueId reshape(ir::ValueId source, const ir::Shape& shape) {
        std::vector<std::int64_t> extents{1};
        std::uint64_t left = shape.elements();
        while (left > 1 && extents.size() < 4) {
            std::uint64_t factor = 1 + below(static_cast<std::uint32_t>(std::min<std::uint64_t>(left, 30)));
            while (left % factor != 0) --factor;
            if (extents.size() == 3) factor = left;
            extents.push_back(static_cast<std::int64_t>(factor));
            left /= factor;
        }
        if (left > 1) extents.back() *= static_cast<std::int64_t>(left);
        return append("reshape", {{"shape", extents}}, {source});
    }

    ir::ValueId transpose(ir::ValueId source, const ir::Shape& shape) {
        std::vector<std::int64_t> axes;
        for (std::size_t axis = 0; axis < shape.rank(); ++axis)
            axes.push_back(static_cast<std::int64_t>(axis));
        std::shuffle(axes.begin() + 1, axes.end(), random_);
        return append("transpose", {{"permutation", axes}}, {source});
    }

    ir::ValueId concat(ir::ValueId source, const ir::Shape& shape) {
        const std::size_t axis = 1 + below(static_cast<std::uint32_t>(shape.rank() - 1));
        std::vector<ir::ValueId> inputs{source, source};
        for (const ir::ValueId value : values_) {
            if (shape_of(value).rank() == shape.rank() && value != source) inputs[below(2)] = value;
        }
        if (below(3) == 0) inputs.push_back(constant(shape));
        return append("concat", {{"axis", static_cast<std::int64_t>(axis)}}, std::move(inputs));
    }

    ir::ValueId strided_slice(ir::ValueId source, const ir::Shape& shape) {
        std::vector<std::int64_t> first{0};
        std::vector<std::int64_t> step{1};
        std::vector<std::int64_t> count{1};
        for (std::size_t axis = 1; axis < shape.rank(); ++axis) {
            const std::uint32_t begin = below(shape[axis]);
            const std::uint32_t apart = below(3) == 0 ? 2 : 1;
            first.push_back(begin);
            step.push_back(apart);
            count.push_back(1 + below((shape[axis] - 1 - begin) / apart + 1));
        }
        return append("strided_slice", {{"first", first}, {"step", step}, {"count", count}}, {source});
    }

    ir::ValueId pad(ir::ValueId source, const ir::Shape& shape) {
        std::vector<std::int64_t> before{0};
        std::vector<std::int64_t> after{0};
        for (std::size_t axis = 1; axis < shape.rank(); ++axis) {
            before.push_back(below(3));
            after.push_back(below(3));
        }
        return append("pad", {{"before", before}, {"after", after}, {"value", static_cast<double>(number())}},
                      {source});
    }

    /// Sums of several values, of which later work reads some.
    ir::ValueId all_reduce(ir::ValueId source) {
        std::vector<ir::ValueId> inputs{source};
        while (inputs.size() < 4 && below(2) == 0) inputs.push_back(any());
        const std::uint32_t sums = count(inputs);
        const ir::ValueId first = append("all_reduce", {{"parts", std::int64_t{cores_}}}, std::move(inputs));
        if (below(3) == 0) values_.push_back(first + below(sums));
        return first + below(sums);
    }

    ir::ValueId resize(ir::ValueId source, const ir::Shape& shape) {
        auto extents = extents_of(source);
        if (!is_image(shape)) return chain({source}, {"negate 0"});
        extents[1] *= 1 + below(2);
        extents[2] *= 1 + below(2);
        return append("resize", {{"shape", extents}}, {source});
    }

    std::mt19937& random_;
    std::uint32_t rows_;
    std::uint32_t lanes_;
    std::uint32_t cores_;
    ir::Graph graph_;
    std::vector<ir::ValueId> values_;
};

bool reads_lines(const ir::Graph& graph, const machine::MachineConfig& machine) {
    const tensor_core::Network network = tensor_core::make_network(graph, machine, 1);
    return std::ranges::any_of(network.steps, [](const tensor_core::Step& step) { return step.reads_lines; });
}

enum class Beginning { Any, Image };

void check_networks(std::uint32_t first_seed, std::uint32_t count, Beginning beginning = Beginning::Any,
                    bool with_any_mapping = false) {
    std::uint32_t with_lines = 0;
    std::uint32_t compiled_networks = 0;
    std::uint32_t cut_networks = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + count; ++seed) {
        std::mt19937 random(seed);
        machine::MachineConfig machine = random_core(random);
        mapping::Options options;
        options.batches.batch = 1 + random() % 4;
        options.batches.inferences = 1 + random() % 6;
        draw_cores(random, machine, options.batches);
        RandomWords words(random, machine);
        const ir::Graph graph = beginning == Beginning::Image ? words.draw_from_image() : words.draw();
        with_lines += reads_lines(graph, machine) ? 1 : 0;
        if (ir::mixes_images(graph)) {  // all batches are full
            options.batches.inferences =
                round_up(options.batches.inferences, std::uint64_t{options.batches.batch});
        }
        INFO("seed " << seed << ": " << machine::to_json(machine).dump() << "\nbatch "
                     << options.batches.batch << ", " << options.batches.inferences << " inferences\n"
                     << ir::to_text(graph));
        isa::Program program;
        try {
            if (with_any_mapping) {
                DrawnProgram drawn = random_program(random, graph, machine, options.batches);
                program = std::move(drawn.program);
                cut_networks += drawn.is_cut ? 1 : 0;
            } else {
                program = tensor_core::family.compile(graph, machine, options).program;
            }
        } catch (const ModelError& error) {
            // Vector memory may be too small for a part of a layer.
            INFO(error.what());
            REQUIRE(std::string(error.what()).find("rows of vector memory") != std::string::npos);
            continue;
        }
        ++compiled_networks;
        const WordTensors inputs = random_inputs(random, graph, options.batches.inferences);
        check_bits(program, machine, inputs, expected_outputs(graph, options.batches, inputs));
    }
    CHECK(compiled_networks * 10 >= count * (with_any_mapping ? 5 : 8));
    if (with_any_mapping) CHECK(cut_networks * 3 >= compiled_networks);
    if (beginning == Beginning::Image) CHECK(with_lines * 10 >= count * 6);
}

}  // namespace

TEST_CASE("Compiled networks give the reference's bits on a tensor core, part 1", "[tensor_core][networks]") {
    check_networks(1, tests::random_runs(150));
}
TEST_CASE("Compiled networks give the reference's bits on a tensor core, part 2", "[tensor_core][networks]") {
    check_networks(100000, tests::random_runs(150));
}
TEST_CASE("Windows of lines give the reference's bits on a tensor core", "[tensor_core][networks]") {
    check_networks(200000, tests::random_runs(150), Beginning::Image);
}
TEST_CASE("Any mapping gives the reference's bits on a tensor core", "[tensor_core][networks]") {
    check_networks(300000, tests::random_runs(200), Beginning::Any, true);
    check_networks(400000, tests::random_runs(100), Beginning::Image, true);
}

TEST_CASE("Sums over all cores have the bits of the reference on any number of cores",
          "[tensor_core][networks]") {
    for (const machine::SystemConfig system :
         {machine::SystemConfig{.chips = 1, .cores = 1}, machine::SystemConfig{.chips = 1, .cores = 2},
          machine::SystemConfig{.chips = 2, .cores = 2}, machine::SystemConfig{.chips = 4, .cores = 2}}) {
        const std::uint32_t seed = system.all_cores();
        std::mt19937 random(seed);
        machine::MachineConfig machine = random_core(random);
        machine.system = system;
        machine.vector_memory.rows = 300;
        machine.hbm.bytes *= system.cores;
        CAPTURE(seed);
        ir::Graph graph;
        graph.name = "sums";
        const auto append = [&](const char* op, std::vector<ir::NamedAttribute> attributes,
                                std::vector<ir::ValueId> inputs) {
            return graph.append(op, operators::registry().at(op), std::move(attributes), std::move(inputs),
                                DataType::Float32);
        };
        const ir::ValueId input = graph.add_input("input", {1, 9, 7, 20}, DataType::Float32);
        const std::int64_t parts = machine.cores();
        // Two that go together, of which one has more rows than there is room for, and one behind them.
        const ir::ValueId twice =
            append("word_chain", {{"steps", std::vector<std::string>{"add 0 0"}}}, {input});
        const ir::ValueId both = append("all_reduce", {{"parts", parts}}, {input, twice});
        const ir::ValueId product =
            append("word_chain", {{"steps", std::vector<std::string>{"multiply 0 1"}}}, {both, both + 1});
        graph.outputs = {append("all_reduce", {{"parts", parts}}, {product}), both};
        mapping::Options options;
        options.batches.batch = 3 * machine.cores();
        options.batches.inferences = 2 * options.batches.batch;
        const isa::Program program = tensor_core::family.compile(graph, machine, options).program;
        const auto is_sum = [](const isa::Instruction& each) {
            return std::holds_alternative<isa::Collective>(each);
        };
        CHECK(std::ranges::count_if(program.instructions, is_sum) > 4);
        const WordTensors numbers = random_inputs(random, graph, options.batches.inferences);
        check_bits(program, machine, numbers, expected_outputs(graph, options.batches, numbers));

        const auto error_of = [&](const mapping::Options& wrong,
                                  const machine::MachineConfig& on) -> std::string {
            try {
                static_cast<void>(tensor_core::family.compile(graph, on, wrong));
            } catch (const ModelError& error) {
                return error.what();
            }
            return "none";
        };
        mapping::Options partial = options;
        --partial.batches.inferences;
        CHECK(error_of(partial, machine) ==
              fmt::format("sums: {} inferences are no multiple of the batch of {}; the network sums over the "
                          "images of a batch, and no batch may have fewer",
                          options.batches.inferences - 1, options.batches.batch));
        machine::MachineConfig other = machine;
        other.system = {.chips = 3, .cores = 1};
        options.batches = {.batch = 3, .inferences = 3};
        CHECK(
            error_of(options, other) ==
            fmt::format("sums: layer all_reduce: parts is {}; machine random has 3 cores, and there must be "
                        "one part for each",
                        parts));
    }
}

TEST_CASE("A sum that nobody reads has rows of its own", "[tensor_core][networks]") {
    const ir::Graph graph = tests::graph_of_text(R"(graph "unread"
inputs %0
outputs %4
%0 float32 1x6x5 "x"
%1 float32 1x6x5 "work"
%2 float32 1x6x5 "read"
%3 float32 1x6x5 "unread"
%4 float32 1x6x5 "result"
%1 = word_chain(%0) "work" {steps ["tanh 0"]}
%2, %3 = all_reduce(%1, %0) "sums" {parts 1}
%4 = word_chain(%2) "result" {steps ["negate 0"]}
)");
    std::mt19937 random(1);
    machine::MachineConfig machine = random_core(random);
    mapping::Options options;
    options.batches = {.batch = 2, .inferences = 4};
    const isa::Program program = tensor_core::family.compile(graph, machine, options).program;
    const WordTensors inputs = random_inputs(random, graph, options.batches.inferences);
    check_bits(program, machine, inputs, expected_outputs(graph, options.batches, inputs));
}

TEST_CASE("Element-wise work that needs more values at a time than there are registers is refused",
          "[tensor_core][networks]") {
    // So many numbers, which are taken together at the end.
    const auto error_of = [](int numbers) -> std::string {
        ir::Graph graph;
        graph.name = "wide";
        const ir::ValueId input = graph.add_input("input", {1, 9}, DataType::Float32);
        std::vector<std::string> steps(static_cast<std::size_t>(numbers), "negate 0");
        for (int taken = 0; taken + 2 < numbers; taken += 2) {
            const int before = taken == 0 ? 1 : static_cast<int>(steps.size());
            steps.push_back(fmt::format("select {} {} {}", before, taken + 2, taken + 3));
        }
        graph.outputs = {graph.append("chain", operators::registry().at("word_chain"), {{"steps", steps}},
                                      {input}, DataType::Float32)};
        std::mt19937 random(1);
        try {
            static_cast<void>(tensor_core::family.compile(graph, random_core(random), {}));
        } catch (const ModelError& error) {
            return error.what();
        }
        return "none";
    };
    CHECK(error_of(31) == "none");
    CHECK(error_of(33) ==
          "wide: layer chain: its element-wise work cannot be a chain: it needs 33 values at a time; the "
          "vector unit has 32 registers");
}

TEST_CASE("Random networks meet all that a tensor core computes", "[tensor_core][networks]") {
    std::map<std::string, int> met;
    for (std::uint32_t seed = 1; seed <= 360; ++seed) {
        std::mt19937 random(seed);
        const machine::MachineConfig machine = random_core(random);
        const ir::Graph graph = RandomWords(random, machine).draw();
        const auto readers = ir::readers(graph);
        const auto is_unread = [&](ir::ValueId id) {
            return readers[id].empty() && !ir::is_output(graph, id);
        };
        for (const ir::Node& node : graph.nodes) {
            ++met[std::string(node.op->name())];
            if (node.is("word_chain") && node.inputs.size() > 1) ++met["several inputs"];
            if (node.is("convolution") && node.integer("groups") > 1) ++met["groups"];
            if (node.is("dense") && node.inputs.size() > 2) ++met["dense of several"];
            if (node.is("depthwise_convolution") && node.integer("multiplier") > 1) ++met["multipliers"];
            if (node.is("dense") || node.is("convolution")) ++met[node.text("precision")];
            if (node.is("all_reduce") && node.inputs.size() > 1) ++met["sums together"];
            if (node.is("all_reduce") && std::ranges::any_of(node.outputs, is_unread)) ++met["unread sums"];
        }
        mapping::Options options;
        options.batches = {.batch = 3, .inferences = 6};
        isa::Program program;
        try {
            program = tensor_core::family.compile(graph, machine, options).program;
        } catch (const ModelError&) {
            continue;
        }
        bool moves_lanes = false;
        bool transfers = false;
        std::uint64_t loads = 0;
        for (const isa::Instruction& instruction : program.instructions) {
            moves_lanes |= std::holds_alternative<isa::MoveLanes>(instruction);
            if (const auto* const dma = std::get_if<isa::DmaIn>(&instruction)) transfers |= dma->blocks > 1;
            loads += std::holds_alternative<isa::DmaIn>(instruction) ? 1 : 0;
        }
        met["programs that move lanes"] += moves_lanes ? 1 : 0;
        met["programs that move blocks"] += transfers ? 1 : 0;
        met["programs with many tiles"] += loads > 100 ? 1 : 0;
    }
    const auto often = [&](const std::string& what, int least) {
        INFO(what << ": " << met[what]);
        CHECK(met[what] >= least);
    };
    for (const char* const op :
         {"all_reduce", "concat", "convolution", "dense", "depthwise_convolution", "pad", "reshape", "resize",
          "strided_slice", "transpose", "word_chain", "word_reduce", "word_windows"}) {
        often(op, 20);
    }
    for (const char* const what :
         {"several inputs", "groups", "dense of several", "multipliers", "sums together", "unread sums",
          "default", "high", "highest", "programs that move lanes", "programs that move blocks",
          "programs with many tiles"}) {
        often(what, 5);
    }
}
