#pragma once

#include <span>

#include "compiler/schedule/lowering.h"

namespace systole::schedule {

/// Throws std::logic_error unless there are `expected` weights, or none in a network without, and parameters
/// for each output channel.
void check_weights(const LayerView& view, std::uint64_t weights, std::uint64_t expected,
                   const quantized::Requantization& requantization);

/// Throws ModelError unless instructions can name the lines of the layer's output and the accumulators
/// hold one of them.
void check_lines(const LayerView& view);

/// Into how many parts of the accumulators the layer's chunks go in turn (see AccumulatorParts).
std::uint32_t accumulator_parts(const PassContext& context);

/// Chunks of the layer's output: as large as one of `parts` parts of the accumulators, so that activation
/// overlaps with matrix work; where not even a line fits a part, as large as all of them.
std::vector<Chunk> matrix_chunks(const PassContext& context, std::uint32_t parts);

/// Appends `Work` (ConvolveLines or MultiplyImages) and activations for all chunks and tiles of the layer.
///
/// Column tiles are the outer loop, chunks the inner. So parameters change once a column tile, and a
/// column of a single tile stays in the array for all chunks. With more tiles in a column, each chunk
/// fetches them again, in either order of the loops: the accumulators hold only one chunk at a time.
template <typename Work>
void lower_matrix_work(PassContext& context);

extern template void lower_matrix_work<ConvolveLines>(PassContext& context);
extern template void lower_matrix_work<MultiplyImages>(PassContext& context);

}  // namespace systole::schedule
