// Random graphs in words whose batch is in inner axes, as HLO programs have them, with values of float32,
// bfloat16 and int32: the compiled program gives the bits of the reference.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"
#include "compiler/target/tensor_core/family.h"
#include "compiler/target/tensor_core/network.h"
#include "hw/math/floats/word_values.h"
#include "tests/support/random_runs.h"
#include "tests/support/tensor_networks.h"
#include "tests/support/text_graphs.h"

using namespace systole;
using namespace systole::tests;

namespace {

constexpr std::uint64_t most_elements = 4000;

/// Draws graphs of values [1, ..]: the first axis is the graph's batch, and all others are explicit.
class RandomWordGraph {
public:
    RandomWordGraph(std::mt19937& random, const machine::MachineConfig& machine)
        : random_(random), lanes_(machine.vector_unit.lanes), rows_(machine.matrix_unit.rows) {}

    ir::Graph draw() {
        graph_.name = "random";
        for (std::uint32_t inputs = 1 + below(3); inputs > 0; --inputs) {
            const ir::ValueId input = graph_.add_input("input", shape(), DataType::Float32);
            graph_.values[input].type = type();
            values_.push_back(input);
        }
        const std::size_t nodes = 2 + below(8);
        for (int attempts = 0; graph_.nodes.size() < nodes && attempts < 200; ++attempts) add_node();
        const auto add_output = [&](ir::ValueId id) {
            if (!ir::is_output(graph_, id)) graph_.outputs.push_back(id);
        };
        for (std::uint32_t outputs = 1 + below(3); outputs > 0; --outputs) add_output(any());
        if (graph_.outputs.empty()) add_output(chain({values_.front()}));
        ir::remove_unread(graph_);
        return std::move(graph_);
    }

    /// The same with state, of which each core has its own; some nodes sum over all cores.
    ir::Graph draw_with_state(std::uint32_t cores) {
        graph_.name = "random";
        graph_.replicas = cores;
        for (std::uint32_t inputs = 1 + below(4); inputs > 0; --inputs) {
            // Some have the same shape and type, so that one can take the place of another.
            const bool is_alike = !values_.empty() && below(3) == 0;
            const ir::Shape of = is_alike ? shape_of(values_.back()) : shape();
            const DataType as = is_alike ? type_of(values_.back()) : type();
            values_.push_back(graph_.add_input("input", of, DataType::Float32));
            graph_.values[values_.back()].type = as;
        }
        const std::size_t nodes = 1 + below(6);
        for (int attempts = 0; graph_.nodes.size() < nodes && attempts < 200; ++attempts) add_node();
        const std::size_t always = below(static_cast<std::uint32_t>(graph_.inputs.size()));
        const bool all = below(4) == 0;
        if (!all || below(2) == 0) graph_.outputs.push_back(any());
        for (std::uint32_t input = 0; input < graph_.inputs.size(); ++input) {
            if (!all && input != always && below(2) == 0) continue;
            graph_.state.push_back(
                {.input = input, .output = static_cast<std::uint32_t>(graph_.outputs.size())});
            graph_.outputs.push_back(next_of(graph_.inputs[input], cores));
        }
        ir::remove_unread(graph_);
        return std::move(graph_);
    }

private:
    /// What replaces an input: itself, another value, or what a node computes from it.
    ir::ValueId next_of(ir::ValueId input, std::uint32_t cores) {
        std::vector<ir::ValueId> alike;
        for (const ir::ValueId value : values_) {
            if (shape_of(value) == shape_of(input) && type_of(value) == type_of(input))
                alike.push_back(value);
        }
        const ir::ValueId other = alike[below(static_cast<std::uint32_t>(alike.size()))];
        if (below(8) == 0) return input;
        if (below(3) == 0) return other;
        const DataType type = type_of(input);
        if (type == DataType::Int32) {
            return append("word_chain", {{"steps", std::vector<std::string>{"add_int 0 1", "xor 2 0"}}},
                          {input, other}, type);
        }
        ir::ValueId added = other;
        if (cores > 1 && type == DataType::Float32 && below(2) == 0) {
            added = graph_.append("sum", operators::registry().at("all_reduce"),
                                  {{"parts", std::int64_t{cores}}}, {other}, DataType::Float32);
        }
        const std::vector<std::string> steps{"constant 0x3f400000", "multiply 0 2", "subtract 3 1"};
        return append("word_chain", {{"steps", steps}}, {input, added}, type);
    }

    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
    ir::ValueId any() {
        if (below(2) == 0) return values_.back();
        return values_[below(static_cast<std::uint32_t>(values_.size()))];
    }
    DataType type() {
        constexpr std::array types{DataType::Float32, DataType::Float32, DataType::Bfloat16, DataType::Int32};
        return types.at(below(4));
    }
    DataType float_type() { return below(3) == 0 ? DataType::Bfloat16 : DataType::Float32; }
    const ir::Shape& shape_of(ir::ValueId id) const { return graph_.values[id].shape; }
    DataType type_of(ir::ValueId id) const { return graph_.values[id].type; }
    bool is_float(ir::ValueId id) const { return type_of(id) != DataType::Int32; }

    ir::Shape shape() {
        std::vector<std::uint32_t> extents{1};
        if (below(12) == 0) return {1, 1 + below(2), 1 + below(3), 1 + below(4), 1 + below(4), 1 + below(5)};
        if (below(2) == 0) return {1, 1 + below(3), 1 + below(7), 1 + below(7), 1 + below(9)};
        for (std::uint32_t rank = 1 + below(4); rank > 0; --rank) extents.push_back(1 + below(7));
        if (below(3) == 0) extents.back() = 1 + below(40);
        return ir::Shape(std::span<const std::uint32_t>(extents));
    }

