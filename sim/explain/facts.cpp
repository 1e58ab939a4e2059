#include "sim/explain/facts.h"

#include <algorithm>
#include <variant>

#include "hw/isa/instruction.h"
#include "hw/isa/layer_name.h"

namespace systole::explain {
namespace {

/// `value` says whether in total or of one tag.
template <class Value>
Facts read_counters(const hw::MatrixUnitCounters& counters, Value value) {
    Facts facts;
    facts.active_cycles = value(counters.active_cycles);
    facts.weight_stall_cycles = value(counters.weight_stall_cycles);
    facts.weight_shift_cycles = value(counters.weight_shift_cycles);
    facts.non_matrix_cycles = value(counters.non_matrix_cycles);
    facts.raw_stall_cycles = value(counters.raw_stall_cycles);
    facts.input_stall_cycles = value(counters.input_stall_cycles);
    facts.setup_stall_cycles = value(counters.setup_stall_cycles);
    facts.port_stall_cycles = value(counters.port_stall_cycles);
    facts.useful_macs = value(counters.useful_macs);
    facts.unused_macs = value(counters.unused_macs);
    return facts;
}

void count(Facts& facts, const isa::WeightTile& tile) {
    ++facts.tiles;
    facts.tile_rows += tile.rows;
    facts.tile_columns += tile.columns;
    facts.tile_cells += std::uint64_t{tile.rows} * tile.columns;
    facts.tile_weights += tile.useful_macs;
    facts.widest_columns = std::max<std::uint64_t>(facts.widest_columns, tile.columns);
}

void count_tiles(Simulation& simulation, const isa::Program& program) {
    hw::Tag tag = 0;
    for (const isa::Instruction& instruction : program.instructions) {
        if (std::holds_alternative<isa::Halt>(instruction)) return;
        if (const auto* debug = std::get_if<isa::DebugTag>(&instruction)) tag = debug->tag;
        const auto* read = std::get_if<isa::ReadWeights>(&instruction);
        if (read == nullptr) continue;
        for (std::size_t i = 0; i < read->tiles; ++i) {
            const isa::WeightTile& tile = program.tiles.at(read->first_tile + i);
            count(simulation.run, tile);
            count(simulation.tags.at(tag).facts, tile);
        }
    }
}

hw::Tag last_tag(const run::Result& result) {
    hw::Tag last = 0;
    for (const hw::Counter& counter : result.tpu->matrix_unit()) last = std::max(last, counter.last_tag());
    for (const isa::Instruction& instruction : result.program->instructions) {
        if (const auto* debug = std::get_if<isa::DebugTag>(&instruction)) last = std::max(last, debug->tag);
    }
    return last;
}

}  // namespace

Simulation facts_of(const run::Result& result) {
    const isa::Program& program = *result.program;
    const hw::MatrixUnitCounters& counters = result.tpu->matrix_unit();
    Simulation simulation;
    simulation.inferences = std::max<std::uint64_t>(1, program.inferences);
    simulation.clock_hz = result.machine.clock_hz();
    simulation.run = read_counters(counters, [](const hw::Counter& counter) { return counter.value(); });
    for (std::size_t i = 0; i <= last_tag(result); ++i) {
        const auto tag = static_cast<hw::Tag>(i);
        const bool is_layer = tag > 0 && tag <= program.layers.size();
        simulation.tags.push_back({.name = isa::layer_name(program, tag),
                                   .kind = is_layer ? program.layers[tag - 1U].kind : std::string(),
                                   .facts = read_counters(counters, [tag](const hw::Counter& counter) {
                                       return counter.value(tag);
                                   })});
    }
    count_tiles(simulation, program);
    return simulation;
}

}  // namespace systole::explain
