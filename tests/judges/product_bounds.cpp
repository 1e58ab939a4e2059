#include "tests/judges/product_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "compiler/ir/window.h"

namespace systole::judge {
namespace {

/// The nearest bfloat16: 8 significant bits, halves to the even number; numbers below 2^-126 are 0.
double rounded(float x) {
    if (!std::isfinite(x) || std::abs(x) < 0x1p-126F) return std::isfinite(x) ? 0.0 : x;
    constexpr int bits = 8;
    int exponent = 0;
    const double part = std::frexp(static_cast<double>(x), &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(part, bits)), exponent - bits);
}

using Numbers = std::vector<double>;

/// A sum for each output channel, and the sum of the sizes of its addends.
struct Sums {
    explicit Sums(std::size_t count) : exact(count), sizes(count) {}

    void clear() {
        std::ranges::fill(exact, 0.0);
        std::ranges::fill(sizes, 0.0);
    }
    void add(std::size_t at, double addend) {
        exact[at] += addend;
        sizes[at] += std::abs(addend);
    }
    /// Sums [first, first + count) get the products of a number and of weights.
    void add_products(double factor, const double* weights, std::size_t first, std::size_t count) {
        double* const sum = exact.data() + first;
        double* const size = sizes.data() + first;
        for (std::size_t i = 0; i < count; ++i) {
            const double product = factor * weights[i];
            sum[i] += product;
            size[i] += std::abs(product);
        }
    }
    void compare(std::span<const float> results, double& worst) const {
        for (std::size_t i = 0; i < exact.size(); ++i) {
            const double apart = std::abs(static_cast<double>(results[i]) - exact[i]);
            if (apart == 0.0 || is_without_size(i, results[i])) continue;
            // Not a number, or an error where there are no addends but 0, is infinitely far.
            const double relative = apart / sizes[i];
            worst =
                std::isnan(relative) ? std::numeric_limits<double>::infinity() : std::max(worst, relative);
        }
    }

    /// Sums of infinities, which are infinite or not a number in both, and those of which subnormal numbers
    /// are a part that counts: they are zeros on the chip, and so is about the result.
    bool is_without_size(std::size_t i, float result) const {
        constexpr double least = 0x1p-100;
        if (std::isnan(exact[i])) return std::isnan(result);
        if (std::isinf(exact[i])) return exact[i] == static_cast<double>(result);
        return sizes[i] < least && std::abs(static_cast<double>(result)) < least;
    }

