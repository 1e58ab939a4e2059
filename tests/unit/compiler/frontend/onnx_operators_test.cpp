// Nodes of ONNX against loops over their definition, in the order of axes of the file; before and after
// transpositions are moved.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <tuple>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/passes/move_transposes.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "tests/support/file_order.h"
#include "tests/support/random_runs.h"
#include "tests/unit/compiler/frontend/node_draw.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;
using ::onnx::TensorProto;
using tests::check_near;
using tests::Extents;
using tests::in_file_order;
using tests::in_graph_order;
using tests::NodeDraw;
using tests::OnnxModel;
using tests::run_in_file_order;
using tests::with_attribute;

namespace {

/// A tensor [1, channels, height, width] in the order of ONNX; one dimension has a height of 1.
struct NodeImage {
    std::int64_t channels = 1;
    std::int64_t height = 1;
    std::int64_t width = 1;
    std::vector<float> values = {};

    float at(std::int64_t c, std::int64_t y, std::int64_t x) const {
        if (y < 0 || x < 0 || y >= height || x >= width) return 0.0F;
        return values[static_cast<std::size_t>((c * height + y) * width + x)];
    }
};

/// Checks the graph as it is read, and without transpositions.
void check_node(OnnxModel& model, const std::vector<float>& input, const std::vector<float>& expected) {
    const ir::Graph graph = model.read();
    check_near(run_in_file_order(graph, input), expected);
    const ir::Graph moved = passes::move_transposes(graph);
    ir::verify(moved, "move_transposes");
    for (const ir::Node& node : moved.nodes) CHECK_FALSE(node.is("transpose"));
    check_near(run_in_file_order(moved, input), expected);
    check_near(run_in_file_order(passes::simplify(graph), input), expected);
}

/// One direction of windows.
struct NodeAxis {
    std::int64_t input, kernel, stride, dilation, before, after;
    std::int64_t covered() const { return (kernel - 1) * dilation + 1; }
    std::int64_t windows() const { return (input + before + after - covered()) / stride + 1; }
};

NodeAxis drawn_axis(NodeDraw& draw, std::int64_t input, bool small_padding) {
    NodeAxis axis{input, draw.number(1, 3), draw.number(1, 3), draw.number(1, 2), 0, 0};
    const std::int64_t most = small_padding ? axis.kernel - 1 : 3;
    axis.before = draw.number(0, most);
    axis.after = draw.number(0, most);
    if (axis.covered() > axis.input + axis.before + axis.after) axis = {input, 1, 1, 1, 0, 0};
    return axis;
}

/// The extents of an image or a line, for a model.
Extents tensor_shape(bool is_line, std::int64_t first, std::int64_t second, std::int64_t height,
                     std::int64_t width) {
    return is_line ? Extents{first, second, width} : Extents{first, second, height, width};
}

void set_windows(::onnx::NodeProto& node, bool is_line, const NodeAxis& y, const NodeAxis& x) {
    if (is_line) {
        with_attribute(with_attribute(with_attribute(node, "strides", Extents{x.stride}), "dilations",
                                      Extents{x.dilation}),
                       "pads", {x.before, x.after});
    } else {
        with_attribute(with_attribute(with_attribute(node, "strides", {y.stride, x.stride}), "dilations",
                                      {y.dilation, x.dilation}),
                       "pads", {y.before, x.before, y.after, x.after});
    }
}

}  // namespace

TEST_CASE("ONNX's Conv is the sum over its windows, with groups, dilation, any padding, in 1-D and 2-D",
          "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        INFO("seed " << seed);
        NodeDraw draw(seed);
        const bool is_line = draw.number(0, 3) == 0;
        const std::int64_t groups = draw.number(1, 3);
        const std::int64_t own = draw.number(1, 2);
        const std::int64_t filters = groups * draw.number(1, 3);
        NodeImage image{groups * own, is_line ? 1 : draw.number(1, 7), draw.number(1, 7)};
        image.values = draw.values(image.channels * image.height * image.width);
        const NodeAxis y = is_line ? NodeAxis{1, 1, 1, 1, 0, 0} : drawn_axis(draw, image.height, false);
        const NodeAxis x = drawn_axis(draw, image.width, false);
        const std::vector<float> weights = draw.values(filters * own * y.kernel * x.kernel);
        const std::vector<float> bias = draw.values(filters);

        OnnxModel model;
        model.input("x", tensor_shape(is_line, 1, image.channels, image.height, image.width))
            .floats("w", tensor_shape(is_line, filters, own, y.kernel, x.kernel), weights)
            .floats("b", {filters}, bias)
            .output("y");
        set_windows(with_attribute(model.node("Conv", {"x", "w", "b"}, {"y"}), "group", groups), is_line, y,
                    x);

        std::vector<float> expected;
        for (std::int64_t f = 0; f < filters; ++f) {
            for (std::int64_t row = 0; row < y.windows(); ++row) {
                for (std::int64_t column = 0; column < x.windows(); ++column) {
                    double sum = bias[static_cast<std::size_t>(f)];
                    std::size_t weight = static_cast<std::size_t>(f * own * y.kernel * x.kernel);
                    for (std::int64_t c = 0; c < own; ++c) {
                        for (std::int64_t i = 0; i < y.kernel; ++i) {
                            for (std::int64_t j = 0; j < x.kernel; ++j) {
                                sum += double{weights[weight++]} *
                                       image.at(f / (filters / groups) * own + c,
                                                row * y.stride - y.before + i * y.dilation,
                                                column * x.stride - x.before + j * x.dilation);
                            }
                        }
                    }
                    expected.push_back(static_cast<float>(sum));
                }
            }
        }
        check_node(model, image.values, expected);
    }
}

