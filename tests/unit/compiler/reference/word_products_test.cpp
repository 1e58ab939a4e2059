// Products, convolutions and scattered sums of words, to the bit.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/passes/compute_in_words.h"
#include "compiler/reference/executor.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"
#include "tests/support/text_graphs.h"
#include "tests/support/word_nodes.h"

using namespace systole;

namespace {

using tests::words::broadcast_element;
using tests::words::bytes_in;
using tests::words::Floats;
using tests::words::for_each_place;
using tests::words::graph_of_node;
using tests::words::hard_floats;
using tests::words::nearest_bfloat16;
using tests::words::product_of;
using tests::words::Sizes;
using tests::words::stored;
using tests::words::to_shape;

/// The results of a node of two inputs, written as the lines of their values, the result and the node.
Floats result_of(const std::string& values, const std::string& node, const std::vector<Floats>& inputs) {
    const ir::Graph graph =
        tests::graph_of_text("graph \"g\"\ninputs %0, %1\noutputs %2\n" + values + "%2 = " + node + "\n");
    const std::vector<std::span<const float>> spans(inputs.begin(), inputs.end());
    return reference::execute(graph, spans, 1).front();
}

}  // namespace

TEST_CASE("Two computed matrices are multiplied, each as it is or transposed", "[compiler][reference]") {
    const Floats a{1, 2, 3, 4, 5, 6};
    const Floats b{1, 10, 100, 1000, 10000, 100000};
    const std::string values = "%0 float32 1x2x3 \"a\"\n%1 float32 1x3x2 \"b\"\n%2 float32 1x2x2 \"n\"\n";
    CHECK(result_of(values, "matrix_product(%0, %1) \"n\"", {a, b}) == Floats{30201, 302010, 60504, 605040});
    const std::string second = "%0 float32 1x2x3 \"a\"\n%1 float32 2x3 \"b\"\n%2 float32 1x2x2 \"n\"\n";
    CHECK(result_of(second, "matrix_product(%0, %1) \"n\" {transposed_b 1}", {a, b}) ==
          Floats{321, 321000, 654, 654000});
    const std::string first = "%0 float32 1x3x2 \"a\"\n%1 float32 1x3x2 \"b\"\n%2 float32 1x2x2 \"n\"\n";
    CHECK(result_of(first, "matrix_product(%0, %1) \"n\" {transposed_a 1}", {a, b}) ==
          Floats{50301, 503010, 60402, 604020});
}

TEST_CASE("A computed kernel meets the pixels of a spread image, without the zeros between them",
          "[compiler][reference]") {
    const std::string values =
        "%0 float32 1x1x1x3x1 \"x\"\n%1 float32 1x1x3x1x1 \"k\"\n%2 float32 1x1x1x5x1 \"n\"\n";
    const std::string attributes = "kernel [1, 3], padding [0, 1, 0, 1]";
    CHECK(result_of(values, "word_convolution(%0, %1) \"n\" {" + attributes + ", spread_x 2}",
                    {{1, 2, 3}, {100, 10, 1}}) == Floats{10, 102, 20, 203, 30});
}

TEST_CASE("Numbers are added where windows have their greatest or least element", "[compiler][reference]") {
    const std::string values =
        "%0 float32 1x1x5x1 \"x\"\n%1 float32 1x1x3x1 \"s\"\n%2 float32 1x1x5x1 \"n\"\n";
    const std::string windows = "word_select_and_scatter(%0, %1) \"n\" {kernel [1, 3]";
    CHECK(result_of(values, windows + "}", {{1, 7, 7, 3, 2}, {1, 10, 100}}) == Floats{0, 11, 100, 0, 0});
    CHECK(result_of(values, windows + ", select \"least\"}", {{1, 7, 7, 3, 2}, {1, 10, 100}}) ==
          Floats{1, 0, 0, 10, 100});
}

namespace {

/// A node of two inputs drawn at random: what does not depend on its operator.
struct DrawnInputs {
    explicit DrawnInputs(std::uint32_t seed) : parts(seed), batch(parts.number(1, 2)) {
        for (std::uint32_t axis = parts.number(0, 2); axis-- > 0;) leading.push_back(parts.number(1, 3));
    }

