#include "hw/host_processor/host_processor.h"

#include <utility>
#include <variant>

#include "hw/isa/queue.h"
#include "hw/timing/transfers.h"

namespace systole::hw {

namespace {

constexpr std::size_t host_unit = static_cast<std::size_t>(isa::QueueId::Host);

}  // namespace

HostProcessorUnit::HostProcessorUnit(const sc_core::sc_module_name& name, const UnitContext& context,
                                     const isa::Program& program, isa::HostProcessor* processor,
                                     HostMemoryAccess& memory)
    : UnitModule(name),
      context_(context),
      program_(program),
      processor_(processor),
      memory_(memory),
      history_(context.waits.host()),
      queue_(host_unit, context.machine.sequencer.queue_depth, context.semaphores, context.clock) {
    queue_.record_waits(&history_);
    // Reports of programs that need no host have no such unit.
    if (isa::uses_host(program)) register_counters("host", counters_);
    spawn("host", context.failure, [this] { run(); });
}

void HostProcessorUnit::run() {
    for (;;) {
        const auto command = queue_.next(counters_);
        const auto& work = std::get<isa::HostWork>(command.bound.instruction);
        sc_assert(processor_ != nullptr);
        const Cycle begun = context_.clock.now();
        context_.order.begin(host_unit, command.number);
        if (context_.computes_values()) compute(work, command.number);
        const timing::HostWorkCost cost = timing::host_work_cost(processor_->cycles(work), context_.machine);
        context_.clock.wait_until(begun + cost.busy);
        const Cycle released = begun + cost.busy;
        const Cycle complete = begun + cost.complete;
        counters_.spend(counters_.busy_cycles, released, command.tag);
        counters_.segments.add(1, command.tag);
        counters_.images.add(work.images, command.tag);
        history_.worked(UnitHistory::Activity::Work, command.number, command.tag, released, complete);
        queue_.complete(complete);
        if (context_.trace != nullptr) {
            context_.trace->instruction(
                {host_unit, command.number, command.tag, command.issued, begun, released, complete});
        }
    }
}

void HostProcessorUnit::compute(const isa::HostWork& work, InstructionNumber number) {
    const isa::HostSegment& segment = program_.host_segments[work.segment];
    isa::HostTensors tensors;
    const auto bytes_of = [&](const isa::SegmentTensor& tensor) {
        const isa::HostBuffer& buffer = program_.buffers[tensor.buffer];
        const std::uint64_t bytes = work.images * tensor.bytes;
        return std::span(memory_.host_bytes(buffer.address + work.first_inference * tensor.bytes, bytes),
                         bytes);
    };
    for (const isa::SegmentTensor& tensor : segment.reads) tensors.reads.emplace_back(bytes_of(tensor));
    for (const isa::SegmentTensor& tensor : segment.writes) tensors.writes.push_back(bytes_of(tensor));
    context_.workers.compute(host_unit, number, ValueWorkers::all_rows,
                             [processor = processor_, work, tensors = std::move(tensors)](
                                 ValueWorkers::Scratch&) { processor->compute(work, tensors); });
}

}  // namespace systole::hw
