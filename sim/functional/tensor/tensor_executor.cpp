#include "sim/functional/tensor/tensor_executor.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <variant>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"
#include "sim/functional/tensor/tensor_instructions.h"
#include "sim/functional/until_halt.h"

namespace systole::functional {
namespace {

const isa::Program& checked_for_core(const isa::Program& program) {
    isa::validate(program);
    if (program.geometry.has_tensor_core()) return program;
    throw isa::ProgramError("the program is not for a tensor core, which the machine has");
}

void execute_checked(const isa::Instruction& instruction, const isa::Footprint& touched, TensorState& state) {
    state.check_fits(touched);
    std::visit(
        [&state]<class Each>(const Each& each) {
            if constexpr (isa::is_for_array<Each> || isa::is_for_tiles<Each>) {
                throw std::logic_error("an instruction of another machine in a program for a tensor core");
            } else {
                execute(each, state);
            }
        },
        instruction);
}

}  // namespace

TensorExecutor::TensorExecutor(const isa::Program& program, const TensorSizes& sizes,
                               isa::HostProcessor* host)
    : program_(checked_for_core(program)), sizes_(sizes), processor_(host) {
    host_.add(program.buffers);
    state_ = std::make_unique<TensorState>(program_, sizes_, host_, processor_);
}

TensorExecutor::~TensorExecutor() = default;

std::span<std::uint8_t> TensorExecutor::host_bytes(const isa::HostBuffer& buffer) {
    return host_.bytes_of(buffer);
}

void TensorExecutor::run() {
    const std::span<const isa::Instruction> instructions = until_halt(program_.instructions);
    state_ = std::make_unique<TensorState>(program_, sizes_, host_, processor_);
    for (std::size_t i = 0; i < instructions.size(); ++i) {
        const isa::Instruction& next = instructions[i];
        const auto named = [&](const std::string& name, const auto& work) {
            try {
                return work();
            } catch (const isa::ProgramError& error) {
                throw isa::ProgramError(fmt::format("instruction {}: {}{}", i, name, error.what()));
            }
        };
        const isa::Footprint touched =
            named("", [&] { return isa::footprint(next, state_->registers, program_); });
        named(isa::to_string(next) + ": ", [&] { execute_checked(next, touched, *state_); });
    }
}

std::span<const std::uint32_t> TensorExecutor::vector_memory() const {
    return std::as_const(state_->vector_memory).all();
}

std::span<const std::uint32_t> TensorExecutor::hbm() const {
    return std::as_const(state_->hbm).all();
}

}  // namespace systole::functional
