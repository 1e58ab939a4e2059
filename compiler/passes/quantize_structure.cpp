// Quantizes the nodes that move elements without scaling them, the input and the output.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "compiler/graph/operators/input.h"
#include "compiler/graph/operators/pool.h"
#include "compiler/graph/operators/reshape.h"
#include "compiler/graph/operators/slice.h"
#include "compiler/graph/operators/softmax.h"
#include "compiler/graph/operators/zero_padding.h"
#include "compiler/passes/quantizer.h"

namespace systole::passes {
namespace {

using graph::NodeId;
using quantized::TensorId;

template <typename Kind>
const Kind* as(const Quantizer& quantizer, NodeId id) {
    return dynamic_cast<const Kind*>(quantizer.node(id).op.get());
}

/// A layer whose result has its input's encoding.
void add_moving_layer(Quantizer& quantizer, NodeId id, quantized::Operation operation) {
    const TensorId input = quantizer.input_of(id);
    const TensorId output = quantizer.add_tensor(id, encoding_of(quantizer.tensor(input)));
    quantizer.add_layer(id, {input}, output, std::move(operation));
}

/// Pooling, which borders are made by, too.
void add_pool(Quantizer& quantizer, NodeId id, const quantized::Pool& pool) {
    quantizer.require_one_width(id);
    if (bytes_of(quantizer.type(id)) == 2) {
        quantizer.fail(id, fmt::format("it is a {} of 16 bits; it must be of 8, as the chip pools no others",
                                       quantizer.node(id).op->kind()));
    }
    add_moving_layer(quantizer, id, pool);
}

}  // namespace

bool quantize_input(Quantizer& quantizer, NodeId id) {
    if (as<graph::Input>(quantizer, id) == nullptr) return false;
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
    return true;
}

bool quantize_pool(Quantizer& quantizer, NodeId id) {
    const auto* const pool = as<graph::Pool>(quantizer, id);
    if (pool == nullptr) return false;
    const auto kind =
        pool->pooling == graph::PoolKind::Max ? quantized::PoolKind::Max : quantized::PoolKind::Average;
    add_pool(quantizer, id, {.kind = kind, .window = pool->window, .count_padding = false});
    return true;
}

bool quantize_padding(Quantizer& quantizer, NodeId id) {
    const auto* const padding = as<graph::ZeroPadding>(quantizer, id);
    if (padding == nullptr) return false;
    // The maximum of a single element, which may lie outside: there it is 0.
    const graph::Window window{.pad_top = padding->top,
                               .pad_left = padding->left,
                               .pad_bottom = padding->bottom,
                               .pad_right = padding->right};
    add_pool(quantizer, id, {.kind = quantized::PoolKind::Max, .window = window, .count_padding = true});
    return true;
}

bool quantize_reshape(Quantizer& quantizer, NodeId id) {
    if (as<graph::Reshape>(quantizer, id) == nullptr) return false;
    quantizer.require_one_width(id);
    const TensorId input = quantizer.input_of(id);
    if (quantizer.is_last(id)) {
        // The host gets the same bytes in any case.
        quantizer.share_tensor(id, input);
        return true;
    }
    if (bytes_of(quantizer.type(id)) == 2) {
        add_moving_layer(quantizer, id, quantized::Slice{.first_element = 0});
        return true;
    }
    quantized::ByteTable identity{};
    std::iota(identity.begin(), identity.end(), std::uint8_t{0});
    const TensorId output = quantizer.add_tensor(id, encoding_of(quantizer.tensor(input)));
    quantizer.add_layer(id, {input}, output, quantized::Lookup{identity});
    return true;
}

bool quantize_slice(Quantizer& quantizer, NodeId id) {
    const auto* const slice = as<graph::Slice>(quantizer, id);
    if (slice == nullptr) return false;
    quantizer.require_one_width(id);
    add_moving_layer(quantizer, id, quantized::Slice{.first_element = slice->first});
    return true;
}

bool quantize_softmax(Quantizer& quantizer, NodeId id) {
    if (as<graph::Softmax>(quantizer, id) == nullptr) return false;
    if (!quantizer.is_last(id)) {
        quantizer.fail(
            id,
            "it is a softmax inside the network; only the last layer may be one, as the host computes it");
    }
    quantizer.share_tensor(id, quantizer.input_of(id));
    quantizer.add_host_operation("softmax", quantizer.node(id).name);
    return true;
}

}  // namespace systole::passes
