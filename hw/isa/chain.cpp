#include "hw/isa/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hw/isa/instructions/run_chain.h"

namespace systole::isa {
namespace {

std::optional<std::string> broken_rule_of_step(const ChainStep& step, std::size_t before) {
    const WordOperationTraits& traits = traits_of(step.operation);
    if (step.operands.size() != traits.operands) {
        return fmt::format("{} has {} operands; it must have {}", traits.name, step.operands.size(),
                           traits.operands);
    }
    for (const std::uint8_t operand : step.operands) {
        if (operand < before) continue;
        return fmt::format("{} takes value {}; there are {} before it", traits.name, operand, before);
    }
    if (step.constant != 0 && step.operation != WordOperation::Constant) {
        return fmt::format("{} has a constant", traits.name);
    }
    return std::nullopt;
}

/// Registers of a Cloud TPU's vector unit, each with a value of a vector.
constexpr std::size_t most_registers = 32;

/// The most values that are needed at the same time, with steps in their order. Sources, and values without
/// operands, are there from the first step on that takes them; a value is free behind the last step that
/// does, and a result may take the place of an operand. A result is stored as soon as it is computed.
std::size_t registers_needed(const Chain& chain) {
    struct Life {
        std::size_t first = SIZE_MAX;  // steps
        std::size_t last = 0;
    };
    std::vector<Life> lives(chain.values());
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
        for (const std::uint8_t operand : chain.steps[i].operands)
            lives[operand] = {.first = std::min(lives[operand].first, i), .last = i};
    }
    std::vector<bool> is_computed(chain.values(), false);
    for (std::size_t i = 0; i < chain.steps.size(); ++i)
        is_computed[chain.sources.size() + i] = !chain.steps[i].operands.empty();
    std::size_t most = 1;
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
        std::size_t before = 0;  // the step's operands among them
        std::size_t behind = 1;  // its result
        for (std::size_t value = 0; value < chain.sources.size() + i; ++value) {
            const Life& life = lives[value];
            const bool is_there = is_computed[value] || life.first <= i;
            if (is_there && life.first != SIZE_MAX && life.last >= i) ++before;
            if (is_there && life.first != SIZE_MAX && life.last > i) ++behind;
        }
        most = std::max({most, before, behind});
    }
    return most;
}

}  // namespace

std::span<const std::string_view> spread_names() {
    static constexpr std::array<std::string_view, 4> names = {"rows", "row", "column", "result"};
    return names;
}

std::optional<std::string> broken_rule(const Chain& chain) {
    if (chain.name.empty()) return "its name is empty";
    if (chain.sources.size() > RunChain::most_sources) {
        return fmt::format("it has {} sources; the most are {}", chain.sources.size(),
                           RunChain::most_sources);
    }
    if (chain.results.empty() || chain.results.size() > RunChain::most_results) {
        return fmt::format("it has {} results; it must have 1 to {}", chain.results.size(),
                           RunChain::most_results);
    }
    if (chain.values() > most_chain_values) {
        return fmt::format("it has {} values; the most are {}", chain.values(), most_chain_values);
    }
    for (const ChainSource& source : chain.sources) {
        if (static_cast<std::size_t>(source.spread) >= spread_names().size())
            return "a source's spread does not exist";
        if (source.packed && source.spread != Spread::Rows) return "only a source of rows may be packed";
    }
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
        if (static_cast<std::size_t>(chain.steps[i].operation) >= word_operation_count) {
            return "a step's operation does not exist";
        }
        if (auto rule = broken_rule_of_step(chain.steps[i], chain.sources.size() + i)) return rule;
    }
    for (const ChainResult& result : chain.results) {
        if (result.value < chain.values()) continue;
        return fmt::format("a result is value {}; there are {}", result.value, chain.values());
    }
    if (const std::size_t registers = registers_needed(chain); registers > most_registers) {
        return fmt::format("it needs {} values at a time; the vector unit has {} registers", registers,
                           most_registers);
    }
    return std::nullopt;
}

}  // namespace systole::isa
