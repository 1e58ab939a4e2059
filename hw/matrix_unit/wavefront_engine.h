#pragma once

#include "hw/matrix_unit/engine.h"

namespace systole::hw {

/// Whole streams at once: the sums that the wavefront leaves behind are a matrix product.
class WavefrontEngine final : public MatrixEngine {
public:
    void multiply(const Stream& stream, const RowBlock& rows, const Tile& tile, std::int32_t* sums,
                  std::size_t columns) override;
};

}  // namespace systole::hw
