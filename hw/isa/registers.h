#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace systole::isa {

/// The registers that `set_config` writes. A write applies to every later instruction in program order: the
/// sequencer binds the register values to each instruction when it issues it.
enum class Register : std::uint8_t {
    // The windows of `convolve` and of the pooling operations of `vector`. A tensor lies in the unified
    // buffer image by image; each image begins at a row and is packed in height, width, channel order.
    WindowInputHeight,   ///< pixels
    WindowInputWidth,    ///< pixels
    WindowChannels,      ///< elements of a pixel
    WindowImageRows,     ///< unified-buffer rows from one image to the next
    WindowKernelHeight,  ///< pixels
    WindowKernelWidth,   ///< pixels
    WindowStrideY,       ///< pixels
    WindowStrideX,       ///< pixels
    WindowPadTop,        ///< pixels above the image that a window may touch (signed for `move`)
    WindowPadLeft,       ///< pixels left of the image that a window may touch (signed for `move`)
    WindowOutputHeight,  ///< windows of an image from top to bottom
    WindowOutputWidth,   ///< windows of an image from left to right
    WindowPadValue,      ///< value of every element outside the image (as the element's bits)
    WindowTile,          ///< first weight tile along the window: elements from tile * array rows

    MultiplyRowStride,  ///< rows from one streamed row of `matrix_multiply` to the next

    // The output of the activation unit.
    ActivationColumns,          ///< accumulator columns it reads, from activation.first_column on
    ActivationPixelBytes,       ///< bytes from one written pixel to the next; pooling: 0 is packed
    ActivationChannelOffset,    ///< byte of the pixel at which the columns, or channels, begin
    ActivationImageRows,        ///< unified-buffer rows from one image to the next
    ActivationOutputsPerImage,  ///< pixels of an image
    ActivationParametersRow,    ///< unified-buffer row of the requantization parameters
    ActivationTableRow,         ///< unified-buffer row of the lookup table
    OutputZeroPoint,            ///< added after scaling (signed)
    OutputMinimum,              ///< results below are clamped (signed)
    OutputMaximum,              ///< results above are clamped (signed)

    // Element-wise vector work: result = clamp(zero_point + scale(f(a - zero_a, b - zero_b))).
    VectorZeroPointA,   ///< (signed)
    VectorZeroPointB,   ///< (signed)
    VectorMultiplierA,  ///< Q31 fixed point
    VectorMultiplierB,  ///< Q31 fixed point
    VectorShiftA,       ///< power of two, positive to the left (signed)
    VectorShiftB,       ///< power of two, positive to the left (signed)
    VectorMultiplier,   ///< Q31 fixed point, of the result
    VectorShift,        ///< power of two, positive to the left (signed), of the result

    // The rows of element-wise vector work: the first rows of every image, which may have more.
    VectorRowsPerImage,          ///< rows of an image that the work covers; 0: all rows are contiguous
    VectorDestinationImageRows,  ///< rows from one image of the result to the next
    VectorSourceImageRows,       ///< rows from one image of the first operand to the next
    VectorOtherImageRows,        ///< rows from one image of the second operand to the next

    // The distances between the blocks of a host transfer.
    HostBlockStride,  ///< bytes of host memory from one block to the next; 0: contiguous
    HostBlockRows,    ///< unified-buffer rows from one block to the next; 0: as many as a block fills

    // Added later; they are last because the numbers of registers in program files must not change.
    ActivationFirstColumn,    ///< first of the accumulator columns that `activate` reads
    MultiplyWeightZeroPoint,  ///< subtracted from each weight of `matrix_multiply` and `convolve` (signed)

    // The block of output pixels of which an accumulator row of `convolve` and `activate` holds all channels.
    BlockWidth,         ///< pixels
    BlockHeight,        ///< pixels
    BlockOutputWidth,   ///< pixels of an output image; read only for blocks of several pixels
    BlockOutputHeight,  ///< pixels of an output image; read only for blocks of several pixels

