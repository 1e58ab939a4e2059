#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compiler/frontend/hlo.h"
#include "compiler/frontend/hlo/text.h"
#include "compiler/ir/model_error.h"

namespace {

/// Whether operands, called computations and scopes are there.
bool is_whole(const systole::hlo::Module& module) {
    if (module.entry >= module.computations.size()) return false;
    for (std::size_t id = 0; id < module.computations.size(); ++id) {
        const systole::hlo::Computation& computation = module.computations[id];
        if (computation.root >= computation.instructions.size()) return false;
        for (std::size_t i = 0; i < computation.instructions.size(); ++i) {
            const systole::hlo::Instruction& instruction = computation.instructions[i];
            for (const systole::hlo::InstructionId operand : instruction.operands) {
                if (operand >= i) return false;
            }
            for (const systole::hlo::ComputationId called : instruction.called) {
                if (called >= id) return false;
            }
            if (instruction.scope >= module.scopes.size()) return false;
        }
    }
    return true;
}

}  // namespace

/// Any bytes, as an HLO module: read, verified, printed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const systole::hlo::Module module =
            systole::hlo::parse_module({reinterpret_cast<const char*>(data), size});
        if (!is_whole(module)) __builtin_trap();
        if (to_text(module).empty()) __builtin_trap();
    } catch (const systole::ModelError& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
    }
    return 0;
}
