#include "hw/timing/formats.h"

#include <fmt/format.h>

#include <stdexcept>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"

namespace systole::timing {

Cycle array_passes(const isa::MatrixFlags& flags, const machine::MatrixUnitConfig& array) {
    const auto passes = array.passes(flags.activations, flags.weights);
    if (!passes) throw std::logic_error("a product of number formats that the machine does not list");
    return *passes;
}

void check_formats(const isa::Program& program, const machine::MachineConfig& machine) {
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const isa::Instruction& instruction = program.instructions[i];
        const isa::MatrixFlags* const flags = isa::matrix_flags(instruction);
        if (flags == nullptr) continue;
        if (const auto refusal = machine.matrix_unit.refusal(flags->activations, flags->weights)) {
            throw isa::ProgramError(
                fmt::format("instruction {} ({}): {}", i, isa::to_string(instruction), *refusal));
        }
    }
}

}  // namespace systole::timing
