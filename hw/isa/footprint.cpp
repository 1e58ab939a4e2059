#include "hw/isa/footprint.h"

#include <fmt/format.h>

#include "hw/isa/assembly.h"
#include "hw/isa/field_checker.h"
#include "hw/isa/program_error.h"

namespace systole::isa {

Footprint footprint(const Instruction& instruction, const Registers& registers, const Geometry& geometry) {
    if (geometry.rows == 0 || geometry.columns == 0) {
        throw ProgramError(
            fmt::format("the array is {} x {}; each must be at least 1", geometry.rows, geometry.columns));
    }
    try {
        check_fields(instruction);
        return std::visit([&](const auto& each) { return each.footprint(registers, geometry); }, instruction);
    } catch (const ProgramError& error) {
        throw ProgramError(fmt::format("{}: {}", to_string(instruction), error.what()));
    }
}

std::optional<Unit> unit_of(const Instruction& instruction) {
    return std::visit([](const auto& each) { return each.queue(); }, instruction);
}

}  // namespace systole::isa
