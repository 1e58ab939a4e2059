#pragma once

#include <mutex>

#include "hw/matrix_unit/engine.h"

namespace systole::hw {

/// Whole streams and tiles at once, in closed form: the sums that the wavefront leaves behind are a matrix
/// product, and when it passes follows from the rules of docs/timing.md.
class WavefrontEngine final : public MatrixEngine {
public:
    WavefrontEngine(const sc_core::sc_module_name& name, const EngineContext& context);

    void offer(const Stream& stream, WaitState& state) override;
    IdleCycles enter(EnteringStream entering) override;
    math::GemmStatistics gemm() const override;

private:
    void shift_tiles();
    IdleCycles idle_before(const Stream& stream) const;
    /// The sums of a stream, computed by a worker.
    void multiply(EnteringStream& entering);

    const Cycle shift_cycles_;
    Cycle rows_ready_ = 0;     ///< the offered stream's rows are there
    Cycle taken_from_ = 0;     ///< the array could take it
    Cycle input_free_at_ = 0;  ///< the next stream may enter

    mutable std::mutex gemm_mutex_;
    math::GemmStatistics gemm_;  ///< under the lock
};

}  // namespace systole::hw
