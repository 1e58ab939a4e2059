// Normalizations along the last axes and of groups of channels, against loops over their definition.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "tests/support/file_nodes.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"

using namespace systole;
using namespace systole::tests::nodes;

namespace {

using NormalizedNumbers = std::vector<float>;

constexpr float drawn_epsilon = 0.01F;

/// Each set of numbers with mean 0, if asked for, and mean square 1; `sets` names the set of each number.
NormalizedNumbers plainly_normalized(const NormalizedNumbers& x, const std::vector<std::size_t>& sets,
                                     bool has_mean_0) {
    struct Sums {
        double count = 0.0;
        double numbers = 0.0;
        double squares = 0.0;
    };
    std::map<std::size_t, Sums> sums;
    for (std::size_t i = 0; i < x.size(); ++i) {
        sums[sets[i]].count += 1.0;
        sums[sets[i]].numbers += x[i];
    }
    const auto distance = [&](std::size_t i) {
        const Sums& set = sums[sets[i]];
        return has_mean_0 ? x[i] - set.numbers / set.count : double{x[i]};
    };
    for (std::size_t i = 0; i < x.size(); ++i) sums[sets[i]].squares += distance(i) * distance(i);
    NormalizedNumbers result;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Sums& set = sums[sets[i]];
        result.push_back(
            static_cast<float>(distance(i) / std::sqrt(set.squares / set.count + double{drawn_epsilon})));
    }
    return result;
}

/// The element of a tensor that element `place` of a tensor of shape `to` meets, by NumPy's broadcasting.
std::size_t broadcast_place(const ir::Shape& from, const ir::Shape& to, std::size_t place) {
    std::size_t found = 0;
    std::size_t step = 1;
    for (std::size_t axis = to.rank(); axis-- > to.rank() - from.rank();) {
        const std::uint32_t own = from[axis + from.rank() - to.rank()];
        if (own != 1) found += place % to[axis] * step;
        step *= own;
        place /= to[axis];
    }
    return found;
}

/// A shape that is repeated to the given one: the axes from `first` on, of which some are 1.
ir::Shape repeatable_shape(tests::GraphParts& parts, const ir::Shape& shape, std::size_t first) {
    std::vector<std::uint32_t> extents;
    for (std::size_t axis = first; axis < shape.rank(); ++axis) {
        extents.push_back(parts.number(0, 3) == 0 ? 1 : shape[axis]);
    }
    return ir::Shape(extents);
}

ir::Shape drawn_shape(tests::GraphParts& parts, std::uint32_t least_axes) {
    std::vector<std::uint32_t> extents(parts.number(least_axes, 5));
    for (std::uint32_t& extent : extents) extent = parts.number(1, 4);
    return ir::Shape(extents);
}

Tensor drawn_tensor(tests::GraphParts& parts, const ir::Shape& shape) {
    return reals(shape, parts.values(shape.elements(), -2.0F, 2.0F));
}

}  // namespace

TEST_CASE("The elements along the last axes are normalized, scaled and shifted", "[compiler][operators]") {
    const bool has_mean = GENERATE(true, false);
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        INFO("seed " << seed << ", " << (has_mean ? "layer" : "rms"));
        tests::GraphParts parts(seed);
        const ir::Shape shape = drawn_shape(parts, 1);
        const auto rank = static_cast<std::uint32_t>(shape.rank());
        const std::uint32_t axis = parts.number(0, rank - 1);
        std::vector<Tensor> inputs{drawn_tensor(parts, shape)};
        const std::uint32_t parameters = has_mean ? parts.number(1, 2) : 1;
        for (std::uint32_t i = 0; i < parameters; ++i) {
            // Usually of the normalized axes.
            const std::uint32_t first = parts.number(0, 2) == 0 ? parts.number(0, rank) : axis;
            inputs.push_back(drawn_tensor(parts, repeatable_shape(parts, shape, first)));
            inputs.back().is_constant = parts.number(0, 2) > 0;
        }
        std::size_t count = 1;
        for (std::uint32_t i = axis; i < rank; ++i) count *= shape[i];
        std::vector<std::size_t> lines(shape.elements());
        for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = i / count;
        NormalizedNumbers expected = plainly_normalized(inputs[0].reals(), lines, has_mean);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            expected[i] *= inputs[1].reals()[broadcast_place(inputs[1].shape, shape, i)];
            if (inputs.size() < 3) continue;
            expected[i] += inputs[2].reals()[broadcast_place(inputs[2].shape, shape, i)];
        }
        const std::int64_t counted_axis = parts.number(0, 1) == 0 ? axis : std::int64_t{axis} - rank;
        const FileNode node = onnx(has_mean ? "LayerNormalization" : "RMSNormalization",
                                   {{"axis", counted_axis}, {"epsilon", drawn_epsilon}});
        const Tensor result = compute(node, inputs);
        CHECK(result.shape == shape);
        CHECK(are_close(result.reals(), expected));
    }
}