TEST_CASE("ONNX's pools count what the definition counts", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < 80; ++seed) {
        INFO("seed " << seed);
        NodeDraw draw(seed);
        const bool is_line = draw.number(0, 3) == 0;
        const bool is_max = draw.number(0, 1) == 0;
        const bool is_ceil = draw.number(0, 1) == 0;
        const bool counts_padding = !is_max && draw.number(0, 1) == 0;
        NodeImage image{draw.number(1, 3), is_line ? 1 : draw.number(3, 9), draw.number(3, 9)};
        image.values = draw.values(image.channels * image.height * image.width);
        NodeAxis y = is_line ? NodeAxis{1, 1, 1, 1, 0, 0} : drawn_axis(draw, image.height, true);
        NodeAxis x = drawn_axis(draw, image.width, true);

        // Before opset 19, what lies behind the padding counts, too.
        const std::int64_t opset = draw.number(0, 1) == 0 ? 18 : 19;
        OnnxModel model(opset);
        model.input("x", tensor_shape(is_line, 1, image.channels, image.height, image.width)).output("y");
        auto& node = model.node(is_max ? "MaxPool" : "AveragePool", {"x"}, {"y"});
        set_windows(node, is_line, y, x);
        with_attribute(node, "kernel_shape", is_line ? Extents{x.kernel} : Extents{y.kernel, x.kernel});
        with_attribute(node, "ceil_mode", std::int64_t{is_ceil});
        if (!is_max) with_attribute(node, "count_include_pad", std::int64_t{counts_padding});

        const auto windows = [&](const NodeAxis& axis) {
            std::int64_t count = axis.windows();
            const std::int64_t rest = (axis.input + axis.before + axis.after - axis.covered()) % axis.stride;
            // Rounded up, unless the last window would begin behind the image.
            if (is_ceil && rest != 0 && count * axis.stride < axis.input + axis.before) ++count;
            return count;
        };
        std::vector<float> expected;
        for (std::int64_t c = 0; c < image.channels; ++c) {
            for (std::int64_t row = 0; row < windows(y); ++row) {
                for (std::int64_t column = 0; column < windows(x); ++column) {
                    float largest = -1e30F;
                    double sum = 0.0;
                    int count = 0;
                    for (std::int64_t i = 0; i < y.kernel; ++i) {
                        for (std::int64_t j = 0; j < x.kernel; ++j) {
                            const std::int64_t v = row * y.stride - y.before + i * y.dilation;
                            const std::int64_t u = column * x.stride - x.before + j * x.dilation;
                            const bool inside = v >= 0 && u >= 0 && v < image.height && u < image.width;
                            const bool in_border =
                                opset < 19 || (v < image.height + y.after && u < image.width + x.after);
                            count += inside || (counts_padding && in_border) ? 1 : 0;
                            if (!inside) continue;
                            largest = std::max(largest, image.at(c, v, u));
                            sum += image.at(c, v, u);
                        }
                    }
                    expected.push_back(is_max ? largest : static_cast<float>(sum / count));
                }
            }
        }
        check_node(model, image.values, expected);
    }
}

