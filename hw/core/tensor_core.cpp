#include "hw/core/tensor_core.h"

#include <algorithm>
#include <variant>

#include "hw/common/ports.h"
#include "hw/isa/instruction.h"

namespace systole::hw {
namespace {

/// Every unit has a port of its own to vector memory.
std::vector<PortArbiter::Places> own_ports() {
    return std::vector<PortArbiter::Places>(first_bank_port + 1, {1, 1});
}

bool has_collectives(const isa::Program& program) {
    return std::ranges::any_of(program.instructions, [](const isa::Instruction& instruction) {
        return std::holds_alternative<isa::Collective>(instruction);
    });
}

}  // namespace

TensorCore::TensorCore(const sc_core::sc_module_name& name, const CoreContext& context,
                       const isa::Program& program)
    : Core(name, context, program, own_ports()),
      vector_memory_("vector_memory", context.machine),
      hbm_(*context.hbm),
      core_of_chip_(context.core % context.machine.system.cores),
      host_interface_("host_interface", host_context(), context.host_link, context.host_memory,
                      hbm_.part(core_of_chip_)),
      dma_("dma", unit_context(), hbm_.part(core_of_chip_), vector_memory_),
      weight_load_("weight_load", unit_context(), vector_memory_),
      matrix_unit_("matrix_unit", unit_context(), weight_load_, vector_memory_.sums(),
                   {.host = isa::uses_host(program),
                    .collectives = context.cores > 1 && has_collectives(program),
                    .registers = context.registers}),
      product_setup_("product_setup", unit_context(), vector_memory_, matrix_unit_),
      vector_unit_("vector_unit", unit_context(), program, vector_memory_),
      cross_lane_unit_("cross_lane_unit", unit_context(), vector_memory_),
      collective_unit_("collective_unit", unit_context(), *context.collectives, vector_memory_),
      host_processor_("host_processor", host_context(), context.host_link, program,
                      {context.host, context.host_memory}),
      queues_{&host_interface_.read_queue(), &dma_.in_queue(),      &weight_load_.queue(),
              &product_setup_.queue(),       &vector_unit_.queue(), &cross_lane_unit_.queue(),
              &collective_unit_.queue(),     &dma_.out_queue(),     &host_interface_.write_queue(),
              &host_processor_.queue()},
      sequencer_("sequencer", unit_context(), host_interface_, by_id<CommandSink>(queues_)) {
    for (CommandQueue* const each : queues_) each->observe(context.trace);
    dma_.memory.bind(hbm_.sockets[core_of_chip_]);
    hbm_.load(core_of_chip_, program);
    sequencer_.load(program, places(context.machine));
}

std::vector<const UnitModule*> TensorCore::units() const {
    return {&sequencer_,       &host_interface_,  &dma_,           &vector_memory_,
            &weight_load_,     &product_setup_,   &matrix_unit_,   &vector_unit_,
            &cross_lane_unit_, &collective_unit_, &host_processor_};
}

std::vector<const UnitModule*> TensorCore::from_the_array() const {
    return {&matrix_unit_,    &product_setup_,   &weight_load_,     &vector_memory_,
            &vector_unit_,    &cross_lane_unit_, &collective_unit_, &dma_,
            &host_interface_, &sequencer_,       &host_processor_};
}

}  // namespace systole::hw
