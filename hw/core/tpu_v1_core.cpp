#include "hw/core/tpu_v1_core.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "hw/common/ports.h"

namespace systole::hw {

TpuV1Core::TpuV1Core(const sc_core::sc_module_name& name, const CoreContext& context,
                     const isa::Program& program)
    : Core(name, context, program, port_places(context.machine)),
      unified_buffer_("unified_buffer", context.machine),
      host_interface_("host_interface", host_context(), context.host_link, unified_buffer_),
      weight_fifo_("weight_fifo", unit_context(), host_interface_, context.shared_weights),
      weight_writer_(context.machine.weight_memory.writable && context.shared_weights != nullptr
                         ? std::make_unique<WeightWriter>("weight_writer", unit_context(), unified_buffer_,
                                                          *context.shared_weights, weight_fifo_)
                         : nullptr),
      accumulators_("accumulators", context.machine),
      matrix_unit_("matrix_unit", unit_context(), weight_fifo_, accumulators_,
                   {.host = isa::uses_host(program),
                    .row_sums = isa::uses_weight_zero_points(program),
                    .registers = context.registers}),
      systolic_data_setup_("systolic_data_setup", unit_context(), unified_buffer_, matrix_unit_),
      activation_unit_("activation_unit", unit_context(), accumulators_, unified_buffer_),
      host_processor_("host_processor", host_context(), context.host_link, program,
                      {context.host, context.host_memory}),
      queues_(all_queues()),
      sequencer_("sequencer", unit_context(), host_interface_, by_id<CommandSink>(queues_)) {
    for (CommandQueue* const each : queues_) each->observe(context.trace);
    host_interface_.memory.bind(context.host_memory.sockets[context.core]);
    weight_fifo_.memory.bind(*context.weight_memory);
    weight_fifo_.load(program, context.tile_values, context.weight_address);
    if (weight_writer_) weight_writer_->load(program, context.weight_address);
    sequencer_.load(program, places(context.machine));
    load_initial_rows(program);
}

std::vector<CommandQueue*> TpuV1Core::all_queues() {
    std::vector<CommandQueue*> queues{&host_interface_.read_queue(), &weight_fifo_.queue(),
                                      &systolic_data_setup_.queue(), &activation_unit_.queue()};
    if (weight_writer_) queues.push_back(&weight_writer_->queue());
    queues.push_back(&host_interface_.write_queue());
    queues.push_back(&host_processor_.queue());
    return queues;
}

void TpuV1Core::load_initial_rows(const isa::Program& program) {
    const auto count = [&](const isa::InitialRows& initial, isa::MemoryId memory) {
        return isa::rows_of(initial, memory, program.geometry).count();
    };
    for (const isa::InitialRows& initial : program.initial[isa::MemoryId::UnifiedBuffer]) {
        std::copy(initial.values.begin(), initial.values.end(),
                  unified_buffer_.write(initial.first_row, count(initial, isa::MemoryId::UnifiedBuffer)));
    }
    static_assert(std::endian::native == std::endian::little, "sums are kept as they lie in the program");
    for (const isa::InitialRows& initial : program.initial[isa::MemoryId::Accumulators]) {
        const std::uint64_t rows = count(initial, isa::MemoryId::Accumulators);
        std::memcpy(accumulators_.write(initial.first_row, rows), initial.values.data(),
                    initial.values.size());
    }
}

std::vector<const UnitModule*> TpuV1Core::units() const {
    std::vector<const UnitModule*> units{&sequencer_,    &host_interface_,      &unified_buffer_,
                                         &weight_fifo_,  &systolic_data_setup_, &matrix_unit_,
                                         &accumulators_, &activation_unit_};
    if (weight_writer_) units.push_back(weight_writer_.get());
    units.push_back(&host_processor_);
    return units;
}

std::vector<const UnitModule*> TpuV1Core::from_the_array() const {
    std::vector<const UnitModule*> units{&matrix_unit_,         &accumulators_, &unified_buffer_,
                                         &systolic_data_setup_, &weight_fifo_,  &activation_unit_,
                                         &host_interface_};
    if (weight_writer_) units.push_back(weight_writer_.get());
    units.push_back(&sequencer_);
    units.push_back(&host_processor_);
    return units;
}

}  // namespace systole::hw