TEST_CASE("ONNX's LpPool and GlobalLpPool are the norms of their windows", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        INFO("seed " << seed);
        NodeDraw draw(seed);
        const bool is_line = draw.number(0, 3) == 0;
        const bool is_global = draw.number(0, 3) == 0;
        const bool is_ceil = !is_global && draw.number(0, 2) == 0;
        const std::int64_t order = draw.number(1, 4);
        NodeImage image{draw.number(1, 3), is_line ? 1 : draw.number(3, 9), draw.number(3, 9)};
        image.values = draw.values(image.channels * image.height * image.width);
        NodeAxis y = is_line ? NodeAxis{1, 1, 1, 1, 0, 0} : drawn_axis(draw, image.height, true);
        NodeAxis x = drawn_axis(draw, image.width, true);
        if (is_global) {
            y = {image.height, image.height, 1, 1, 0, 0};
            x = {image.width, image.width, 1, 1, 0, 0};
        }
        OnnxModel model(is_ceil ? 18 : 11);
        model.input("x", tensor_shape(is_line, 1, image.channels, image.height, image.width)).output("y");
        auto& node = model.node(is_global ? "GlobalLpPool" : "LpPool", {"x"}, {"y"});
        // The default order is 2.
        if (order != 2 || seed % 2 == 0) with_attribute(node, "p", order);
        if (!is_global) {
            set_windows(node, is_line, y, x);
            with_attribute(node, "kernel_shape", is_line ? Extents{x.kernel} : Extents{y.kernel, x.kernel});
        }
        if (is_ceil) with_attribute(node, "ceil_mode", std::int64_t{1});

        const auto windows = [&](const NodeAxis& axis) {
            const std::int64_t count = axis.windows();
            const std::int64_t rest = (axis.input + axis.before + axis.after - axis.covered()) % axis.stride;
            return is_ceil && rest != 0 && count * axis.stride < axis.input + axis.before ? count + 1 : count;
        };
        std::vector<float> expected;
        for (std::int64_t c = 0; c < image.channels; ++c) {
            for (std::int64_t row = 0; row < windows(y); ++row) {
                for (std::int64_t column = 0; column < windows(x); ++column) {
                    double sum = 0.0;
                    for (std::int64_t i = 0; i < y.kernel; ++i) {
                        for (std::int64_t j = 0; j < x.kernel; ++j) {
                            sum += std::pow(std::abs(image.at(c, row * y.stride - y.before + i * y.dilation,
                                                              column * x.stride - x.before + j * x.dilation)),
                                            static_cast<double>(order));
                        }
                    }
                    expected.push_back(static_cast<float>(std::pow(sum, 1.0 / static_cast<double>(order))));
                }
            }
        }
        check_node(model, image.values, expected);
    }
    OnnxModel wrong;
    wrong.input("x", {1, 1, 4, 4}).output("y");
    with_attribute(wrong.node("GlobalLpPool", {"x"}, {"y"}), "p", std::int64_t{0});
    CHECK_THROWS_WITH(wrong.read(),
                      Catch::Contains("n_y") && Catch::Contains("p is 0; it must be 1 to 2^20"));
}

TEST_CASE("ONNX's ConvTranspose adds each element's multiple of the kernel", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        INFO("seed " << seed);
        NodeDraw draw(seed);
        const std::int64_t groups = draw.number(1, 2);
        const std::int64_t own = draw.number(1, 2);
        const std::int64_t filters = draw.number(1, 3);  // of a group
        NodeImage image{groups * own, draw.number(1, 5), draw.number(1, 5)};
        image.values = draw.values(image.channels * image.height * image.width);
        std::vector<NodeAxis> axes;
        std::vector<std::int64_t> extra;
        std::vector<std::int64_t> sizes;
        for (const std::int64_t input : {image.height, image.width}) {
            NodeAxis axis{input, draw.number(1, 4), draw.number(1, 3), draw.number(1, 2), 0, 0};
            axis.before = draw.number(0, 1);
            axis.after = draw.number(0, 1);
            extra.push_back(draw.number(0, axis.stride - 1));
            if ((input - 1) * axis.stride + axis.covered() - axis.before - axis.after + extra.back() < 1) {
                axis.before = axis.after = 0;
            }
            sizes.push_back((input - 1) * axis.stride + axis.covered() - axis.before - axis.after +
                            extra.back());
            axes.push_back(axis);
        }
        const auto& [y, x] = std::tie(axes[0], axes[1]);
        const std::vector<float> weights = draw.values(image.channels * filters * y.kernel * x.kernel);
        const std::vector<float> bias = draw.values(groups * filters);

        OnnxModel model;
        model.input("x", {1, image.channels, image.height, image.width})
            .floats("w", {image.channels, filters, y.kernel, x.kernel}, weights)
            .floats("b", {groups * filters}, bias)
            .output("y");
        auto& node = with_attribute(model.node("ConvTranspose", {"x", "w", "b"}, {"y"}), "group", groups);
        set_windows(node, false, y, x);
        with_attribute(node, "output_padding", extra);

        std::vector<double> sums;
        for (std::int64_t f = 0; f < groups * filters; ++f) {
            sums.insert(sums.end(), static_cast<std::size_t>(sizes[0] * sizes[1]),
                        bias[static_cast<std::size_t>(f)]);
        }
        for (std::int64_t c = 0; c < image.channels; ++c) {
            for (std::int64_t f = 0; f < filters; ++f) {
                for (std::int64_t i = 0; i < y.kernel; ++i) {
                    for (std::int64_t j = 0; j < x.kernel; ++j) {
                        const float weight = weights[static_cast<std::size_t>(
                            ((c * filters + f) * y.kernel + i) * x.kernel + j)];
                        for (std::int64_t row = 0; row < image.height; ++row) {
                            for (std::int64_t column = 0; column < image.width; ++column) {
                                const std::int64_t v = row * y.stride - y.before + i * y.dilation;
                                const std::int64_t u = column * x.stride - x.before + j * x.dilation;
                                if (v < 0 || u < 0 || v >= sizes[0] || u >= sizes[1]) continue;
                                const std::int64_t filter = c / own * filters + f;
                                sums[static_cast<std::size_t>((filter * sizes[0] + v) * sizes[1] + u)] +=
                                    double{weight} * image.at(c, row, column);
                            }
                        }
                    }
                }
            }
        }
        check_node(model, image.values, {sums.begin(), sums.end()});
    }
}

