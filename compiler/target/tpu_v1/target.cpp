#include "compiler/target/tpu_v1/target.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "hw/timing/matrix_unit.h"

namespace systole::tpu_v1 {

Target target_of(const machine::MachineConfig& machine, const machine::Mapping& mapping,
                 const mapping::HostCosts& host) {
    return {
        .geometry = {.rows = machine.matrix_unit.rows, .columns = machine.matrix_unit.columns},
        .accumulator_rows = machine.accumulators.rows,
        .unified_buffer_rows = machine.unified_buffer.rows,
        .weight_memory_bytes = machine.weight_memory.bytes,
        .spill_weights = machine.weight_memory.spill,
        .row_sums = machine.matrix_unit.row_sums,
        .sum_bits = machine.accumulators.sum_bits,
        .activation_delay = timing::matrix_latency(machine) + machine.activation_latency(),
        .mapping = mapping,
        .choices = {},
        .costs = chooses_by_cost(mapping) ? std::make_shared<const Costs>(Costs{machine, host}) : nullptr};
}

std::string key_of(const Target& target) {
    // The bindings name every field, so a new field does not compile until it is considered here.
    const auto& [geometry, accumulator_rows, unified_buffer_rows, weight_memory_bytes, spill_weights,
                 row_sums, sum_bits, activation_delay, mapping, choices, costs] = target;
    const auto& [rows, columns, tiles, tensor] = geometry;
    static_cast<void>(tiles), static_cast<void>(tensor);  // of other families
    const nlohmann::json key{rows,
                             columns,
                             accumulator_rows,
                             unified_buffer_rows,
                             weight_memory_bytes,
                             spill_weights,
                             row_sums,
                             sum_bits,
                             activation_delay,
                             costs ? nlohmann::json(to_json(costs->machine)) : nullptr};
    return key.dump();
}

}  // namespace systole::tpu_v1