TEST_CASE("Groups of channels are normalized, wherever the channels are", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::Shape drawn = drawn_shape(parts, 2);
        const bool is_keras = parts.number(0, 1) == 0;
        const std::uint32_t axis =
            is_keras ? parts.number(1, static_cast<std::uint32_t>(drawn.rank()) - 1) : 1;
        const std::uint32_t groups = parts.number(1, 3);
        std::vector<std::uint32_t> extents(drawn.extents().begin(), drawn.extents().end());
        const std::uint32_t channels = extents[axis] = groups * parts.number(1, 3);
        const ir::Shape shape(extents);
        const Tensor x = drawn_tensor(parts, shape);
        std::size_t behind = 1;
        for (std::size_t i = axis + 1; i < extents.size(); ++i) behind *= extents[i];
        const auto channel_of = [&](std::size_t i) { return i / behind % channels; };
        std::vector<std::size_t> sets(shape.elements());
        for (std::size_t i = 0; i < sets.size(); ++i) {
            const std::size_t image = i / (shape.elements() / shape[0]);
            sets[i] = image * groups + channel_of(i) / (channels / groups);
        }
        NormalizedNumbers expected = plainly_normalized(x.reals(), sets, true);
        if (is_keras) {
            // Both weights are the same in such a test.
            FileNode node =
                keras("GroupNormalization", {{"groups", groups == channels ? -1 : std::int64_t{groups}},
                                             {"axis", axis},
                                             {"epsilon", drawn_epsilon}});
            node.weights = parts.values(channels);
            node.attributes["scale"] = parts.number(0, 3) > 0;
            node.attributes["center"] = parts.number(0, 3) > 0;
            for (std::size_t i = 0; i < expected.size(); ++i) {
                const float weight = node.weights[channel_of(i)];
                if (node.attributes["scale"].get<bool>()) expected[i] *= weight;
                if (node.attributes["center"].get<bool>()) expected[i] += weight;
            }
            CHECK(are_close(compute(node, {x}).reals(), expected));
            continue;
        }
        // Before operator set 21, scale and offset are by group.
        const bool is_by_group = parts.number(0, 1) == 0;
        const ir::Shape each{is_by_group ? groups : channels};
        Tensor scale = drawn_tensor(parts, each);
        Tensor offset = drawn_tensor(parts, each);
        scale.is_constant = parts.number(0, 2) > 0;
        offset.is_constant = parts.number(0, 2) > 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::size_t place = is_by_group ? channel_of(i) / (channels / groups) : channel_of(i);
            expected[i] = expected[i] * scale.reals()[place] + offset.reals()[place];
        }
        const FileNode node =
            onnx("GroupNormalization",
                 {{"num_groups", groups}, {"epsilon", drawn_epsilon}, {"opset", is_by_group ? 18 : 21}});
        CHECK(are_close(compute(node, {x, scale, offset}).reals(), expected));
    }
}

TEST_CASE("Mean and 1 divided by the deviation are further results of ONNX's normalizations",
          "[compiler][operators]") {
    const Tensor x = reals({2, 2}, {1, 3, 10, 20});
    const Tensor scale = constant(reals({2}, {1, 2}));
    FileNode node = onnx("LayerNormalization", {{"epsilon", 0.0}});
    node.declared = {{}, {}, {}};
    const std::vector<Tensor> results = compute_all(node, {x, scale});
    REQUIRE(results.size() == 3);
    CHECK(are_close(results[0].reals(), {-1, 2, -1, 2}));
    CHECK(results[1] == reals({2, 1}, {2, 15}));
    CHECK(results[2].shape == ir::Shape{2, 1});
    CHECK(are_close(results[2].reals(), {1, 0.2F}));
    FileNode simplified = onnx("SimplifiedLayerNormalization", {{"epsilon", 0.0}});
    simplified.declared = {{}, {}};
    const std::vector<Tensor> others = compute_all(simplified, {reals({1, 2}, {1, 7}), scale});
    REQUIRE(others.size() == 2);
    CHECK(are_close(others[0].reals(), {0.2F, 2.8F}));
    CHECK(others[1].shape == ir::Shape{1, 1});
    CHECK(are_close(others[1].reals(), {0.2F}));
}

