#include "hw/core/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/message_text.h"
#include "hw/core/edge_tpu_core.h"
#include "hw/core/stuck.h"
#include "hw/core/tensor_core.h"
#include "hw/core/tpu_v1_core.h"
#include "hw/isa/assembly.h"
#include "hw/isa/footprint.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program.h"

namespace systole::hw {

namespace {

UnitContext with_trace(UnitContext context, TraceSink* trace) {
    context.trace = trace;
    return context;
}

}  // namespace

Core::Core(const sc_core::sc_module_name& name, const CoreContext& context, const isa::Program& program,
           std::vector<PortArbiter::Places> ports)
    : sc_module(name),
      program_(program),
      clock_(context.clock),
      semaphores_(context.clock, context.order),
      ports_(std::move(ports), context.clock),
      context_{.machine = context.machine,
               .values = context.values,
               .clock = context.clock,
               .semaphores = semaphores_,
               .order = context.order,
               .workers = context.workers,
               .ports = ports_,
               .waits = waits_,
               .failure = context.failure,
               .trace = context.trace,
               .core = context.core,
               .cores = context.cores,
               .shared_semaphores = context.shared_semaphores,
               .shared_accesses = context.shared_accesses},
      host_context_(with_trace(context_, context.host_trace)) {}

std::unique_ptr<Core> make_core(const char* name, const CoreContext& context, const isa::Program& program) {
    switch (context.machine.family) {
        case machine::Family::TpuV1:
            return std::make_unique<TpuV1Core>(name, context, program);
        case machine::Family::EdgeTpu:
            return std::make_unique<EdgeTpuCore>(name, context, program);
        case machine::Family::TensorCore:
            return std::make_unique<TensorCore>(name, context, program);
    }
    throw std::logic_error("a family without a core");
}

isa::ByMemory<std::uint64_t> Core::places(const machine::MachineConfig& machine) const {
    isa::ByMemory<std::uint64_t> all;
    std::fill(all.begin(), all.end(), std::numeric_limits<std::uint64_t>::max());
    for (const UnitModule* const unit : units()) {
        for (const MemoryPlaces& each : unit->memories(machine)) all[each.memory] = each.places;
    }
    return all;
}

std::span<const std::uint8_t> Core::values(isa::MemoryId memory, std::uint64_t first, std::uint64_t places,
                                           std::size_t tile) const {
    for (const UnitModule* const unit : units()) {
        const auto values = unit->values(memory, first, places, tile);
        if (!values.empty()) return values;
    }
    return {};
}

void Core::finish(Cycle end) {
    for (sc_core::sc_object* const child : get_child_objects()) {
        if (auto* const unit = dynamic_cast<UnitModule*>(child)) unit->finish(end, last_tag());
    }
}

void Core::fail(InstructionNumber number, const std::string& message) const {
    const std::size_t line = isa::line_of(program_, number);
    if (line > 0) throw isa::ProgramErrorAtLine(message, line);
    throw isa::ProgramError(message);
}

void Core::fail(const OrderViolation& violation) const {
    fail(violation.later,
         fmt::format("instruction {} is not ordered behind instruction {}, and both touch {}; a sync "
                     "between their units is missing",
                     describe(violation.later), describe_other(violation.earlier),
                     conflict(violation.earlier, violation.later)));
}

void Core::fail(const InstructionError& error) const {
    fail(error.number,
         fmt::format("{}instruction {}: {}", layer_of(error.number), describe(error.number), error.what()));
}

void Core::fail_in_sequencer(const isa::ProgramError& error) const {
    // Of the instruction that it issues next, or of the last if there is none.
    const InstructionNumber last = program_.instructions.size();
    fail(std::min(sequencer().issued(), last == 0 ? 0 : last - 1), error.what());
}

FailureTimes Core::where_it_failed() const {
    const Cycle now = clock_.now();
    FailureTimes where{
        .at = now, .tag = sequencer().last_tag(), .issue = sequencer().waiting(now), .queues = {}};
    for (const CommandQueue* queue : by_id(queues())) {
        if (queue == nullptr) continue;
        if (const auto first = queue->waiting(now)) where.queues.push_back(*first);
    }
    return where;
}

std::vector<TracedQueue> Core::traced_queues() const {
    std::vector<TracedQueue> traced;
    for (const CommandQueue* const each : queues()) {
        const isa::QueueId id = each->id();
        if (id == isa::QueueId::Host && !isa::uses_host(program_)) continue;
        traced.push_back(
            {.unit = static_cast<std::size_t>(id), .name = isa::name(id), .traces = each->traces()});
    }
    return traced;
}

std::string Core::describe(InstructionNumber number) const {
    return fmt::format("{} ({})", number, isa::to_string(program_.instructions.at(number)));
}

std::string Core::layer_of(InstructionNumber number) const {
    if (program_.layers.empty()) return {};
    for (InstructionNumber before = number; before > 0; --before) {
        const auto* const tag = std::get_if<isa::DebugTag>(&program_.instructions[before - 1]);
        if (tag != nullptr && tag->tag != 0)
            return fmt::format("layer {}, ", in_quotes(isa::layer_name(program_, tag->tag)));
        if (tag != nullptr) break;
    }
    return {};
}

std::string Core::describe_other(InstructionNumber number) const {
    const std::size_t line = isa::line_of(program_, number);
    if (line == 0) return describe(number);
    return fmt::format("{} (line {}: {})", number, line, isa::to_string(program_.instructions.at(number)));
}

std::string Core::conflict(InstructionNumber earlier, InstructionNumber later) const {
    isa::Registers registers;
    isa::Footprint first;
    for (InstructionNumber number = 0; number < later; ++number) {
        const isa::Instruction& instruction = program_.instructions[number];
        if (const auto* set = std::get_if<isa::SetConfig>(&instruction)) registers.set(set->reg, set->value);
        if (number == earlier) first = isa::footprint(instruction, registers, program_);
    }
    const isa::Footprint second = isa::footprint(program_.instructions[later], registers, program_);
    // A row that the first writes says more than one that it reads.
    for (const isa::Access access : {isa::Access::Write, isa::Access::Read}) {
        for (const isa::MemoryRows& a : first) {
            for (const isa::MemoryRows& b : second) {
                const bool is_conflict = a.memory == b.memory && a.access == access &&
                                         (access == isa::Access::Write || b.access == isa::Access::Write) &&
                                         a.rows.overlaps(b.rows);
                if (!is_conflict) continue;
                return fmt::format("{}s {} to {}", isa::place_name(a.memory),
                                   std::max(a.rows.first, b.rows.first),
                                   std::min(a.rows.last, b.rows.last) - 1);
            }
        }
    }
    // The checker gives the latest instruction of a unit; the conflict is with this or an earlier one.
    return "rows of an instruction before";
}

void Core::report_stuck() const {
    StuckProgram stuck{.program = program_,
                       .issued = sequencer().issued(),
                       .shares_semaphores = context_.shared_semaphores != nullptr,
                       .waiting = {},
                       .awaited = {}};
    for (const CommandQueue* const each : queues()) {
        const isa::QueueId id = each->id();
        const auto place = static_cast<std::size_t>(id);
        stuck.waiting.at(place) = each->current();
        for (const UnitModule* const unit : units()) {
            if (const auto awaited = unit->awaited(id)) stuck.awaited.at(place) = awaited;
        }
    }
    const std::vector<StuckWait> waits = waits_of(stuck);
    std::string text;
    for (const StuckWait& wait : waits) {
        text += fmt::format("{}{} waits in instruction {} {}", text.empty() ? "" : "; ", wait.unit,
                            text.empty() ? describe(wait.number) : describe_other(wait.number), wait.reason);
    }
    fail(waits.front().number, fmt::format("the program cannot finish: {}", text));
}

}  // namespace systole::hw