    ir::ValueId constant(const ir::Shape& of, DataType type) {
        std::vector<std::uint32_t> words(of.elements());
        for (std::uint32_t& word : words) {
            word = static_cast<std::uint32_t>(below(61)) - 30;
            if (type == DataType::Int32) continue;
            word = std::bit_cast<std::uint32_t>(std::uniform_real_distribution<float>(-2.0F, 2.0F)(random_));
        }
        if (type == DataType::Bfloat16) {
            std::vector<std::uint16_t> halves(words.size());
            math::from_words(words, type, halves.data());
            return graph_.add_constant("constant", of, type, std::move(halves));
        }
        if (type == DataType::Float32) {
            std::vector<float> floats(words.size());
            math::from_words(words, type, floats.data());
            return graph_.add_constant("constant", of, type, std::move(floats));
        }
        std::vector<std::int32_t> numbers(words.begin(), words.end());
        return graph_.add_constant("constant", of, type, std::move(numbers));
    }

    ir::ValueId append(const std::string& op, std::vector<ir::NamedAttribute> attributes,
                       std::vector<ir::ValueId> inputs, DataType type) {
        const auto data = static_cast<std::uint32_t>(inputs.size());
        return graph_.append(op + std::to_string(graph_.nodes.size()), operators::registry().at(op),
                             std::move(attributes), std::move(inputs), DataType::Float32, {{.type = type}},
                             data);
    }

    void add_node() {
        const ir::ValueId source = any();
        try {
            const ir::ValueId made = node(source);
            if (shape_of(made).elements() > most_elements) return;
            values_.push_back(made);
        } catch (const ModelError&) {
            // Another one.
        }
    }

    ir::ValueId node(ir::ValueId source) {
        if (is_float(source) && shape_of(source).rank() >= 4 && below(2) == 0) {
            const std::uint32_t kind = below(6);
            if (kind < 3) return convolution(source);
            return kind == 3 ? windows(source) : select_and_scatter(source);
        }
        switch (below(9)) {
            case 0:
            case 1:
            case 2:
                return broadcast(source);
            case 3:
                return reduction(source);
            case 4:
                return movement(source);
            case 5:
                return chain({source});
            case 6:
                return with_number(source);
            default:
                return movement(source);
        }
    }

    /// Element-wise work on values of one shape, or broadcast.
    ir::ValueId chain(std::vector<ir::ValueId> inputs) {
        const bool floats = std::ranges::all_of(inputs, [&](ir::ValueId id) { return is_float(id); });
        std::vector<std::string> steps;
        std::vector<std::size_t> numbers;  // the inputs as floats
        const auto next = [&] { return inputs.size() + steps.size() - 1; };
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (is_float(inputs[i]) == floats) {
                numbers.push_back(i);
                continue;
            }
            steps.push_back(fmt::format("float_to_int {}", i));
            numbers.push_back(next());
        }
        const char* const of_floats[] = {"add", "multiply", "subtract", "maximum", "minimum", "less"};
        const char* const of_ints[] = {"add_int",     "multiply_int", "subtract_int",
                                       "maximum_int", "xor",          "less_int"};
        std::size_t last = numbers.front();
        bool is_truth = false;
        for (std::size_t i = 1; i < numbers.size(); ++i) {
            const std::uint32_t operation = below(i + 1 < numbers.size() ? 5 : 6);
            steps.push_back(
                fmt::format("{} {} {}", (floats ? of_floats : of_ints)[operation], last, numbers[i]));
            last = next();
            is_truth = operation == 5;
        }
        if (steps.empty()) {
            steps.push_back(fmt::format("{} {}", floats ? "negate" : "leading_zeros", last));
            last = next();
        }
        if (!floats || is_truth) {
            if (below(2) == 0)
                return append("word_chain", {{"steps", steps}}, std::move(inputs), DataType::Int32);
            steps.push_back(fmt::format("int_to_float {}", last));
            last = next();
        }
        const DataType result = float_type();
        if (result == DataType::Bfloat16 && below(2) == 0)
            steps.push_back(fmt::format("round_to_bfloat16 {}", last));
        return append("word_chain", {{"steps", steps}}, std::move(inputs), result);
    }

    /// Another value, or a constant, that is repeated for this one or has its shape.
    ir::ValueId broadcast(ir::ValueId source) {
        const ir::Shape of = shape_of(source);
        std::vector<ir::ValueId> inputs{source};
        for (const ir::ValueId value : values_) {
            if (value == source || inputs.size() > 2 || below(2) == 0) continue;
            bool fits = shape_of(value).rank() == of.rank();
            for (std::size_t axis = 0; fits && axis < of.rank(); ++axis)
                fits = shape_of(value)[axis] == of[axis] || shape_of(value)[axis] == 1;
            if (fits) inputs.push_back(value);
        }
        if (inputs.size() == 1 || below(3) == 0) {
            std::vector<std::uint32_t> extents(of.extents().begin(), of.extents().end());
            for (std::uint32_t& extent : extents) {
                if (below(2) == 0) extent = 1;
            }
            if (below(4) == 0) extents.erase(extents.begin());
            inputs.push_back(constant(ir::Shape(std::span<const std::uint32_t>(extents)), type()));
        }
        std::shuffle(inputs.begin(), inputs.end(), random_);
        return chain(std::move(inputs));
    }

