#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/integer_graphs.h"

namespace systole::tests {

/// Draws small quantized graphs with every kind of layer, branches, odd shapes and extreme numbers.
class RandomNetwork {
public:
    /// Slices begin at multiples of `slice_bytes` bytes; 0: at the first element only.
    explicit RandomNetwork(std::mt19937& random, std::uint32_t slice_bytes = 0)
        : random_(random), slice_bytes_(slice_bytes) {}

    /// From now on, layers are mostly those that tiles compute, on numbers of one type of 8 bits.
    void draw_for_tiles() { type_for_tiles_ = byte_type(); }

    /// From now on, only such that are computed in strips as well.
    void draw_for_strips() { for_strips_ = true; }

    /// From now on, about a third of the layers are work of the host.
    void add_host_work() { host_work_ = true; }

    ir::Graph draw(std::uint32_t most_layers = 6) {
        made_ = IntegerGraph("random");
        values_.clear();
        values_.push_back(made_.input({below(9) + 1, below(9) + 1, below(8) + 1}, any_encoding()));
        const std::uint32_t layers = below(most_layers) + 1;
        while (made_.graph().nodes.size() < layers) add_layer();
        return std::move(made_.graph());
    }

    /// Draws images for a network's input.
    std::vector<std::uint8_t> bytes(std::uint64_t count) {
        std::vector<std::uint8_t> values(count);
        for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random_());
        return values;
    }
    std::vector<std::uint8_t> images(const ir::Graph& graph, std::uint64_t count) {
        return bytes(count * graph.input().shape.elements() * bytes_of(graph.input().type));
    }

private:
    using Encoding = ir::Encoding;
    using ValueId = ir::ValueId;
    using Attributes = std::vector<ir::NamedAttribute>;

    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
    std::int32_t between(std::int32_t low, std::int32_t high) {
        return low + static_cast<std::int32_t>(below(static_cast<std::uint32_t>(high - low + 1)));
    }
    bool one_in(std::uint32_t n) { return below(n) == 0; }

    /// A scale from 2^exponent to slightly less than twice as much.
    double near_power(int low_exponent, int high_exponent) {
        const double mantissa = std::ldexp(between(1 << 30, 0x7fffffff), -30);
        return std::ldexp(mantissa, between(low_exponent, high_exponent));
    }

    Encoding any_encoding() {
        return encoding_of(!type_for_tiles_ && one_in(3) ? DataType::Int16 : byte_type());
    }
    Encoding encoding_of(DataType type) {
        const std::int32_t zero_point = bytes_of(type) == 2 ? 0 : between(lowest_of(type), highest_of(type));
        return {one_in(3) ? near_power(-2, 0) : 0.5, zero_point, type};
    }
    DataType byte_type() {
        if (type_for_tiles_) return *type_for_tiles_;
        return one_in(2) ? DataType::Int8 : DataType::Uint8;
    }
    DataType type_of(ValueId id) const { return made_.graph().values[id].type; }
    bool is_wide(ValueId id) const { return bytes_of(type_of(id)) == 2; }
    ir::FeatureMap map(ValueId id) const { return made_.map(id); }

    ValueId keep(ValueId id) {
        values_.push_back(id);
        return id;
    }

    /// Usually the last value, sometimes any value.
    ValueId pick_input() {
        const auto count = static_cast<std::uint32_t>(values_.size());
        return values_[one_in(4) ? below(count) : count - 1];
    }

    /// Limits the result like a ReLU, or not.
    Attributes clamp(const Encoding& result) {
        if (!one_in(3)) return {};
        return {{"clamp", std::vector<std::int64_t>{result.zero_point, highest_of(result.type)}}};
    }

