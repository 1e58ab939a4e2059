#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"

namespace systole::tests {

/// Draws float networks on tensors of 1 to 6 axes, with operators of every kind along every axis: what passes
/// and the compiler must not confuse.
class RandomTensors {
public:
    enum class Operators : std::uint8_t {
        All,
        /// Without those that make a large difference of a small one, such as norms of lines.
        Smooth,
        /// Of these, none whose float result may differ if a pass computes it in another order.
        Exact
    };

    explicit RandomTensors(std::uint32_t seed, Operators operators = Operators::All)
        : random_(seed), operators_(operators) {}

    ir::Graph draw() {
        graph_ = {};
        graph_.name = "random";
        values_.clear();
        values_.push_back(graph_.add_input("x", input_shape()));
        if (one_in(4)) {
            const ir::Shape other = one_in(2) ? graph_.values[values_[0]].shape : input_shape();
            values_.push_back(graph_.add_input("second", other));
        }
        const std::size_t layers = graph_.inputs.size() + between(2, 8);
        constexpr std::uint32_t most_tries = 200;
        for (std::uint32_t i = 0; i < most_tries && values_.size() < layers; ++i) add_layer();
        set_outputs();
        return std::move(graph_);
    }

    std::uint32_t between(std::uint32_t low, std::uint32_t high) {
        return low + static_cast<std::uint32_t>(random_() % (high - low + 1));
    }
    std::vector<float> numbers(std::uint64_t count, float low = -1.0F, float high = 1.0F) {
        std::uniform_real_distribution<float> distribution(low, high);
        std::vector<float> drawn(count);
        for (float& number : drawn) number = distribution(random_);
        return drawn;
    }

private:
    using ValueId = ir::ValueId;
    using Integers = std::vector<std::int64_t>;
    using Extents = std::vector<std::uint32_t>;

    static constexpr std::uint32_t most_rank = ir::Shape::most_extents;
    static constexpr std::uint64_t most_elements = 600;

    std::uint32_t below(std::uint32_t limit) { return between(0, limit - 1); }
    bool one_in(std::uint32_t n) { return below(n) == 0; }
    template <typename List>
    const auto& one_of(const List& list) {
        return list[below(static_cast<std::uint32_t>(list.size()))];
    }

    const ir::Shape& shape(ValueId id) const { return graph_.values[id].shape; }
    std::uint32_t rank(ValueId id) const { return static_cast<std::uint32_t>(shape(id).rank()); }
    Extents extents(ValueId id) const {
        const auto all = shape(id).extents();
        return {all.begin(), all.end()};
    }
    static Integers integers(const Extents& numbers) { return {numbers.begin(), numbers.end()}; }
    static ir::Shape shape_of(const Integers& numbers) {
        const Extents extents(numbers.begin(), numbers.end());
        return ir::Shape(extents);
    }
    std::uint32_t channels(ValueId id) const { return shape(id)[rank(id) - 1]; }

    /// Usually an image, a sequence or a vector of one inference; the first axis may be any other.
    ir::Shape input_shape() {
        Extents extents(between(1, most_rank));
        for (std::uint32_t& extent : extents) extent = between(1, extents.size() > 4 ? 3 : 5);
        if (extents.size() > 1 && !one_in(4)) extents.front() = 1;
        return ir::Shape(extents);
    }

    /// Usually the last value, sometimes any.
    ValueId pick() { return one_in(3) ? one_of(values_) : values_.back(); }

    std::string next_name() const { return "n" + std::to_string(graph_.nodes.size()); }
    ValueId append(const std::string& op, std::vector<ValueId> inputs,
                   std::vector<ir::NamedAttribute> attributes = {}) {
        return graph_.append(next_name(), operators::registry().at(op), std::move(attributes),
                             std::move(inputs));
    }
    ValueId constant(const ir::Shape& shape, float low = -1.0F, float high = 1.0F) {
        return graph_.add_constant(next_name() + "/c" + std::to_string(graph_.values.size()), shape,
                                   DataType::Float32, numbers(shape.elements(), low, high));
    }
    ValueId reshape(ValueId x, const Integers& to) { return append("reshape", {x}, {{"shape", to}}); }