    /// Work with a single number that a node computes.
    ir::ValueId with_number(ir::ValueId source) {
        ir::ValueId from = any();
        if (below(5) == 0) from = chain({constant({1, 1 + below(9)}, DataType::Float32)});
        if (!is_float(from))
            from = append("word_chain", {{"steps", std::vector<std::string>{"int_to_float 0"}}}, {from},
                          DataType::Float32);
        ir::ValueId number = reduced(from, {}, float_type());
        if (below(2) == 0) number = chain({number});
        const std::vector<std::int64_t> ones(shape_of(source).rank(), 1);
        number = append("reshape", {{"shape", ones}}, {number}, type_of(number));
        values_.push_back(number);
        std::vector<ir::ValueId> inputs{source, number};
        if (below(3) == 0) inputs.push_back(constant({shape_of(source).extents().back()}, DataType::Float32));
        std::shuffle(inputs.begin(), inputs.end(), random_);
        return chain(std::move(inputs));
    }

    ir::ValueId reduced(ir::ValueId source, std::vector<std::int64_t> axes, DataType result) {
        const char* const names[] = {"sum", "product", "maximum", "minimum"};
        if (axes.empty()) {
            for (std::size_t axis = 0; axis < shape_of(source).rank(); ++axis)
                axes.push_back(static_cast<std::int64_t>(axis));
            axes.erase(axes.begin());
        }
        return append("word_reduce",
                      {{"reduction", std::string(names[below(4)])},
                       {"axes", std::move(axes)},
                       {"keep", std::int64_t{below(4) == 0 ? 0 : 1}},
                       {"sum_tile", std::int64_t{lanes_}}},
                      {source}, result);
    }

    ir::ValueId reduction(ir::ValueId source) {
        if (!is_float(source)) return chain({source});
        std::vector<std::int64_t> axes;
        for (std::size_t axis = 1; axis < shape_of(source).rank(); ++axis) {
            if (below(2) == 0) axes.push_back(static_cast<std::int64_t>(axis));
        }
        return reduced(source, std::move(axes), float_type());
    }

    /// A window over an image with zeros between its pixels. The pads may be larger than the kernel.
    ir::Window window_over(std::uint32_t height, std::uint32_t width, bool may_be_outside) {
        ir::Window window;
        const auto draw = [&](std::uint32_t extent, std::uint32_t& kernel, std::uint32_t& dilation) {
            kernel = 1 + below(std::min(4U, extent));
            if (below(4) == 0 && (kernel - 1) * 2 + 1 <= extent) dilation = 2;
        };
        draw(height, window.kernel_height, window.dilation_y);
        draw(width, window.kernel_width, window.dilation_x);
        window.stride_y = 1 + below(3);
        window.stride_x = 1 + below(3);
        if (below(2) == 0) {
            const std::uint32_t beyond = may_be_outside ? 2 : 0;
            window.pad_top = below(window.kernel_height + beyond);
            window.pad_bottom = below(window.kernel_height + beyond);
            window.pad_left = below(window.kernel_width + beyond);
            window.pad_right = below(window.kernel_width + beyond);
        }
        return window;
    }

    ir::ValueId convolution(ir::ValueId source) {
        const ir::Shape of = shape_of(source);
        const std::size_t rank = of.rank();
        const std::uint32_t channels = of[rank - 1];
        const std::uint32_t spread_y = spread_of(of[rank - 3]);
        const std::uint32_t spread_x = spread_of(of[rank - 2]);
        ir::Window window =
            window_over((of[rank - 3] - 1) * spread_y + 1, (of[rank - 2] - 1) * spread_x + 1, true);
        if (below(5) == 0) window = {};
        std::uint32_t groups = 1;
        if (below(4) == 0 && channels % 2 == 0) groups = 2;
        if (below(8) == 0) groups = channels;
        const std::uint32_t filters = groups * (1 + below(groups > 1 ? 4 : 12));
        std::vector<std::uint32_t> extents{window.kernel_height, window.kernel_width, channels / groups,
                                           filters};
        // Another kernel for each set of images, or one for all; or several for one set.
        if (rank > 4) extents.insert(extents.begin(), of[0]);
        if (rank > 5) extents.insert(extents.begin() + 1, below(2) == 0 ? of[1] : 1);
        if (rank == 5 && below(6) == 0) extents.insert(extents.begin(), 1);
        const ir::Shape kernel_shape{std::span<const std::uint32_t>(extents)};
        if (kernel_shape.elements() > most_elements) return chain({source});
        ir::ValueId kernel = constant(kernel_shape, float_type());
        if (below(2) == 0) {
            if (rank == 4) extents.insert(extents.begin(), 1);
            kernel = elements_of(any(), extents).value_or(kernel);
        }
        auto attributes = ir::attributes_of(window);
        attributes.emplace_back("groups", std::int64_t{groups});
        attributes.emplace_back("spread_y", std::int64_t{spread_y});
        attributes.emplace_back("spread_x", std::int64_t{spread_x});
        attributes.emplace_back("sum_tile", std::int64_t{rows_});
        const char* const names[] = {"default", "default", "high", "highest"};
        attributes.emplace_back("precision", std::string(names[below(4)]));
        const ir::ValueId made =
            append("word_convolution", std::move(attributes), {source, kernel}, DataType::Float32);
        return followed(made);
    }

    /// Zeros between pixels; there may be very many where the image has one pixel.
    std::uint32_t spread_of(std::uint32_t pixels) {
        if (below(3) > 0) return 1;
        return pixels == 1 && below(2) == 0 ? 1U << (20 + below(12)) : 1 + below(3);
    }

