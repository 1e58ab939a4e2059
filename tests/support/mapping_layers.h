#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "compiler/target/tpu_v1/network/network.h"

/// Parts of networks of the chip's work, for tests whose numbers do not matter.
namespace systole::tests {

inline ir::Constant ones(std::uint64_t count) {
    return ir::Constant::of(std::vector<std::int8_t>(count, 1));
}

/// 2^-9 for all.
inline tpu_v1::Requantization requantization(std::uint32_t channels) {
    tpu_v1::Requantization rules;
    rules.bias.assign(channels, 0);
    rules.multiplier.assign(channels, 1 << 30);
    rules.shift.assign(channels, -8);
    return rules;
}

inline tpu_v1::Work elementwise(isa::VectorOperation operation) {
    tpu_v1::Elementwise work{.operation = operation, .a = {}, .b = {}, .result = {}, .table = {}};
    if (operation == isa::VectorOperation::Lookup) work.table = tpu_v1::ByteTable{};
    return work;
}
inline tpu_v1::Work lookup() {
    return elementwise(isa::VectorOperation::Lookup);
}
inline tpu_v1::Work addition() {
    return elementwise(isa::VectorOperation::Add);
}

inline ir::Constant random_weights(std::uint64_t count, std::mt19937& random) {
    std::vector<std::int8_t> weights(count);
    for (std::int8_t& weight : weights) weight = static_cast<std::int8_t>(random());
    return ir::Constant::of(std::move(weights));
}

}  // namespace systole::tests
