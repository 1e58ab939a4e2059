#include "sim/functional/tiles/tile_executor.h"

#include <fmt/format.h>

#include <stdexcept>
#include <variant>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"
#include "sim/functional/tiles/tile_instructions.h"
#include "sim/functional/until_halt.h"

namespace systole::functional {
namespace {

const isa::Program& checked_for_tiles(const isa::Program& program) {
    isa::validate(program);
    if (program.geometry.has_tiles()) return program;
    throw isa::ProgramError("the program is not for tiles, which the machine has");
}

void execute_checked(const isa::Instruction& instruction, TileState& state) {
    std::visit(
        [&state]<class Each>(const Each& each) {
            if constexpr (isa::is_for_array<Each> || isa::is_for_tensor_core<Each>) {
                throw std::logic_error("an instruction of another machine in a program for tiles");
            } else {
                state.check_fits(each.footprint(state.registers, state.program.geometry));
                execute(each, state);
            }
        },
        instruction);
}

}  // namespace

TileExecutor::TileExecutor(const isa::Program& program, const TileSizes& sizes, isa::HostProcessor* host)
    : program_(checked_for_tiles(program)), sizes_(sizes), processor_(host) {
    host_.add(program.buffers);
    state_ = std::make_unique<TileState>(program_, sizes_, host_, processor_);
}

TileExecutor::~TileExecutor() = default;

std::span<std::uint8_t> TileExecutor::host_bytes(const isa::HostBuffer& buffer) {
    return host_.bytes_of(buffer);
}

void TileExecutor::run() {
    const std::span<const isa::Instruction> instructions = until_halt(program_.instructions);
    state_ = std::make_unique<TileState>(program_, sizes_, host_, processor_);
    for (std::size_t i = 0; i < instructions.size(); ++i) {
        try {
            execute_checked(instructions[i], *state_);
        } catch (const isa::ProgramError& error) {
            throw isa::ProgramError(
                fmt::format("instruction {}: {}: {}", i, isa::to_string(instructions[i]), error.what()));
        }
    }
}

std::span<const std::uint8_t> TileExecutor::narrow_memory(std::uint64_t tile) const {
    const std::uint64_t bytes = state_->narrow_memory.row_elements();
    return std::as_const(state_->narrow_memory).all().subspan(tile * bytes, bytes);
}

std::span<const std::uint8_t> TileExecutor::wide_memory() const {
    return std::as_const(state_->wide_memory).all();
}

}  // namespace systole::functional
