#include "sim/study/explain/cause.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace systole::explain {
namespace {

constexpr std::array all_causes{Cause::WeightStall,  Cause::WeightShift,  Cause::Activations, Cause::Input,
                                Cause::Accumulators, Cause::OutputBuffer, Cause::VectorWork,  Cause::Setup,
                                Cause::Ports,        Cause::Issue,        Cause::Sync,        Cause::Host,
                                Cause::BeginAndEnd,  Cause::UnusedCells,  Cause::UsefulCells};

std::uint64_t useful_cycles(const Facts& facts) {
    const std::uint64_t macs = facts.useful_macs + facts.unused_macs;
    if (macs == 0) return 0;
    const double share = static_cast<double>(facts.useful_macs) / static_cast<double>(macs);
    return static_cast<std::uint64_t>(std::llround(share * static_cast<double>(facts.active_cycles)));
}

}  // namespace

std::uint64_t cycles_of(Cause cause, const Facts& facts) {
    switch (cause) {
        case Cause::WeightStall:
            return facts.weight_stall_cycles;
        case Cause::WeightShift:
            return facts.weight_shift_cycles;
        case Cause::Activations:
            return facts.reasons.raw;
        case Cause::Input:
            return facts.reasons.input + facts.reasons.input_buffer;
        case Cause::Accumulators:
            return facts.reasons.accumulators;
        case Cause::OutputBuffer:
            return facts.reasons.output_buffer;
        case Cause::VectorWork:
            return facts.reasons.vector_work;
        case Cause::Setup:
            return facts.reasons.setup;
        case Cause::Ports:
            return facts.reasons.port;
        case Cause::Issue:
            return facts.reasons.not_arrived + facts.reasons.queue_full + facts.reasons.issue;
        case Cause::Sync:
            return facts.reasons.sync;
        case Cause::Host:
            return facts.reasons.host;
        case Cause::BeginAndEnd:
            return facts.reasons.program_begin + facts.reasons.program_end;
        case Cause::UnusedCells:
            return facts.active_cycles - useful_cycles(facts);
        case Cause::UsefulCells:
            return useful_cycles(facts);
    }
    throw std::logic_error("a cause without a counter");
}

std::vector<Cause> causes_of(const Facts& facts) {
    constexpr std::uint64_t least_share = 20;  // a twentieth: less is not worth a sentence
    std::vector<Cause> found(all_causes.begin(), all_causes.end());
    std::erase_if(found, [&](Cause cause) {
        const std::uint64_t cycles = cycles_of(cause, facts);
        return cycles == 0 || cycles * least_share < facts.cycles();
    });
    std::stable_sort(found.begin(), found.end(),
                     [&](Cause a, Cause b) { return cycles_of(a, facts) > cycles_of(b, facts); });
    // Active cycles are what the run is for: only as the main cause are they worth a sentence.
    const auto is_active = [](Cause cause) {
        return cause == Cause::UnusedCells || cause == Cause::UsefulCells;
    };
    if (!found.empty()) found.erase(std::remove_if(found.begin() + 1, found.end(), is_active), found.end());
    return found;
}

}  // namespace systole::explain
