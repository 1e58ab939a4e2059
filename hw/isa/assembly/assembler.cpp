#include <fmt/format.h>

#include "hw/isa/assembly.h"
#include "hw/isa/assembly/directives.h"
#include "hw/isa/assembly/instruction_text.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"

namespace systole::isa {

Program assemble(std::string_view text, std::string_view file_name) {
    Program program;
    Directives directives(program);
    Lexer lexer(text, file_name);
    while (const auto statement = lexer.next()) {
        Operands operands(*statement, file_name);
        if (directives.take(operands)) continue;
        const auto instruction = parse_instruction(operands, directives.addresses());
        if (!instruction) operands.fail("no such instruction or directive");
        if (const auto rule = broken_rule(*instruction, program)) operands.fail(*rule);
        program.instructions.push_back(*instruction);
    }
    directives.close();
    try {
        validate(program);
    } catch (const ProgramError& error) {
        throw ProgramError(fmt::format("{}: {}", file_name, error.what()));
    }
    return program;
}

}  // namespace systole::isa
