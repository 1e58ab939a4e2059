#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/word_step.h"
#include "hw/isa/chain.h"

/// Element-wise work as chains of instructions.
namespace systole::tensor_core {

/// 16 of the 64 values of a chain stay free, so that one more chain fits.
inline constexpr std::size_t most_joined_values = isa::most_chain_values - 16;

/// An input of element-wise work: a source of its chain, or a number that is a step of it.
struct ChainInput {
    std::optional<std::size_t> source = {};
    std::uint32_t number = 0;
};
/// The steps of a chain with so many sources: the numbers, then the work's steps. All of it are at most
/// isa::most_chain_values values.
std::vector<isa::ChainStep> chain_steps(const std::vector<ChainInput>& inputs, std::size_t sources,
                                        const std::vector<ir::WordStep>& steps);

/// The first rule of chains that these steps break, whatever the sources are.
std::optional<std::string> broken_rule_of(std::size_t sources, const std::vector<isa::ChainStep>& steps);

}  // namespace systole::tensor_core