    /// Adds a layer that fits. One that does not leaves the values as they were.
    void add_layer() {
        const ir::Graph before = graph_;
        try {
            const ValueId added = layer(pick());
            const ir::Value& value = graph_.values[added];
            if (added >= before.values.size() && value.shape.elements() <= most_elements) {
                values_.push_back(added);
                return;
            }
        } catch (const ModelError&) {
        }
        graph_ = before;
    }

    ValueId layer(ValueId x) {
        switch (below(24)) {
            case 0:
            case 1:
                return function(x);
            case 2:
            case 3:
            case 4:
                return with_constant(x);
            case 5:
                return append(one_of(std::array{"add", "multiply", "subtract", "maximum", "minimum"}),
                              {x, one_of(values_)});
            case 6:
            case 7:
                return by_channel(x);
            case 8:
                return along_axis(x);
            case 9:
            case 10:
                return concat(x);
            case 11:
            case 12:
                return reduction(x);
            case 13:
                return slice(x);
            case 14:
                return pad(x);
            case 15:
            case 16:
                return append("transpose", {x}, {{"permutation", permutation(rank(x))}});
            case 17:
            case 18:
                return reshape(x, other_shape(x));
            case 19:
                return rows_product(x);
            case 20:
                return product(x);
            case 21:
                return window(x);
            case 22:
                return channels_first(x);
            default:
                return repetition(x);
        }
    }

    ValueId function(ValueId x) {
        constexpr std::array names{"relu", "sigmoid",    "tanh", "leaky_relu",
                                   "elu",  "hard_swish", "abs",  "identity"};
        const std::string name = one_of(names);
        if (name == "leaky_relu") return append(name, {x}, {{"alpha", 0.25}});
        if (name == "elu") return append(name, {x}, {{"alpha", 1.0}});
        return append(name, {x});
    }

    /// A constant for each element along some axes: often a vector, often a number, sometimes of more axes.
    ValueId with_constant(ValueId x) {
        Extents wanted = extents(x);
        const std::uint32_t kind = below(6);
        if (kind < 2 && !wanted.empty()) {
            wanted.erase(wanted.begin(), wanted.end() - 1);
            if (one_in(3)) wanted.insert(wanted.begin(), 1);
        } else if (kind == 2) {
            wanted.assign(below(3), 1);
        } else {
            for (std::uint32_t& extent : wanted) extent = one_in(2) ? 1 : extent;
            const std::uint32_t left_out = below(static_cast<std::uint32_t>(wanted.size()) + 1);
            wanted.erase(wanted.begin(), wanted.begin() + left_out);
            if (wanted.size() < most_rank && one_in(6)) wanted.insert(wanted.begin(), between(1, 2));
        }
        std::vector<std::string> names{"add", "multiply", "subtract", "maximum", "prelu"};
        if (operators_ != Operators::Exact) names.push_back("divide");
        const std::string name = one_of(names);
        const ValueId c = constant(ir::Shape(wanted), 0.5F, 1.5F);
        const bool is_first = name != "divide" && name != "prelu" && one_in(3);
        return append(name, is_first ? std::vector{c, x} : std::vector{x, c});
    }

    /// Batch normalization, as the front ends append it.
    ValueId by_channel(ValueId x) {
        if (operators_ == Operators::Exact || rank(x) == 0) return with_constant(x);
        const ir::Shape each{channels(x)};
        return append("batch_normalization", {x, constant(each, 0.5F, 1.5F), constant(each), constant(each),
                                              constant(each, 0.5F, 1.5F)});
    }

