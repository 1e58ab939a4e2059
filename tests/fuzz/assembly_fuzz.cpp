// Any text is a program whose disassembly makes the same program, or a ProgramError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    systole::isa::Program program;
    try {
        program = systole::isa::assemble(text, "fuzz.asm");
    } catch (const systole::isa::ProgramError&) {
        return 0;
    }
    if (systole::isa::assemble(systole::isa::disassemble(program), "again.asm") != program) std::abort();
    return 0;
}