    IntegerWeights weights(std::uint64_t count, std::uint32_t channels, const std::vector<ValueId>& inputs,
                           const Encoding& result) {
        double input_scale = 0.0;
        for (const ValueId id : inputs) input_scale = std::max(input_scale, made_.encoding(id).scale);
        IntegerWeights drawn;
        for (std::uint64_t i = 0; i < count; ++i) drawn.values.push_back(static_cast<std::int8_t>(random_()));
        drawn.scales.clear();
        for (std::uint32_t i = 0; i < channels; ++i) {
            drawn.bias.push_back(one_in(30) ? static_cast<std::int32_t>(random_()) : between(-5000, 5000));
            const double multiplier = one_in(20) ? near_power(-32, 2) : near_power(-11, -6);
            drawn.scales.push_back(multiplier * result.scale / input_scale);
        }
        if (one_in(5)) {
            drawn.scales.resize(1);
            if (one_in(2)) drawn.zero_point = between(-128, 127);
        }
        if (one_in(5)) drawn.bias.clear();
        return drawn;
    }

    ValueId append_lookup(ValueId input, const Encoding& result) {
        const auto table = [&](auto entry, std::size_t count) {
            std::vector<decltype(entry)> entries(count);
            for (auto& each : entries) each = static_cast<decltype(entry)>(random_());
            return entries;
        };
        constexpr std::size_t byte_entries = 256;
        constexpr std::size_t wide_entries = 513;
        if (bytes_of(result.type) == 2) {
            return made_.lookup(input, table(std::int16_t{}, wide_entries), result);
        }
        if (is_signed(result.type)) return made_.lookup(input, table(std::int8_t{}, byte_entries), result);
        return made_.lookup(input, table(std::uint8_t{}, byte_entries), result);
    }

    /// Appends matrix work, sometimes followed by a lookup.
    template <typename Append>
    ValueId with_lookup(const Encoding& result, const Append& append) {
        if (!one_in(type_for_tiles_ ? 40 : 4)) return keep(append(result));
        Encoding sums = encoding_of(bytes_of(result.type) == 2 ? DataType::Int16 : byte_type());
        return keep(append_lookup(append(sums), result));
    }

    /// One direction of a window over `input` pixels: kernel, stride, padding before and after, dilation.
    struct Axis {
        std::uint32_t kernel, stride, before, behind, dilation, output;

        std::uint32_t covered() const { return (kernel - 1) * dilation + 1; }
    };
    /// Windows that touch the image are those of pooling, too, which knows no dilation.
    Axis axis(std::uint32_t input, bool touching) {
        Axis axis{};
        axis.kernel = below(4) + 1;
        axis.stride = below(3) + 1;
        axis.dilation = !type_for_tiles_ && !touching && one_in(4) ? below(3) + 2 : 1;
        const std::uint32_t most = touching ? axis.kernel : axis.kernel + 2;
        axis.before = below(most);
        axis.behind = below(most);
        while (input + axis.before + axis.behind < axis.covered()) {
            --(axis.dilation > 1 ? axis.dilation : axis.kernel);
        }
        if (touching) {
            axis.before = std::min(axis.before, axis.kernel - 1);
            axis.behind = std::min(axis.behind, axis.kernel - 1);
        }
        axis.output = (input + axis.before + axis.behind - axis.covered()) / axis.stride + 1;
        if (touching) {
            while ((axis.output - 1) * axis.stride >= axis.before + input) {
                --axis.behind;
                axis.output = (input + axis.before + axis.behind - axis.kernel) / axis.stride + 1;
            }
        }
        return axis;
    }
    std::pair<ir::Window, ir::FeatureMap> window(const ir::FeatureMap& input, bool touching) {
        const Axis y = axis(input.height, touching);
        const Axis x = axis(input.width, touching);
        const ir::Window window{.kernel_height = y.kernel,
                                .kernel_width = x.kernel,
                                .stride_y = y.stride,
                                .stride_x = x.stride,
                                .pad_top = y.before,
                                .pad_left = x.before,
                                .pad_bottom = y.behind,
                                .pad_right = x.behind,
                                .dilation_y = y.dilation,
                                .dilation_x = x.dilation};
        return {window, ir::FeatureMap{y.output, x.output, input.channels}};
    }