    // Tensors over the tiles of a machine with tiles: of the first operand, the second one and the result.
    SourceLines,       ///< pixels of the image from top to bottom
    SourceColumns,     ///< pixels of the image from left to right
    SourceChannels,    ///< elements of a pixel
    SourcePixelBytes,  ///< bytes from a pixel to the next; 0: as many as channels
    SourceTop,         ///< pixels of the margin above a tile's patch (signed)
    SourceBottom,      ///< pixels of the margin below it
    SourceLeft,        ///< pixels of the margin left of it
    SourceRight,       ///< pixels of the margin right of it
    SourceZeroPoint,   ///< subtracted from each element (signed)
    OtherPixelBytes,   ///< as source.pixel_bytes, of the second operand
    OtherTop,          ///< pixels
    OtherBottom,       ///< pixels
    OtherLeft,         ///< pixels
    OtherRight,        ///< pixels
    ResultLines,       ///< pixels of the image from top to bottom
    ResultColumns,     ///< pixels of the image from left to right
    ResultChannels,    ///< elements of a pixel
    ResultPixelBytes,  ///< bytes from a pixel to the next; 0: as many as channels
    ResultTop,         ///< pixels
    ResultBottom,      ///< pixels
    ResultLeft,        ///< pixels
    ResultRight,       ///< pixels
    WindowDilationY,   ///< pixels from one line of the kernel to the next
    WindowDilationX,   ///< pixels from one column of the kernel to the next

    // Matrices in panels of vector memory and high-bandwidth memory: rows from a panel to the next. 0: as
    // many as a panel
    // has.
    SourcePanelRows,   ///< of what is read, or of the first of several sources
    OtherPanelRows,    ///< of the other sources
    ResultPanelRows,   ///< of what is written
    WeightsPanelRows,  ///< of the weights
    ProductFirst,      ///< element of a row, or of a window, with which `product` begins

    // Rows that lie apart: of the first source (from) and of the first result (to) of a `chain`.
    WalkLines,       ///< lines of an image
    WalkColumns,     ///< rows of a line; 0: all rows follow each other
    FromImageRows,   ///< rows from an image to the next
    FromLineRows,    ///< rows from a line to the next
    FromColumnRows,  ///< rows from one of a line to the next
    ToImageRows,     ///< rows from an image to the next
    ToLineRows,      ///< rows from a line to the next
    ToColumnRows,    ///< rows from one of a line to the next

    // The distances between the blocks of `dma_in` and `dma_out`; 0: as many rows as a block has.
    DmaHbmRows,     ///< in high-bandwidth memory
    DmaMemoryRows,  ///< in vector memory

    HostCoreBytes,  ///< from the part of host memory of one core to that of the next: `infeed`, `outfeed`
};

inline constexpr std::size_t register_count = static_cast<std::size_t>(Register::HostCoreBytes) + 1;

/// The name used in assembly: "window.input_height", "activation.columns", "output.minimum",
/// "vector.multiplier_a", ...
std::string_view name(Register reg);

/// All names, in the order of the registers.
std::span<const std::string_view> register_names();

/// The register of that name, if there is one.
std::optional<Register> find_register(std::string_view name);

/// Whether assembly shows the value as two's complement.
bool is_signed(Register reg);

/// The value a register has before the first `set_config`: 1 for strides, kernel sizes, dilations, row
/// strides, image rows, lines of a walk and the sides of a block, 255 for output.maximum, 0 for the rest.
std::uint32_t initial_value(Register reg);

/// The contents of all registers of a core.
class Registers {
public:
    Registers() : Registers(0) {}
    /// `core`: its number in the system.
    explicit Registers(std::uint32_t core);

    /// The number of the core, which is its own from the beginning. So cores that run one stream find their
    /// parts of the data.
    std::uint32_t core() const { return core_; }

    std::uint32_t operator[](Register reg) const { return values_[static_cast<std::size_t>(reg)]; }
    /// The value read as two's complement.
    std::int32_t as_signed(Register reg) const { return static_cast<std::int32_t>((*this)[reg]); }
    void set(Register reg, std::uint32_t value) { values_[static_cast<std::size_t>(reg)] = value; }

    bool operator==(const Registers&) const = default;

private:
    std::uint32_t core_;
    std::array<std::uint32_t, register_count> values_;
};

}  // namespace systole::isa
