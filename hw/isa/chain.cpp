#include "hw/isa/chain.h"

#include <fmt/format.h>

#include <array>

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
    return std::nullopt;
}

}  // namespace systole::isa