    void add_layer() {
        if (host_work_ && one_in(3)) {
            keep(made_.append("softmax", {pick_input()}, {near_power(-9, -7), 0, any_encoding().type}));
            return;
        }
        const ValueId input = pick_input();
        if (type_for_tiles_) return add_layer_for_tiles(input);
        switch (below(15)) {
            case 0:
            case 1:
                add_convolution(input);
                return;
            case 2:
                return add_depthwise(input);
            case 3:
                add_dense(input);
                return;
            case 4:
                return add_pool(input);
            case 5:
                return add_addition(input);
            case 6:
            case 7:
                return add_module(input);
            case 8:
            case 9:
                return add_multiplication(input);
            case 10:
                return add_slice(input);
            case 11:
            case 12:
                return add_parallel_convolutions(input);
            case 13:
                return add_parallel_dense(input);
            default:
                return add_lookup(input);
        }
    }

    void add_layer_for_tiles(ValueId input) {
        switch (below(for_strips_ ? 13 : 24)) {
            case 0:
            case 1:
            case 2:
                append_convolution(input, window(map(input), false).first, any_encoding());
                return;
            case 3:
            case 4:
                return add_depthwise(input);
            case 5:
                append_dense({input}, any_encoding());
                return;
            case 6:
                keep(made_.pool(any_pool(), input, window(map(input), true).first));
                return;
            case 7:
                return add_addition(input);
            case 8:
                return add_multiplication(input);
            case 9:
            case 10:
                return add_module(input);
            case 11:
                keep(made_.append(one_in(2) ? "maximum" : "minimum", {input, input}, made_.encoding(input)));
                return;
            case 12:
                // An entry's sign may be another one than that of the next layers.
                return add_lookup(input);
            case 13:
                return add_reduction(input);
            case 14:
                return add_resize(input);
            case 15:
                return add_transposed(input);
            case 16:
                return add_difference(input);
            case 17:
                return add_softmax(input);
            case 18:
                return add_norm(input);
            case 19:
                return add_permutation(input);
            default:
                return add_move(input);
        }
    }

    /// The result's encoding is TFLite's.
    void add_norm(ValueId input) {
        const DataType type = type_of(input);
        keep(made_.append("normalize", {input}, {1.0 / 128, type == DataType::Uint8 ? 128 : 0, type}));
    }

    /// Any order of lines, columns and channels.
    void add_permutation(ValueId any) {
        const ValueId input = as_image(any);
        std::vector<std::int64_t> axes{0, 1, 2, 3};
        std::shuffle(axes.begin() + 1, axes.end(), random_);
        keep(made_.append("transpose", {input}, made_.encoding(input), {{"permutation", axes}}));
    }

    /// With the extents of four axes.
    ValueId as_image(ValueId input) {
        const ir::FeatureMap shape = map(input);
        if (made_.graph().values[input].shape.rank() == 4) return input;
        return keep(made_.append("reshape", {input}, made_.encoding(input),
                                 {{"shape", std::vector<std::int64_t>{1, 1, 1, shape.channels}}}));
    }

    /// Over lines, columns, channels, or two of them.
    void add_reduction(ValueId any) {
        const ValueId input = as_image(any);
        const std::vector<std::vector<std::int64_t>> choices{{1, 2}, {1}, {2}, {3}, {1, 3}, {2, 3}};
        const std::uint32_t choice = below(static_cast<std::uint32_t>(choices.size()));
        const std::vector<std::int64_t> axes = choices[choice];
        const std::int64_t keeps = choice == 1 || choice == 2 || one_in(2) ? 1 : 0;
        if (one_in(3)) {
            keep(made_.append("reduce_max", {input}, made_.encoding(input),
                              {{"axes", axes}, {"keep", keeps}}));
            return;
        }
        Encoding result = encoding_of(type_of(input));
        const bool is_mean = one_in(2);
        result.scale = made_.encoding(input).scale * near_power(-1, is_mean ? 1 : 4);
        keep(made_.append(is_mean ? "reduce_mean" : "reduce_sum", {input}, result,
                          {{"axes", axes}, {"keep", keeps}}));
    }

