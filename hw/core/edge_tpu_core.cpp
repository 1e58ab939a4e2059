#include "hw/core/edge_tpu_core.h"

namespace systole::hw {

EdgeTpuCore::EdgeTpuCore(const sc_core::sc_module_name& name, const CoreContext& context,
                         const isa::Program& program)
    : Core(name, context, program, {}),
      narrow_memory_("narrow_memory", context.machine),
      wide_memory_("wide_memory", context.machine),
      host_interface_("host_interface", host_context(), context.host_link, context.host_memory,
                      {narrow_memory_, wide_memory_}),
      ring_("ring", unit_context(), narrow_memory_, wide_memory_, host_interface_),
      mesh_("mesh", unit_context(), narrow_memory_),
      tile_array_("tile_array", unit_context(), ring_, {narrow_memory_, wide_memory_}, context.host_memory),
      host_processor_("host_processor", host_context(), context.host_link, program,
                      {context.host, context.host_memory}),
      queues_{&host_interface_.read_queue(),  &ring_.queue(),          &mesh_.queue(), &tile_array_.queue(),
              &host_interface_.write_queue(), &host_processor_.queue()},
      sequencer_("sequencer", unit_context(), host_interface_, by_id<CommandSink>(queues_)) {
    for (CommandQueue* const each : queues_) each->observe(context.trace);
    sequencer_.load(program, places(context.machine));
}

std::vector<const UnitModule*> EdgeTpuCore::units() const {
    return {&sequencer_,     &host_interface_, &wide_memory_, &ring_,
            &narrow_memory_, &mesh_,           &tile_array_,  &host_processor_};
}

std::vector<const UnitModule*> EdgeTpuCore::from_the_array() const {
    return {&tile_array_, &narrow_memory_,  &wide_memory_, &ring_,
            &mesh_,       &host_interface_, &sequencer_,   &host_processor_};
}

}  // namespace systole::hw