    /// As many elements of a value as a shape has, where there are so many.
    std::optional<ir::ValueId> elements_of(ir::ValueId from, const std::vector<std::uint32_t>& extents) {
        const DataType type = type_of(from);
        const ir::Shape wanted{std::span<const std::uint32_t>(extents)};
        if (!is_float(from) || shape_of(from).elements() < wanted.elements()) return std::nullopt;
        const std::vector<std::int64_t> flat{1, static_cast<std::int64_t>(shape_of(from).elements())};
        const ir::ValueId all = append("reshape", {{"shape", flat}}, {from}, type);
        const ir::ValueId some =
            append("strided_slice",
                   {{"first", std::vector<std::int64_t>{0, 0}},
                    {"step", std::vector<std::int64_t>{1, 1}},
                    {"count", std::vector<std::int64_t>{1, static_cast<std::int64_t>(wanted.elements())}}},
                   {all}, type);
        return append("reshape", {{"shape", std::vector<std::int64_t>(extents.begin(), extents.end())}},
                      {some}, type);
    }

    /// Work on images with a row, a column or elements that are computed or constants.
    ir::ValueId followed(ir::ValueId made) {
        if (below(3) == 0) return made;
        std::vector<std::uint32_t> extents(shape_of(made).rank(), 1);
        const std::uint32_t kind = below(6);
        if (kind < 4) extents.back() = shape_of(made).extents().back();
        if (kind == 4) extents.assign(shape_of(made).extents().begin(), shape_of(made).extents().end());
        ir::ValueId other = constant(ir::Shape(std::span<const std::uint32_t>(extents)), float_type());
        if (below(3) > 0) other = elements_of(values_.front(), extents).value_or(other);
        return chain({made, other});
    }

    ir::ValueId windows(ir::ValueId source) {
        const ir::Shape of = shape_of(source);
        auto attributes = ir::attributes_of(window_over(of[of.rank() - 3], of[of.rank() - 2], false));
        const char* const names[] = {"sum", "product", "maximum", "minimum"};
        attributes.emplace_back("reduction", std::string(names[below(4)]));
        return followed(append("word_windows", std::move(attributes), {source}, float_type()));
    }

    ir::ValueId select_and_scatter(ir::ValueId source) {
        const ir::Shape of = shape_of(source);
        const std::size_t rank = of.rank();
        const ir::FeatureMap image{of[rank - 3], of[rank - 2], of[rank - 1]};
        const ir::Window window = window_over(image.height, image.width, false);
        const ir::FeatureMap map = ir::window_output(image, window, image.channels);
        std::vector<std::uint32_t> extents(of.extents().begin(), of.extents().end());
        extents[rank - 3] = map.height;
        extents[rank - 2] = map.width;
        if (below(4) == 0) extents[rank - 4] = 1;
        const ir::Shape windows{std::span<const std::uint32_t>(extents)};
        ir::ValueId numbers = constant(windows, float_type());
        // Many equal elements.
        if (below(3) == 0)
            source = append("word_chain", {{"steps", std::vector<std::string>{"floor 0"}}}, {source},
                            type_of(source));
        if (below(2) == 0 && extents[rank - 4] == of[rank - 4]) {
            auto pool = ir::attributes_of(window);
            pool.emplace_back("reduction", std::string("maximum"));
            numbers = chain({append("word_windows", std::move(pool), {source}, type_of(source)), numbers});
            if (!is_float(numbers)) return numbers;
        }
        auto attributes = ir::attributes_of(window);
        attributes.emplace_back("select", std::string(below(2) == 0 ? "greatest" : "least"));
        return followed(
            append("word_select_and_scatter", std::move(attributes), {source, numbers}, float_type()));
    }

    ir::ValueId movement(ir::ValueId source) {
        const ir::Shape of = shape_of(source);
        if (of.rank() < 2) return chain({source});
        const DataType type = type_of(source);
        std::vector<std::int64_t> extents(of.extents().begin(), of.extents().end());
        switch (below(6)) {
            case 0: {
                std::vector<std::int64_t> axes(of.rank());
                for (std::size_t axis = 0; axis < of.rank(); ++axis)
                    axes[axis] = static_cast<std::int64_t>(axis);
                std::shuffle(axes.begin() + 1, axes.end(), random_);
                return append("transpose", {{"permutation", axes}}, {source}, type);
            }
            case 1: {
                const std::size_t axis = 1 + below(static_cast<std::uint32_t>(of.rank() - 1));
                std::vector<ir::ValueId> inputs{source, below(2) == 0 ? source : constant(of, type)};
                std::shuffle(inputs.begin(), inputs.end(), random_);
                return append("concat", {{"axis", static_cast<std::int64_t>(axis)}}, std::move(inputs), type);
            }
            case 2: {
                std::vector<std::int64_t> before{0};
                std::vector<std::int64_t> after{0};
                for (std::size_t axis = 1; axis < of.rank(); ++axis) {
                    before.push_back(below(3));
                    after.push_back(below(3));
                }
                const double value =
                    type == DataType::Int32 ? static_cast<double>(below(90)) - 30 : 0.3 * below(20);
                return append("pad", {{"before", before}, {"after", after}, {"value", value}}, {source},
                              type);
            }
            case 3: {
                std::vector<std::int64_t> first{0};
                std::vector<std::int64_t> step{1};
                std::vector<std::int64_t> count{1};
                for (std::size_t axis = 1; axis < of.rank(); ++axis) {
                    const std::uint32_t apart = 1 + below(2);
                    const std::uint32_t begin = below(of[axis]);
                    const bool is_backwards = below(3) == 0;
                    const std::uint32_t room = is_backwards ? begin : of[axis] - 1 - begin;
                    first.push_back(begin);
                    step.push_back(is_backwards ? -static_cast<std::int64_t>(apart) : apart);
                    count.push_back(1 + below(room / apart + 1));
                }
                return append("strided_slice", {{"first", first}, {"step", step}, {"count", count}}, {source},
                              type);
            }
            case 4: {
                // Axes in the middle are repeated.
                const std::size_t axis = 1 + below(static_cast<std::uint32_t>(of.rank()));
                extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(axis), 1);
                if (extents.size() > 5) return chain({source});
                const ir::ValueId more = append("reshape", {{"shape", extents}}, {source}, type);
                extents[axis] = 2 + below(3);
                return append("expand", {{"shape", extents}}, {more}, type);
            }
            default: {
                // Two axes become one, or the other way round.
                const std::size_t axis = 1 + below(static_cast<std::uint32_t>(of.rank() - 1));
                if (axis + 1 < of.rank()) {
                    extents[axis] *= extents[axis + 1];
                    extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
                } else {
                    extents.insert(extents.begin() + 1, 1);
                }
                return append("reshape", {{"shape", extents}}, {source}, type);
            }
        }
    }

    std::mt19937& random_;
    std::uint32_t lanes_;
    std::uint32_t rows_;
    ir::Graph graph_;
    std::vector<ir::ValueId> values_;
};