    void add_resize(ValueId any) {
        const ValueId input = as_image(any);
        const ir::FeatureMap shape = map(input);
        const auto other = [&](std::uint32_t extent) -> std::int64_t {
            return one_in(2) ? extent * (below(3) + 1) : below(12) + 1;
        };
        const std::vector<std::int64_t> extents{1, other(shape.height), other(shape.width), shape.channels};
        const std::vector<std::string> places{"asymmetric", "half_pixel", "align_corners"};
        const std::string coordinates = places[below(3)];
        const bool is_linear = one_in(2);
        const std::string nearest = coordinates == "align_corners" ? "round_prefer_ceil" : "floor";
        keep(made_.append("resize", {input}, made_.encoding(input),
                          {{"shape", extents},
                           {"mode", std::string(is_linear ? "linear" : "nearest")},
                           {"coordinates", coordinates},
                           {"nearest", is_linear ? std::string("floor") : nearest}}));
    }

    void add_transposed(ValueId any) {
        const ValueId input = as_image(any);
        const Encoding result = any_encoding();
        const auto kernel = std::array<std::uint32_t, 2>{below(3) + 1, below(3) + 1};
        const auto pair = [](std::uint32_t a, std::uint32_t b) { return std::vector<std::int64_t>{a, b}; };
        const ir::FeatureMap shape = map(input);
        // At least a line and a column stay.
        std::vector<std::int64_t> cut{below(2), below(2), below(2), below(2)};
        if (shape.height + kernel[0] < 5) cut[0] = cut[2] = -static_cast<std::int64_t>(below(2));
        if (shape.width + kernel[1] < 5) cut[1] = cut[3] = 0;
        const std::uint32_t filters = below(20) + 1;
        const std::uint64_t count = std::uint64_t{kernel[0]} * kernel[1] * shape.channels * filters;
        const IntegerWeights drawn = weights(count, filters, {input}, result);
        std::vector<ir::NamedAttribute> attributes = clamp(result);
        attributes.emplace_back("kernel", pair(kernel[0], kernel[1]));
        attributes.emplace_back("stride", pair(below(3) + 1, below(3) + 1));
        attributes.emplace_back("cut", cut);
        keep(made_.append("transposed_convolution",
                          made_.with_weights({input}, {kernel[0], kernel[1], shape.channels, filters}, drawn),
                          result, std::move(attributes)));
    }

    /// Of two tensors, one of which may be repeated.
    void add_difference(ValueId any) {
        const ValueId a = as_image(any);
        ValueId b = pick_partner(a);
        if (one_in(2)) {
            b = keep(made_.append("reduce_max", {a}, made_.encoding(a),
                                  {{"axes", std::vector<std::int64_t>{1, 2}}, {"keep", std::int64_t{1}}}));
        }
        if (made_.graph().values[b].shape.rank() != 4) b = as_image(b);
        Encoding result = encoding_of(type_of(a));
        result.scale = 2 * std::max(made_.encoding(a).scale, made_.encoding(b).scale) / near_power(-1, 2);
        const char* const op = one_in(3) ? "add" : "subtract";
        std::vector<ValueId> inputs{a, b};
        if (one_in(3)) std::swap(inputs[0], inputs[1]);
        keep(made_.append(op, std::move(inputs), result, clamp(result)));
    }

    void add_softmax(ValueId input) {
        const ir::FeatureMap shape = map(input);
        if (!shape.is_vector()) {
            if (!one_in(3)) return;
            input = keep(made_.reshape(input, {1, 1, static_cast<std::uint32_t>(shape.elements())}));
        }
        const std::int32_t lowest = is_signed(type_of(input)) ? -128 : 0;
        const Encoding shares{std::ldexp(1.0, -8), lowest, type_of(input)};
        keep(made_.append("integer_softmax", {input}, shares, {{"beta", near_power(-3, 0)}}));
    }

