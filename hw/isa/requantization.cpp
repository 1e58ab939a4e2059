#include "hw/isa/requantization.h"

#include <fmt/format.h>

#include "hw/isa/program_error.h"

namespace systole::isa {

void check_output_range(const Registers& registers) {
    const std::int32_t minimum = registers.as_signed(Register::OutputMinimum);
    const std::int32_t maximum = registers.as_signed(Register::OutputMaximum);
    if (minimum > maximum) {
        throw ProgramError(fmt::format("output.minimum is {}; it must be at most output.maximum, which is {}",
                                       minimum, maximum));
    }
}

}  // namespace systole::isa
