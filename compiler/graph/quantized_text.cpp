#include "compiler/graph/quantized_text.h"

#include <fmt/format.h>

#include <span>

#include "compiler/ir/names.h"

namespace systole::quantized {
namespace {

/// FNV-1a over the values: tells versions of an array apart.
template <typename Value>
std::string fingerprint(std::span<const Value> values) {
    constexpr std::uint64_t prime = 0x100000001b3;
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const Value value : values) hash = (hash ^ static_cast<std::uint64_t>(value)) * prime;
    return fmt::format("{} values #{:016x}", values.size(), hash);
}

std::string fingerprint(const Table& table) {
    return std::visit(
        [](const auto& entries) {
            return fingerprint(
                std::span<const typename std::decay_t<decltype(entries)>::value_type>(entries));
        },
        table);
}

std::string describe(const Requantization& requantization) {
    std::string text = fmt::format("bias {}, multiplier {}, shift {}, zero point {}, clamp {}..{}",
                                   fingerprint(std::span(requantization.bias)),
                                   fingerprint(std::span(requantization.multiplier)),
                                   fingerprint(std::span(requantization.shift)), requantization.zero_point,
                                   requantization.minimum, requantization.maximum);
    if (requantization.table) {
        text += fmt::format(", table {}", fingerprint(*requantization.table));
    }
    return text;
}

struct Describe {
    std::string operator()(const Convolution& convolution) const {
        return fmt::format("convolution: {}, weights {}, {}", ir::to_text(convolution.window),
                           fingerprint(std::span(convolution.weights)), describe(convolution.requantization));
    }
    std::string operator()(const DepthwiseConvolution& convolution) const {
        return fmt::format("depthwise_convolution: {}, multiplier {}, weights {}, {}",
                           ir::to_text(convolution.window), convolution.channel_multiplier,
                           fingerprint(std::span(convolution.weights)), describe(convolution.requantization));
    }
    std::string operator()(const Dense& dense) const {
        return fmt::format("dense: weights {}, {}", fingerprint(std::span(dense.weights)),
                           describe(dense.requantization));
    }
    std::string operator()(const Pool& pool) const {
        return fmt::format("pool: {}, {}{}", pool.kind == PoolKind::Max ? "max" : "average",
                           ir::to_text(pool.window), pool.count_padding ? ", padding counts" : "");
    }
    std::string operator()(const Add& add) const {
        return fmt::format("add: {} << {}, {} << {}, result {} << {}, clamp {}..{}", add.multiplier_a,
                           add.shift_a, add.multiplier_b, add.shift_b, add.multiplier, add.shift, add.minimum,
                           add.maximum);
    }
    std::string operator()(const Lookup& lookup) const {
        return fmt::format("lookup: table {}", fingerprint(lookup.table));
    }
    std::string operator()(const Concat&) const { return "concat"; }
    std::string operator()(const Multiply& multiply) const {
        return fmt::format("multiply: {} << {}, clamp {}..{}", multiply.multiplier, multiply.shift,
                           multiply.minimum, multiply.maximum);
    }
    std::string operator()(const Slice& slice) const {
        return fmt::format("slice: from element {}", slice.first_element);
    }
};

}  // namespace

std::string to_text(const Network& network) {
    std::string text = fmt::format("network {}: input %{}, output %{}\n", ir::quoted(network.name),
                                   network.input, network.output);
    for (std::size_t id = 0; id < network.tensors.size(); ++id) {
        const Tensor& tensor = network.tensors[id];
        text += fmt::format("%{}: {} {} {}, scale {}, zero point {}\n", id, ir::to_text(tensor.shape),
                            name_of(tensor.type), ir::quoted(tensor.name), tensor.scale, tensor.zero_point);
    }
    for (const Layer& layer : network.layers) {
        text += fmt::format("%{} = {}({}) {}\n", layer.output, ir::quoted(layer.name),
                            ir::joined(layer.inputs, "%"), std::visit(Describe{}, layer.operation));
    }
    for (const Network::HostOperation& operation : network.host_operations) {
        text += fmt::format("host: {} {}\n", operation.kind, ir::quoted(operation.layer));
    }
    return text;
}

}  // namespace systole::quantized