    void add_move(ValueId any) {
        const ValueId input = as_image(any);
        const ir::FeatureMap shape = map(input);
        const Encoding like = made_.encoding(input);
        using Numbers = std::vector<std::int64_t>;
        switch (below(5)) {
            case 0:
                append_border(input);
                return;
            case 1:
                keep(made_.append("pad", {input}, like,
                                  {{"before", Numbers{0, below(3), below(3), 0}},
                                   {"after", Numbers{0, below(3), below(3), 0}},
                                   {"value", near_power(-2, 2)}}));
                return;
            case 2: {
                const auto part = [&](std::uint32_t extent) {
                    const std::uint32_t first = below(extent);
                    return std::pair<std::int64_t, std::int64_t>{first, below(extent - first) + 1};
                };
                const auto lines = part(shape.height);
                const auto columns = part(shape.width);
                const auto channels = part(shape.channels);
                keep(made_.append("strided_slice", {input}, like,
                                  {{"first", Numbers{0, lines.first, columns.first, channels.first}},
                                   {"step", Numbers{1, 1, 1, 1}},
                                   {"count", Numbers{1, lines.second, columns.second, channels.second}}}));
                return;
            }
            case 3: {
                const ValueId other = pick_partner(input);
                if (made_.encoding(other) != like || made_.graph().values[other].shape.rank() != 4) return;
                if (shape.elements() > 400) return;
                keep(made_.append("concat", {input, other}, like, {{"axis", std::int64_t{below(2) + 1}}}));
                return;
            }
            default: {
                const std::uint32_t block = below(2) + 2;
                const bool to_pixels = shape.channels % (block * block) == 0;
                if (!to_pixels && (shape.height % block != 0 || shape.width % block != 0)) return;
                if (!to_pixels && shape.channels > 8) return;
                keep(made_.append(to_pixels ? "depth_to_space" : "space_to_depth", {input}, like,
                                  {{"block", std::int64_t{block}}}));
            }
        }
    }

    void add_convolution(ValueId input) {
        const ir::Window geometry = window(map(input), false).first;
        const std::uint32_t channels = map(input).channels;
        std::uint32_t groups = below(channels) + 1;
        while (channels % groups != 0) --groups;
        if (one_in(2) && groups > 1) {
            append_grouped(input, geometry, groups, any_encoding());
        } else {
            append_convolution(input, geometry, any_encoding());
        }
    }
    ValueId append_grouped(ValueId input, const ir::Window& geometry, std::uint32_t groups,
                           const Encoding& result) {
        const std::uint32_t filters = groups * (below(4) + 1);
        return with_lookup(result, [&](const Encoding& sums) {
            const std::uint64_t count = geometry.kernel_elements() * (map(input).channels / groups) * filters;
            return made_.convolution(input, geometry, filters, weights(count, filters, {input}, sums), sums,
                                     clamp(sums), groups);
        });
    }
    ValueId append_convolution(ValueId input, const ir::Window& geometry, const Encoding& result) {
        const std::uint32_t filters = below(20) + 1;
        return with_lookup(result, [&](const Encoding& sums) {
            const std::uint64_t count = geometry.kernel_elements() * map(input).channels * filters;
            return made_.convolution(input, geometry, filters, weights(count, filters, {input}, sums), sums,
                                     clamp(sums));
        });
    }

    /// Convolutions with the same windows and different encodings, sometimes with another layer as reader in
    /// between; then a layer that reads those of the same type.
    void add_parallel_convolutions(ValueId input) {
        const ir::Window geometry = window(map(input), false).first;
        std::vector<ValueId> outputs;
        const std::uint32_t count = below(3) + 2;
        while (outputs.size() < count) {
            outputs.push_back(append_convolution(input, geometry, any_encoding()));
            if (one_in(3)) add_lookup(outputs.back());
        }
        const DataType type = type_of(outputs.front());
        std::erase_if(outputs, [&](ValueId id) { return type_of(id) != type; });
        append_dense(outputs, any_encoding());
    }

