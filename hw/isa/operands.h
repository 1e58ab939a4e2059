#pragma once

#include <string_view>

#include "hw/base/data_type.h"
#include "hw/isa/forward.h"

namespace systole::isa {

/// What `matrix_multiply` and `convolve` have in common: the flags byte.
struct MatrixFlags {
    /// Add to the accumulators instead of overwriting them. Repetitions after the first always add.
    bool accumulate = false;
    /// Use the weights already in the array instead of switching to the next tile.
    bool keep_weights = false;
    /// Number format of the streamed elements.
    DataType activations = DataType::Uint8;
    /// Number format of the weights: that of the tiles it meets.
    DataType weights = DataType::Int8;

    bool operator==(const MatrixFlags&) const = default;
};

/// The rule of the activation unit's instructions: its datapath has elements of these formats alone.
void check_vector_format(FieldVisitor& visitor, std::string_view field, DataType format);

/// Shows the flags byte.
void visit_flags(FieldVisitor& visitor, MatrixFlags& flags);

}  // namespace systole::isa
