#include "sim/study/explain/cause.h"

#include <algorithm>
#include <cmath>

namespace systole::explain {
namespace {

std::uint64_t useful_cycles(const Facts& facts) {
    const std::uint64_t macs = facts.useful_macs + facts.unused_macs;
    if (macs == 0) return 0;
    const double share = static_cast<double>(facts.useful_macs) / static_cast<double>(macs);
    return static_cast<std::uint64_t>(std::llround(share * static_cast<double>(facts.active_cycles)));
}

}  // namespace

std::uint64_t cycles_of(Cause cause, const Facts& facts) {
    if (cause->form == machine::CauseForm::UsefulCells) return useful_cycles(facts);
    if (cause->form == machine::CauseForm::UnusedCells) return facts.active_cycles - useful_cycles(facts);
    const auto found = facts.by_cause.find(cause->name);
    return found == facts.by_cause.end() ? 0 : found->second;
}

std::vector<Cause> causes_of(const Facts& facts, const std::vector<machine::UnitDescription>& units) {
    constexpr std::uint64_t least_share = 20;  // a twentieth: less is not worth a sentence
    std::vector<Cause> found;
    for (const machine::UnitDescription& unit : units) {
        for (const machine::CycleCause& described : unit.causes) {
            const std::uint64_t cycles = cycles_of(Cause(described), facts);
            if (cycles > 0 && cycles * least_share >= facts.cycles()) found.emplace_back(described);
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [&](Cause a, Cause b) { return cycles_of(a, facts) > cycles_of(b, facts); });
    // Active cycles are what the run is for: only as the main cause are they worth a sentence.
    const auto is_active = [](Cause cause) {
        return cause->form == machine::CauseForm::UnusedCells ||
               cause->form == machine::CauseForm::UsefulCells;
    };
    if (!found.empty()) found.erase(std::remove_if(found.begin() + 1, found.end(), is_active), found.end());
    return found;
}

}  // namespace systole::explain