TEST_CASE("Keras normalizes the last axes with the weights that a layer has", "[compiler][operators]") {
    const Tensor x = reals({1, 2, 2}, {1, 3, 10, 20});
    const auto normalized = [&](const std::string& name, nlohmann::json keys,
                                const std::vector<float>& weights) {
        keys["epsilon"] = 0.0;
        FileNode node = keras(name, std::move(keys));
        node.weights = weights;
        return compute(node, {x}).reals();
    };
    // All weights of a layer are the same in such a test.
    CHECK(are_close(normalized("LayerNormalization", {{"axis", -1}}, {2, 3}), {0, 6, 0, 6}));
    CHECK(are_close(normalized("LayerNormalization", {{"axis", {2}}, {"center", false}}, {2, 3}),
                    {-2, 3, -2, 3}));
    CHECK(are_close(normalized("LayerNormalization", {{"scale", false}}, {2, 3}), {1, 4, 1, 4}));
    CHECK(are_close(normalized("LayerNormalization", {{"scale", false}, {"center", false}}, {}),
                    {-1, 1, -1, 1}));
    // The mean of the four is 8.5, and their variance 55.25.
    const float deviation = std::sqrt(55.25F);
    CHECK(are_close(normalized("LayerNormalization", {{"axis", {1, 2}}, {"center", false}}, {1, 1, 1, 2}),
                    {-7.5F / deviation, -5.5F / deviation, 1.5F / deviation, 23.0F / deviation}));
    // What Keras calls so divides by the deviation, and leaves the mean.
    CHECK(are_close(normalized("LayerNormalization", {{"rms_scaling", true}, {"scale", false}}, {2, 3}),
                    {2, 9, 4, 12}));
    const float first = std::sqrt(5.0F);
    const float second = std::sqrt(250.0F);
    CHECK(are_close(normalized("RMSNormalization", {{"axis", {-1}}}, {2, 3}),
                    {2 / first, 9 / first, 20 / second, 60 / second}));
}

TEST_CASE("Normalizations that are none are refused", "[compiler][operators]") {
    const Tensor x = counted_reals({1, 4, 3});
    const auto check_refusal = [&](const FileNode& node, const std::vector<Tensor>& inputs,
                                   const std::string& rule) {
        INFO(node.name);
        CHECK_THROWS_WITH(read_node(node, inputs), Catch::Contains(rule));
    };
    const Tensor three = constant(counted_reals({3}));
    const Tensor four = constant(counted_reals({4}));
    check_refusal(onnx("LayerNormalization", {{"stash_type", 10}}), {x, three},
                  "it must be 1: means and variances are float32");
    check_refusal(onnx("LayerNormalization"), {x}, "its input 1 is left out");
    check_refusal(onnx("LayerNormalization"), {x, four}, "it repeats 4 to 1x4x3");
    check_refusal(onnx("RMSNormalization"), {x, constant(counted_reals({1, 1, 1, 3}))},
                  "it repeats 1x1x1x3 to 1x4x3");
    check_refusal(onnx("RMSNormalization", {{"axis", 3}}), {x, three}, "its axis is 3");
    check_refusal(onnx("com.microsoft.SkipLayerNormalization"), {x, counted_reals({2, 4, 3}), three},
                  "its input is 1x4x3, and with what is added 2x4x3; it must keep its shape");
    check_refusal(onnx("GroupNormalization", {{"num_groups", 3}, {"opset", 21}}), {x, four, four},
                  "it has 3 groups of 4 channels");
    check_refusal(onnx("GroupNormalization", {{"num_groups", 2}, {"opset", 18}}), {x, four, four},
                  "its input 1 has 4 numbers; it must have 2, one for each group");
    check_refusal(onnx("GroupNormalization", {{"num_groups", 2}, {"opset", 21}}), {x, four, three},
                  "its input has 4 channels; its scale and offset are for 3");
    check_refusal(onnx("GroupNormalization", {{"num_groups", 1}}), {counted_reals({4}), four, four},
                  "its input is 4; its second axis must be the channels");
    const std::string last = "it must be the last axes, in ascending order and without the batch";
    for (const nlohmann::json& axis :
         {nlohmann::json(1), nlohmann::json({2, 1}), nlohmann::json({0, 1, 2}), nlohmann::json::array()}) {
        check_refusal(keras("LayerNormalization", {{"axis", axis}}), {x}, last);
    }
    check_refusal(keras("GroupNormalization", {{"groups", 2}}), {x},
                  "it must divide 3, the number of channels, or be -1");
    check_refusal(keras("GroupNormalization", {{"groups", 1}, {"axis", 0}}), {x},
                  "it is that of the batch; it must be that of the channels");
}