void check_word_graphs(std::uint32_t first_seed, std::uint32_t count, bool with_any_mapping) {
    std::uint32_t compiled = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + count; ++seed) {
        std::mt19937 random(seed);
        machine::MachineConfig machine = random_core(random);
        mapping::Options options;
        options.batches.batch = 1 + static_cast<std::uint32_t>(random() % 3);
        options.batches.inferences = 1 + random() % 4;
        draw_cores(random, machine, options.batches);
        const ir::Graph graph = RandomWordGraph(random, machine).draw();
        INFO("seed " << seed << ": " << machine::to_json(machine).dump() << "\nbatch "
                     << options.batches.batch << ", " << options.batches.inferences << " inferences\n"
                     << ir::to_text(graph));
        isa::Program program;
        try {
            program = with_any_mapping ? random_program(random, graph, machine, options.batches).program
                                       : tensor_core::family.compile(graph, machine, options).program;
        } catch (const ModelError& error) {
            INFO(error.what());
            REQUIRE(std::string(error.what()).find("rows of vector memory") != std::string::npos);
            continue;
        }
        ++compiled;
        const WordTensors inputs = random_inputs(random, graph, options.batches.inferences);
        check_bits(program, machine, inputs, expected_outputs(graph, options.batches, inputs), seed % 4 == 0);
    }
    CHECK(compiled * 10 >= count * 8);
}

}  // namespace

TEST_CASE("Graphs in words with inner batches give the reference's bits", "[tensor_core][word_graphs]") {
    check_word_graphs(1, tests::random_runs(400), false);
}
TEST_CASE("Graphs in words give the reference's bits with any mapping", "[tensor_core][word_graphs]") {
    check_word_graphs(100000, tests::random_runs(400), true);
}

namespace {

/// A machine as random_core, on which a graph with state has a replica on each core.
machine::MachineConfig random_cores(std::mt19937& random) {
    machine::MachineConfig machine = random_core(random);
    mapping::Batches ignored;
    draw_cores(random, machine, ignored);
    return machine;
}

void check_steps(std::uint32_t first_seed, std::uint32_t count, bool with_any_mapping) {
    std::uint32_t compiled = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + count; ++seed) {
        std::mt19937 random(seed);
        const machine::MachineConfig machine = random_cores(random);
        const std::uint64_t steps = 1 + random() % 4;
        mapping::Options options;
        options.batches = {.batch = machine.cores(), .inferences = steps * machine.cores()};
        const ir::Graph graph = RandomWordGraph(random, machine).draw_with_state(machine.cores());
        INFO("seed " << seed << ": " << machine::to_json(machine).dump() << "\n"
                     << steps << " steps\n"
                     << ir::to_text(graph));
        isa::Program program;
        try {
            program = with_any_mapping ? random_program(random, graph, machine, options.batches).program
                                       : tensor_core::family.compile(graph, machine, options).program;
        } catch (const ModelError& error) {
            INFO(error.what());
            REQUIRE(std::string(error.what()).find("rows of vector memory") != std::string::npos);
            continue;
        }
        ++compiled;
        const WordTensors inputs = random_inputs(random, graph, options.batches.inferences);
        const WordTensors expected = expected_of_steps(graph, steps, inputs);
        const std::string wrong = difference(without_time(program, machine, inputs), expected);
        if (!wrong.empty()) FAIL("without time: " << wrong << "\n" << isa::disassemble(program));
        if (seed % 4 != 0) continue;
        Cycle of_wavefront = 0;
        Cycle of_pe = 0;
        CHECK(difference(on_units(program, machine, machine::Engine::Wavefront, inputs, &of_wavefront),
                         expected)
                  .empty());
        CHECK(difference(on_units(program, machine, machine::Engine::Pe, inputs, &of_pe), expected).empty());
        CHECK(of_wavefront == of_pe);
    }
    CHECK(compiled > count * 3 / 4);
}

/// Transfers between the host and high-bandwidth memory that touch a buffer.
std::size_t transfers_of(const isa::Program& program, const std::string& buffer_name) {
    const isa::HostBuffer& buffer = *std::ranges::find(program.buffers, buffer_name, &isa::HostBuffer::name);
    const auto is_inside = [&](std::uint64_t address) {
        return address >= buffer.address && address < buffer.address + buffer.bytes;
    };
    return static_cast<std::size_t>(
        std::ranges::count_if(program.instructions, [&](const isa::Instruction& instruction) {
            const auto* const in = std::get_if<isa::Infeed>(&instruction);
            const auto* const out = std::get_if<isa::Outfeed>(&instruction);
            return (in != nullptr && is_inside(in->host_address)) ||
                   (out != nullptr && is_inside(out->host_address));
        }));
}

}  // namespace

