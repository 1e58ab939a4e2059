// Quantizes the nodes that move elements without scaling them, the input and the output.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "compiler/passes/quantizer.h"

namespace systole::passes {
namespace {

using quantized::TensorId;

/// A layer whose result has its input's encoding.
void add_moving_layer(Quantizer& quantizer, const ir::Node& node, quantized::Operation operation) {
    const TensorId input = quantizer.tensor_of(node.inputs[0]);
    const TensorId output = quantizer.add_tensor(node.output(), encoding_of(quantizer.tensor(input)));
    quantizer.add_layer(node, {input}, output, std::move(operation));
}

/// Pooling, which borders are made by, too.
void add_pool(Quantizer& quantizer, const ir::Node& node, const quantized::Pool& pool) {
    quantizer.require_one_width(node);
    if (bytes_of(quantizer.type(node.output())) == 2) {
        quantizer.fail(node.output(),
                       fmt::format("it is a {} of 16 bits; it must be of 8, as the chip pools no others",
                                   node.op->name()));
    }
    add_moving_layer(quantizer, node, pool);
}

}  // namespace

void quantize_input(Quantizer& quantizer, ir::ValueId id) {
    Encoding encoding = quantizer.encoding(id);
    const auto& given = quantizer.input_encoding();
    // It says what bytes stand for.
    if (given && bytes_of(encoding.type) != 2) {
        const std::int32_t largest_byte = highest_of(encoding.type);
        if (!(given->scale > 0.0) || !std::isfinite(given->scale)) {
            quantizer.fail(id, fmt::format("the scale of the input is {}; it must be above 0", given->scale));
        }
        if (given->zero_point < 0 || given->zero_point > largest_byte) {
            quantizer.fail(id, fmt::format("the zero point of the input is {}; it must be 0 to {}",
                                           given->zero_point, largest_byte));
        }
        encoding = {given->scale, given->zero_point, encoding.type};
    }
    quantizer.add_tensor(id, encoding);
}

bool quantize_pool(Quantizer& quantizer, const ir::Node& node) {
    const bool is_max = node.is("max_pool");
    if (!is_max && !node.is("average_pool")) return false;
    const auto kind = is_max ? quantized::PoolKind::Max : quantized::PoolKind::Average;
    add_pool(quantizer, node, {.kind = kind, .window = ir::window_of(node), .count_padding = false});
    return true;
}

bool quantize_padding(Quantizer& quantizer, const ir::Node& node) {
    if (!node.is("zero_padding")) return false;
    const auto side = [&](std::size_t i) {
        return static_cast<std::uint32_t>(node.integers("padding").at(i));
    };
    // The maximum of a single element, which may lie outside: there it is 0.
    const ir::Window window{
        .pad_top = side(0), .pad_left = side(1), .pad_bottom = side(2), .pad_right = side(3)};
    add_pool(quantizer, node, {.kind = quantized::PoolKind::Max, .window = window, .count_padding = true});
    return true;
}

bool quantize_reshape(Quantizer& quantizer, const ir::Node& node) {
    if (!node.is("reshape")) return false;
    quantizer.require_one_width(node);
    const TensorId input = quantizer.tensor_of(node.inputs[0]);
    if (quantizer.is_last(node.output())) {
        // The host gets the same bytes in any case.
        quantizer.share_tensor(node.output(), input);
        return true;
    }
    if (bytes_of(quantizer.type(node.output())) == 2) {
        add_moving_layer(quantizer, node, quantized::Slice{.first_element = 0});
        return true;
    }
    quantized::ByteTable identity{};
    std::iota(identity.begin(), identity.end(), std::uint8_t{0});
    const TensorId output = quantizer.add_tensor(node.output(), encoding_of(quantizer.tensor(input)));
    quantizer.add_layer(node, {input}, output, quantized::Lookup{identity});
    return true;
}

bool quantize_slice(Quantizer& quantizer, const ir::Node& node) {
    if (!node.is("slice")) return false;
    quantizer.require_one_width(node);
    add_moving_layer(quantizer, node,
                     quantized::Slice{.first_element = static_cast<std::uint64_t>(node.integer("first"))});
    return true;
}

bool quantize_softmax(Quantizer& quantizer, const ir::Node& node) {
    if (!node.is("softmax")) return false;
    if (!quantizer.is_last(node.output())) {
        quantizer.fail(
            node.output(),
            "it is a softmax inside the network; only the last layer may be one, as the host computes it");
    }
    quantizer.share_tensor(node.output(), quantizer.tensor_of(node.inputs[0]));
    quantizer.add_host_operation("softmax", node.name);
    return true;
}

}  // namespace systole::passes