TEST_CASE("ONNX's padding by rule: SAME_UPPER, SAME_LOWER and VALID", "[compiler][operators]") {
    // The numbers of windows, and the first sum: which elements the first window covers.
    const auto results = [](const char* rule) {
        OnnxModel model;
        model.input("x", {1, 1, 1, 4}).floats("w", {1, 1, 1, 2}, {1, 10}).output("y");
        with_attribute(model.node("Conv", {"x", "w"}, {"y"}), "auto_pad", rule);
        return run_in_file_order(model.read(), {1, 2, 3, 4});
    };
    CHECK(results("SAME_UPPER") == std::vector<float>{21, 32, 43, 4});
    CHECK(results("SAME_LOWER") == std::vector<float>{10, 21, 32, 43});
    CHECK(results("VALID") == std::vector<float>{21, 32, 43});
    // A transposed convolution cuts the sums on both sides; the odd one at the end, or at the begin.
    const auto transposed = [](const char* rule) {
        OnnxModel model;
        model.input("x", {1, 1, 1, 4}).floats("w", {1, 1, 1, 4}, {1, 10, 100, 1000}).output("y");
        with_attribute(model.node("ConvTranspose", {"x", "w"}, {"y"}), "auto_pad", rule);
        return run_in_file_order(model.read(), {1, 2, 3, 4});
    };
    CHECK(transposed("VALID") == std::vector<float>{1, 12, 123, 1234, 2340, 3400, 4000});
    CHECK(transposed("SAME_UPPER") == std::vector<float>{12, 123, 1234, 2340});
    CHECK(transposed("SAME_LOWER") == std::vector<float>{123, 1234, 2340, 3400});
}

TEST_CASE("ONNX's products scale, transpose and add", "[compiler][operators]") {
    SECTION("Gemm of one row") {
        OnnxModel model;
        model.input("x", {1, 2}).floats("w", {3, 2}, {1, 2, 3, 4, 5, 6}).floats("c", {3}, {1, 2, 3});
        model.output("y");
        auto& node = model.node("Gemm", {"x", "w", "c"}, {"y"});
        with_attribute(with_attribute(with_attribute(node, "transB", std::int64_t{1}), "alpha", 2.0F), "beta",
                       10.0F);
        check_node(model, {1, 10}, {2 * 21 + 10, 2 * 43 + 20, 2 * 65 + 30});
    }
    SECTION("Gemm with a constant of any shape that is one number for each column") {
        // One layer with a bias, which the chip has for nothing: not a layer and a sum.
        for (const Extents& shape : {Extents{3}, Extents{1, 3}, Extents{1}, Extents{}, Extents{1, 1}}) {
            const bool is_one = shape.empty() || shape.back() == 1;
            OnnxModel model;
            model.input("x", {1, 2}).floats("w", {2, 3}, {1, 2, 3, 4, 5, 6}).output("y");
            model.floats("c", shape, is_one ? std::vector<float>{7} : std::vector<float>{7, 8, 9});
            model.node("Gemm", {"x", "w", "c"}, {"y"});
            check_node(model, {1, 10},
                       is_one ? std::vector<float>{48, 59, 70} : std::vector<float>{48, 60, 72});
            const ir::Graph graph = model.read();
            REQUIRE(graph.nodes.size() == 1);
            CHECK(graph.nodes[0].inputs.size() == 3);
        }
    }
    SECTION("MatMul of several rows") {
        OnnxModel model;
        model.input("x", {1, 2, 2}).floats("w", {2, 1}, {1, 10}).output("y");
        model.node("MatMul", {"x", "w"}, {"y"});
        const ir::Graph graph = model.read();
        CHECK(graph.output().shape == ir::Shape{1, 2, 1});
        check_node(model, {1, 2, 3, 4}, {21, 43});
    }
    SECTION("MatMul with a vector") {
        OnnxModel model;
        model.input("x", {1, 2, 2}).floats("w", {2}, {1, 10}).output("y");
        model.node("MatMul", {"x", "w"}, {"y"});
        CHECK(model.read().output().shape == ir::Shape{1, 2});
        check_node(model, {1, 2, 3, 4}, {21, 43});
    }
}