    /// Adds an input with these extents behind leading axes, of which some are 1 or left out. Its elements
    /// are those that `draw` gives, rounded to its type.
    template <typename Draw>
    void add(const Sizes& own, const Draw& draw) {
        Sizes shape = leading;
        for (std::uint32_t& extent : shape) extent = parts.number(0, 2) == 0 ? 1 : extent;
        // One input has the leading axes as they are.
        if (shapes.empty()) shape = leading;
        if (!shapes.empty())
            shape.erase(shape.begin(),
                        shape.begin() + parts.number(0, static_cast<std::uint32_t>(shape.size())));
        shape.insert(shape.end(), own.begin(), own.end());
        constants.push_back(parts.number(0, 2) == 0 && std::ranges::count(constants, true) == 0);
        types.push_back(parts.number(0, 1) == 0 ? DataType::Float32 : DataType::Bfloat16);
        contents.push_back(draw(to_shape(shape).elements() * (constants.back() ? 1 : batch)));
        if (types.back() == DataType::Bfloat16) {
            for (float& x : contents.back()) x = nearest_bfloat16(x);
        }
        shapes.push_back(std::move(shape));
    }

    /// An element of an input for an inference, at a place of the result's leading axes and its own axes.
    float element(std::size_t input, std::uint32_t inference, const Sizes& place) const {
        const std::size_t each = to_shape(shapes[input]).elements();
        const std::size_t first = constants[input] ? 0 : inference * each;
        const Floats own(contents[input].begin() + static_cast<std::ptrdiff_t>(first),
                         contents[input].begin() + static_cast<std::ptrdiff_t>(first + each));
        return broadcast_element(own, shapes[input], place);
    }

    ir::Graph graph(const std::string& op, const std::vector<ir::NamedAttribute>& attributes,
                    std::optional<DataType> result = {}) const {
        return graph_of_node(op, attributes, shapes, constants, contents, types, result);
    }
    reference::TensorBytes run(const ir::Graph& graph) const {
        std::vector<reference::TensorBytes> given;
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            if (!constants[i]) given.push_back(bytes_in(types[i], contents[i]));
        }
        const std::vector<std::span<const std::uint8_t>> spans(given.begin(), given.end());
        return reference::run(graph, spans, batch).front();
    }

    tests::GraphParts parts;
    std::uint32_t batch;
    Sizes leading;
    std::vector<Sizes> shapes;
    std::vector<bool> constants;
    std::vector<DataType> types;
    std::vector<Floats> contents;
};

Sizes extended(Sizes first, const Sizes& then) {
    first.insert(first.end(), then.begin(), then.end());
    return first;
}

/// The first `count` extents of a place, with others behind them.
Sizes with_own(const Sizes& place, std::size_t count, const Sizes& own) {
    return extended(Sizes(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(count)), own);
}

const std::vector<std::string> precisions{"float32", "default", "high", "highest"};

}  // namespace

