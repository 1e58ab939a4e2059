#include "hw/timing/tensor.h"

#include <algorithm>
#include <bit>

#include "base/arithmetic.h"

namespace systole::timing {
namespace {

/// Vectors of a matrix: rows are cut into so many sublanes, columns into lanes.
std::uint64_t vectors_of(std::uint64_t rows, std::uint64_t columns, const machine::MachineConfig& machine) {
    return divide_up(rows, std::uint64_t{machine.vector_unit.sublanes}) *
           divide_up(columns, std::uint64_t{machine.vector_unit.lanes});
}

/// Rows that are read for one line of windows: those of the pixels that the elements [first, end) of its
/// windows lie in, each once for a kernel line, in every panel of the channels that are read.
std::uint64_t line_rows(const isa::PixelWindows& windows, std::uint64_t first, std::uint64_t end,
                        std::uint64_t lanes, bool packed) {
    std::uint64_t rows = 0;
    const std::uint64_t kernel_row = windows.kernel_width * windows.channels;
    for (std::uint64_t line = first / kernel_row; line * kernel_row < end; ++line) {
        const std::uint64_t from = std::max(first, line * kernel_row) - line * kernel_row;
        const std::uint64_t to = std::min(end, (line + 1) * kernel_row) - line * kernel_row;
        const std::uint64_t taps = (to - 1) / windows.channels - from / windows.channels + 1;
        // With one tap, only the panels of its channels are read.
        const std::uint64_t first_channel = taps == 1 ? from % windows.channels : 0;
        const std::uint64_t last_channel = taps == 1 ? (to - 1) % windows.channels : windows.channels - 1;
        const std::uint64_t panels = last_channel / lanes - first_channel / lanes + 1;
        const std::uint64_t reach = (taps - 1) * windows.dilation_x + 1;
        const std::uint64_t apart = std::min(windows.stride_x, reach);
        const std::uint64_t pixels = std::min(windows.width, (windows.output_width - 1) * apart + reach);
        rows += panels * (packed ? divide_up(pixels, std::uint64_t{2}) : pixels);
    }
    return rows;
}

Cycle cycles_of(const VectorCost& cost, const machine::VectorUnitConfig& unit) {
    return std::max({divide_up(cost.operations, std::uint64_t{unit.operations_per_cycle}),
                     divide_up(cost.loads, std::uint64_t{unit.loads_per_cycle}),
                     divide_up(cost.stores, std::uint64_t{unit.stores_per_cycle})});
}

}  // namespace

isa::TensorShape tensor_shape_of(const machine::MachineConfig& machine) {
    if (machine.family != machine::Family::TensorCore) return {};
    return {.lanes = machine.vector_unit.lanes};
}

StreamedProduct streamed_product(const isa::Product& product, const isa::Registers& registers,
                                 const machine::MachineConfig& machine) {
    const std::uint64_t first = registers[isa::Register::ProductFirst];
    const std::uint64_t lanes = machine.vector_unit.lanes;
    const std::uint64_t end = first + product.depth;
    std::uint64_t fetched = 0;
    if (product.windows) {
        const isa::PixelWindows windows = isa::pixel_windows(registers);
        const std::uint64_t lines = divide_up(std::uint64_t{product.rows}, windows.output_width);
        fetched = lines * line_rows(windows, first, end, lanes, product.packed);
    } else {
        const std::uint64_t panels = (end - 1) / lanes - first / lanes + 1;
        fetched = panels * divide_up(std::uint64_t{product.rows}, std::uint64_t{product.packed ? 2U : 1U});
    }
    const Cycle fetch_cycles = divide_up(fetched, std::uint64_t{machine.vector_unit.sublanes});
    StreamShape shape{
        .lines = 1, .line_rows = product.rows, .passes = 1, .arrays = machine.matrix_unit.arrays};
    shape.line_cycles = std::max(shape.line_input_cycles(), fetch_cycles);
    return {.shape = shape, .fetched_rows = fetched};
}

VectorCost move_cost(const isa::MoveLanes& move, const machine::MachineConfig& machine) {
    const std::uint64_t lanes = machine.vector_unit.lanes;
    // Of each panel that has some of the columns.
    const auto vectors = [&](std::uint64_t first) {
        return vectors_of(move.rows, first % lanes + move.columns, machine);
    };
    VectorCost cost{.loads = vectors(move.first), .stores = vectors(move.to)};
    cost.operations = std::max(cost.loads, cost.stores);
    cost.cycles = divide_up(cost.operations, std::uint64_t{machine.cross_lane_unit.vectors_per_cycle});
    return cost;
}

namespace {

/// The cycles until these bytes have gone so many links along the chain. They come in pieces, and a core
/// passes each chunk of a piece on as soon as it is there.
Cycle chain_cycles(std::uint64_t bytes, std::uint64_t piece, std::uint64_t links,
                   const machine::MachineConfig& machine) {
    if (links == 0) return 0;
    const std::uint64_t chunk = std::min(machine.interconnect.chunk_bytes, piece);
    const ExactTime end = machine.interconnect_rate().after({}, bytes + (links - 1) * chunk);
    return end.whole + (end.parts > 0 ? 1 : 0) + links * machine.interconnect_latency();
}

}  // namespace

CollectiveCost collective_cost(const isa::Collective& collective, std::size_t core,
                               const machine::MachineConfig& machine) {
    const std::uint64_t rows = collective.rows * machine.vector_row_bytes();
    const std::uint64_t cores = collective.cores;
    const std::uint64_t before = core;              // cores on one side of this one
    const std::uint64_t behind = cores - 1 - core;  // and on the other
    CollectiveCost cost;
    switch (collective.kind) {
        // Sums of all rows go up the chain, and the results back down.
        case isa::CollectiveKind::AllReduce:
            cost = {.cycles = chain_cycles(rows, rows, cores - 1 + behind, machine),
                    .sent_bytes = rows * ((behind > 0 ? 1U : 0U) + (before > 0 ? 1U : 0U))};
            break;
        // The same, of the rows of all cores; each needs its own results, and passes on those of the others.
        case isa::CollectiveKind::ReduceScatter:
            cost = {.cycles = chain_cycles(rows * cores, rows * cores, cores - 1 + behind, machine),
                    .sent_bytes = rows * (behind > 0 ? cores : 0U) + rows * before};
            break;
        // The rows of all cores on one side come from there.
        case isa::CollectiveKind::AllGather:
            for (const std::uint64_t side : {before, behind}) {
                cost.cycles = std::max(cost.cycles, chain_cycles(rows * side, rows, side, machine));
            }
            cost.sent_bytes = rows * (behind > 0 ? before + 1 : 0U) + rows * (before > 0 ? behind + 1 : 0U);
            break;
        case isa::CollectiveKind::Broadcast:
            cost = {.cycles = chain_cycles(rows, rows, before == 0 && behind > 0 ? 1 : before, machine),
                    .sent_bytes = behind > 0 ? rows : 0U};
            break;
    }
    cost.cycles = std::max<Cycle>(cost.cycles, 1);
    return cost;
}

Cycle hbm_cycles(std::uint64_t bytes, const machine::MachineConfig& machine) {
    return machine.hbm_rate().after({}, bytes).whole;
}

std::uint64_t chain_operations(const isa::Chain& chain, const machine::MachineConfig& machine) {
    std::uint64_t operations = 0;
    for (const isa::ChainStep& step : chain.steps) {
        const WordOperationTraits& traits = traits_of(step.operation);
        if (traits.is_function) {
            operations += machine.vector_unit.function_operations;
        } else if (traits.operands > 0) {
            ++operations;
        }
    }
    for (const isa::ChainSource& source : chain.sources) {
        const bool is_packed = source.spread == isa::Spread::Result ? chain.results[0].packed : source.packed;
        operations += is_packed ? 1 : 0;
    }
    for (const isa::ChainResult& result : chain.results) operations += result.packed ? 1 : 0;
    return operations;
}

VectorCost chain_cost(const isa::RunChain& run, const isa::Chain& chain,
                      const machine::MachineConfig& machine) {
    const std::uint64_t vectors = vectors_of(run.rows, run.columns, machine);
    VectorCost cost{.operations = vectors * chain_operations(chain, machine),
                    .stores = vectors * chain.results.size()};
    for (const isa::ChainSource& source : chain.sources) {
        // A row stays in a register for all vectors of its panel, a column for all panels.
        const bool is_row = source.spread == isa::Spread::Row;
        const bool is_column = source.spread == isa::Spread::Column;
        cost.loads += vectors_of(is_row ? 1 : run.rows, is_column ? 1 : run.columns, machine);
    }
    cost.cycles = cycles_of(cost, machine.vector_unit);
    return cost;
}

VectorCost reduction_cost(const isa::ReduceRows& reduce, const machine::MachineConfig& machine) {
    const std::uint64_t panels = vectors_of(1, reduce.columns, machine);
    const std::uint64_t vectors = vectors_of(reduce.rows, reduce.columns, machine);
    const std::uint64_t blocks =
        divide_up(std::uint64_t{reduce.rows}, std::uint64_t{machine.vector_unit.lanes});
    // One for each vector, and for each block those between the sublanes of the vector that is left.
    const std::uint64_t halvings = std::bit_width(machine.vector_unit.sublanes - 1);
    VectorCost cost{.operations = vectors + panels * blocks * halvings,
                    .loads = vectors + (reduce.accumulate ? panels : 0),
                    .stores = panels};
    cost.cycles = cycles_of(cost, machine.vector_unit);
    return cost;
}

VectorCost reduction_cost(const isa::ReduceLanes& reduce, const machine::MachineConfig& machine) {
    const std::uint64_t vectors = vectors_of(reduce.rows, reduce.columns, machine);
    return {.operations = vectors,
            .loads = vectors,
            .stores = vectors_of(reduce.rows, 1, machine),
            .cycles = divide_up(vectors, std::uint64_t{machine.cross_lane_unit.vectors_per_cycle})};
}

VectorCost transposition_cost(const isa::Transpose& transpose, const machine::MachineConfig& machine) {
    const std::uint64_t loads = vectors_of(transpose.rows, 1, machine);
    const std::uint64_t stores = vectors_of(transpose.columns, 1, machine);
    const std::uint64_t vectors = std::max(loads, stores);
    return {.operations = vectors,
            .loads = loads,
            .stores = stores,
            .cycles = divide_up(vectors, std::uint64_t{machine.cross_lane_unit.vectors_per_cycle})};
}

}  // namespace systole::timing