TEST_CASE("ONNX's BatchNormalization works on the second axis", "[compiler][operators]") {
    OnnxModel model;
    model.input("x", {1, 2, 1, 2}).floats("s", {2}, {1, 2}).floats("b", {2}, {0, 1});
    model.floats("m", {2}, {1, 0}).floats("v", {2}, {4, 1}).output("y");
    with_attribute(model.node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"}), "epsilon", 0.0F);
    check_node(model, {1, 2, 3, 4}, {0, 0.5F, 7, 9});
}

TEST_CASE("ONNX Runtime's normalizations add a skip connection first", "[compiler][operators]") {
    const auto model_of = [](const std::string& name, const std::vector<std::string>& inputs,
                             const std::vector<std::string>& results) {
        OnnxModel model(17);
        model.import_set("com.microsoft", 1).input("x", {1, 2}).input("skip", {1, 2});
        model.floats("scale", {2}, {5, 10}).floats("offset", {2}, {0.5F, 0}).floats("bias", {2}, {0, 1});
        model.node(name, inputs, results).set_domain("com.microsoft");
        for (const std::string& result : results) {
            if (!result.empty()) model.output(result);
        }
        return model;
    };
    const auto check = [](OnnxModel model, const std::vector<std::vector<float>>& expected) {
        const auto results = run_in_file_order(model.read(), {{1, 2}, {0, 4}}, 1);
        REQUIRE(results.size() == expected.size());
        for (std::size_t i = 0; i < results.size(); ++i) check_near(results[i], expected[i]);
    };
    const std::vector<std::string> with_sum{"y", "", "", "sum"};
    const char* const layer = "SkipLayerNormalization";
    check(model_of(layer, {"x", "skip", "scale", "offset", "bias"}, with_sum), {{-4.5F, 10}, {1, 7}});
    check(model_of(layer, {"x", "skip", "scale", "", "bias"}, {"y"}), {{-5, 10}});
    check(model_of(layer, {"x", "skip", "scale"}, with_sum), {{-5, 10}, {1, 6}});
    const char* const simplified = "SkipSimplifiedLayerNormalization";
    check(model_of(simplified, {"x", "skip", "scale", "bias"}, with_sum), {{1, 14}, {1, 7}});
    OnnxModel trained = model_of(layer, {"x", "skip", "scale"}, {"y", "mean", "", "sum"});
    CHECK(tests::refusal_of(trained) == "output \"mean\": it is a result that is not supported");
}

TEST_CASE("A product after a flattened image reads the image in its own order", "[compiler][operators]") {
    NodeDraw draw(1);
    const std::vector<float> kernel = draw.values(3 * 2);
    const std::vector<float> weights = draw.values(18 * 4);
    OnnxModel model;
    model.input("x", {1, 2, 2, 3}).floats("k", {3, 2, 1, 1}, kernel).floats("w", {18, 4}, weights);
    model.raw("shape", TensorProto::INT64, {2}, std::vector<std::int64_t>{1, -1}).output("y");
    model.node("Conv", {"x", "k"}, {"c"});
    // Reshape is an operator of its own; here the product itself flattens.
    model.node("MatMul", {"f", "w"}, {"y"});
    auto& reshape = model.node("Reshape", {"c", "shape"}, {"f"});
    if (operators::registry().find_layer(ir::Format::Onnx, reshape.op_type()) == nullptr) {
        WARN("SKIPPED: there is no Reshape");
        return;
    }
    const std::vector<float> input = draw.values(12);
    std::vector<float> expected(4, 0.0F);
    for (std::size_t f = 0; f < 3; ++f) {
        for (std::size_t pixel = 0; pixel < 6; ++pixel) {
            const float value = kernel[2 * f] * input[pixel] + kernel[2 * f + 1] * input[6 + pixel];
            for (std::size_t unit = 0; unit < 4; ++unit) {
                expected[unit] += value * weights[(f * 6 + pixel) * 4 + unit];
            }
        }
    }
    check_node(model, input, expected);
}

TEST_CASE("ONNX's QuantizeLinear rounds halves to even and DequantizeLinear takes them back",
          "[compiler][operators]") {
    OnnxModel model;
    model.input("x", {1, 4}).floats("s", {}, {0.5F}).raw<std::uint8_t>("z", TensorProto::UINT8, {}, {3});
    model.output("y");
    model.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
    model.node("DequantizeLinear", {"q", "s", "z"}, {"y"});
    // 0.25 / 0.5 = 0.5 becomes 0, 0.75 / 0.5 = 1.5 becomes 2; the type ends at 255 and 0.
    CHECK(run_in_file_order(model.read(), {0.25F, 0.75F, 1000.0F, -1000.0F}) ==
          std::vector<float>{0.0F, 1.0F, 126.0F, -1.5F});
}

TEST_CASE("Products and sums between scales are rounded once, as in float32, for every pair of bytes",
          "[compiler][operators]") {
    constexpr std::size_t bytes = 256;
    // Two roundings would change some 300 results of a graph; what the roundings of float32 itself change are
    // fewer than one of 100,000, and none where scales are powers of two, which give many halves.
    std::size_t others = 0;
    const std::uint32_t graphs = tests::random_runs(20);
    for (std::uint32_t seed = 1; seed <= graphs; ++seed) {
        INFO("seed " << seed);
        std::mt19937 generator(seed);
        const auto real = [&](float from, float to) {
            return std::uniform_real_distribution<float>(from, to)(generator);
        };
        const auto byte = [&] {
            return static_cast<std::uint8_t>(std::uniform_int_distribution<>(0, 255)(generator));
        };
        const bool is_signed = seed % 2 == 0;
        const auto type = is_signed ? TensorProto::INT8 : TensorProto::UINT8;
        const bool is_sum = seed % 5 < 2;
        const bool has_powers = seed % 4 < 2;
        const auto rounded_scale = [&](float scale) {
            return has_powers ? std::exp2(std::round(std::log2(scale))) : scale;
        };
        const float a = rounded_scale(real(0.005F, 0.05F));
        const float b = rounded_scale(real(0.005F, 0.05F));
        // At times, results of 1 and more steps of each product, up to such that leave only the ends.
        const float multiplier = rounded_scale(
            seed % 7 == 0 ? real(1.0F, 40.0F) : 1.0F / real(is_sum ? 0.5F : 20.0F, is_sum ? 9.0F : 500.0F));
        const float result = is_sum ? std::max(a, b) / multiplier : a * b / multiplier;
        OnnxModel model;
        model.input("a", {1, 16, 64, 64}, type).input("b", {1, 16, 64, 64}, type).output("y");
        model.floats("sa", {}, {a}).floats("sb", {}, {b}).floats("s", {}, {result});
        model.raw<std::uint8_t>("za", type, {}, {byte()}).raw<std::uint8_t>("zb", type, {}, {byte()});
        model.raw<std::uint8_t>("z", type, {}, {byte()});
        model.node("DequantizeLinear", {"a", "sa", "za"}, {"x"});
        model.node("DequantizeLinear", {"b", "sb", "zb"}, {"w"});
        model.node(is_sum ? "Add" : "Mul", {"x", "w"}, {"m"});
        if (seed % 3 == 0) model.node("Relu", {"m"}, {"r"});
        model.node("QuantizeLinear", {seed % 3 == 0 ? "r" : "m", "s", "z"}, {"y"});
        const ir::Graph graph = model.read();
        const ir::Graph folded = passes::simplify(graph);
        REQUIRE(folded.nodes.size() == 1);
        CHECK(folded.nodes.front().text("rounding") == "half_to_even");
        std::vector<std::uint8_t> first;
        std::vector<std::uint8_t> second;
        for (std::size_t i = 0; i < bytes * bytes; ++i) {
            first.push_back(static_cast<std::uint8_t>(i % bytes));
            second.push_back(static_cast<std::uint8_t>(i / bytes));
        }
        const std::vector<std::span<const std::uint8_t>> inputs{first, second};
        const auto expected = reference::run(graph, inputs, 1);
        const auto given = reference::run(folded, inputs, 1);
        for (std::size_t i = 0; i < first.size(); ++i) {
            const int distance = std::abs(int{given[0][i]} - int{expected[0][i]});
            if (distance == 0) continue;
            INFO("a " << int{first[i]} << ", b " << int{second[i]});
            REQUIRE(distance == (has_powers ? 0 : 1));
            ++others;
        }
    }
    INFO(others << " of " << graphs * bytes * bytes << " results differ");
    CHECK(others * 100'000 <= graphs * bytes * bytes);
}

TEST_CASE("Products and sums of 16 bits stay in float32, whose roundings are the runtime's",
          "[compiler][operators]") {
    for (const char* const op : {"Mul", "Add"}) {
        OnnxModel model(21);
        model.input("a", {1, 4}, TensorProto::INT16).input("b", {1, 4}, TensorProto::INT16).output("y");
        model.floats("one", {}, {1.0F}).floats("s", {}, {1.5F});
        model.raw<std::int16_t>("z", TensorProto::INT16, {}, {0});
        model.node("DequantizeLinear", {"a", "one", "z"}, {"x"});
        model.node("DequantizeLinear", {"b", "one", "z"}, {"w"});
        model.node(op, {"x", "w"}, {"m"});
        model.node("QuantizeLinear", {"m", "s", "z"}, {"y"});
        CHECK(passes::simplify(model.read()).nodes.size() == 4);
    }
}

TEST_CASE("A layer whose sums may exceed 32 bits stays in float32", "[compiler][operators]") {
    const auto folded = [](std::uint32_t products, std::vector<std::int32_t> bias = {}) {
        OnnxModel model(21);
        model.input("a", {1, products}, TensorProto::INT16).output("y");
        model.floats("one", {}, {1.0F}).floats("s", {}, {65536.0F});
        model.raw<std::int16_t>("z", TensorProto::INT16, {}, {0});
        model.raw<std::int8_t>("zw", TensorProto::INT8, {}, {0});
        model.raw<std::int8_t>("w", TensorProto::INT8, {products, 1},
                               std::vector<std::int8_t>(products, std::int8_t{127}));
        model.node("DequantizeLinear", {"a", "one", "z"}, {"x"});
        model.node("DequantizeLinear", {"w", "one", "zw"}, {"v"});
        if (bias.empty()) {
            model.node("MatMul", {"x", "v"}, {"m"});
        } else {
            model.raw<std::int32_t>("zb", TensorProto::INT32, {}, {0});
            model.raw("b", TensorProto::INT32, {1}, bias);
            model.node("DequantizeLinear", {"b", "one", "zb"}, {"c"});
            model.node("Gemm", {"x", "v", "c"}, {"m"});
        }
        model.node("QuantizeLinear", {"m", "s", "z"}, {"y"});
        return passes::simplify(model.read()).nodes.size();
    };
    // 516 * 127 * 32768 is the last below 2^31.
    CHECK(folded(515) == 1);
    CHECK(folded(516) == 1);
    CHECK(folded(517) > 1);
    // The bias counts, too: the last sum is 2^31 - 1.
    constexpr std::int32_t left = std::numeric_limits<std::int32_t>::max() - 516 * 127 * 32768;
    CHECK(folded(516, {left}) == 1);
    CHECK(folded(516, {-left}) == 1);
    CHECK(folded(516, {left + 1}) > 1);
    CHECK(folded(516, {-left - 1}) > 1);
}

TEST_CASE("An average whose halves the pooling unit rounds otherwise is one of the matrix unit",
          "[compiler][operators]") {
    const auto operators_of = [](std::int64_t height, std::int64_t width) {
        OnnxModel model;
        model.input("a", {1, 3, 6, 6}, TensorProto::UINT8).output("y");
        model.floats("s", {}, {0.5F}).raw<std::uint8_t>("z", TensorProto::UINT8, {}, {3});
        model.node("DequantizeLinear", {"a", "s", "z"}, {"x"});
        with_attribute(model.node("AveragePool", {"x"}, {"m"}), "kernel_shape", {height, width});
        model.node("QuantizeLinear", {"m", "s", "z"}, {"y"});
        const ir::Graph graph = model.read();
        const ir::Graph prepared = passes::simplify(graph);
        std::mt19937 random(5);
        std::vector<std::uint8_t> input(108);
        for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(random());
        const std::span<const std::uint8_t> bytes(input);
        // The order of axes is part of the graph, not of the file: both are compared as sets of numbers.
        auto expected = reference::run(graph, {&bytes, 1}, 1).front();
        std::vector<std::uint8_t> moved(108);
        const bool is_moved = !prepared.values[prepared.inputs[0]].file_axes.empty();
        for (std::size_t i = 0; i < 108; ++i) moved[is_moved ? i % 36 * 3 + i / 36 : i] = input[i];
        const std::span<const std::uint8_t> moved_bytes(moved);
        auto given = reference::run(prepared, {&moved_bytes, 1}, 1).front();
        std::ranges::sort(expected);
        std::ranges::sort(given);
        CHECK(given == expected);
        std::string names;
        for (const ir::Node& node : prepared.nodes) names += std::string(node.op->name()) + " ";
        return names;
    };
    CHECK(operators_of(3, 3) == "average_pool ");
    CHECK(operators_of(2, 2) == "depthwise_convolution ");
    CHECK(operators_of(2, 3) == "depthwise_convolution ");
    CHECK(operators_of(6, 6).starts_with("depthwise_convolution "));
}

TEST_CASE("ONNX's QuantizeLinear and DequantizeLinear know the whole range of each integer type",
          "[compiler][operators]") {
    const auto check = []<typename Number>(Number zero, TensorProto::DataType type) {
        constexpr double least = std::numeric_limits<Number>::min();
        constexpr double most = std::numeric_limits<Number>::max();
        CAPTURE(type);
        OnnxModel model(21);
        model.input("x", {1, 6}).floats("s", {}, {0.25F}).raw<Number>("z", type, {}, {zero});
        model.output("y").output("q");
        model.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
        model.node("DequantizeLinear", {"q", "s", "z"}, {"y"});
        const auto real = [&](double stored) { return static_cast<float>(0.25 * (stored - zero)); };
        const std::vector<float> input{real(least), real(most), real((most + 1) / 2), 0.0F, -1e9F, 1e9F};
        std::vector<float> expected{input.begin(), input.begin() + 4};
        expected.push_back(real(least));
        expected.push_back(real(most));
        const std::span<const std::uint8_t> given(reinterpret_cast<const std::uint8_t*>(input.data()), 24);
        const auto outputs = reference::run(model.read(), {&given, 1}, 1);
        const auto* const reals = reinterpret_cast<const float*>(outputs[0].data());
        CHECK(std::vector<float>(reals, reals + 6) == expected);
        const auto* const stored = reinterpret_cast<const Number*>(outputs[1].data());
        CHECK(stored[0] == std::numeric_limits<Number>::min());
        CHECK(stored[1] == std::numeric_limits<Number>::max());
        CHECK(stored[3] == zero);
    };
    check(std::uint8_t{200}, TensorProto::UINT8);
    check(std::int8_t{-100}, TensorProto::INT8);
    check(std::uint16_t{40000}, TensorProto::UINT16);
    check(std::int16_t{-30000}, TensorProto::INT16);
}

TEST_CASE("ONNX's integer products give sums of 32 bits", "[compiler][operators]") {
    OnnxModel model;
    model.input("x", {1, 1, 2, 2}, TensorProto::UINT8);
    model.raw<std::int8_t>("w", TensorProto::INT8, {1, 1, 2, 2}, {1, -2, 3, -4});
    model.raw<std::uint8_t>("zx", TensorProto::UINT8, {}, {10});
    model.raw<std::int8_t>("zw", TensorProto::INT8, {}, {1}).output("y");
    with_attribute(model.node("ConvInteger", {"x", "w", "zx", "zw"}, {"y"}), "pads", {0, 0, 0, 1});
    const ir::Graph graph = model.read();
    CHECK(graph.output().type == DataType::Int32);
    const std::vector<std::uint8_t> input{11, 13, 9, 20};
    const std::span<const std::uint8_t> bytes(input);
    const auto outputs = reference::run(graph, {&bytes, 1}, 1);
    const auto* const sums = reinterpret_cast<const std::int32_t*>(outputs.front().data());
    // (x - 10) * (w - 1); beyond the border x counts as 10.
    CHECK(sums[0] == 1 * 0 + 3 * -3 + -1 * 2 + 10 * -5);
    CHECK(sums[1] == 3 * 0 + 10 * 2);
}

TEST_CASE("ONNX's DynamicQuantizeLinear takes scale and zero point from the numbers",
          "[compiler][operators]") {
    OnnxModel model;
    model.input("x", {1, 3}).output("y").output("s").output("z");
    model.node("DynamicQuantizeLinear", {"x"}, {"y", "s", "z"});
    const ir::Graph graph = model.read();
    const std::vector<float> input{-1.0F, 0.0F, 1.55F};
    const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(input.data()), 12);
    const auto outputs = reference::run(graph, {&bytes, 1}, 1);
    CHECK(*reinterpret_cast<const float*>(outputs[1].data()) == Approx(0.01F));
    CHECK(outputs[2] == std::vector<std::uint8_t>{100});
    CHECK(outputs[0] == std::vector<std::uint8_t>{0, 100, 255});
}

TEST_CASE("Work between scales is the same on integers, but for a quantum", "[compiler][operators]") {
    // Each image times its average, as networks weigh their channels; the smaller operand comes first. The
    // image comes from work on channels last, so that all of it can be.
    constexpr float scale = 0.02F;
    OnnxModel model;
    model.input("x", {1, 2, 2, 2}).floats("s", {}, {scale}).output("y");
    model.raw<std::uint8_t>("z", TensorProto::UINT8, {}, {128});
    const auto stored = [&](const std::string& from, const std::string& to) {
        model.node("QuantizeLinear", {from, "s", "z"}, {to + "_q"});
        model.node("DequantizeLinear", {to + "_q", "s", "z"}, {to});
    };
    stored("x", "i");
    with_attribute(model.node("MaxPool", {"i"}, {"a"}), "kernel_shape", {1, 1});
    model.node("GlobalAveragePool", {"a"}, {"p"});
    stored("p", "b");
    model.node("Mul", {"b", "a"}, {"m"});
    stored("m", "n");
    model.node("Add", {"b", "n"}, {"t"});
    stored("t", "y");
    const ir::Graph graph = model.read();
    const ir::Graph simple = passes::simplify(graph);
    INFO(ir::to_text(simple));
    for (const ir::Node& node : simple.nodes) {
        CHECK_FALSE(node.is("quantize"));
        CHECK_FALSE(node.is("dequantize"));
        CHECK_FALSE(node.is("transpose"));
    }
    NodeDraw draw(1);
    const std::vector<float> input = draw.values(8);
    const std::vector<float> expected = run_in_file_order(graph, input);
    std::vector<std::uint8_t> bytes;
    for (const float value : in_graph_order(simple.input(), input)) {
        bytes.push_back(static_cast<std::uint8_t>(std::nearbyint(value / scale) + 128));
    }
    const std::span<const std::uint8_t> given(bytes);
    const auto outputs = reference::run(simple, {&given, 1}, 1);
    std::vector<float> result;
    for (const std::uint8_t byte : outputs.front()) result.push_back(scale * static_cast<float>(byte - 128));
    result = in_file_order(simple.output(), result);
    REQUIRE(result.size() == expected.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
        INFO("element " << i);
        // A product that rounds the other way may move the sum by one, too.
        CHECK(std::abs(result[i] - expected[i]) < 2.5F * scale);
    }
}
