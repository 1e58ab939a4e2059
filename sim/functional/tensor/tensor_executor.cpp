#include "sim/functional/tensor/tensor_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

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
            } else if constexpr (!std::is_same_v<Each, isa::Collective>) {  // all cores execute it together
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

void TensorExecutor::begin() {
    state_ = std::make_unique<TensorState>(program_, sizes_, host_, processor_);
    copy_residents(isa::ResidentSide::Input);
    next_ = 0;
}

const isa::Collective* TensorExecutor::run_to_collective() {
    const std::span<const isa::Instruction> instructions = until_halt(program_.instructions);
    while (next_ < instructions.size()) {
        const std::size_t number = next_++;
        const isa::Instruction& next = instructions[number];
        const auto named = [&](const std::string& name, const auto& work) {
            try {
                return work();
            } catch (const isa::ProgramError& error) {
                throw isa::ProgramError(fmt::format("instruction {}: {}{}", number, name, error.what()));
            }
        };
        const isa::Footprint touched =
            named("", [&] { return isa::footprint(next, state_->registers, program_); });
        named(isa::to_string(next) + ": ", [&] { execute_checked(next, touched, *state_); });
        if (const auto* const collective = std::get_if<isa::Collective>(&next)) return collective;
    }
    return nullptr;
}

void TensorExecutor::run_together(std::span<TensorExecutor* const> cores) {
    std::vector<TensorState*> states;
    for (TensorExecutor* const core : cores) {
        isa::check_cores(core->program_, static_cast<std::uint32_t>(cores.size()));
        core->begin();
        states.push_back(core->state_.get());
    }
    for (;;) {
        std::vector<const isa::Collective*> met;
        for (TensorExecutor* const core : cores) met.push_back(core->run_to_collective());
        const auto ended = std::ranges::count(met, nullptr);
        if (ended == std::ssize(met)) break;
        if (ended > 0) throw isa::ProgramError("a core ends while another waits for it in a collective");
        execute_together(met, states);
    }
    for (TensorExecutor* const core : cores) core->copy_residents(isa::ResidentSide::Output);
}

void TensorExecutor::copy_residents(isa::ResidentSide side) {
    for (const isa::ResidentTensor& resident : program_.residents) {
        if (resident.side != side) continue;
        const std::uint64_t core = state_->registers.core();
        const auto host =
            host_.range(isa::host_address(resident, program_, core), resident.words() * isa::word_bytes);
        isa::for_each_part(resident, state_->lanes,
                           [&](std::uint64_t word, std::uint64_t row, std::uint64_t count) {
                               std::uint8_t* const bytes = host.data() + word * isa::word_bytes;
                               const std::span<std::uint32_t> words = state_->hbm.rows(row, 1).first(count);
                               if (side == isa::ResidentSide::Input) {
                                   std::memcpy(words.data(), bytes, words.size_bytes());
                               } else {
                                   std::memcpy(bytes, words.data(), words.size_bytes());
                               }
                           });
    }
}

void TensorExecutor::run() {
    run_together(std::vector{this});
}

std::span<const std::uint32_t> TensorExecutor::vector_memory() const {
    return std::as_const(state_->vector_memory).all();
}

std::span<const std::uint32_t> TensorExecutor::hbm() const {
    return std::as_const(state_->hbm).all();
}

}  // namespace systole::functional
