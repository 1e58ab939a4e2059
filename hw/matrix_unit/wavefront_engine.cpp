#include "hw/matrix_unit/wavefront_engine.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "base/wrapped_sum.h"
#include "hw/isa/queue.h"

namespace systole::hw {

namespace {

constexpr auto unit = static_cast<std::size_t>(isa::QueueId::Matrix);

/// A matrix of float32 in memory that is addressed by bytes.
math::FloatMatrix float_matrix(const std::uint8_t* values, std::size_t row_bytes) {
    return {reinterpret_cast<const float*>(values), row_bytes / sizeof(float)};
}

/// Accumulator rows that hold the bits of float32.
struct WordSums {
    std::int32_t* words = nullptr;
    std::size_t row_words = 0;  ///< from one row to the next
    std::size_t columns = 0;
    bool accumulate = false;
};

/// Multiplies `rows` rows. The sums pass through a few rows of floats: a word is not a float.
void multiply_into_words(const math::FloatMatrix& a, std::size_t rows, const math::FloatWeights& weights,
                         const WordSums& out) {
    constexpr std::size_t most_rows = 96;  // a multiple of the 6 or 8 rows that kernels sum at once
    std::vector<float> sums(std::min(rows, most_rows) * out.columns);
    const std::size_t row_bytes = out.columns * sizeof(float);
    for (std::size_t first = 0; first < rows; first += most_rows) {
        const std::size_t count = std::min(most_rows, rows - first);
        std::int32_t* const words = out.words + first * out.row_words;
        for (std::size_t row = 0; out.accumulate && row < count; ++row) {
            std::memcpy(sums.data() + row * out.columns, words + row * out.row_words, row_bytes);
        }
        math::multiply_pass({a.data + first * a.row_elements, a.row_elements}, count, weights,
                            {sums.data(), out.columns, out.accumulate});
        for (std::size_t row = 0; row < count; ++row) {
            std::memcpy(words + row * out.row_words, sums.data() + row * out.columns, row_bytes);
        }
    }
}

}  // namespace

WavefrontEngine::WavefrontEngine(const sc_core::sc_module_name& name, const UnitContext& context,
                                 TileSource& weights)
    : MatrixEngine(name, context, weights),
      shift_cycles_(timing::shift_cycles(context.machine)),
      sum_bits_(context.machine.accumulators.sum_bits),
      floats_(context.machine.matrix_unit.computes_floats()) {
    spawn("weight_shift", context.failure, [this] { shift_tiles(); });
}

void WavefrontEngine::shift_tiles() {
    for (;;) {
        const Tile tile = weights_.front();
        clock_.wait_until(tile.whole_at);
        while (shadow_full_) clock_.wait(shadow_freed_);
        clock_.wait_until(shadow_free_at_);
        clock_.wait_until(clock_.now() + shift_cycles_);
        weights_.release();
        fill_shadow(tile);
    }
}

void WavefrontEngine::offer(const Stream& stream) {
    rows_ready_ = clock_.now();
    if (!stream.keep_weights) wait_for_tile();
    clock_.wait_until(input_free_at_);
    taken_from_ = clock_.now();
}

IdleCycles WavefrontEngine::enter(EnteringStream entering) {
    const Stream& stream = entering.stream;
    const Cycle entry = clock_.now();
    const IdleCycles idle = idle_before(stream);
    if (!stream.keep_weights) {
        switch_planes();
        packed_ = floats_ ? std::make_shared<PackedTile>() : nullptr;
    }
    if (entering.sums != nullptr) floats_ ? multiply_floats(entering) : multiply(entering);
    input_free_at_ = entry + entering.shape.span();
    report({unit, stream.number, stream.tag, stream.issued, entry, input_free_at_, entering.complete});
    return idle;
}

IdleCycles WavefrontEngine::idle_before(const Stream& stream) const {
    const Cycle rows_there = std::clamp(rows_ready_, input_free_at_, taken_from_);
    const Cycle tile_whole =
        stream.keep_weights ? rows_there : std::clamp(shadow_.whole_at, rows_there, taken_from_);
    return {.without_rows = rows_there - input_free_at_,
            .without_tile = tile_whole - rows_there,
            .shifting = taken_from_ - tile_whole,
            .without_port = clock_.now() - taken_from_};
}

void WavefrontEngine::multiply(EnteringStream& entering) {
    const Stream& stream = entering.stream;
    const math::GemmOperand weights{active_.values, active_.row_bytes, active_.type,
                                    stream.weight_zero_point};
    const std::uint64_t count = entering.shape.rows();
    workers_.compute(
        queue_, stream.number, {stream.accumulator_row, stream.accumulator_row + count},
        [this, rows = std::move(entering.rows), count, type = stream.activations, weights,
         sums = entering.sums, stride = entering.sums_stride, columns = active_.columns,
         elements = active_.rows, accumulate = stream.accumulate](ValueWorkers::Scratch& windows) mutable {
            const RowBlock block = rows(windows);
            math::GemmStatistics cost;
            math::multiply_accumulate({block.values, block.stride, type}, weights, sums, stride, count,
                                      columns, elements, accumulate, &cost);
            wrap_sums(sums, stride, count, columns, sum_bits_);
            add_cost(cost);
        });
}

void WavefrontEngine::multiply_floats(EnteringStream& entering) {
    const Stream& stream = entering.stream;
    const std::uint64_t count = entering.shape.rows();
    const WordSums sums{.words = entering.sums,
                        .row_words = entering.sums_stride,
                        .columns = active_.columns,
                        .accumulate = stream.accumulate};
    workers_.compute(
        queue_, stream.number, {stream.accumulator_row, stream.accumulator_row + count},
        [this, rows = std::move(entering.rows), count, tile = packed_, elements = active_.rows,
         weights = float_matrix(active_.values, active_.row_bytes),
         sums](ValueWorkers::Scratch& memory) mutable {
            const RowBlock block = rows(memory);
            const auto begun = std::chrono::steady_clock::now();
            std::call_once(tile->packed, [&] { tile->weights.emplace(weights, elements, sums.columns); });
            multiply_into_words(float_matrix(block.values, block.stride), count, *tile->weights, sums);
            const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
            add_cost({.calls = 1, .macs = count * elements * sums.columns, .seconds = taken.count()});
        });
}

void WavefrontEngine::add_cost(const math::GemmStatistics& cost) {
    const std::lock_guard lock(gemm_mutex_);
    gemm_ += cost;
}

math::GemmStatistics WavefrontEngine::gemm() const {
    const std::lock_guard lock(gemm_mutex_);
    return gemm_;
}

}  // namespace systole::hw