TEST_CASE("Sums of a product are cut in the order of K, whatever lies transposed", "[compiler][reference]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(300); ++seed) {
        INFO("seed " << seed);
        DrawnInputs drawn(seed);
        tests::GraphParts& parts = drawn.parts;
        const bool is_hard = seed % 3 == 0;
        const std::uint32_t m = parts.number(1, 5);
        const std::uint32_t n = parts.number(1, seed % 10 == 0 ? 40 : 5);
        const std::uint32_t k = parts.number(1, is_hard ? 4 : 60);
        const bool is_first_transposed = parts.number(0, 1) == 1;
        const bool is_second_transposed = parts.number(0, 1) == 1;
        const std::size_t tile = parts.number(1, 70);
        const std::string& precision = precisions[parts.number(0, 3)];
        const auto draw = [&](std::size_t count) {
            return is_hard ? hard_floats(parts, count) : parts.values(count);
        };
        drawn.add(is_first_transposed ? Sizes{k, m} : Sizes{m, k}, draw);
        drawn.add(is_second_transposed ? Sizes{n, k} : Sizes{k, n}, draw);
        const ir::Graph graph =
            drawn.graph("matrix_product", {{"transposed_a", std::int64_t{is_first_transposed ? 1 : 0}},
                                           {"transposed_b", std::int64_t{is_second_transposed ? 1 : 0}},
                                           {"sum_tile", static_cast<std::int64_t>(tile)},
                                           {"precision", precision}});
        const Sizes results = extended(drawn.leading, {m, n});
        CHECK(graph.output().shape == to_shape(results));
        CHECK(graph.output().type == DataType::Float32);
        CHECK(ir::macs(graph) == to_shape(results).elements() * k);
        Floats expected;
        for (std::uint32_t inference = 0; inference < drawn.batch; ++inference) {
            for_each_place(results, [&](const Sizes& place) {
                const std::size_t axes = drawn.leading.size();
                const std::uint32_t row = place[axes];
                const std::uint32_t column = place[axes + 1];
                Floats a;
                Floats b;
                for (std::uint32_t i = 0; i < k; ++i) {
                    const Sizes of_a = is_first_transposed ? Sizes{i, row} : Sizes{row, i};
                    const Sizes of_b = is_second_transposed ? Sizes{column, i} : Sizes{i, column};
                    a.push_back(drawn.element(0, inference, with_own(place, axes, of_a)));
                    b.push_back(drawn.element(1, inference, with_own(place, axes, of_b)));
                }
                expected.push_back(product_of(a, b, tile, precision));
            });
        }
        CHECK(drawn.run(graph) == bytes_in(DataType::Float32, expected));
    }
}

namespace {

/// Windows over a spread image, with borders of any width.
struct DrawnConvolution {
    ir::Window window;
    std::int64_t spread_y = 1;
    std::int64_t spread_x = 1;
};

DrawnConvolution drawn_convolution(tests::GraphParts& parts, const ir::FeatureMap& map) {
    while (true) {
        const auto at_most = [&](std::uint32_t most) { return parts.number(1, most); };
        const auto border = [&] { return parts.number(0, 4); };
        DrawnConvolution drawn{.window = {.kernel_height = at_most(4),
                                          .kernel_width = at_most(4),
                                          .stride_y = at_most(3),
                                          .stride_x = at_most(3),
                                          .pad_top = border(),
                                          .pad_left = border(),
                                          .pad_bottom = border(),
                                          .pad_right = border(),
                                          .dilation_y = at_most(2),
                                          .dilation_x = at_most(3)},
                               .spread_y = parts.number(0, 1) == 0 ? 1 : at_most(4),
                               .spread_x = parts.number(0, 1) == 0 ? 1 : at_most(3)};
        const ir::Window& window = drawn.window;
        const auto fits = [](std::uint64_t covered, std::uint64_t pixels, std::int64_t spread,
                             std::uint64_t padding) {
            return covered <= (pixels - 1) * static_cast<std::uint64_t>(spread) + 1 + padding;
        };
        if (fits(ir::covered_extent(window.kernel_height, window.dilation_y), map.height, drawn.spread_y,
                 window.pad_top + window.pad_bottom) &&
            fits(ir::covered_extent(window.kernel_width, window.dilation_x), map.width, drawn.spread_x,
                 window.pad_left + window.pad_right)) {
            return drawn;
        }
    }
}

/// Whether a place of a spread image is a pixel or a place of the border at a pixel's distance.
bool is_pixel(std::int64_t place, std::int64_t spread) {
    while (place < 0) place += spread;
    return place % spread == 0;
}

}  // namespace