TEST_CASE("Graphs with state give the reference's bits, step by step", "[tensor_core][word_graphs]") {
    check_steps(1, tests::random_runs(300), false);
}
TEST_CASE("Graphs with state give the reference's bits with any mapping", "[tensor_core][word_graphs]") {
    check_steps(100000, tests::random_runs(300), true);
}

TEST_CASE("Random graphs with state meet each way in which an output is made", "[tensor_core][word_graphs]") {
    std::map<std::string, int> met;
    for (std::uint32_t seed = 1; seed <= 300; ++seed) {
        std::mt19937 random(seed);
        const machine::MachineConfig machine = random_cores(random);
        const ir::Graph graph = RandomWordGraph(random, machine).draw_with_state(machine.cores());
        if (graph.state.size() == graph.inputs.size()) ++met["state alone goes in"];
        if (graph.state.size() == graph.outputs.size()) ++met["state alone comes out"];
        if (ir::mixes_images(graph)) ++met["sums over cores"];
        for (const ir::Graph::State& state : graph.state) {
            const ir::ValueId output = graph.outputs[state.output];
            if (output == graph.inputs[state.input]) {
                ++met["it stays"];
            } else if (ir::is_input(graph, output)) {
                ++met["it is another input"];
            } else if (std::ranges::count(graph.outputs, output) > 1) {
                ++met["it is an output twice"];
            } else {
                ++met["it is computed"];
            }
        }
    }
    for (const char* const what :
         {"state alone goes in", "state alone comes out", "sums over cores", "it stays",
          "it is another input", "it is an output twice", "it is computed"}) {
        INFO(what);
        CHECK(met[what] > 5);
    }
}

TEST_CASE("State goes in before the first step and comes out after the last", "[tensor_core][word_graphs]") {
    const ir::Graph graph = tests::graph_of_text(R"(graph "step"
inputs %0, %1
outputs %2, %3
state %1 -> %3
%0 float32 1x3x5 "x"
%1 float32 1x3x5 "sum"
%2 float32 1x3x5 "double"
%3 float32 1x3x5 "next"
%2 = word_chain(%0) "double" {steps ["add 0 0"]}
%3 = word_chain(%0, %1) "next" {steps ["add 0 1"]}
)");
    std::mt19937 random(1);
    const machine::MachineConfig machine = random_core(random);
    constexpr std::uint64_t number = 60;
    for (const std::uint64_t steps : {1U, 2U, 5U}) {
        mapping::Options options;
        options.batches.inferences = steps;
        const isa::Program program = tensor_core::family.compile(graph, machine, options).program;
        CHECK(program.state == std::vector<isa::StateTensors>{{.input = 1, .output = 1}});
        CHECK(program.buffers[0].bytes == steps * number);
        CHECK(program.buffers[1].bytes == number);
        CHECK(program.buffers[2].bytes == steps * number);
        CHECK(program.buffers[3].bytes == number);
        CHECK(transfers_of(program, "input.x") == steps);
        CHECK(transfers_of(program, "input.sum") == 1);
        CHECK(transfers_of(program, "output.double") == steps);
        CHECK(transfers_of(program, "output.next") == 1);
    }
}

TEST_CASE("State of any kind is kept for any number of steps", "[tensor_core][word_graphs]") {
    const std::string two = "%0 float32 1x2x3 \"a\"\n%1 float32 1x2x3 \"b\"\n";
    const std::string three = two + "%2 float32 1x2x3 \"x\"\n";
    const std::string product =
        "%3 float32 1x2x3 \"p\"\n%3 = word_chain(%0, %2) \"p\" {steps [\"multiply 0 1\"]}\n";
    // The first two outputs replace the first two inputs.
    const std::vector<std::pair<std::string, std::string>> cases{
        {"the two change places", "inputs %0, %1\noutputs %1, %0\n" + two},
        {"one stays, and replaces the other", "inputs %0, %1\noutputs %0, %0\n" + two},
        {"an input is kept for the next steps", "inputs %0, %1, %2\noutputs %2, %0\n" + three},
        {"a value replaces both and is an output",
         "inputs %0, %1, %2\noutputs %3, %3, %3\n" + three + product}};
    for (const auto& [name, text] : cases) {
        ir::Graph graph = tests::graph_of_text("graph \"g\"\n" + text);
        graph.state = {{.input = 0, .output = 0}, {.input = 1, .output = 1}};
        for (const std::uint64_t steps : {1U, 2U, 3U, 4U}) {
            INFO(name << ", " << steps << " steps");
            std::mt19937 random(7);
            const machine::MachineConfig machine = random_core(random);
            mapping::Options options;
            options.batches.inferences = steps;
            const isa::Program program = tensor_core::family.compile(graph, machine, options).program;
            const WordTensors inputs = random_inputs(random, graph, steps);
            check_bits(program, machine, inputs, expected_of_steps(graph, steps, inputs));
        }
    }
}

