#pragma once

#include <cstdint>
#include <vector>

#include "hw/isa/footprint.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program.h"
#include "hw/isa/registers.h"

namespace systole::isa {

/// What a program has put into the accumulators and the activation unit so far, in program order. `activate`
/// must not use rows, parameters or tables that nothing has written: its results would be no one's.
class LoadedValues {
public:
    /// The program's initial accumulator rows lie within the machine's.
    LoadedValues(const Program& program, std::uint64_t accumulator_rows);

    /// Checks the next instruction and notes what it writes and loads. Its footprint lies within the
    /// machine's memories. Throws ProgramError, without the instruction, if it uses what nothing has written.
    void follow(const Instruction& instruction, const Registers& registers, const Footprint& footprint);

private:
    void load(const Activate& activate, std::uint64_t columns);
    void check(const Activate& activate, std::uint64_t columns) const;

    std::vector<bool> written_;  ///< by accumulator row
    std::uint64_t columns_ = 0;  ///< whose parameters are loaded
    Multipliers multipliers_ = Multipliers::FixedPoint;
    bool has_table_ = false;
    bool has_wide_table_ = false;
};

}  // namespace systole::isa
