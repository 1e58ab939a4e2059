#include "hw/weight_load/weight_load.h"

#include <algorithm>
#include <variant>

#include "hw/math/floats/word_rows.h"
#include "hw/timing/matrix_unit.h"
#include "hw/timing/tensor.h"

namespace systole::hw {
namespace {

/// Weights that lie in memory, and where they go: depth rows of columns.
struct LoadedMatrix {
    isa::LoadWeights load = {};
    isa::Panels panels = {};
    std::uint64_t lanes = 0;
    const std::uint32_t* memory = nullptr;  ///< row 0
};

/// Columns [first, first + count) of a row of the matrix in memory, which lie in one panel.
void take_row(const LoadedMatrix& matrix, std::uint64_t row, std::uint64_t first, std::uint64_t count,
              float* out) {
    const std::uint64_t memory_row =
        matrix.panels.first_row_of(first / matrix.lanes) + (matrix.load.packed ? row / 2 : row);
    const std::uint32_t* const words = matrix.memory + memory_row * matrix.lanes + first % matrix.lanes;
    if (matrix.load.packed) {
        math::widen(words, count, row % 2 == 0 ? math::WordHalf::Lower : math::WordHalf::Upper, out);
    } else {
        math::take_part(words, count, matrix.load.part, out);
    }
}

void take_weights(const LoadedMatrix& matrix, float* out) {
    const isa::LoadWeights& load = matrix.load;
    const std::uint64_t rows = load.transposed ? load.columns : load.depth;
    const std::uint64_t columns = load.transposed ? load.depth : load.columns;
    std::vector<float> line(load.transposed ? matrix.lanes : 0);
    for (std::uint64_t row = 0; row < rows; ++row) {
        for (std::uint64_t first = 0; first < columns; first += matrix.lanes) {
            const std::uint64_t count = std::min(matrix.lanes, columns - first);
            if (!load.transposed) {
                take_row(matrix, row, first, count, out + row * columns + first);
                continue;
            }
            take_row(matrix, row, first, count, line.data());
            for (std::uint64_t i = 0; i < count; ++i) out[(first + i) * load.columns + row] = line[i];
        }
    }
}

}  // namespace

WeightLoad::WeightLoad(const sc_core::sc_module_name& name, const UnitContext& context,
                       WordMemoryAccess& vector_memory)
    : QueuedUnit(name, isa::QueueId::Weights, {.track = "weights", .signals = "weight_load."}, context),
      shape_(timing::tensor_shape_of(context.machine)),
      shift_cycles_(timing::shift_cycles(context.machine)),
      vector_memory_(vector_memory) {
    register_counters(counters());
    if (context.computes_values()) {
        buffers_.fill(std::vector<float>(std::size_t{context.machine.matrix_unit.rows} *
                                         context.machine.matrix_unit.columns));
    }
    start("weight_load", [this](const Command& command) { execute(command); });
}

void WeightLoad::execute(const Command& command) {
    const Cycle begun = begin();
    const auto& load = std::get<isa::LoadWeights>(command.bound.instruction);
    const isa::MatrixSize size = load.transposed ? isa::MatrixSize{load.columns, load.depth}
                                                 : isa::MatrixSize{load.depth, load.columns};
    const isa::Panels panels = isa::panels_of(*command.bound.registers, shape_, load.source, size,
                                              isa::Register::WeightsPanelRows, load.packed);
    const std::uint64_t bytes = panels.panels * panels.rows * shape_.lanes * isa::word_bytes;
    counters_.matrices.add(1, command.tag);
    counters_.bytes.add(bytes, command.tag);
    vector_memory_.touch(command.bound.footprint);
    vector_memory_.count_reads(bytes, command.tag);
    tile_ = Tile{.rows = load.depth,
                 .columns = load.columns,
                 .useful_macs = std::uint32_t{load.depth} * load.columns,
                 .type = DataType::Bfloat16,
                 .bytes = bytes,
                 .tag = command.tag,
                 .whole_at = begun,
                 .values = context_.computes_values() ? read(load, panels) : nullptr,
                 .row_bytes = load.columns * sizeof(float)};
    issued_.notify(sc_core::SC_ZERO_TIME);
    while (tile_) context_.clock.wait(shifted_);
    const Cycle shifted = context_.clock.now();
    counters_.spend(counters_.plane_cycles, shifted - shift_cycles_, command.tag);
    complete(shifted, shifted);
}

const std::uint8_t* WeightLoad::read(const isa::LoadWeights& load, const isa::Panels& panels) {
    const LoadedMatrix matrix{
        .load = load, .panels = panels, .lanes = shape_.lanes, .memory = vector_memory_.from_row(0)};
    // Products need no semaphore to come after the load, so the jobs are ordered here. Those of the matrices
    // in the half of the buffers that is used next have all been handed over.
    const std::size_t products = context_.queue(isa::QueueId::Matrix);
    const std::size_t loads = context_.queue(isa::QueueId::Weights);
    if (next_buffer_ % (buffer_count / 2) == 0) context_.workers.follow(loads, products);
    float* const weights = buffers_[next_buffer_].data();
    next_buffer_ = (next_buffer_ + 1) % buffer_count;
    if (context_.machine.matrix_unit.engine == machine::Engine::Pe) {
        // This engine shifts them in without a job, word by word.
        wait_for_order();
        take_weights(matrix, weights);
    } else {
        compute([matrix, weights](ValueWorkers::Scratch&) { take_weights(matrix, weights); });
        context_.workers.follow(products, loads);
    }
    return reinterpret_cast<const std::uint8_t*>(weights);
}

const Tile& WeightLoad::front() {
    while (!tile_) context_.clock.wait(issued_);
    return *tile_;
}

void WeightLoad::release() {
    tile_.reset();
    shifted_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace systole::hw