TEST_CASE("Sums of a convolution have the taps on pixels and on the border, not those between pixels",
          "[compiler][reference]") {
    std::uint64_t empty_sums = 0;
    for (std::uint32_t seed = 0; seed < tests::random_runs(300); ++seed) {
        INFO("seed " << seed);
        DrawnInputs drawn(seed);
        tests::GraphParts& parts = drawn.parts;
        const bool is_hard = seed % 3 == 0;
        const std::uint32_t images = parts.number(1, 2);
        const std::uint32_t groups = parts.number(1, 2);
        const std::uint32_t own = parts.number(1, is_hard ? 1 : 3);
        const std::uint32_t filters = groups * parts.number(1, 3);
        const ir::FeatureMap map{parts.number(1, 5), parts.number(1, 5), groups * own};
        const DrawnConvolution convolution = drawn_convolution(parts, map);
        const ir::Window& window = convolution.window;
        const std::int64_t spread_y = convolution.spread_y;
        const std::int64_t spread_x = convolution.spread_x;
        const std::size_t tile = parts.number(1, 20);
        const std::string& precision = precisions[parts.number(0, 3)];
        const auto draw = [&](std::size_t count) {
            return is_hard ? hard_floats(parts, count) : parts.values(count);
        };
        drawn.add({images, map.height, map.width, map.channels}, draw);
        drawn.add({window.kernel_height, window.kernel_width, own, filters}, draw);
        std::vector<ir::NamedAttribute> attributes = ir::attributes_of(window);
        attributes.insert(attributes.end(), {{"groups", std::int64_t{groups}},
                                             {"spread_y", spread_y},
                                             {"spread_x", spread_x},
                                             {"sum_tile", static_cast<std::int64_t>(tile)},
                                             {"precision", precision}});
        const ir::Graph graph = drawn.graph("word_convolution", attributes);
        const auto windows = [](std::uint64_t pixels, std::uint64_t spread, std::uint64_t padding,
                                std::uint64_t covered, std::uint64_t stride) {
            return static_cast<std::uint32_t>(((pixels - 1) * spread + 1 + padding - covered) / stride + 1);
        };
        const Sizes results = extended(
            drawn.leading,
            {images,
             windows(map.height, static_cast<std::uint64_t>(spread_y), window.pad_top + window.pad_bottom,
                     ir::covered_extent(window.kernel_height, window.dilation_y), window.stride_y),
             windows(map.width, static_cast<std::uint64_t>(spread_x), window.pad_left + window.pad_right,
                     ir::covered_extent(window.kernel_width, window.dilation_x), window.stride_x),
             filters});
        CHECK(graph.output().shape == to_shape(results));
        CHECK(graph.output().type == DataType::Float32);
        std::uint64_t products = 0;
        Floats expected;
        for (std::uint32_t inference = 0; inference < drawn.batch; ++inference) {
            for_each_place(results, [&](const Sizes& place) {
                const std::size_t axes = drawn.leading.size();
                const std::uint32_t filter = place[axes + 3];
                const std::uint32_t first_channel = filter / (filters / groups) * own;
                Floats a;
                Floats b;
                for (std::uint32_t row = 0; row < window.kernel_height; ++row) {
                    for (std::uint32_t column = 0; column < window.kernel_width; ++column) {
                        const std::int64_t y = std::int64_t{place[axes + 1]} * window.stride_y +
                                               std::int64_t{row} * window.dilation_y - window.pad_top;
                        const std::int64_t x = std::int64_t{place[axes + 2]} * window.stride_x +
                                               std::int64_t{column} * window.dilation_x - window.pad_left;
                        if (!is_pixel(y, spread_y) || !is_pixel(x, spread_x)) continue;
                        const bool is_inside =
                            y >= 0 && y / spread_y < map.height && x >= 0 && x / spread_x < map.width;
                        for (std::uint32_t c = 0; c < own; ++c) {
                            const Sizes pixel{place[axes], static_cast<std::uint32_t>(y / spread_y),
                                              static_cast<std::uint32_t>(x / spread_x), first_channel + c};
                            a.push_back(is_inside ? drawn.element(0, inference, with_own(place, axes, pixel))
                                                  : 0.0F);
                            b.push_back(
                                drawn.element(1, inference, with_own(place, axes, {row, column, c, filter})));
                        }
                    }
                }
                products += a.size();
                empty_sums += a.empty() ? 1 : 0;
                expected.push_back(product_of(a, b, tile, precision));
            });
        }
        CHECK(ir::macs(graph) * drawn.batch == products);
        CHECK(drawn.run(graph) == bytes_in(DataType::Float32, expected));
    }
    CHECK(empty_sums > 0);
}

