// Products of matrices and convolutions.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compiler/frontend/hlo/axes.h"
#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/frontend/hlo/to_graph/words.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"

namespace systole::hlo {
namespace {

std::int64_t product_of(const Numbers& dimensions, const Numbers& axes) {
    std::int64_t product = 1;
    for (const std::int64_t axis : axes) product *= dimensions[place(axis)];
    return product;
}

/// An operand of a product as matrices: [batch, rows, K], or [batch, K, rows] if `is_transposed`.
struct Matrices {
    Array array;
    bool is_transposed = false;
};

/// Axes in the order batch, free, contracting, or batch, contracting, free: the one that the array has, and
/// if it has both or neither, the second one with `prefers_transposed`.
Matrices matrices_of(GraphMaker& maker, const Array& array, const Numbers& batch, const Numbers& free,
                     const Numbers& contracting, bool prefers_transposed) {
    const Numbers transposed = concatenated(concatenated(batch, contracting), free);
    Matrices matrices;
    // Axes of one element don't matter to the order.
    const auto is_in_order = [&](const Numbers& axes) {
        std::int64_t last = -1;
        for (const std::int64_t axis : axes) {
            if (array.dimensions[place(axis)] == 1) continue;
            if (axis < last) return false;
            last = axis;
        }
        return true;
    };
    const Numbers straight = concatenated(concatenated(batch, free), contracting);
    matrices.is_transposed = prefers_transposed ? is_in_order(transposed) || !is_in_order(straight)
                                                : is_in_order(transposed) && !is_in_order(straight);
    const std::int64_t count = product_of(array.dimensions, batch);
    const std::int64_t rows = product_of(array.dimensions, free);
    const std::int64_t depth = product_of(array.dimensions, contracting);
    const Array moved = maker.transpose(array, matrices.is_transposed ? transposed : straight);
    Numbers dimensions = matrices.is_transposed ? Numbers{depth, rows} : Numbers{rows, depth};
    if (count > 1) dimensions.insert(dimensions.begin(), count);
    matrices.array = maker.reshape(moved, dimensions);
    return matrices;
}

/// The precision that the program asks for; none: the machine's.
std::vector<ir::NamedAttribute> precision_of(const std::vector<Precision>& precision,
                                             bool has_algorithm = false) {
    const auto most = std::ranges::max_element(precision);
    if (most == precision.end()) return {};
    switch (*most) {
        case Precision::Default:
            if (!has_algorithm) return {};
            return {{"precision", std::string("default")}};
        case Precision::High:
            return {{"precision", std::string("high")}};
        case Precision::Highest:
            return {{"precision", std::string("highest")}};
    }
    throw std::logic_error("a precision that does not exist");
}

void require_floats(const Array& array) {
    if (is_float(array.type)) return;
    throw ModelError(
        fmt::format("it multiplies {}; the matrix unit multiplies floats", traits_of(array.type).name));
}

/// The sums of a product are float32.
Array as_result(GraphMaker& maker, const Array& sums, ElementType type) {
    if (type == ElementType::F32) return sums;
    if (!is_float(type)) {
        throw ModelError(
            fmt::format("its result is {}; sums of the matrix unit are floats", traits_of(type).name));
    }
    return converted(maker, sums, type);
}

std::uint32_t number32(std::int64_t number) {
    return static_cast<std::uint32_t>(number);
}

/// An operand with its axes in an order, and with two spatial ones.
Array image_of(GraphMaker& maker, const Array& array, std::int64_t outer, std::int64_t inner,
               const Numbers& spatial, bool outer_first) {
    Numbers axes;
    if (outer_first) axes.push_back(outer);
    axes.insert(axes.end(), spatial.begin(), spatial.end());
    if (!outer_first) {
        // A kernel: its input features before its output features.
        axes.push_back(inner);
        axes.push_back(outer);
    } else {
        axes.push_back(inner);
    }
    Array moved = maker.transpose(array, axes);
    if (spatial.size() >= 2) return moved;
    Numbers dimensions = moved.dimensions;
    const auto at = dimensions.begin() + (outer_first ? 1 : 0);
    dimensions.insert(at, 2 - spatial.size(), 1);
    return maker.reshape(moved, dimensions);
}

/// A product with all axes of both operands that are not free; the contracting ones in the same order.
Array product_of_matrices(GraphMaker& maker, const Array& left, const Array& right, const Dot& dot,
                          std::vector<ir::NamedAttribute> attributes) {
    const Numbers left_free =
        other_axes(left.dimensions.size(), concatenated(dot.left_batch, dot.left_contracting));
    const Numbers right_free =
        other_axes(right.dimensions.size(), concatenated(dot.right_batch, dot.right_contracting));
    const Matrices a = matrices_of(maker, left, dot.left_batch, left_free, dot.left_contracting, false);
    const Matrices b = matrices_of(maker, right, dot.right_batch, right_free, dot.right_contracting, true);
    attributes.emplace_back("transposed_a", std::int64_t{a.is_transposed ? 1 : 0});
    // [K, N] is the second operand as it is.
    attributes.emplace_back("transposed_b", std::int64_t{b.is_transposed ? 0 : 1});
    Array sums{.id = maker.append("matrix_product", std::move(attributes),
                                  {maker.value_of(a.array), maker.value_of(b.array)}, DataType::Float32),
               .type = ElementType::F32};
    const ir::Shape& shape = maker.value(sums.id).shape;
    for (std::size_t axis = 1; axis < shape.rank(); ++axis) sums.dimensions.push_back(shape[axis]);
    return sums;
}

/// A window of each of two axes; lines have one element if there is one axis.
std::vector<WindowDimension> of_two_axes(std::vector<WindowDimension> window) {
    while (window.size() < 2) window.insert(window.begin(), WindowDimension{});
    return window;
}

}  // namespace

Arrays map_dot(GraphMaker& maker, const Operation& operation) {
    const auto& dot = operation.attributes<Dot>();
    const Array& left = operation.operand(0);
    const Array& right = operation.operand(1);
    require_floats(left);
    require_floats(right);
    const Array sums =
        product_of_matrices(maker, left, right, dot, precision_of(dot.precision, dot.has_algorithm));
    const Shape& result = maker.result_of(operation);
    return {maker.reshape(as_result(maker, sums, result.type), result.dimensions)};
}

namespace {

/// Whether a convolution has one window, all of whose taps are elements of the image: so are gradients of 1 x
/// 1 kernels.
bool is_one_window(const Operation& operation, const Shape& result) {
    const auto& convolution = operation.attributes<Convolution>();
    if (convolution.feature_groups != 1 || convolution.batch_groups != 1) return false;
    for (std::size_t i = 0; i < convolution.window.size(); ++i) {
        const WindowDimension& each = convolution.window[i];
        const std::int64_t extent = operation.operand(0).dimensions[place(convolution.input.spatial[i])];
        const std::int64_t last = (each.size - 1) * each.window_dilation - each.padding_low;
        if (result.dimensions[place(convolution.output.spatial[i])] != 1 || each.base_dilation != 1 ||
            each.padding_low > 0 || last >= extent)
            return false;
    }
    return true;
}

/// A convolution with one window is a product of matrices. Its sums go over the images' elements in the order
/// in which they lie.
Arrays map_one_window(GraphMaker& maker, const Operation& operation, const Shape& result) {
    const auto& convolution = operation.attributes<Convolution>();
    Array image = operation.operand(0);
    Array kernel = operation.operand(1);
    Numbers first(image.dimensions.size(), 0);
    Numbers step(image.dimensions.size(), 1);
    Numbers count = image.dimensions;
    Numbers kernel_first(kernel.dimensions.size(), 0);
    Numbers kernel_step(kernel.dimensions.size(), 1);
    // The axes of the kernel that an axis of the image meets.
    std::vector<std::pair<std::int64_t, std::int64_t>> contracting{
        {convolution.input.feature, convolution.kernel.feature}};
    for (std::size_t i = 0; i < convolution.window.size(); ++i) {
        const WindowDimension& each = convolution.window[i];
        const std::int64_t axis = convolution.input.spatial[i];
        const std::int64_t kernel_axis = convolution.kernel.spatial[i];
        first[place(axis)] = -each.padding_low;
        step[place(axis)] = each.window_dilation;
        count[place(axis)] = each.size;
        contracting.emplace_back(axis, kernel_axis);
        if (!each.is_reversed) continue;
        kernel_first[place(kernel_axis)] = each.size - 1;
        kernel_step[place(kernel_axis)] = -1;
    }
    image = maker.slice(image, first, step, count);
    kernel = maker.slice(kernel, kernel_first, kernel_step, kernel.dimensions);
    std::ranges::sort(contracting);
    Dot dot;
    for (const auto& [axis, kernel_axis] : contracting) {
        dot.left_contracting.push_back(axis);
        dot.right_contracting.push_back(kernel_axis);
    }
    Array array =
        as_result(maker, product_of_matrices(maker, image, kernel, dot, precision_of(convolution.precision)),
                  result.type);
    if (convolution.output.batch > convolution.output.feature) array = maker.transpose(array, {1, 0});
    return {maker.reshape(array, result.dimensions)};
}

}  // namespace

Arrays map_convolution(GraphMaker& maker, const Operation& operation) {
    const auto& convolution = operation.attributes<Convolution>();
    require_floats(operation.operand(0));
    require_floats(operation.operand(1));
    if (convolution.window.size() > 2) {
        throw ModelError(fmt::format("it has {} spatial axes; programs are compiled with at most 2",
                                     convolution.window.size()));
    }
    if (is_one_window(operation, maker.result_of(operation)))
        return map_one_window(maker, operation, maker.result_of(operation));
    // Features may lie in groups of the batch, which become groups of features.
    Array image = image_of(maker, operation.operand(0), convolution.input.batch, convolution.input.feature,
                           convolution.input.spatial, true);
    Array kernel = image_of(maker, operation.operand(1), convolution.kernel.batch, convolution.kernel.feature,
                            convolution.kernel.spatial, false);
    std::int64_t groups = convolution.feature_groups;
    if (const std::int64_t of_batch = convolution.batch_groups; of_batch > 1) {
        const Numbers whole = image.dimensions;
        image = maker.reshape(image, {of_batch, whole[0] / of_batch, whole[1] * whole[2], whole[3]});
        image = maker.transpose(image, {1, 2, 0, 3});
        image = maker.reshape(image, {whole[0] / of_batch, whole[1], whole[2], of_batch * whole[3]});
        groups = of_batch;
    }
    const std::vector<WindowDimension> window = of_two_axes(convolution.window);
    // What negative padding cuts off, and kernels that are read backwards. Of a spread array, it may cut in
    // the zeros between two elements: those that stay are padding.
    Numbers first(4, 0);
    Numbers count = image.dimensions;
    Numbers kernel_first(4, 0);
    Numbers kernel_step(4, 1);
    Numbers low(2, 0);
    Numbers high(2, 0);
    for (std::size_t i = 0; i < 2; ++i) {
        const WindowDimension& each = window[i];
        const std::int64_t spread = each.base_dilation;
        const std::int64_t cut = std::max<std::int64_t>(-each.padding_low, 0);
        const std::int64_t end =
            (count[i + 1] - 1) * spread - std::max<std::int64_t>(-each.padding_high, 0);  // the last place
        first[i + 1] = (cut + spread - 1) / spread;
        if (end < first[i + 1] * spread)
            throw ModelError("its padding cuts off all elements of an array, which is not compiled");
        const std::int64_t last = end / spread;
        count[i + 1] = last - first[i + 1] + 1;
        low[i] = each.padding_low < 0 ? first[i + 1] * spread - cut : each.padding_low;
        high[i] = each.padding_high < 0 ? end - last * spread : each.padding_high;
        if (each.is_reversed) {
            kernel_first[i] = kernel.dimensions[i] - 1;
            kernel_step[i] = -1;
        }
    }
    image = maker.slice(image, first, Numbers(4, 1), count);
    kernel = maker.slice(kernel, kernel_first, kernel_step, kernel.dimensions);
    std::vector<ir::NamedAttribute> attributes = ir::attributes_of({
        .kernel_height = number32(window[0].size),
        .kernel_width = number32(window[1].size),
        .stride_y = number32(window[0].stride),
        .stride_x = number32(window[1].stride),
        .pad_top = number32(low[0]),
        .pad_left = number32(low[1]),
        .pad_bottom = number32(high[0]),
        .pad_right = number32(high[1]),
        .dilation_y = number32(window[0].window_dilation),
        .dilation_x = number32(window[1].window_dilation),
    });
    for (ir::NamedAttribute& each : precision_of(convolution.precision))
        attributes.push_back(std::move(each));
    attributes.emplace_back("groups", groups);
    attributes.emplace_back("spread_y", window[0].base_dilation);
    attributes.emplace_back("spread_x", window[1].base_dilation);
    Array sums{.id = maker.append("word_convolution", std::move(attributes),
                                  {maker.value_of(image), maker.value_of(kernel)}, DataType::Float32),
               .type = ElementType::F32};
    const ir::Shape& shape = maker.value(sums.id).shape;
    for (std::size_t axis = 1; axis < shape.rank(); ++axis) sums.dimensions.push_back(shape[axis]);
    // Back to the order of the result.
    const Shape& result = maker.result_of(operation);
    Array array = as_result(maker, sums, result.type);
    Numbers by_order{array.dimensions[0]};
    for (std::size_t i = 0; i < convolution.window.size(); ++i)
        by_order.push_back(array.dimensions[3 - convolution.window.size() + i]);
    by_order.push_back(array.dimensions[3]);
    array = maker.reshape(array, by_order);
    Numbers axes(result.dimensions.size());
    axes[place(convolution.output.batch)] = 0;
    axes[place(convolution.output.feature)] = static_cast<std::int64_t>(axes.size()) - 1;
    for (std::size_t i = 0; i < convolution.output.spatial.size(); ++i)
        axes[place(convolution.output.spatial[i])] = static_cast<std::int64_t>(i) + 1;
    return {maker.transpose(array, axes)};
}

}  // namespace systole::hlo
