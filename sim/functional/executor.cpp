#include "sim/functional/executor.h"

#include <fmt/format.h>

#include <stdexcept>
#include <variant>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"
#include "sim/functional/host_memory.h"
#include "sim/functional/instructions/instructions.h"
#include "sim/functional/state.h"
#include "sim/functional/until_halt.h"

namespace systole::functional {
namespace {

void check(const isa::Program& program, const machine::MatrixUnitConfig& array) {
    isa::validate(program);
    if (!program.geometry.has_unified_buffer()) {
        throw isa::ProgramError(fmt::format("the program is for {}; the machine has a unified buffer",
                                            program.geometry.has_tiles() ? "tiles" : "a tensor core"));
    }
    if (program.geometry.rows != array.rows || program.geometry.columns != array.columns) {
        throw isa::ProgramError(
            fmt::format("the program is for an array of {} x {}; the machine's is {} x {}",
                        program.geometry.rows, program.geometry.columns, array.rows, array.columns));
    }
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
        [&state]<class Each>(const Each& each) {
            if constexpr (isa::is_for_tiles<Each> || isa::is_for_tensor_core<Each>) {
                throw std::logic_error("an instruction of another machine in a program for a unified buffer");
            } else {
                const isa::Footprint touched = each.footprint(state.registers, state.array);
                state.check_fits(touched);
                state.loaded.follow(each, state.registers, touched);
                execute(each, state);
            }
        },
        instruction);
}

}  // namespace

struct Executor::Stream {
    const isa::Program& program;
    isa::HostProcessor* processor = nullptr;
    std::uint64_t weight_address = 0;  ///< of the program's first tile
    std::unique_ptr<State> state;
    std::span<const isa::Instruction> instructions = {};  ///< before the first halt
    std::size_t next = 0;
};

Executor::Executor(const isa::Program& program, const machine::MachineConfig& machine,
                   isa::HostProcessor* host)
    : Executor(Programs{&program}, machine, host) {}

Executor::Executor(const Programs& programs, const machine::MachineConfig& machine, isa::HostProcessor* host)
    : machine_(machine), host_(std::make_unique<HostMemory>()) {
    std::uint64_t address = 0;
    for (const isa::Program* const program : programs) {
        check(*program, machine.matrix_unit);
        host_->add(program->buffers);
        streams_.push_back({.program = *program,
                            .processor = host,
                            .weight_address = address,
                            .state = std::make_unique<State>(*program, machine_, *host_, host, address)});
        const std::vector<std::uint64_t>& ends = streams_.back().state->tile_ends;
        if (!ends.empty()) address = ends.back();
    }
}

Executor::~Executor() = default;

std::span<std::uint8_t> Executor::host_bytes(const isa::HostBuffer& buffer) {
    return host_->bytes_of(buffer);
}

void Executor::run() {
    semaphores_.clear();
    for (Stream& stream : streams_) {
        stream.instructions = until_halt(stream.program.instructions);
        stream.state = std::make_unique<State>(stream.program, machine_, *host_, stream.processor,
                                               stream.weight_address);
        stream.next = 0;
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t core = 0; core < streams_.size(); ++core) {
            if (advance(streams_[core], core)) moved = true;
        }
    }
    for (std::size_t core = 0; core < streams_.size(); ++core) {
        const Stream& stream = streams_[core];
        if (stream.next == stream.instructions.size()) continue;
        throw isa::ProgramError(
            fmt::format("core{}: instruction {}: {}: no core signals the semaphore any more", core,
                        stream.next, isa::to_string(stream.instructions[stream.next])));
    }
}

bool Executor::waits(const isa::Instruction& instruction) {
    if (streams_.size() == 1) return false;  // in one stream, program order is all
    if (const auto* const signal = std::get_if<isa::SyncSignal>(&instruction)) {
        if (signal->semaphore >= isa::first_shared_semaphore) ++semaphores_[signal->semaphore];
    }
    const auto* const wait = std::get_if<isa::SyncWait>(&instruction);
    if (wait == nullptr || wait->semaphore < isa::first_shared_semaphore) return false;
    std::uint64_t& count = semaphores_[wait->semaphore];
    if (count == 0) return true;
    --count;
    return false;
}

bool Executor::advance(Stream& stream, std::size_t core) {
    const std::size_t first = stream.next;
    for (; stream.next < stream.instructions.size(); ++stream.next) {
        const isa::Instruction& instruction = stream.instructions[stream.next];
        if (waits(instruction)) break;
        try {
            execute_checked(instruction, machine_.matrix_unit, *stream.state);
        } catch (const isa::ProgramError& error) {
            throw isa::ProgramError(fmt::format("{}instruction {}: {}: {}",
                                                streams_.size() == 1 ? "" : fmt::format("core{}: ", core),
                                                stream.next, isa::to_string(instruction), error.what()));
        }
    }
    return stream.next > first;
}

std::span<const std::uint8_t> Executor::unified_buffer(std::size_t core) const {
    return streams_.at(core).state->unified_buffer.all();
}

std::span<const std::int32_t> Executor::accumulators(std::size_t core) const {
    return streams_.at(core).state->accumulators.all();
}

}  // namespace systole::functional