TEST_CASE("Products without a stated order add all products", "[compiler][reference]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(30); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const auto whole_numbers = [&](std::size_t count) {
            Floats floats = parts.values(count, -9.0F, 9.0F);
            for (float& x : floats) x = std::round(x);
            return floats;
        };
        const std::uint32_t channels = parts.number(1, 9);
        const std::uint32_t filters = parts.number(1, 40);
        const std::uint32_t pixels = parts.number(1, 9);
        const Floats data = whole_numbers(pixels * channels);
        const Floats weights = whole_numbers(channels * filters);
        const std::array<std::vector<ir::NamedAttribute>, 2> attributes{
            {{}, {{"sum_tile", std::int64_t{3}}}}};
        const auto results = [&](const std::string& op, const std::vector<Sizes>& shapes, std::size_t order) {
            const ir::Graph graph = graph_of_node(op, attributes.at(order), shapes, {false, false}, {});
            return tests::words::run(graph, {data, weights}, 1);
        };
        const std::vector<Sizes> matrices{{pixels, channels}, {channels, filters}};
        const std::vector<Sizes> images{{1, 1, pixels, channels}, {1, 1, channels, filters}};
        CHECK(results("matrix_product", matrices, 0) == results("matrix_product", matrices, 1));
        CHECK(results("word_convolution", images, 0) == results("matrix_product", matrices, 0));
    }
}

TEST_CASE("Scattered sums take their numbers by the place in the window", "[compiler][reference]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(300); ++seed) {
        INFO("seed " << seed);
        DrawnInputs drawn(seed);
        tests::GraphParts& parts = drawn.parts;
        const ir::FeatureMap map{parts.number(1, 6), parts.number(1, 6), parts.number(1, 3)};
        ir::Window window = parts.window(map);
        if (seed % 4 == 0) window = {.kernel_width = 2, .stride_y = 2, .dilation_x = 3};
        if (ir::covered_extent(window.kernel_width, window.dilation_x) > map.width) continue;
        const bool is_greatest = parts.number(0, 1) == 0;
        const ir::FeatureMap windows = ir::window_output(map, window, map.channels);
        constexpr float infinity = std::numeric_limits<float>::infinity();
        const float nan = stored(std::numeric_limits<float>::quiet_NaN());
        const std::array few{-1.0F, -0.0F, 0.0F, 1.0F, 2.0F, infinity, -infinity, nan};
        drawn.add({map.height, map.width, map.channels}, [&](std::size_t count) {
            if (seed % 2 == 0) return hard_floats(parts, count);
            Floats floats(count);
            for (float& x : floats) x = few.at(parts.number(0, few.size() - 1));
            return floats;
        });
        drawn.add({windows.height, windows.width, map.channels}, [&](std::size_t count) {
            return seed % 3 == 0 ? hard_floats(parts, count) : parts.values(count);
        });
        std::vector<ir::NamedAttribute> attributes = ir::attributes_of(window);
        attributes.emplace_back("select", std::string(is_greatest ? "greatest" : "least"));
        const DataType type = parts.number(0, 1) == 0 ? DataType::Float32 : DataType::Bfloat16;
        const ir::Graph graph = drawn.graph("word_select_and_scatter", attributes, type);
        const Sizes results = extended(drawn.leading, {map.height, map.width, map.channels});
        CHECK(graph.output().shape == to_shape(results));
        Floats expected;
        for (std::uint32_t inference = 0; inference < drawn.batch; ++inference) {
            for_each_place(drawn.leading, [&](const Sizes& at) {
                // The numbers that come to each element, with the tap that selects it: one for each window.
                struct Addend {
                    std::uint32_t tap = 0;
                    float number = 0.0F;
                };
                std::vector<std::vector<Addend>> addends(map.elements());
                for_each_place({windows.height, windows.width, map.channels}, [&](const Sizes& place) {
                    Addend selected;
                    std::size_t selected_element = 0;
                    float current = 0.0F;
                    bool has_one = false;
                    for (std::uint32_t tap = 0; tap < window.kernel_elements(); ++tap) {
                        const std::int64_t y = std::int64_t{place[0]} * window.stride_y - window.pad_top +
                                               std::int64_t{tap / window.kernel_width} * window.dilation_y;
                        const std::int64_t x = std::int64_t{place[1]} * window.stride_x - window.pad_left +
                                               std::int64_t{tap % window.kernel_width} * window.dilation_x;
                        if (y < 0 || x < 0 || y >= map.height || x >= map.width) continue;
                        const Sizes pixel{static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x),
                                          place[2]};
                        const float candidate = drawn.element(0, inference, extended(at, pixel));
                        const bool stays = is_greatest ? current >= candidate : current <= candidate;
                        if (has_one && stays) continue;
                        has_one = true;
                        current = candidate;
                        selected.tap = tap;
                        selected_element =
                            static_cast<std::size_t>((y * map.width + x) * map.channels) + place[2];
                    }
                    selected.number = drawn.element(1, inference, extended(at, place));
                    addends[selected_element].push_back(selected);
                });
                for (std::vector<Addend>& list : addends) {
                    std::ranges::stable_sort(list, {}, &Addend::tap);
                    float sum = 0.0F;
                    for (const Addend& addend : list) sum = stored(sum + addend.number);
                    expected.push_back(type == DataType::Bfloat16 ? nearest_bfloat16(sum) : sum);
                }
            });
        }
        CHECK(drawn.run(graph) == bytes_in(type, expected));
    }
}

