#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hw/common/matrix_interfaces.h"
#include "hw/machine/machine_config.h"
#include "hw/math/gemm.h"

namespace systole::hw {

/// How the array computes. The matrix unit decides when a stream enters; the engine carries it
/// through the array into the accumulators. All engines give the same sums.
class MatrixEngine {
public:
    virtual ~MatrixEngine() = default;

    /// Multiplies the rows of a stream by a tile and writes the sums, or adds them, to the accumulator
    /// rows from `sums` on, `columns` sums from one to the next. Columns the tile does not use keep
    /// what they have.
    virtual void multiply(const Stream& stream, const RowBlock& rows, const Tile& tile, std::int32_t* sums,
                          std::size_t columns) = 0;

    const math::GemmStatistics& gemm() const { return gemm_; }

protected:
    math::GemmStatistics gemm_;
};

/// The engine the machine names.
std::unique_ptr<MatrixEngine> make_engine(const machine::MatrixUnitConfig& config);

}  // namespace systole::hw