    Numbers exact;
    Numbers sizes;
};

/// The image element under an element of a window; -1 outside of the image.
std::int64_t under(std::uint32_t output, std::uint32_t tap, std::uint32_t stride, std::uint32_t dilation,
                   std::uint32_t padding, std::uint32_t extent) {
    const std::int64_t at =
        std::int64_t{output} * stride + std::int64_t{tap} * dilation - std::int64_t{padding};
    return at < std::int64_t{extent} ? at : -1;
}

/// Calls `take(pixel, tap)` for each element of a window that is inside the image.
template <class Take>
void for_each_tap(const ir::Window& window, const ir::FeatureMap& map, std::uint32_t y, std::uint32_t x,
                  const Take& take) {
    for (std::uint32_t i = 0; i < window.kernel_height; ++i) {
        const std::int64_t line = under(y, i, window.stride_y, window.dilation_y, window.pad_top, map.height);
        if (line < 0) continue;
        for (std::uint32_t j = 0; j < window.kernel_width; ++j) {
            const std::int64_t column =
                under(x, j, window.stride_x, window.dilation_x, window.pad_left, map.width);
            if (column < 0) continue;
            take(static_cast<std::size_t>(line) * map.width + static_cast<std::size_t>(column),
                 std::size_t{i} * window.kernel_width + j);
        }
    }
}

Numbers operands(std::span<const float> numbers, bool is_rounded) {
    Numbers result(numbers.begin(), numbers.end());
    if (is_rounded) std::ranges::transform(numbers, result.begin(), rounded);
    return result;
}

/// Calls `sum(y, x, sums)` for each pixel of the result, which fills its sums.
template <class Sum>
double worst_of_pixels(const ir::FeatureMap& result, std::span<const float> results, const Sum& sum) {
    double worst = 0;
    Sums sums(result.channels);
    for (std::uint32_t y = 0; y < result.height; ++y) {
        for (std::uint32_t x = 0; x < result.width; ++x) {
            sums.clear();
            sum(y, x, sums);
            sums.compare(
                results.subspan((std::size_t{y} * result.width + x) * result.channels, result.channels),
                worst);
        }
    }
    return worst;
}

LayerBound bound_of_convolution(const ir::NodeView& node, const Numbers& image, const Numbers& weights,
                                std::span<const float> results) {
    const ir::FeatureMap map = node.input_map();
    const ir::FeatureMap result = node.output_map();
    const ir::Window window = ir::window_of(node.node());
    const auto groups = static_cast<std::size_t>(node.node().integer("groups"));
    const std::size_t depth = map.channels / groups;
    const std::size_t filters = result.channels / groups;
    LayerBound bound{.addends = window.kernel_elements() * depth};
    bound.worst = worst_of_pixels(result, results, [&](std::uint32_t y, std::uint32_t x, Sums& sums) {
        for_each_tap(window, map, y, x, [&](std::size_t pixel, std::size_t tap) {
            for (std::size_t channel = 0; channel < map.channels; ++channel) {
                const std::size_t group = channel / depth;
                sums.add_products(
                    image[pixel * map.channels + channel],
                    weights.data() + (tap * depth + channel % depth) * result.channels + group * filters,
                    group * filters, filters);
            }
        });
    });
    return bound;
}

LayerBound bound_of_depthwise(const ir::NodeView& node, const Numbers& image, const Numbers& weights,
                              std::span<const float> results) {
    const ir::FeatureMap map = node.input_map();
    const ir::FeatureMap result = node.output_map();
    const ir::Window window = ir::window_of(node.node());
    const std::size_t multiplier = result.channels / map.channels;
    LayerBound bound{.addends = window.kernel_elements()};
    bound.worst = worst_of_pixels(result, results, [&](std::uint32_t y, std::uint32_t x, Sums& sums) {
        for_each_tap(window, map, y, x, [&](std::size_t pixel, std::size_t tap) {
            for (std::size_t c = 0; c < result.channels; ++c) {
                sums.add(c,
                         image[pixel * map.channels + c / multiplier] * weights[tap * result.channels + c]);
            }
        });
    });
    return bound;
}

LayerBound bound_of_dense(const Numbers& vector, const Numbers& weights, std::span<const float> results) {
    LayerBound bound{.addends = vector.size()};
    Sums sums(results.size());
    for (std::size_t i = 0; i < vector.size(); ++i) {
        sums.add_products(vector[i], weights.data() + i * results.size(), 0, results.size());
    }
    sums.compare(results, bound.worst);
    return bound;
}

/// Sums over axes of a tensor.
LayerBound bound_of_reduction(const ir::NodeView& node, const Numbers& numbers,
                              std::span<const float> results) {
    const ir::Shape& shape = node.input().shape;
    const std::vector<std::int64_t>& axes = node.node().integers("axes");
    LayerBound bound{.addends = numbers.size() / results.size()};
    Sums sums(results.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::size_t at = 0;
        std::size_t left = i;
        std::size_t step = 1;
        for (std::size_t axis = shape.rank(); axis-- > 0; left /= shape[axis]) {
            const bool is_reduced =
                axes.empty() || std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end();
            if (is_reduced) continue;
            at += left % shape[axis] * step;
            step *= shape[axis];
        }
        sums.add(at, numbers[i]);
    }
    sums.compare(results, bound.worst);
    return bound;
}

/// By matrix or image of the result, row-major along the axes before the last `own`: the number of the one of
/// an operand that is met there, by NumPy's rule.
std::vector<std::size_t> blocks_of(const ir::Shape& result, const ir::Shape& operand, std::size_t own) {
    const std::size_t leading = result.rank() - own;
    std::size_t count = 1;
    for (std::size_t axis = 0; axis < leading; ++axis) count *= result[axis];
    std::vector<std::size_t> blocks(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t left = i;
        std::size_t step = 1;
        for (std::size_t back = 1; back <= leading; ++back) {
            const std::size_t at = left % result[leading - back];
            left /= result[leading - back];
            if (operand.rank() < own + back) continue;
            const std::size_t extent = operand[operand.rank() - own - back];
            if (extent > 1) blocks[i] += at * step;
            step *= extent;
        }
    }
    return blocks;
}

Numbers transposed(std::span<const double> matrix, std::size_t rows, std::size_t columns) {
    Numbers result(matrix.size());
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) result[j * rows + i] = matrix[i * columns + j];
    }
    return result;
}