TEST_CASE("Products and scattered sums of words refuse inputs that do not fit", "[compiler][reference]") {
    const auto refusal = [](const std::string& op, const std::vector<Sizes>& shapes,
                            const std::vector<ir::NamedAttribute>& attributes = {}) -> std::string {
        try {
            graph_of_node(op, attributes, shapes, std::vector<bool>(shapes.size(), false), {});
        } catch (const ModelError& error) {
            return error.what();
        }
        return "none";
    };
    using Integers = std::vector<std::int64_t>;
    const std::string layer = "layer \"n\": ";
    CHECK(refusal("matrix_product", {{2, 3}, {3, 4}}) == "none");
    CHECK(refusal("matrix_product", {{2, 3}}) == layer + "it has 1 input; it must have exactly 2");
    CHECK(refusal("matrix_product", {{2, 3}, {3}}) ==
          layer + "it has an input of 3; it must have at least 2 axes");
    CHECK(refusal("matrix_product", {{1, 2, 3}, {4, 3}}) ==
          layer + "its inputs are 1x2x3 and 4x3; rows of 3 elements cannot meet columns of 4");
    CHECK(refusal("matrix_product", {{2, 3}, {3, 4}}, {{"transposed_a", std::int64_t{1}}}) ==
          layer + "its inputs are 2x3 transposed and 3x4; rows of 2 elements cannot meet columns of 3");
    CHECK_THAT(refusal("matrix_product", {{2, 2, 3}, {3, 3, 4}}), Catch::StartsWith(layer + "it "));

    CHECK(refusal("word_convolution", {{1, 4, 4, 6}, {1, 1, 3, 4}}, {{"groups", std::int64_t{2}}}) == "none");
    CHECK(refusal("word_convolution", {{4, 4, 6}, {1, 1, 6, 4}}) ==
          layer + "it has an input of 4x4x6; it must have at least 4 axes");
    CHECK(refusal("word_convolution", {{1, 4, 4, 6}, {3, 1, 6, 4}}) ==
          layer + "its kernel is 3x1x6x4; its window has a kernel 1x1, stride 1x1, padding 0,0,0,0");
    CHECK(refusal("word_convolution", {{1, 4, 4, 6}, {1, 1, 2, 4}}, {{"groups", std::int64_t{2}}}) ==
          layer + "its input has 6 channels; its kernel is for 4 in 2 groups");
    CHECK(refusal("word_convolution", {{1, 4, 4, 6}, {1, 1, 3, 5}}, {{"groups", std::int64_t{2}}}) ==
          layer + "it has 5 filters in 2 groups; each group must have as many");
    CHECK(refusal("word_convolution", {{1, 1, 4, 6}, {1, 5, 6, 4}}, {{"kernel", Integers{1, 5}}}) ==
          layer + "the width of its kernel is 5; the padded input's is 4 and must not be smaller");
    CHECK(refusal("word_convolution", {{1, 1, 3, 6}, {1, 1, 6, 4}},
                  {{"spread_x", std::int64_t{2'200'000'000}}}) ==
          layer +
              "the width of its image is 4400000001 with its spread of 2200000000; it may be at most "
              "4294967295");

    CHECK(refusal("word_select_and_scatter", {{4, 4, 3}, {4, 4, 3}}) == "none");
    CHECK(refusal("word_select_and_scatter", {{4, 4, 3}, {4, 3, 3}}) ==
          layer + "its second input has images of 4x3x3; its windows over 4x4x3 are 4x4x3");
    CHECK(refusal("word_select_and_scatter", {{1, 1, 3}, {1, 3, 3}}, {{"padding", Integers{0, 1, 0, 1}}}) ==
          layer +
              "it has windows of kernel 1x1, stride 1x1, padding 0,1,0,1 outside of 1x1x3; each must have "
              "an element");
    CHECK_THAT(refusal("word_select_and_scatter", {{1, 1, 3}, {1, 1, 3}}, {{"select", std::string("last")}}),
               Catch::Contains("attribute select is \"last\""));
}

TEST_CASE("Products of words are sums of floats in float32", "[compiler][reference]") {
    const auto refusal = [](const std::string& op, const std::string& operand,
                            const std::string& result) -> std::string {
        try {
            ir::parse_graph("graph \"g\"\ninputs %0, %1\noutputs %2\n%0 float32 1x1x1x1 \"x\"\n%1 " +
                                operand + " 1x1x1x1 \"y\"\n%2 " + result + " 1x1x1x1 \"z\"\n%2 = " + op +
                                "(%0, %1) \"n\"\n",
                            "test", operators::registry());
        } catch (const ModelError& error) {
            return error.what();
        }
        return "none";
    };
    for (const char* const op : {"matrix_product", "word_convolution"}) {
        CHECK(refusal(op, "bfloat16", "float32") == "none");
        CHECK(refusal(op, "float32", "bfloat16") ==
              "test: node 0 \"n\": \"z\" is bfloat16; it must be float32, as the sums are");
    }
    CHECK(refusal("word_select_and_scatter", "bfloat16", "bfloat16") == "none");
    for (const char* const op : {"matrix_product", "word_convolution", "word_select_and_scatter"}) {
        CHECK(refusal(op, "int32", "float32") ==
              "test: node 0 \"n\": \"y\" is int32; it must be float32 or bfloat16");
        CHECK(refusal(op, "float32", "int32") ==
              "test: node 0 \"n\": \"z\" is int32; it must be float32 or bfloat16");
        CHECK(refusal(op, "int8", "float32") ==
              "test: node 0 \"n\": \"y\" is int8; it must be float32, bfloat16 or int32, without a scale");
    }
}

TEST_CASE("A machine states the order of sums that a product leaves open", "[compiler][reference]") {
    const auto in_words = [](const std::string& attributes) {
        const std::string graph =
            "graph \"g\"\ninputs %0, %1\noutputs %2, %4\n%0 bfloat16 1x2x3 \"a\"\n%1 float32 1x3x2 \"b\"\n"
            "%2 float32 1x2x2 \"p\"\n%3 float32 1x1x3x2 \"k\" = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]\n"
            "%4 float32 1x1x1x2 \"c\"\n%5 float32 1x1x1x3 \"x\" = [1.0, 2.0, 3.0]\n"
            "%2 = matrix_product(%0, %1) \"p\"" +
            (attributes.empty() ? "" : " {" + attributes + "}") + "\n%4 = word_convolution(%5, %3) \"c\"" +
            (attributes.empty() ? "" : " {" + attributes + "}") + "\n";
        const ir::WordsOptions options{.sum_tile = 64, .precision = "high"};
        const ir::Graph words = passes::compute_in_words(tests::graph_of_text(graph), options);
        const std::string text = ir::to_text(words);
        CHECK(tests::graph_of_text(text) == words);
        std::vector<std::string> stated;
        for (const ir::Node& node : words.nodes) {
            stated.push_back(std::string(node.op->name()) + " " + std::to_string(node.integer("sum_tile")) +
                             " " + node.text("precision"));
        }
        return stated;
    };
    const auto both = [](const std::string& order) {
        return std::vector<std::string>{"matrix_product " + order, "word_convolution " + order};
    };
    CHECK(in_words("") == both("64 high"));
    CHECK(in_words("precision \"highest\"") == both("64 highest"));
    CHECK(in_words("sum_tile 3, precision \"default\"") == both("3 default"));
    CHECK(in_words("sum_tile 3") == both("3 float32"));
}
