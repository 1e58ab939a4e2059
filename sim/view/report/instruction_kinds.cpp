// Sums the cycles of the tags by their kind of matrix instruction.
#include <map>
#include <stdexcept>
#include <utility>

#include "sim/view/report/report.h"

namespace systole::report {
namespace {

void add(CounterValues& sum, const CounterValues& more) {
    if (sum.size() != more.size()) throw std::logic_error("counters of two kinds of units");
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i].second += more[i].second;
}

}  // namespace

MatrixUnit& MatrixUnit::operator+=(const MatrixUnit& other) {
    active_cycles += other.active_cycles;
    weight_stall_cycles += other.weight_stall_cycles;
    weight_shift_cycles += other.weight_shift_cycles;
    non_matrix_cycles += other.non_matrix_cycles;
    useful_macs += other.useful_macs;
    unused_macs += other.unused_macs;
    add(counters, other.counters);
    add(non_matrix_reasons, other.non_matrix_reasons);
    return *this;
}

std::vector<InstructionKind> by_instruction_kind(std::span<const run::TagFacts> tags,
                                                 const run::Counters& counters) {
    std::map<std::string, InstructionKind> kinds;
    for (std::size_t tag = 0; tag < tags.size(); ++tag) {
        const run::TagFacts& facts = tags[tag];
        MatrixUnit unit = matrix_unit_under(counters, static_cast<run::Tag>(tag));
        if (facts.executed == 0 && unit.cycles() == 0) continue;
        const auto [kind, is_new] = kinds.try_emplace(facts.instruction);
        if (is_new) {
            kind->second = {
                .instruction = facts.instruction, .executed = facts.executed, .matrix_unit = std::move(unit)};
        } else {
            kind->second.executed += facts.executed;
            kind->second.matrix_unit += unit;
        }
    }
    std::vector<InstructionKind> sorted;
    sorted.reserve(kinds.size());
    for (auto& [name, kind] : kinds) sorted.push_back(std::move(kind));
    return sorted;
}

}  // namespace systole::report
