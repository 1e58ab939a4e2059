#include "hw/cross_lane_unit/cross_lane_unit.h"

#include <algorithm>
#include <variant>

#include "hw/isa/panels.h"
#include "hw/math/floats/word_reduction.h"

namespace systole::hw {
namespace {

/// All lanes of each row of the result get the number of the row.
void spread(const std::vector<std::uint32_t>& numbers, std::uint64_t lanes, std::uint32_t* to) {
    for (const std::uint32_t number : numbers) {
        std::fill_n(to, lanes, number);
        to += lanes;
    }
}

}  // namespace

CrossLaneUnit::CrossLaneUnit(const sc_core::sc_module_name& name, const UnitContext& context,
                             WordMemoryAccess& vector_memory)
    : QueuedUnit(name, isa::QueueId::CrossLane,
                 {.track = "cross_lane", .signals = "cross_lane_unit.", .computes = true}, context,
                 &context.waits.cross_lane()),
      shape_(timing::tensor_shape_of(context.machine)),
      vector_memory_(vector_memory) {
    register_counters(counters());
    start("cross_lane_unit", [this](const Command& command) { execute(command); });
}

void CrossLaneUnit::execute(const Command& command) {
    const isa::Footprint& footprint = command.bound.footprint;
    context_.clock.wait_until(own_writes_.complete(footprint, context_.clock.now()));
    waited(counters_.drain_cycles, Activity::OwnWrites);
    const Cycle begun = begin();
    timing::VectorCost cost;
    if (const auto* const lanes = std::get_if<isa::ReduceLanes>(&command.bound.instruction)) {
        cost = timing::reduction_cost(*lanes, context_.machine);
        if (context_.computes_values()) reduce(*lanes, *command.bound.registers);
    } else if (const auto* const matrix = std::get_if<isa::Transpose>(&command.bound.instruction)) {
        cost = timing::transposition_cost(*matrix, context_.machine);
        if (context_.computes_values()) transpose(*matrix);
    } else {
        const auto& columns = std::get<isa::MoveLanes>(command.bound.instruction);
        cost = timing::move_cost(columns, context_.machine);
        if (context_.computes_values()) move(columns, *command.bound.registers);
    }
    const std::uint64_t vector_bytes =
        std::uint64_t{context_.machine.vector_unit.sublanes} * shape_.lanes * isa::word_bytes;
    counters_.vectors.add(cost.operations, command.tag);
    vector_memory_.touch(footprint);
    vector_memory_.count_reads(cost.loads * vector_bytes, command.tag);
    vector_memory_.count_writes(cost.stores * vector_bytes, command.tag);
    const Cycle released = begun + cost.cycles;
    context_.clock.wait_until(released);
    const Cycle written = released + context_.machine.cross_lane_unit.latency_cycles;
    own_writes_.add(footprint, written);
    complete(released, written, Activity::VectorWork);
}

void CrossLaneUnit::reduce(const isa::ReduceLanes& reduce, const isa::Registers& registers) {
    const isa::Panels source = isa::panels_of(registers, shape_, reduce.source, {reduce.rows, reduce.columns},
                                              isa::Register::SourcePanelRows);
    compute([this, reduce, source, lanes = std::uint64_t{shape_.lanes}](ValueWorkers::Scratch&) {
        // Some rows at a time: the numbers of a block lie side by side for all of them.
        constexpr std::uint64_t rows_at_once = 64;
        for (std::uint64_t first = 0; first < reduce.rows; first += rows_at_once) {
            const std::uint64_t rows = std::min<std::uint64_t>(rows_at_once, reduce.rows - first);
            std::vector<std::uint32_t> all(rows);
            for (std::uint64_t panel = 0; panel < source.panels; ++panel) {
                const std::uint64_t numbers = std::min<std::uint64_t>(lanes, reduce.columns - panel * lanes);
                math::reduce_words(reduce.reduction,
                                   {.data = vector_memory_.from_row(source.first_row_of(panel) + first),
                                    .numbers = numbers,
                                    .stride = 1,
                                    .columns = rows,
                                    .column_stride = lanes,
                                    .block = lanes},
                                   panel > 0, all.data());
            }
            spread(all, lanes, vector_memory_.from_row(reduce.result + first));
        }
    });
}

void CrossLaneUnit::transpose(const isa::Transpose& transpose) {
    compute([this, transpose, lanes = std::uint64_t{shape_.lanes}](ValueWorkers::Scratch&) {
        const std::uint32_t* const from = vector_memory_.from_row(transpose.source);
        std::uint32_t* const to = vector_memory_.from_row(transpose.result);
        for (std::uint64_t row = 0; row < transpose.rows; ++row) {
            for (std::uint64_t column = 0; column < transpose.columns; ++column) {
                to[column * lanes + row] = from[row * lanes + column];
            }
        }
    });
}

void CrossLaneUnit::move(const isa::MoveLanes& move, const isa::Registers& registers) {
    const isa::Panels source =
        isa::panels_of(registers, shape_, move.source, {move.rows, std::uint64_t{move.first} + move.columns},
                       isa::Register::SourcePanelRows);
    const isa::Panels result =
        isa::panels_of(registers, shape_, move.result, {move.rows, std::uint64_t{move.to} + move.columns},
                       isa::Register::ResultPanelRows);
    compute([this, move, source, result, lanes = std::uint64_t{shape_.lanes}](ValueWorkers::Scratch&) {
        // Runs of columns within a panel on either side.
        for (std::uint64_t done = 0; done < move.columns;) {
            const std::uint64_t from = move.first + done;
            const std::uint64_t to = move.to + done;
            const std::uint64_t run =
                std::min({move.columns - done, lanes - from % lanes, lanes - to % lanes});
            const std::uint32_t* in =
                vector_memory_.from_row(source.first_row_of(from / lanes)) + from % lanes;
            std::uint32_t* out = vector_memory_.from_row(result.first_row_of(to / lanes)) + to % lanes;
            for (std::uint64_t row = 0; row < move.rows; ++row) {
                std::copy_n(in + row * lanes, run, out + row * lanes);
            }
            done += run;
        }
    });
}

}  // namespace systole::hw
