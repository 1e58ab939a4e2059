// Convolutions and dense layers: work of the matrix unit, with a lookup that is the only reader of the
// result.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/fixed_point.h"
#include "compiler/ir/encoding.h"
#include "compiler/ir/window.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/weighted.h"
#include "compiler/target/tpu_v1/lowering/lowerings.h"

namespace systole::tpu_v1 {
namespace {

/// The node's window. A single row or column of a kernel has no dilation.
ir::Window window_on_chip(const ir::NodeView& node) {
    ir::Window window = ir::window_of(node.node());
    if (window.kernel_height == 1) window.dilation_y = 1;
    if (window.kernel_width == 1) window.dilation_x = 1;
    return window;
}

/// The bias with the correction for the inputs' zero points, because the chip multiplies stored numbers. Of
/// each input, so many elements are multiplied for one result.
std::vector<std::int32_t> corrected_bias(const ir::NodeView& node,
                                         const std::vector<std::uint64_t>& met_elements) {
    std::vector<std::int32_t> bias = operators::bias_of(node);
    const std::int8_t* weight = operators::known_weights(node).data();
    const std::int32_t of_weights = operators::weight_zero_point(node);
    for (std::size_t i = 0; i < met_elements.size(); ++i) {
        const std::int32_t zero_point = ir::encoding_of(node.input(i)).zero_point;
        if (zero_point == 0) {
            weight += met_elements[i] * bias.size();
            continue;
        }
        for (std::uint64_t element = 0; element < met_elements[i]; ++element, weight += bias.size()) {
            for (std::size_t c = 0; c < bias.size(); ++c) {
                bias[c] = wrapping_subtract(bias[c], zero_point * (weight[c] - of_weights));
            }
        }
    }
    return bias;
}

/// A multiplier with which the chip's rule gives what the rule for wide sums gives, if the sum fits in 32
/// bits: the product is rounded once, because there is no shift to the right after it. Nullopt if bits would
/// be lost.
std::optional<FixedPoint> chip_multiplier(const FixedPoint& wide) {
    constexpr std::int32_t reduced_bits = 16;
    if (wide.shift < -reduced_bits) return std::nullopt;
    const std::int32_t reduced = operators::reduced_multiplier(wide.multiplier);
    if (wide.shift > 0) return FixedPoint{reduced << reduced_bits, wide.shift};
    return FixedPoint{reduced << (reduced_bits + wide.shift), 0};
}

/// The conversion of the sums, without the bias and the table. Without weights, scales are unknown.
Requantization requantization_of(const ir::NodeView& node) {
    const operators::Clamp clamp = operators::clamp_of(node);
    const std::size_t channels = node.output_map().channels;
    const bool has_weights = node.graph().has_weights;
    Requantization rules{.bias = {},
                         .multiplier = {},
                         .shift = {},
                         .zero_point = ir::encoding_of(node.output()).zero_point,
                         .minimum = clamp.minimum,
                         .maximum = clamp.maximum,
                         .table = {},
                         .half_to_even = rounds_to_even(node.node())};
    if (operators::has_real_multiplier(node.node())) {
        rules.real_multiplier =
            has_weights ? operators::real_multipliers_of(node) : std::vector<double>(channels);
    } else if (has_weights) {
        const bool is_wide = operators::has_wide_sums(node.node());
        for (FixedPoint multiplier : operators::multipliers_of(node)) {
            if (is_wide) multiplier = chip_multiplier(multiplier).value();
            rules.multiplier.push_back(multiplier.multiplier);
            rules.shift.push_back(static_cast<std::int8_t>(multiplier.shift));
        }
    } else {
        rules.multiplier.resize(channels);
        rules.shift.resize(channels);
    }
    return rules;
}

void lower_product(const ir::NodeView& node, const std::optional<ir::Window>& window, std::uint32_t groups,
                   const std::vector<std::uint64_t>& met_elements, Lowering& lowering) {
    MatrixProduct product{.window = window,
                          .groups = groups,
                          .weights = {},
                          .weight_zero_point = operators::weight_zero_point(node),
                          .requantization = requantization_of(node)};
    if (node.graph().has_weights) {
        product.weights = *node.constant(0)->constant;
        product.requantization.bias = corrected_bias(node, met_elements);
    } else {
        product.requantization.bias.resize(node.output_map().channels);
    }
    const ir::Node* const lookup = lowering.lookup_after(node.node().output());
    if (lookup != nullptr) product.requantization.table = table_of(ir::NodeView(node.graph(), *lookup));
    lowering.add_layer(node.node(), lookup == nullptr ? node.node().output() : lookup->output(),
                       std::move(product));
}

void lower_windowed(const ir::NodeView& node, std::uint32_t groups, Lowering& lowering) {
    const std::uint64_t met = node.constant(0)->shape.elements() / node.output_map().channels;
    lower_product(node, window_on_chip(node), groups, {met}, lowering);
}

}  // namespace

/// Whether no sum of a node with wide sums, shifted to the left as its multiplier asks, exceeds 32 bits, and
/// the chip can round as it must. True of other nodes.
bool fits_accumulators(const ir::NodeView& node) {
    if (!node.graph().has_weights || !operators::has_wide_sums(node.node())) return true;
    // Real multipliers ask for no shift, and round as they must.
    const bool is_real = operators::has_real_multiplier(node.node());
    const std::vector<FixedPoint> multipliers =
        is_real ? std::vector<FixedPoint>(node.output_map().channels) : operators::multipliers_of(node);
    const std::vector<std::int32_t> bias = operators::bias_of(node);
    const std::span<const std::int8_t> weights = operators::known_weights(node);
    std::vector<std::int64_t> largest(bias.size(), 0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        largest[i % bias.size()] +=
            std::abs(std::int64_t{weights[i]}) * -std::int64_t{lowest_of(DataType::Int16)};
    }
    for (std::size_t c = 0; c < bias.size(); ++c) {
        largest[c] += std::abs(std::int64_t{bias[c]});
        const std::int64_t shifted = largest[c] << std::max(multipliers[c].shift, 0);
        if (shifted > std::numeric_limits<std::int32_t>::max()) return false;
        if (!is_real && !chip_multiplier(multipliers[c])) return false;
    }
    return true;
}

void lower_convolution(const ir::NodeView& node, Lowering& lowering) {
    lower_windowed(node, static_cast<std::uint32_t>(node.node().integer("groups")), lowering);
}

void lower_depthwise_convolution(const ir::NodeView& node, Lowering& lowering) {
    lower_windowed(node, node.input_map().channels, lowering);
}

void lower_dense(const ir::NodeView& node, Lowering& lowering) {
    std::vector<std::uint64_t> met;
    for (std::size_t i = 0, count = node.data_inputs(); i < count; ++i) {
        met.push_back(node.input(i).shape.elements());
    }
    lower_product(node, std::nullopt, 1, met, lowering);
}

}  // namespace systole::tpu_v1
