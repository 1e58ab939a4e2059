#include "hw/matrix_unit/wavefront_engine.h"

namespace systole::hw {

namespace {

math::ElementFormat activation_format(const Stream& stream) {
    if (stream.wide_activations) {
        return stream.signed_activations ? math::ElementFormat::Signed16 : math::ElementFormat::Unsigned16;
    }
    return stream.signed_activations ? math::ElementFormat::Signed8 : math::ElementFormat::Unsigned8;
}

}  // namespace

void WavefrontEngine::multiply(const Stream& stream, const RowBlock& rows, const Tile& tile,
                               std::int32_t* sums, std::size_t columns) {
    const std::size_t count = stream.lines * stream.line_rows;
    if (!stream.wide_activations && tile.element_bytes == 1) {
        math::multiply_accumulate(rows.values, rows.stride, stream.signed_activations,
                                  reinterpret_cast<const std::int8_t*>(tile.values), tile.row_bytes, sums,
                                  columns, count, tile.columns, tile.rows, stream.accumulate, &gemm_);
        return;
    }
    const math::GemmOperand activations{rows.values, rows.stride, activation_format(stream)};
    const math::GemmOperand weights{
        tile.values, tile.row_bytes,
        tile.element_bytes == 2 ? math::ElementFormat::Signed16 : math::ElementFormat::Signed8};
    math::multiply_accumulate_wide(activations, weights, sums, columns, count, tile.columns, tile.rows,
                                   stream.accumulate, &gemm_);
}

}  // namespace systole::hw