LayerBound bound_of_word_product(const ir::NodeView& view, const Numbers& a, const Numbers& b,
                                 std::span<const float> results) {
    const ir::Shape& shape = view.output().shape;
    const std::size_t rows = shape[shape.rank() - 2];
    const std::size_t columns = shape[shape.rank() - 1];
    const ir::Shape& of_a = view.input(0).shape;
    const bool is_a_transposed = view.node().integer("transposed_a") != 0;
    const bool is_b_transposed = view.node().integer("transposed_b") != 0;
    const std::size_t depth = of_a[of_a.rank() - (is_a_transposed ? 2 : 1)];
    const std::vector<std::size_t> first = blocks_of(shape, of_a, 2);
    const std::vector<std::size_t> second = blocks_of(shape, view.input(1).shape, 2);
    LayerBound bound{.addends = depth};
    Sums sums(columns);
    for (std::size_t i = 0; i < first.size(); ++i) {
        const std::span matrix_a = std::span(a).subspan(first[i] * rows * depth, rows * depth);
        const std::span matrix_b = std::span(b).subspan(second[i] * depth * columns, depth * columns);
        const Numbers weights = is_b_transposed ? transposed(matrix_b, columns, depth)
                                                : Numbers(matrix_b.begin(), matrix_b.end());
        for (std::size_t row = 0; row < rows; ++row) {
            sums.clear();
            for (std::size_t k = 0; k < depth; ++k) {
                sums.add_products(matrix_a[is_a_transposed ? k * rows + row : row * depth + k],
                                  weights.data() + k * columns, 0, columns);
            }
            sums.compare(results.subspan((i * rows + row) * columns, columns), bound.worst);
        }
    }
    return bound;
}

/// A place of a spread image as a pixel; -1: a zero between pixels or outside of the image.
std::int64_t pixel_at(std::int64_t place, std::int64_t spread, std::int64_t extent) {
    if (place < 0 || place % spread != 0) return -1;
    return place / spread < extent ? place / spread : -1;
}

LayerBound bound_of_word_convolution(const ir::NodeView& view, const Numbers& images, const Numbers& kernels,
                                     std::span<const float> results) {
    constexpr std::size_t own = 4;  // images, height, width, channels
    const auto last = [&](const ir::Shape& shape) { return shape.extents().last(own); };
    const auto image = last(view.input(0).shape);
    const auto kernel = last(view.input(1).shape);
    const auto result = last(view.output().shape);
    const ir::Window window = ir::window_of(view.node());
    const std::int64_t spread_y = view.node().integer("spread_y");
    const std::int64_t spread_x = view.node().integer("spread_x");
    const std::size_t channels = image[3];
    const std::size_t filters = kernel[3];
    const std::size_t depth = kernel[2];
    const std::size_t group_filters = filters * depth / channels;
    const std::size_t image_size = std::size_t{image[1]} * image[2] * channels;
    const std::size_t kernel_size = std::size_t{kernel[0]} * kernel[1] * depth * filters;
    const std::vector<std::size_t> first = blocks_of(view.output().shape, view.input(0).shape, own);
    const std::vector<std::size_t> second = blocks_of(view.output().shape, view.input(1).shape, own);
    LayerBound bound{.addends = window.kernel_elements() * depth};
    Sums sums(filters);
    std::size_t at = 0;  // of the result
    for (std::size_t i = 0; i < first.size() * image[0]; ++i) {
        const double* const pixels =
            images.data() + (first[i / image[0]] * image[0] + i % image[0]) * image_size;
        const double* const weights = kernels.data() + second[i / image[0]] * kernel_size;
        for (std::int64_t pixel = 0; pixel < std::int64_t{result[1]} * result[2]; ++pixel) {
            const std::int64_t top = pixel / result[2] * window.stride_y - window.pad_top;
            const std::int64_t left = pixel % result[2] * window.stride_x - window.pad_left;
            sums.clear();
            for (std::uint32_t tap = 0; tap < kernel[0] * kernel[1]; ++tap) {
                const std::int64_t y =
                    pixel_at(top + std::int64_t{tap / kernel[1]} * window.dilation_y, spread_y, image[1]);
                const std::int64_t x =
                    pixel_at(left + std::int64_t{tap % kernel[1]} * window.dilation_x, spread_x, image[2]);
                if (y < 0 || x < 0) continue;
                const double* const numbers = pixels + static_cast<std::size_t>(y * image[2] + x) * channels;
                for (std::size_t c = 0; c < channels; ++c) {
                    const std::size_t filter = c / depth * group_filters;
                    sums.add_products(numbers[c], weights + (tap * depth + c % depth) * filters + filter,
                                      filter, group_filters);
                }
            }
            sums.compare(results.subspan(at, filters), bound.worst);
            at += filters;
        }
    }
    return bound;
}

