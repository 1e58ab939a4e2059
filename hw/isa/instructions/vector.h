#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/data_type.h"
#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Operations of the vector and pooling stage of the activation unit. Elements have 8 bits; element-wise
/// operations also support 16 bits.
enum class VectorOperation : std::uint8_t {
    Add,          ///< element-wise over whole rows: scale(a) + scale(b), requantized
    Multiply,     ///< element-wise over whole rows: a * b, requantized
    Lookup,       ///< element-wise over whole rows: the table at activation.table_row
    MaxPool,      ///< the largest element of each window, by channel
    AveragePool,  ///< the mean of each window, by channel, rounded half away from zero
};

/// Vector work; operands and results are in the unified buffer.
///
/// Add, Multiply, Lookup: `length` rows from `source_row` (and `other_row`) to `destination_row`. The rows
/// are contiguous, or the first rows of each image (hw/isa/image_slices.h). The elements of an image's rows
/// are packed; with 16-bit elements, an odd last byte is ignored.
///
/// MaxPool, AveragePool: `length` output lines from line `first_line` on, numbered as in `convolve`, of the
/// tensor whose first image begins at `source_row`; the window.* registers describe the windows. The output
/// tensor begins at `destination_row`, with activation.image_rows rows from image to image; a pixel takes
/// activation.pixel_bytes bytes (0: packed), and its channels begin at byte activation.channel_offset.
/// Elements outside the image do not count, or have the value window.pad_value with `count_padding`.
struct Vector {
    static constexpr std::string_view mnemonic = "vector";
    static constexpr std::uint8_t opcode = 0x31;
    static constexpr std::size_t encoded_bytes = 20;

    VectorOperation operation = VectorOperation::Add;
    std::uint32_t destination_row = 0;  ///< 3 bytes encoded
    std::uint32_t source_row = 0;       ///< 3 bytes encoded
    std::uint32_t other_row = 0;        ///< 3 bytes encoded; the second operand of Add and Multiply
    std::uint32_t length = 0;           ///< rows or lines; at least 1
    std::uint32_t first_line = 0;       ///< pooling only
    /// Number format of operands and results; 16 bits for element-wise work only.
    DataType elements = DataType::Uint8;
    bool count_padding = false;
    /// Add and Multiply: scales are applied with one rounding, halves to the even number.
    bool half_to_even = false;

    /// MaxPool or AveragePool: `length` counts output lines.
    bool is_pooling() const;
    /// Add or Multiply: `other_row` is read. Element-wise work without it is a lookup.
    bool has_other() const;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Activation; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const Vector&) const = default;
};

}  // namespace systole::isa