    /// Dense layers of the same inputs with different encodings, sometimes with another layer as reader in
    /// between.
    void add_parallel_dense(ValueId input) {
        // The sums of many 16-bit elements could overflow: the host computes such layers.
        if (is_wide(input)) return add_lookup(input);
        std::vector<ValueId> inputs{input};
        const ValueId other = pick_input();
        if (one_in(3) && type_of(other) == type_of(input)) inputs.push_back(other);
        const std::uint32_t count = below(3) + 2;
        for (std::uint32_t i = 0; i < count; ++i) {
            const ValueId result = append_dense(inputs, any_encoding());
            if (one_in(3)) add_lookup(result);
        }
    }

    void add_depthwise(ValueId input) {
        const ir::Window geometry = window(map(input), false).first;
        const std::uint32_t multiplier = below(3) + 1;
        if (map(input).channels * multiplier > 40) return;
        append_depthwise(input, geometry, multiplier, any_encoding());
    }
    ValueId append_depthwise(ValueId input, const ir::Window& geometry, std::uint32_t multiplier,
                             const Encoding& result) {
        const std::uint32_t channels = map(input).channels * multiplier;
        return with_lookup(result, [&](const Encoding& sums) {
            const IntegerWeights drawn =
                weights(geometry.kernel_elements() * channels, channels, {input}, sums);
            return made_.depthwise(input, geometry, multiplier, drawn, sums, clamp(sums));
        });
    }

    /// Appends a dense layer with one or more inputs of the same type.
    void add_dense(ValueId input) {
        std::vector<ValueId> inputs{input};
        for (std::size_t i = 0; i < values_.size() && inputs.size() < 3; ++i) {
            if (one_in(4) && type_of(values_[i]) == type_of(input)) inputs.push_back(values_[i]);
        }
        append_dense(inputs, any_encoding());
    }
    ValueId append_dense(const std::vector<ValueId>& inputs, const Encoding& result) {
        const std::uint32_t units = below(30) + 1;
        std::uint64_t elements = 0;
        for (const ValueId id : inputs) elements += map(id).elements();
        return with_lookup(result, [&](const Encoding& sums) {
            return made_.dense(inputs, units, weights(elements * units, units, inputs, sums), sums,
                               clamp(sums));
        });
    }

    const char* any_pool() { return one_in(2) ? "max_pool" : "average_pool"; }
    ValueId append_border(ValueId input) {
        const std::vector<std::int64_t> sides{below(3), below(3), below(3), below(3)};
        return keep(made_.append("zero_padding", {input}, made_.encoding(input), {{"padding", sides}}));
    }
    void add_pool(ValueId input) {
        if (is_wide(input)) return add_lookup(input);
        if (one_in(3)) {
            append_border(input);
            return;
        }
        keep(made_.pool(any_pool(), input, window(map(input), true).first));
    }

    /// Any value of this type and shape.
    ValueId pick_partner(ValueId a) {
        std::vector<ValueId> candidates;
        for (const ValueId b : values_) {
            if (map(b) == map(a) && type_of(b) == type_of(a)) candidates.push_back(b);
        }
        return candidates[below(static_cast<std::uint32_t>(candidates.size()))];
    }

    void add_multiplication(ValueId a) {
        const ValueId b = pick_partner(a);
        Encoding result = encoding_of(type_of(a));
        const double multiplier = is_wide(a) ? near_power(-19, -11) : near_power(-10, -4);
        result.scale = made_.encoding(a).scale * made_.encoding(b).scale / multiplier;
        keep(made_.append("multiply", {a, b}, result, clamp(result)));
    }

    void add_addition(ValueId a) {
        const ValueId b = pick_partner(a);
        Encoding result = encoding_of(type_of(a));
        const double common = 2 * std::max(made_.encoding(a).scale, made_.encoding(b).scale);
        result.scale = common / near_power(-1, 2);
        keep(made_.append("add", {a, b}, result, clamp(result)));
    }

