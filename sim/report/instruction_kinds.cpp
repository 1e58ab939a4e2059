// Which kind of matrix instruction the cycles of each tag belong to.
#include <map>
#include <stdexcept>
#include <utility>

#include "hw/isa/encoding.h"
#include "sim/report/report.h"

namespace systole::report {
namespace {

/// What a program does under one tag.
struct Use {
    std::string instruction = "none";
    std::uint64_t executed = 0;
};

bool is_matrix_instruction(const isa::Instruction& instruction) {
    return std::holds_alternative<isa::MatrixMultiply>(instruction) ||
           std::holds_alternative<isa::Convolve>(instruction);
}

std::map<hw::Tag, Use> use_by_tag(const isa::Program& program) {
    std::map<hw::Tag, Use> uses;
    hw::Tag tag = 0;
    uses[tag];
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* debug = std::get_if<isa::DebugTag>(&instruction)) {
            tag = debug->tag;
            uses[tag];
        }
        if (!is_matrix_instruction(instruction)) continue;
        Use& use = uses[tag];
        const std::string name(isa::mnemonic(instruction));
        use.instruction = use.executed == 0 || use.instruction == name ? name : "mixed";
        ++use.executed;
    }
    return uses;
}

}  // namespace

MatrixUnit& MatrixUnit::operator+=(const MatrixUnit& other) {
    active_cycles += other.active_cycles;
    weight_stall_cycles += other.weight_stall_cycles;
    weight_shift_cycles += other.weight_shift_cycles;
    non_matrix_cycles += other.non_matrix_cycles;
    useful_macs += other.useful_macs;
    unused_macs += other.unused_macs;
    if (counters.size() != other.counters.size()) throw std::logic_error("counters of two kinds of units");
    for (std::size_t i = 0; i < counters.size(); ++i) counters[i].second += other.counters[i].second;
    return *this;
}

std::vector<InstructionKind> by_instruction_kind(const isa::Program& program,
                                                 const hw::MatrixUnitCounters& counters) {
    std::map<std::string, InstructionKind> kinds;
    for (const auto& [tag, use] : use_by_tag(program)) {
        MatrixUnit unit = matrix_unit_under(counters, tag);
        if (use.executed == 0 && unit.cycles() == 0) continue;
        const auto [kind, is_new] = kinds.try_emplace(use.instruction);
        if (is_new) {
            kind->second = {
                .instruction = use.instruction, .executed = use.executed, .matrix_unit = std::move(unit)};
        } else {
            kind->second.executed += use.executed;
            kind->second.matrix_unit += unit;
        }
    }
    std::vector<InstructionKind> sorted;
    sorted.reserve(kinds.size());
    for (auto& [name, kind] : kinds) sorted.push_back(std::move(kind));
    return sorted;
}

}  // namespace systole::report