/// A bfloat16 is the upper half of a float32.
std::vector<float> floats_of(std::span<const std::uint8_t> bytes, DataType type) {
    std::vector<float> numbers(bytes.size() / bytes_of(type));
    if (type == DataType::Float32) {
        std::memcpy(numbers.data(), bytes.data(), bytes.size());
        return numbers;
    }
    std::vector<std::uint16_t> halves(numbers.size());
    std::memcpy(halves.data(), bytes.data(), bytes.size());
    std::ranges::transform(halves, numbers.begin(), [](std::uint16_t half) {
        return std::bit_cast<float>(std::uint32_t{half} << 16U);
    });
    return numbers;
}

}  // namespace

ProductBounds::ProductBounds(const ir::Graph& graph)
    : graph_(graph), readers_(ir::readers(graph)), producers_(graph.values.size()) {
    for (const ir::Node& node : graph.nodes) {
        for (const ir::ValueId output : node.outputs) producers_[output] = &node;
    }
}

void ProductBounds::observe(ir::ValueId value, std::span<const std::uint8_t> bytes) {
    const DataType type = graph_.values[value].type;
    if (type != DataType::Float32 && type != DataType::Bfloat16) return;
    const std::size_t count = graph_.values[value].shape.elements();
    std::vector<float> numbers = floats_of(bytes.first(count * bytes_of(type)), type);
    const ir::Node* const producer = producers_[value];
    if (producer != nullptr) {
        // Sums that were rounded to bfloat16 are not compared.
        if (type == DataType::Float32) check(*producer, numbers);
        // What only nodes up to this one read is not needed any more.
        for (const ir::ValueId input : producer->inputs) {
            if (!readers_[input].empty() && &graph_.nodes[readers_[input].back()] == producer)
                kept_.erase(input);
        }
    }
    if (!readers_[value].empty()) kept_[value] = std::move(numbers);
}

std::vector<float> ProductBounds::numbers_of(ir::ValueId id) const {
    const ir::Value& value = graph_.values[id];
    if (value.constant) return floats_of(value.constant->bytes(), value.type);
    return kept_.at(id);
}

void ProductBounds::check(const ir::Node& node, std::span<const float> results) {
    const ir::NodeView view(graph_, node);
    const bool is_depthwise = node.is("depthwise_convolution");
    LayerBound bound;
    if (node.is("word_reduce") || node.is("word_windows")) {
        if (node.text("reduction") != "sum") return;
        const Numbers data = operands(numbers_of(node.inputs[0]), false);
        if (node.is("word_windows") && view.input().shape.rank() != 4) return;  // several images
        // A window of sums multiplies by 1.
        const Numbers ones(
            node.is("word_reduce") ? 0 : ir::window_of(node).kernel_elements() * view.output_map().channels,
            1.0);
        bound = ones.empty() ? bound_of_reduction(view, data, results)
                             : bound_of_depthwise(view, data, ones, results);
    } else if (node.is("matrix_product") || node.is("word_convolution")) {
        const bool is_rounded = node.text("precision") == "default";
        const Numbers a = operands(numbers_of(node.inputs[0]), is_rounded);
        const Numbers b = operands(numbers_of(node.inputs[1]), is_rounded);
        bound = node.is("matrix_product") ? bound_of_word_product(view, a, b, results)
                                          : bound_of_word_convolution(view, a, b, results);
    } else if (is_depthwise || node.is("convolution") || node.is("dense")) {
        if (view.data_inputs() != 1 || view.parameter(1) != nullptr) {
            throw std::logic_error("a product in words has one data input and no bias");
        }
        // The operands of the vector unit have been rounded by other nodes.
        const bool is_rounded = !is_depthwise && node.text("precision") == "default";
        const Numbers data = operands(numbers_of(node.inputs[0]), is_rounded);
        const Numbers weights = operands(numbers_of(node.inputs[1]), is_rounded);
        bound = is_depthwise       ? bound_of_depthwise(view, data, weights, results)
                : node.is("dense") ? bound_of_dense(data, weights, results)
                                   : bound_of_convolution(view, data, weights, results);
    } else {
        return;
    }
    bound.layer = node.name;
    bound.op = node.op->name();
    layers_.push_back(std::move(bound));
}

}  // namespace systole::judge