    std::uint32_t axis_of(ValueId x) {
        if (rank(x) == 0) throw ModelError("it has no axis");
        return below(rank(x));
    }
    /// -1 is the last axis for these operators.
    std::int64_t counted(std::uint32_t axis, ValueId x) {
        return axis + 1 == rank(x) && one_in(2) ? -1 : std::int64_t{axis};
    }

    ValueId along_axis(ValueId x) {
        const std::uint32_t axis = axis_of(x);
        const Integers alone{axis};
        std::vector<std::string> names{"softmax", "log_softmax"};
        if (operators_ == Operators::All) {
            names.insert(names.end(), {"normalize", "local_response_normalization",
                                       "mean_variance_normalization", "instance_normalization",
                                       "group_normalization", "layer_normalization", "rms_normalization"});
        }
        const std::string name = one_of(names);
        if (name == "mean_variance_normalization") return append(name, {x}, {{"axes", alone}});
        if (name == "instance_normalization") {
            const ir::Shape each{shape(x)[axis]};
            return append(name, {x, constant(each), constant(each)}, {{"axis", std::int64_t{axis}}});
        }
        if (name == "group_normalization") {
            const ir::Shape each{shape(x)[axis]};
            std::uint32_t groups = between(1, each[0]);
            while (each[0] % groups != 0) --groups;
            return append(name, {x, constant(each), constant(each)},
                          {{"groups", std::int64_t{groups}}, {"axis", counted(axis, x)}});
        }
        if (name == "layer_normalization" || name == "rms_normalization") {
            Extents own = extents(x);
            own.erase(own.begin(), own.begin() + axis);
            std::vector<ValueId> inputs{x};
            const std::uint32_t parameters = between(0, name == "layer_normalization" ? 2 : 1);
            for (std::uint32_t i = 0; i < parameters; ++i) inputs.push_back(constant(ir::Shape(own)));
            return append(name, inputs, {{"axis", counted(axis, x)}});
        }
        std::vector<ir::NamedAttribute> attributes{{"axis", counted(axis, x)}};
        if (name == "local_response_normalization") {
            attributes.insert(attributes.end(), {{"before", std::int64_t{1}}, {"after", std::int64_t{1}}});
        }
        return append(name, {x}, std::move(attributes));
    }

    /// With another value that fits, or with something that is made of the same one.
    ValueId concat(ValueId x) {
        const std::uint32_t axis = axis_of(x);
        std::vector<ValueId> inputs{x};
        const auto fits = [&](ValueId id) {
            if (rank(id) != rank(x)) return false;
            for (std::uint32_t i = 0; i < rank(x); ++i) {
                if (i != axis && shape(id)[i] != shape(x)[i]) return false;
            }
            return true;
        };
        const std::uint32_t others = between(1, 2);
        for (std::uint32_t i = 0; i < others; ++i) {
            std::vector<ValueId> fitting;
            std::ranges::copy_if(values_, std::back_inserter(fitting), fits);
            if (fitting.empty() || one_in(3)) {
                Extents wanted = extents(x);
                wanted[axis] = between(1, 2);
                inputs.push_back(one_in(2) ? function(x) : constant(ir::Shape(wanted)));
            } else {
                inputs.push_back(one_of(fitting));
            }
        }
        std::ranges::shuffle(inputs, random_);
        const bool all_data =
            std::ranges::none_of(inputs, [&](ValueId id) { return graph_.values[id].constant.has_value(); });
        const std::int64_t given = all_data ? counted(axis, x) : std::int64_t{axis};
        return append("concat", inputs, {{"axis", given}});
    }

    ValueId reduction(ValueId x) {
        Integers axes;
        for (std::uint32_t axis = 0; axis < rank(x); ++axis) {
            if (one_in(2)) axes.push_back(axis);
        }
        std::vector<std::string> names{"reduce_mean", "reduce_max", "reduce_min"};
        // Numbers that cancel leave the sum of their roundings.
        if (operators_ != Operators::Smooth) names.push_back("reduce_sum");
        return append(one_of(names), {x}, {{"axes", axes}, {"keep", std::int64_t{below(2)}}});
    }