TEST_CASE("A step has an inference for each replica, on a core of its own", "[tensor_core][word_graphs]") {
    const std::string values =
        "%0 float32 1x2 \"x\"\n%1 float32 1x2 \"y\"\n%1 = word_chain(%0) \"y\" {steps [\"add 0 0\"]}\n";
    std::mt19937 random(1);
    machine::MachineConfig machine = random_core(random);
    machine.name = "m";
    const auto error_of = [&](const ir::Graph& graph, const mapping::Batches& batches) -> std::string {
        mapping::Options options;
        options.batches = batches;
        try {
            tensor_core::family.compile(graph, machine, options);
        } catch (const ModelError& error) {
            return error.what();
        }
        return "none";
    };
    const std::string has_two = "graph \"g\"\nreplicas 2\ninputs %0\noutputs %1\n";
    for (const std::string state : {"", "state %0 -> %1\n"}) {
        const ir::Graph graph = tests::graph_of_text(has_two + state + values);
        const std::string has = state.empty() ? "2 replicas" : "state";
        machine.system = {};
        CHECK(error_of(graph, {.batch = 2, .inferences = 2}) ==
              "g: it is a program for 2 devices; machine m has 1 core, and there must be as many");
        machine.system = {.chips = 1, .cores = 2};
        for (const std::uint32_t batch : {1U, 4U}) {
            CHECK(error_of(graph, {.batch = batch, .inferences = 4}) ==
                  "g: batch is " + std::to_string(batch) + "; it has " + has +
                      ", and a step has an inference for each replica: 2");
        }
        for (const std::uint64_t inferences : {1U, 5U}) {
            CHECK(error_of(graph, {.batch = 2, .inferences = inferences}) ==
                  "g: " + std::to_string(inferences) +
                      " inferences are no whole steps; a step has 2, one for each replica");
        }
        CHECK(error_of(graph, {.batch = 2, .inferences = 6}) == "none");
    }
    const ir::Graph one =
        tests::graph_of_text("graph \"g\"\ninputs %0\noutputs %1\nstate %0 -> %1\n" + values);
    CHECK(error_of(one, {.batch = 2, .inferences = 2}) ==
          "g: it is a program for 1 device; machine m has 2 cores, and there must be as many");
    machine.system = {};
    CHECK(error_of(one, {.batch = 2, .inferences = 2}) ==
          "g: batch is 2; it has state, and a step has an inference for each replica: 1");
}

TEST_CASE("Random graphs in words meet all that a tensor core computes of them",
          "[tensor_core][word_graphs]") {
    std::map<std::string, int> met;
    for (std::uint32_t seed = 1; seed <= 600; ++seed) {
        std::mt19937 random(seed);
        const machine::MachineConfig machine = random_core(random);
        const ir::Graph graph = RandomWordGraph(random, machine).draw();
        for (const ir::Value& value : graph.values) ++met[std::string(name_of(value.type))];
        for (const ir::Node& node : graph.nodes) {
            ++met[std::string(node.op->name())];
            if (!node.is("word_convolution")) continue;
            const ir::Value& data = graph.values[node.inputs[0]];
            const ir::Value& kernel = graph.values[node.inputs[1]];
            if (!kernel.constant) ++met["computed kernels"];
            if (data.shape[data.shape.rank() - 4] > 1) ++met["several images"];
            if (data.shape.rank() > 5) ++met["sets of images"];
            if (node.integer("groups") > 1) ++met[kernel.constant ? "groups" : "groups of computed kernels"];
            if (node.integer("spread_y") > 1 || node.integer("spread_x") > 1) ++met["spread"];
            if (std::max(node.integer("spread_y"), node.integer("spread_x")) > 3) ++met["spread without end"];
        }
        const tensor_core::Network network = tensor_core::make_network(graph, machine, 1);
        for (const tensor_core::Step& step : network.steps) {
            // Images and kernels go elsewhere as boxes of rows, whose number does not grow with them.
            CHECK(step.kind != tensor_core::StepKind::Move);
            if (step.inner_images > 1) ++met["inner images"];
            if (step.inner_images > 1 && !step.chains.empty()) ++met["chains behind inner images"];
            for (const tensor_core::ChainUse& chain : step.chains) {
                for (const tensor_core::Operand& operand : chain.operands) {
                    if (operand.kind == tensor_core::OperandKind::Number) ++met["numbers"];
                    if (operand.kind == tensor_core::OperandKind::ImageRow) ++met["rows of images"];
                    if (operand.kind == tensor_core::OperandKind::ImageRow && step.inner_images > 1)
                        ++met["rows behind inner images"];
                }
            }
        }
    }
    for (const char* const what : {"bfloat16",
                                   "int32",
                                   "concat",
                                   "expand",
                                   "pad",
                                   "reshape",
                                   "strided_slice",
                                   "transpose",
                                   "word_chain",
                                   "word_convolution",
                                   "word_reduce",
                                   "word_select_and_scatter",
                                   "word_windows",
                                   "several images",
                                   "sets of images",
                                   "computed kernels",
                                   "groups",
                                   "groups of computed kernels",
                                   "spread",
                                   "spread without end",
                                   "inner images",
                                   "chains behind inner images",
                                   "numbers",
                                   "rows of images",
                                   "rows behind inner images"}) {
        INFO(what << ": " << met[what]);
        CHECK(met[what] >= 5);
    }
}

TEST_CASE("Windows select NaN, the first of equal elements and zeros of any sign as the reference does",
          "[tensor_core][word_graphs]") {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        const std::string select = seed % 2 == 0 ? "" : ", select \"least\"";
        const ir::Graph graph = tests::graph_of_text(fmt::format(R"(graph "selected"
inputs %0, %1
outputs %2
%0 float32 1x3x6x7x5 "image"
%1 float32 1x3x3x4x5 "numbers"
%2 float32 1x3x6x7x5 "sums"
%2 = word_select_and_scatter(%0, %1) "sums" {{kernel [3, 3], stride [2, 2], padding [1, 1, 0, 1]{}}}
)",
                                                                 select));
        std::mt19937 random(seed);
        const machine::MachineConfig machine = random_core(random);
        mapping::Options options;
        options.batches = {.batch = 1, .inferences = 2};
        WordTensors inputs = random_inputs(random, graph, options.batches.inferences);
        constexpr std::array<std::uint32_t, 8> special{0x7FC00000, 0x7FC00000, 0x7F800000, 0xFF800000,
                                                       0x80000000, 0,          0x3F800000, 0x00800000};
        for (std::vector<std::uint32_t>& words : inputs) {
            for (std::uint32_t& word : words) {
                if (random() % 3 > 0) word = special.at(random() % special.size());
            }
        }
        INFO("seed " << seed);
        const isa::Program program = tensor_core::family.compile(graph, machine, options).program;
        check_bits(program, machine, inputs, expected_outputs(graph, options.batches, inputs),
                   seed % 10 == 0);
    }
}

