#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "hw/math/floats/float_product.h"
#include "hw/matrix_unit/engine.h"

namespace systole::hw {

/// Computes whole streams and tiles in closed form: the sums of a stream are a matrix product, and their
/// times follow from the rules of docs/timing.md.
class WavefrontEngine final : public MatrixEngine {
public:
    WavefrontEngine(const sc_core::sc_module_name& name, const UnitContext& context, TileSource& weights);

    void offer(const Stream& stream) override;
    IdleCycles enter(EnteringStream entering) override;
    math::GemmStatistics gemm() const override;

private:
    void shift_tiles();
    IdleCycles idle_before(const Stream& stream) const;
    /// A tile of floats as products read it. The first product with the tile packs it.
    struct PackedTile {
        std::once_flag packed;
        std::optional<math::FloatWeights> weights;
    };

    /// Hand the sums of a stream to a worker thread.
    void multiply(EnteringStream& entering);
    void multiply_floats(EnteringStream& entering);
    void add_cost(const math::GemmStatistics& cost);

    const Cycle shift_cycles_;
    const std::uint32_t sum_bits_;
    const bool floats_;
    std::shared_ptr<PackedTile> packed_;  ///< the active tile, if it is of floats
    Cycle rows_ready_ = 0;                ///< the offered stream's rows are ready from this cycle on
    Cycle taken_from_ = 0;                ///< from this cycle on the array could take it
    Cycle input_free_at_ = 0;             ///< from this cycle on the next stream may enter

    mutable std::mutex gemm_mutex_;
    math::GemmStatistics gemm_;  ///< guarded by gemm_mutex_
};

}  // namespace systole::hw