    /// A concatenation of branches with the same height, width and encoding: new layers on the input, and
    /// existing values, which may have other readers.
    void add_module(ValueId input) {
        const auto [geometry, shape] = window(map(input), true);
        if (shape.channels > 40) return;
        std::vector<ValueId> branches;
        const std::uint32_t count = below(4) + 2;
        while (branches.size() < count) branches.push_back(add_branch(input, geometry, shape));
        if (one_in(6)) branches.push_back(branches[below(count)]);
        add_concat(std::move(branches));
    }
    ValueId add_concat(std::vector<ValueId> branches) {
        const Encoding encoding = made_.encoding(branches.front());
        return keep(made_.append("concat", std::move(branches), encoding));
    }

    /// The end of a branch that has the input's encoding and a result of this height and width.
    ValueId add_branch(ValueId input, const ir::Window& geometry, const ir::FeatureMap& shape) {
        const Encoding like = made_.encoding(input);
        switch (below(7)) {
            case 0:
                return add_pool_branch(input, geometry);
            case 1:
                if (const auto any = any_like(like, shape)) return *any;
                return add_pool_branch(input, geometry);
            case 2:
                return append_depthwise(input, geometry, 1, like);
            case 3:
                // An element-wise layer at the end.
                if (type_for_tiles_) return add_pool_branch(input, geometry);
                return keep(append_lookup(add_pool_branch(input, geometry), like));
            case 4: {
                const ValueId a = add_branch(input, geometry, shape);
                const ValueId b = add_branch(input, geometry, shape);
                return add_concat({a, b});
            }
            default:
                if (shape.height == 1 && shape.width == 1 && one_in(2)) return append_dense({input}, like);
                return append_convolution(input, geometry, like);
        }
    }
    ValueId add_pool_branch(ValueId input, const ir::Window& geometry) {
        // Pooling does not support 16 bits.
        if (is_wide(input)) return append_depthwise(input, geometry, 1, made_.encoding(input));
        return keep(made_.pool(any_pool(), input, geometry));
    }
    /// Any value of this encoding, height and width.
    std::optional<ValueId> any_like(const Encoding& encoding, const ir::FeatureMap& shape) {
        std::vector<ValueId> candidates;
        for (const ValueId id : values_) {
            const ir::FeatureMap other = map(id);
            if (other.height == shape.height && other.width == shape.width &&
                made_.encoding(id) == encoding) {
                candidates.push_back(id);
            }
        }
        if (candidates.empty()) return std::nullopt;
        return candidates[below(static_cast<std::uint32_t>(candidates.size()))];
    }

    void add_lookup(ValueId input) {
        keep(append_lookup(input, encoding_of(is_wide(input) ? DataType::Int16 : byte_type())));
    }

    /// A part of the elements, or all of them in another shape.
    void add_slice(ValueId input) {
        const auto elements = static_cast<std::uint32_t>(map(input).elements());
        const bool is_first = made_.graph().nodes.empty();
        const ir::FeatureMap shape = map(input);
        if (!is_first && one_in(3)) {
            const bool splits = shape.is_vector() && shape.channels % 2 == 0;
            keep(made_.reshape(input, splits ? ir::FeatureMap{2, 1, shape.channels / 2}
                                             : ir::FeatureMap{shape.width, shape.height, shape.channels}));
            return;
        }
        const std::uint32_t step = slice_bytes_ / bytes_of(type_of(input));
        const std::uint32_t first = step == 0 ? 0 : below((elements - 1) / step + 1) * step;
        const std::uint32_t count = one_in(3) ? elements - first : below(elements - first) + 1;
        if (!shape.is_vector()) input = keep(made_.reshape(input, {1, 1, elements}));
        keep(made_.slice(input, first, count));
    }

    std::mt19937& random_;
    std::uint32_t slice_bytes_;
    std::optional<DataType> type_for_tiles_;
    bool host_work_ = false;
    bool for_strips_ = false;
    IntegerGraph made_;
    std::vector<ValueId> values_;  ///< that layers may read
};

}  // namespace systole::tests