TEST_CASE("A network whose tiles fit with one line each is compiled without that limit",
          "[tensor_core][word_graphs]") {
    std::uint32_t tight = 0;
    for (std::uint32_t seed = 1; seed <= random_runs(400); ++seed) {
        std::mt19937 random(seed);
        const auto drawn = [&](std::uint32_t low, std::uint32_t high) {
            return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
        };
        machine::MachineConfig machine = random_core(random);
        const ir::FeatureMap image{drawn(1, 40), drawn(1, 6), drawn(1, machine.vector_unit.lanes)};
        ir::Window window{.kernel_height = drawn(1, 9),
                          .kernel_width = drawn(1, 3),
                          .stride_y = drawn(1, 9),
                          .stride_x = drawn(1, 3)};
        window.pad_top = drawn(0, window.kernel_height - 1);
        window.pad_bottom = drawn(0, window.kernel_height - 1);
        window.pad_left = drawn(0, window.kernel_width - 1);
        ir::Graph graph;
        graph.name = "scattered";
        try {
            const ir::FeatureMap windows = ir::window_output(image, window, image.channels);
            const ir::ValueId source = graph.add_input("image", ir::image_shape(image), DataType::Float32);
            const ir::ValueId numbers =
                graph.add_input("numbers", ir::image_shape(windows), DataType::Float32);
            graph.outputs = {graph.append("scattered", operators::registry().at("word_select_and_scatter"),
                                          ir::attributes_of(window), {source, numbers}, DataType::Float32)};
        } catch (const ModelError&) {
            continue;  // the image has no window, or one of them has no element
        }
        tensor_core::Network network = tensor_core::make_network(graph, machine, 1);
        tensor_core::Network limited = network;
        for (tensor_core::Step& step : limited.steps) step.limits = {.lines = 1};
        const auto has_room = [&](tensor_core::Network& each) {
            try {
                tensor_core::map_program(each, machine, {.images = 1, .kept_share = 0}, {});
            } catch (const ModelError& error) {
                REQUIRE(std::string(error.what()).find("rows of vector memory") != std::string::npos);
                return false;
            }
            return true;
        };
        INFO("seed " << seed << "\n" << ir::to_text(graph));
        // From the least memory on that one line takes.
        machine.vector_memory.rows = 8;
        while (!has_room(limited)) machine.vector_memory.rows += 8;
        for (int more = 0; more < 12; ++more, machine.vector_memory.rows += drawn(1, 60)) {
            CAPTURE(machine.vector_memory.rows);
            CHECK(has_room(network));
            tight += network.steps.size() == 1 ? 1 : 0;
        }
    }
    CHECK(tight > random_share(2000));
}

TEST_CASE("Inputs are outputs, too, and what all images share is none", "[tensor_core][word_graphs]") {
    std::mt19937 random(1);
    const machine::MachineConfig machine = random_core(random);
    const std::string values = "%0 float32 1x3 \"x\"\n%1 float32 1x2 \"c\" = [1.0, 2.0]\n";
    const ir::Graph constant = tests::graph_of_text("graph \"g\"\ninputs %0\noutputs %0, %1\n" + values);
    CHECK_THROWS_WITH(tensor_core::family.compile(constant, machine, {}),
                      "g: output c is the same for all images, which a tensor core does not write");
    const ir::Graph inputs =
        tests::graph_of_text("graph \"g\"\ninputs %0\noutputs %0, %0\n%0 float32 1x3 \"x\"\n");
    mapping::Options options;
    options.batches = {.batch = 2, .inferences = 5};
    const isa::Program program = tensor_core::family.compile(inputs, machine, options).program;
    const WordTensors given = random_inputs(random, inputs, options.batches.inferences);
    check_bits(program, machine, given, {given[0], given[0]});
}

TEST_CASE("Borders of a program have the formats of files", "[tensor_core][word_graphs]") {
    const ir::Graph graph = tests::graph_of_text(R"(graph "borders"
inputs %0, %1
outputs %2, %3
%0 int32 1x3 "a" file uint8
%1 bfloat16 1x3 "b"
%2 float32 1x3 "sum" file float16
%3 int32 1x3 "above"
%2 = word_chain(%0, %1) "sum" {steps ["int_to_float 0", "add 2 1"]}
%3 = word_chain(%1) "above" {steps ["constant 0x0", "less 1 0"]}
)");
    std::mt19937 random(1);
    const isa::Program program = tensor_core::family.compile(graph, random_core(random), {}).program;
    REQUIRE(program.inputs.size() == 2);
    CHECK(program.inputs[0].type == DataType::Uint8);
    CHECK(program.inputs[1].type == DataType::Bfloat16);
    CHECK(program.outputs[0].type == DataType::Float16);
    CHECK(program.outputs[1].type == DataType::Int32);
    // A word for each element.
    for (const isa::HostBuffer& buffer : program.buffers) CHECK(buffer.bytes == 12);
}
