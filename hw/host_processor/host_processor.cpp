#include "hw/host_processor/host_processor.h"

#include <utility>
#include <variant>

#include "hw/isa/queue.h"
#include "hw/timing/transfers.h"

namespace systole::hw {

HostProcessorUnit::HostProcessorUnit(const sc_core::sc_module_name& name, const UnitContext& context,
                                     HostLink& link, const isa::Program& program, const HostWorker& worker)
    : QueuedUnit(name, isa::QueueId::Host, {.track = "host", .signals = "host.", .works = "work"}, context,
                 &context.waits.host(), context.cores > 1),
      program_(program),
      processor_(worker.processor),
      link_(link),
      memory_(worker.memory) {
    context.waits.set_role(isa::QueueId::Host, QueueRole::Host);
    // Reports of programs that need no host have no such unit.
    if (isa::uses_host(program)) register_counters("host", counters_);
    start("host", [this](const Command& command) { execute(command); });
}

void HostProcessorUnit::describe(const machine::MachineConfig& machine,
                                 machine::UnitDescription& unit) const {
    unit.on_die = false;
    if (!machine.tile_energy || !isa::uses_host(program_)) return;
    unit.energy = {{"host_processor", "host.busy_cycles",
                    machine.tile_energy->host_pj(1.0 / machine.clock_mhz), "host"}};
}

void HostProcessorUnit::execute(const Command& command) {
    const auto& work = std::get<isa::HostWork>(command.bound.instruction);
    sc_assert(processor_ != nullptr);
    link_.acquire_processor(context_.core);
    if (Counter* const reason = counters_.other_core_cycles) waited(*reason);
    const Cycle begun = begin();
    if (context_.computes_values()) compute_segment(work);
    const timing::HostWorkCost cost = timing::host_work_cost(processor_->cycles(work), context_.machine);
    context_.clock.wait_until(begun + cost.busy);
    link_.release_processor(context_.core, begun + cost.busy);
    counters_.segments.add(1, command.tag);
    counters_.images.add(work.images, command.tag);
    complete(begun + cost.busy, begun + cost.complete);
}

void HostProcessorUnit::compute_segment(const isa::HostWork& work) {
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
    compute([processor = processor_, work, tensors = std::move(tensors)](ValueWorkers::Scratch&) {
        processor->compute(work, tensors);
    });
}

}  // namespace systole::hw
