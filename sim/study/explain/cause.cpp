#include "sim/study/explain/cause.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace systole::explain {
namespace {

constexpr std::array causes{Cause::WeightStall, Cause::WeightShift, Cause::Activations,
                            Cause::Input,       Cause::Setup,       Cause::Ports,
                            Cause::Idle,        Cause::UnusedCells, Cause::UsefulCells};

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
            return facts.raw_stall_cycles;
        case Cause::Input:
            return facts.input_stall_cycles;
        case Cause::Setup:
            return facts.setup_stall_cycles;
        case Cause::Ports:
            return facts.port_stall_cycles;
        case Cause::Idle: {
            const std::uint64_t explained = facts.raw_stall_cycles + facts.input_stall_cycles +
                                            facts.setup_stall_cycles + facts.port_stall_cycles;
            return facts.non_matrix_cycles - std::min(facts.non_matrix_cycles, explained);
        }
        case Cause::UnusedCells:
            return facts.active_cycles - useful_cycles(facts);
        case Cause::UsefulCells:
            return useful_cycles(facts);
    }
    throw std::logic_error("a cause without a counter");
}

Cause cause_of(const Facts& facts) {
    if (facts.cycles() == 0) return Cause::Idle;
    return *std::max_element(causes.begin(), causes.end(),
                             [&](Cause a, Cause b) { return cycles_of(a, facts) < cycles_of(b, facts); });
}

}  // namespace systole::explain
