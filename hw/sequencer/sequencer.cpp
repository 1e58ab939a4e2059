#include "hw/sequencer/sequencer.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "hw/isa/encoding.h"
#include "hw/isa/program_error.h"

namespace systole::hw {

namespace {

MatrixNeeds needs_of(const isa::Conflicts& conflicts, machine::Family family) {
    if (family == machine::Family::TensorCore) {
        const isa::QueuePositions& memory = conflicts.in(isa::MemoryId::VectorMemory);
        return {.activations = memory[static_cast<std::size_t>(isa::QueueId::Vector)],
                .inputs = memory[static_cast<std::size_t>(isa::QueueId::DmaIn)],
                .cross_lane = memory[static_cast<std::size_t>(isa::QueueId::CrossLane)],
                .exchanges = memory[static_cast<std::size_t>(isa::QueueId::Collective)],
                .outputs = memory[static_cast<std::size_t>(isa::QueueId::DmaOut)]};
    }
    constexpr auto activation = static_cast<std::size_t>(isa::QueueId::Activation);
    constexpr auto host_read = static_cast<std::size_t>(isa::QueueId::HostRead);
    const isa::QueuePositions& buffer = conflicts.in(isa::MemoryId::UnifiedBuffer);
    return {.activations = buffer[activation],
            .inputs = buffer[host_read],
            .accumulators = conflicts.in(isa::MemoryId::Accumulators)[activation]};
}

}  // namespace

Sequencer::Sequencer(const sc_core::sc_module_name& name, const UnitContext& context, InstructionPath& path,
                     const std::array<CommandSink*, isa::queue_count>& queues)
    : UnitModule(name),
      context_(context),
      buffer_bytes_(context.machine.sequencer.instruction_buffer_bytes),
      issue_cycles_(context.machine.sequencer.issue_cycles),
      path_(path),
      queues_(queues),
      registers_(std::make_shared<isa::Registers>(static_cast<std::uint32_t>(context.core))) {
    register_counters(counters_);
    spawn("sequencer", context.failure, [this] { run(); });
}

void Sequencer::receive() {
    while (next_sent_ < program_->instructions.size()) {
        const isa::Instruction& instruction = program_->instructions[next_sent_];
        const std::uint64_t bytes = isa::encoded_size(instruction);
        if (buffered_bytes_ + bytes > buffer_bytes_) return;
        buffered_bytes_ += bytes;
        if (const auto* tag = std::get_if<isa::DebugTag>(&instruction)) sent_tag_ = tag->tag;
        path_.send_instruction(bytes, sent_tag_);
        ++next_sent_;
    }
}

void Sequencer::run() {
    Cycle next_issue = 0;
    while (!halted_) {
        if (next_ == program_->instructions.size()) {
            throw isa::ProgramError("the program ends without halt");
        }
        receive();
        context_.clock.wait_until(next_issue);
        const Cycle asked = context_.clock.now();
        asked_ = asked;
        counters_.spend(counters_.busy_cycles, asked, tag_);
        arrival_ = path_.next_arrival();
        context_.clock.wait_until(*arrival_);
        const Cycle arrived = context_.clock.now();
        counters_.spend(counters_.empty_cycles, arrived, tag_);
        context_.waits.not_arrived(asked, arrived);
        const isa::Instruction& instruction = program_->instructions[next_];
        Cycle issued = 0;
        try {
            issued = issue(instruction);
        } catch (const isa::ProgramError& error) {
            throw isa::ProgramError(
                fmt::format("instruction {} ({}): {}", next_, isa::mnemonic(instruction), error.what()));
        }
        if (context_.trace != nullptr) context_.trace->issued({next_, tag_, asked, arrived, issued});
        asked_.reset();
        counters_.instructions.add(1, tag_);
        arrival_.reset();
        buffered_bytes_ -= isa::encoded_size(instruction);
        ++next_;
        next_issue = context_.clock.now() + issue_cycles_;
    }
}

std::optional<IssueTimes> Sequencer::waiting(Cycle now) const {
    if (!asked_) return std::nullopt;
    const Cycle arrived = arrival_ ? std::min(std::max(*arrival_, *asked_), now) : now;
    return IssueTimes{.number = next_, .tag = tag_, .asked = *asked_, .arrived = arrived, .issued = now};
}

Cycle Sequencer::issue(const isa::Instruction& instruction) {
    const Cycle arrived = context_.clock.now();
    Command command{.number = next_, .tag = tag_};
    if (const auto* wait = std::get_if<isa::SyncWait>(&instruction)) {
        command.kind = Command::Kind::Wait;
        command.semaphore = wait->semaphore;
        push(instruction, wait->unit, std::move(command));
    } else if (const auto* signal = std::get_if<isa::SyncSignal>(&instruction)) {
        command.kind = Command::Kind::Signal;
        command.semaphore = signal->semaphore;
        push(instruction, signal->unit, std::move(command));
    } else if (const auto unit = isa::queue_of(instruction)) {
        push(instruction, *unit, std::move(command));
    } else if (const auto* config = std::get_if<isa::SetConfig>(&instruction)) {
        set(*config);
    } else if (const auto* tag = std::get_if<isa::DebugTag>(&instruction)) {
        tag_ = tag->tag;
    } else if (std::holds_alternative<isa::Halt>(instruction)) {
        halt();
        return arrived;
    } else if (!std::holds_alternative<isa::Nop>(instruction)) {
        throw std::logic_error("an instruction that the sequencer does not know");
    }
    return context_.clock.now();
}

void Sequencer::halt() {
    end_ = context_.clock.now();
    for (CommandSink* queue : queues_) {
        if (queue != nullptr) end_ = std::max(end_, queue->drain());
    }
    context_.clock.wait_until(end_);
    halted_ = true;
}

void Sequencer::push(const isa::Instruction& instruction, isa::QueueId unit, Command&& command) {
    CommandSink* const queue = queues_[static_cast<std::size_t>(unit)];
    if (queue == nullptr) {
        throw isa::ProgramError(fmt::format("it is for {}; the machine has no such unit", isa::name(unit)));
    }
    if (command.kind == Command::Kind::Work) {
        if (const auto* read = std::get_if<isa::ReadWeights>(&instruction)) check_tiles(*read);
        registers_issued_ = true;
        command.bound = {instruction, registers_, isa::footprint(instruction, *registers_, *program_)};
        check_rows(instruction, command.bound.footprint);
        const isa::Footprint& footprint = command.bound.footprint;
        if (loaded_values_) loaded_values_->follow(instruction, *registers_, footprint);
        if (unit == isa::QueueId::Matrix) {
            const isa::Conflicts conflicts = history_.conflicts(footprint);
            command.needs = needs_of(conflicts, context_.machine.family);
            context_.order.issue(context_.queue(unit), command.number, conflicts.any);
        } else {
            context_.order.issue(context_.queue(unit), command.number, history_.latest(footprint));
        }
        history_.record(footprint, unit, static_cast<isa::Position>(command.number + 1));
    }
    const Cycle ready = context_.clock.now();
    queue->push(std::move(command));
    counters_.spend(counters_.queue_full_cycles, context_.clock.now(), tag_);
    context_.waits.queue_full(ready, context_.clock.now(), unit);
}

void Sequencer::set(const isa::SetConfig& set) {
    // Issued instructions keep the register values of their issue.
    if (registers_issued_) registers_ = std::make_shared<isa::Registers>(*registers_);
    registers_issued_ = false;
    registers_->set(set.reg, set.value);
}

void Sequencer::check_rows(const isa::Instruction& instruction, const isa::Footprint& footprint) const {
    for (const auto& [memory, access, rows] : footprint) {
        const std::uint64_t limit = places_[memory];
        if (rows.empty() || rows.last <= limit) continue;
        throw isa::ProgramError(fmt::format("{} touches {} {}; the machine has {}",
                                            isa::mnemonic(instruction), isa::place_name(memory),
                                            rows.last - 1, limit));
    }
}

void Sequencer::check_tiles(const isa::ReadWeights& read) const {
    const std::uint64_t last = std::uint64_t{read.first_tile} + read.tiles;
    if (last > program_->tiles.size()) {
        throw isa::ProgramError(
            fmt::format("tile {} is wanted; the program has {}", last - 1, program_->tiles.size()));
    }
}

}  // namespace systole::hw
