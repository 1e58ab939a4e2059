#include "sim/functional/until_halt.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"

namespace systole::functional {

std::span<const isa::Instruction> until_halt(std::span<const isa::Instruction> instructions) {
    const auto halt = std::find_if(instructions.begin(), instructions.end(), [](const auto& instruction) {
        return std::holds_alternative<isa::Halt>(instruction);
    });
    if (halt == instructions.end()) {
        throw isa::ProgramError(
            instructions.empty() ? "the program is empty; it must end in a halt"
                                 : fmt::format("instruction {}: {}: the program must end in a halt",
                                               instructions.size() - 1, isa::to_string(instructions.back())));
    }
    return {instructions.begin(), halt};
}

}  // namespace systole::functional
