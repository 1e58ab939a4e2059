#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/data_type.h"
#include "hw/isa/forward.h"
#include "hw/isa/multipliers.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// The function that the activation unit applies to a requantized value.
enum class ActivationFunction : std::uint8_t {
    Identity,  ///< clamp to output.minimum .. output.maximum; also used for ReLU and ReLU6
    Lookup,    ///< clamp, then look up: 8 bits index the table, 16 bits interpolate in it
};

/// Requantizes `length` accumulator rows and writes them to the unified buffer.
/// Row i is pixel (first_output + i) % outputs_per_image of image
/// (first_output + i) / outputs_per_image of the tensor at `unified_buffer_row`. Accumulator column
/// first_column + c becomes clamp(zero_point + scale(accumulator + bias[c], multiplier[c], shift[c])), or,
/// with real multipliers, clamp(zero_point + round((accumulator + bias[c]) * multiplier[c])). `ToEven` and
/// `RealToEven` round once, halves to the even number. With blocks of
/// several pixels (block.width, block.height), a row holds all channels of the block's pixels, and those
/// inside the image are written.
struct Activate {
    static constexpr std::string_view mnemonic = "activate";
    static constexpr std::uint8_t opcode = 0x30;
    static constexpr std::size_t encoded_bytes = 13;

    std::uint16_t accumulator_row = 0;
    std::uint32_t unified_buffer_row = 0;  ///< 3 bytes encoded
    std::uint16_t length = 0;  ///< rows; 0 with `load_parameters`: loads them and activates nothing
    std::uint32_t first_output = 0;
    ActivationFunction function = ActivationFunction::Identity;
    /// First read the parameters (int32 bias, int32 multiplier, int8 shift: three arrays of
    /// activation.columns, little endian, packed, at activation.parameters_row; with real multipliers int32
    /// bias and float64 multiplier) and, for Lookup, the table at activation.table_row. Otherwise those of
    /// the previous instruction are used.
    bool load_parameters = false;
    /// How sums are scaled; the loaded parameters must be of this kind.
    Multipliers multipliers = Multipliers::FixedPoint;
    /// Number format of the results. uint8 and int8 are written alike; with int16, Lookup uses the 16-bit
    /// table.
    DataType output = DataType::Uint8;

    /// Whether the function takes its results from the table.
    bool looks_up() const;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Activation; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const Activate&) const = default;
};

}  // namespace systole::isa
