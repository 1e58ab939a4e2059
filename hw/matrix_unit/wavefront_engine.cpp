#include "hw/matrix_unit/wavefront_engine.h"

#include <algorithm>
#include <utility>

#include "base/wrapped_sum.h"
#include "hw/isa/queue.h"

namespace systole::hw {

namespace {

constexpr auto unit = static_cast<std::size_t>(isa::QueueId::Matrix);

}  // namespace

WavefrontEngine::WavefrontEngine(const sc_core::sc_module_name& name, const UnitContext& context,
                                 TileSource& weights)
    : MatrixEngine(name, context, weights),
      shift_cycles_(timing::shift_cycles(context.machine)),
      sum_bits_(context.machine.accumulators.sum_bits) {
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
    if (!stream.keep_weights) switch_planes();
    if (entering.sums != nullptr) multiply(entering);
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
            const std::lock_guard lock(gemm_mutex_);
            gemm_ += cost;
        });
}

math::GemmStatistics WavefrontEngine::gemm() const {
    const std::lock_guard lock(gemm_mutex_);
    return gemm_;
}

}  // namespace systole::hw