    ValueId slice(ValueId x) {
        Integers first;
        Integers step;
        Integers count;
        for (const std::uint32_t extent : extents(x)) {
            const std::uint32_t begin = below(extent);
            const bool is_whole = one_in(2);
            const bool is_backwards = !is_whole && one_in(4);
            first.push_back(is_whole ? 0 : begin);
            step.push_back(is_backwards ? -1 : 1);
            count.push_back(is_whole ? extent : between(1, is_backwards ? begin + 1 : extent - begin));
        }
        return append("strided_slice", {x}, {{"first", first}, {"step", step}, {"count", count}});
    }

    ValueId pad(ValueId x) {
        Integers before;
        Integers after;
        for (std::uint32_t axis = 0; axis < rank(x); ++axis) {
            before.push_back(one_in(3) ? 1 : 0);
            after.push_back(one_in(3) ? between(1, 2) : 0);
        }
        return append("pad", {x},
                      {{"before", before},
                       {"after", after},
                       {"mode", std::string(one_of(std::array{"constant", "edge", "symmetric"}))}});
    }

    /// Repeated along an axis, or its blocks moved between axes.
    ValueId repetition(ValueId x) {
        const std::uint32_t axis = axis_of(x);
        if (rank(x) == 4 && one_in(2)) {
            const Integers axes = one_in(2) ? Integers{1, 2, 3} : Integers{2, 3, 1};
            return append(one_in(2) ? "depth_to_space" : "space_to_depth", {x},
                          {{"block", std::int64_t{2}}, {"axes", axes}});
        }
        Integers repeats(rank(x), 1);
        repeats[axis] = 2;
        return append("tile", {x}, {{"repeats", repeats}});
    }

    Integers permutation(std::uint32_t axes) {
        Integers order;
        for (std::uint32_t axis = 0; axis < axes; ++axis) order.push_back(axis);
        if (axes > 2 && one_in(2)) {
            std::shuffle(order.begin() + 1, order.end(), random_);
        } else {
            std::ranges::shuffle(order, random_);
        }
        return order;
    }

    /// A shape of as many elements: axes joined and divided, and axes of extent 1 added and removed.
    Integers other_shape(ValueId x) {
        Extents to = extents(x);
        const std::uint32_t steps = between(1, 3);
        for (std::uint32_t i = 0; i < steps; ++i) {
            const auto axes = static_cast<std::uint32_t>(to.size());
            const std::uint32_t kind = below(5);
            if (kind == 0 && axes < most_rank) {
                to.insert(to.begin() + below(axes + 1), 1);
            } else if (kind == 1 && axes < most_rank) {
                to.insert(to.begin(), 1);
            } else if (kind == 2) {
                const auto one = std::ranges::find(to, 1U);
                if (one != to.end()) to.erase(one);
            } else if (kind == 3 && axes > 1) {
                const std::uint32_t axis = below(axes - 1);
                to[axis] *= to[axis + 1];
                to.erase(to.begin() + axis + 1);
            } else if (axes > 0 && axes < most_rank) {
                const std::uint32_t axis = below(axes);
                for (const std::uint32_t factor : {2U, 3U, 5U}) {
                    if (to[axis] % factor != 0) continue;
                    to[axis] /= factor;
                    to.insert(to.begin() + axis + (one_in(2) ? 1 : 0), factor);
                    break;
                }
            }
        }
        return integers(to);
    }

    /// A dense layer over all elements.
    ValueId product(ValueId x) {
        const auto elements = static_cast<std::uint32_t>(shape(x).elements());
        const std::uint32_t units = between(1, 6);
        const float limit = 1.5F / std::sqrt(static_cast<float>(elements));
        std::vector<ValueId> inputs{x, constant({elements, units}, -limit, limit)};
        if (one_in(2)) inputs.push_back(constant({units}));
        return append("dense", inputs);
    }

