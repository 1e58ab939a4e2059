#include "sim/functional/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"
#include "sim/functional/host_memory.h"
#include "sim/functional/instructions/instructions.h"
#include "sim/functional/state.h"

namespace systole::functional {
namespace {

const isa::Program& checked(const isa::Program& program, const machine::MatrixUnitConfig& array) {
    isa::validate(program);
    if (program.geometry.rows != array.rows || program.geometry.columns != array.columns) {
        throw isa::ProgramError(
            fmt::format("the program is for an array of {} x {}; the machine's is {} x {}",
                        program.geometry.rows, program.geometry.columns, array.rows, array.columns));
    }
    return program;
}

/// The instructions before the first halt.
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

void execute_checked(const isa::Instruction& instruction, const machine::MatrixUnitConfig& array,
                     State& state) {
    if (const isa::MatrixFlags* const flags = isa::matrix_flags(instruction)) {
        if (const auto refusal = array.refusal(flags->activations, flags->weights)) {
            throw isa::ProgramError(*refusal);
        }
        const std::int32_t zero_point = state.registers.as_signed(isa::Register::MultiplyWeightZeroPoint);
        if (const auto refusal = array.refusal_of_weight_zero_point(zero_point)) {
            throw isa::ProgramError(*refusal);
        }
    }
    std::visit(
        [&state](const auto& each) {
            const isa::Footprint touched = each.footprint(state.registers, state.array);
            state.check_fits(touched);
            state.loaded.follow(each, state.registers, touched);
            execute(each, state);
        },
        instruction);
}

}  // namespace

Executor::Executor(const isa::Program& program, const machine::MachineConfig& machine,
                   isa::HostProcessor* host)
    : program_(checked(program, machine.matrix_unit)),
      machine_(machine),
      processor_(host),
      host_(std::make_unique<HostMemory>(program_.buffers)),
      state_(std::make_unique<State>(program_, machine_, *host_, processor_)) {}

Executor::~Executor() = default;

std::span<std::uint8_t> Executor::host_bytes(const isa::HostBuffer& buffer) {
    return host_->bytes_of(buffer);
}

void Executor::run() {
    const auto instructions = until_halt(program_.instructions);
    state_ = std::make_unique<State>(program_, machine_, *host_, processor_);
    for (std::size_t number = 0; number < instructions.size(); ++number) {
        try {
            execute_checked(instructions[number], machine_.matrix_unit, *state_);
        } catch (const isa::ProgramError& error) {
            throw isa::ProgramError(fmt::format("instruction {}: {}: {}", number,
                                                isa::to_string(instructions[number]), error.what()));
        }
    }
}

std::span<const std::uint8_t> Executor::unified_buffer() const {
    return state_->unified_buffer.all();
}

std::span<const std::int32_t> Executor::accumulators() const {
    return state_->accumulators.all();
}

}  // namespace systole::functional
