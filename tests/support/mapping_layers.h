#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "compiler/mapping/network.h"

/// Parts of networks of the chip's work, for tests whose numbers do not matter.
namespace systole::tests {

inline ir::Constant ones(std::uint64_t count) {
    return ir::Constant::of(std::vector<std::int8_t>(count, 1));
}

/// 2^-9 for all.
inline mapping::Requantization requantization(std::uint32_t channels) {
    mapping::Requantization rules;
    rules.bias.assign(channels, 0);
    rules.multiplier.assign(channels, 1 << 30);
    rules.shift.assign(channels, -8);
    return rules;
}

inline mapping::Work elementwise(isa::VectorOperation operation) {
    mapping::Elementwise work{.operation = operation, .a = {}, .b = {}, .result = {}, .table = {}};
    if (operation == isa::VectorOperation::Lookup) work.table = mapping::ByteTable{};
    return work;
}
inline mapping::Work lookup() {
    return elementwise(isa::VectorOperation::Lookup);
}
inline mapping::Work addition() {
    return elementwise(isa::VectorOperation::Add);
}

inline ir::Constant random_weights(std::uint64_t count, std::mt19937& random) {
    std::vector<std::int8_t> weights(count);
    for (std::int8_t& weight : weights) weight = static_cast<std::int8_t>(random());
    return ir::Constant::of(std::move(weights));
}

}  // namespace systole::tests