    /// A matrix product along the last axis, as front ends read it: the rows are pixels of an image.
    ValueId rows_product(ValueId x) {
        if (rank(x) == 0) return product(x);
        const std::uint32_t inputs = channels(x);
        const auto rows = static_cast<std::int64_t>(shape(x).elements() / inputs);
        const std::uint32_t units = between(1, 6);
        const float limit = 1.5F / std::sqrt(static_cast<float>(inputs));
        const ValueId image = reshape(x, {1, rows, inputs});
        const ValueId result = append("convolution", {image, constant({1, 1, inputs, units}, -limit, limit)});
        Integers to = integers(extents(x));
        to.back() = units;
        const ValueId rows_of_units = reshape(result, to);
        if (one_in(2)) return rows_of_units;
        return append("add", {rows_of_units, constant({units})});
    }

    /// Windows over a feature map, whose result has four axes.
    ValueId window(ValueId x) {
        const ir::FeatureMap map = ir::feature_map(shape(x));
        if (one_in(5)) {
            const Integers sides{below(2), below(2), below(2), below(2)};
            return append("zero_padding", {x}, {{"padding", sides}});
        }
        ir::Window window;
        if (!one_in(3)) {
            window.kernel_height = between(1, std::min(map.height, 3U));
            window.kernel_width = between(1, std::min(map.width, 3U));
            window.stride_y = between(1, 2);
            window.pad_left = below(window.kernel_width);
            window.pad_bottom = below(window.kernel_height);
        }
        const std::vector<ir::NamedAttribute> attributes = ir::attributes_of(window);
        const std::uint32_t kind = below(4);
        if (kind < 2) return append(kind == 0 ? "max_pool" : "average_pool", {x}, attributes);
        const bool is_depthwise = kind == 2;
        const std::uint32_t filters = is_depthwise ? map.channels : between(1, 6);
        const std::uint32_t depth = is_depthwise ? 1 : map.channels;
        const float limit = 1.5F / std::sqrt(static_cast<float>(window.kernel_elements() * depth));
        std::vector<ValueId> inputs{
            x, constant({window.kernel_height, window.kernel_width, depth, filters}, -limit, limit)};
        if (one_in(2)) inputs.push_back(constant({filters}));
        return append(is_depthwise ? "depthwise_convolution" : "convolution", inputs, attributes);
    }

    /// Work on images whose channels are the second axis, as ONNX has it.
    ValueId channels_first(ValueId x) {
        const bool is_image = rank(x) == 4;
        if (!is_image && rank(x) != 3) return window(x);
        const ValueId last =
            append("transpose", {x}, {{"permutation", is_image ? Integers{0, 2, 3, 1} : Integers{0, 2, 1}}});
        ValueId result = one_in(3) ? by_channel(last) : window(last);
        if (!is_image && rank(result) == 4) {
            const ir::Shape made = shape(result);
            if (made[1] != 1) throw ModelError("it is no line any more");
            result = reshape(result, {1, made[2], made[3]});
        }
        return append("transpose", {result},
                      {{"permutation", is_image ? Integers{0, 3, 1, 2} : Integers{0, 2, 1}}});
    }

    /// What nobody reads, and sometimes other results.
    void set_outputs() {
        if (graph_.nodes.empty()) values_.push_back(append("relu", {values_.front()}));
        const auto readers = ir::readers(graph_);
        graph_.outputs.clear();
        for (const ValueId id : values_) {
            if (ir::is_input(graph_, id)) continue;
            if (readers[id].empty() || one_in(8)) graph_.outputs.push_back(id);
        }
        ir::remove_unread(graph_);
    }

    std::mt19937 random_;
    Operators operators_;
    ir::Graph graph_;
    std::vector<ValueId> values_;  ///< that layers may read
};

}  // namespace systole::tests
