// The fields of each kind of instruction, drawn at random.
#include <algorithm>
#include <array>
#include <numeric>

#include "base/arithmetic.h"
#include "hw/isa/multipliers.h"
#include "hw/isa/rows.h"
#include "hw/isa/window.h"
#include "tests/support/random_program/data.h"
#include "tests/support/random_program/draft.h"

namespace systole::tests {

using isa::Register;

namespace {

/// Blocks of a buffer from an offset on.
struct DrawnBlocks {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;   ///< of a block
    std::uint64_t stride = 0;  ///< from one to the next; 0: they follow each other
    std::uint64_t count = 0;
};

DrawnBlocks draw_blocks(const isa::HostBuffer& buffer, std::uint64_t row_bytes, Choices& choices) {
    const std::uint64_t offset = choices.from(0, buffer.bytes - 1);
    const std::uint64_t left = buffer.bytes - offset;
    DrawnBlocks blocks{.address = buffer.address + offset};
    blocks.bytes = choices.from(1, std::min<std::uint64_t>(left, 3 * row_bytes + 5));
    // With gaps, or over each other.
    if (choices.chance(30)) blocks.stride = choices.from(1, 2 * blocks.bytes);
    const std::uint64_t step = blocks.stride == 0 ? blocks.bytes : blocks.stride;
    blocks.count = choices.from(1, std::min<std::uint64_t>((left - blocks.bytes) / step + 1, 6));
    return blocks;
}

}  // namespace

template <class Transfer>
isa::Instruction Draft::transfer() {
    const DrawnBlocks blocks =
        draw_blocks(choices_.one_of(program_.buffers), program_.geometry.rows, choices_);
    set(Register::HostBlockStride, blocks.stride);
    const std::uint64_t filled = divide_up(blocks.bytes, program_.geometry.rows);
    set(Register::HostBlockRows, choices_.chance(30) ? choices_.from(filled, 2 * filled) : 0);
    return Transfer{.host_address = blocks.address,
                    .unified_buffer_row = buffer_row(),
                    .block_bytes = static_cast<std::uint32_t>(blocks.bytes),
                    .blocks = static_cast<std::uint16_t>(blocks.count)};
}

std::optional<isa::Instruction> Draft::read_host() {
    return transfer<isa::ReadHostMemory>();
}

std::optional<isa::Instruction> Draft::write_host() {
    return transfer<isa::WriteHostMemory>();
}

isa::MatrixFlags Draft::matrix_flags() {
    isa::MatrixFlags flags{.accumulate = choices_.chance(40), .keep_weights = choices_.chance(25)};
    const bool is_signed = choices_.chance(50);
    if (choices_.chance(30)) {
        flags.activations = is_signed ? DataType::Int16 : DataType::Uint16;
    } else {
        flags.activations = is_signed ? DataType::Int8 : DataType::Uint8;
    }
    flags.weights = choices_.chance(30) ? DataType::Int16 : DataType::Int8;
    const bool may_have_zero_point = machine_.matrix_unit.row_sums && flags.weights == DataType::Int8;
    const bool has_zero_point = may_have_zero_point && choices_.chance(40);
    const std::uint64_t byte = has_zero_point ? choices_.from(0, UINT8_MAX) : 0;
    set(Register::MultiplyWeightZeroPoint, static_cast<std::uint32_t>(static_cast<std::int8_t>(byte)));
    return flags;
}

std::optional<isa::Instruction> Draft::matmul() {
    const std::uint64_t array_rows = program_.geometry.rows;
    isa::MatrixMultiply multiply{
        .unified_buffer_row = buffer_row(), .accumulator_row = accumulator_row(), .flags = matrix_flags()};
    // B of 1, below, at and above the array's rows.
    const std::array<std::uint64_t, 6> lengths{1,
                                               choices_.from(1, array_rows),
                                               array_rows,
                                               array_rows + 1,
                                               choices_.from(array_rows, 3 * array_rows),
                                               choices_.from(1, 8)};
    multiply.length = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(choices_.one_of(lengths), machine_.accumulators.rows));
    if (!multiply.flags.keep_weights && choices_.chance(40)) {
        multiply.repeat = choices_.number<std::uint8_t>(1, choices_.chance(10) ? 9 : 3);
    }
    set(Register::MultiplyRowStride, choices_.chance(60) ? 1 : choices_.from(1, 4));
    const Streams streams{.elements =
                              std::vector<std::uint32_t>(multiply.repeat + 1U, program_.geometry.rows)};
    if (!fits(multiply) || !draw_tiles(multiply.flags, streams)) return std::nullopt;
    return multiply;
}

std::uint32_t Draft::draw_block() {
    constexpr std::uint32_t most_across = 4;
    constexpr std::uint32_t most_down = 3;
    const std::uint32_t most = choices_.chance(30) ? program_.geometry.columns : 1;
    const auto width = choices_.number<std::uint32_t>(1, std::min(most, most_across));
    const auto height = choices_.number<std::uint32_t>(1, std::min(most / width, most_down));
    set(Register::BlockWidth, width);
    set(Register::BlockHeight, height);
    return width * height;
}

void Draft::draw_windows(bool inside) {
    set(Register::WindowInputHeight, choices_.from(1, 7));
    set(Register::WindowInputWidth, choices_.from(1, 7));
    set(Register::WindowChannels, choices_.chance(80) ? choices_.from(1, 4) : choices_.from(1, 20));
    set(Register::WindowImageRows, choices_.from(1, choices_.chance(50) ? 6 : 60));
    set(Register::WindowKernelHeight, choices_.from(1, 4));
    set(Register::WindowKernelWidth, choices_.from(1, 4));
    set(Register::WindowStrideY, choices_.from(1, 3));
    set(Register::WindowStrideX, choices_.from(1, 3));
    const unsigned beyond = inside ? 0 : 2;  // a convolution may have windows wholly outside
    const auto pad = [&](Register kernel) {
        return choices_.chance(50) ? 0 : choices_.from(0, wanted_[kernel] - 1 + beyond);
    };
    set(Register::WindowPadTop, pad(Register::WindowKernelHeight));
    set(Register::WindowPadLeft, pad(Register::WindowKernelWidth));
    set(Register::WindowOutputHeight, choices_.from(1, 5));
    set(Register::WindowOutputWidth, choices_.from(1, 5));
    set(Register::WindowPadValue, choices_.from(0, UINT16_MAX));
}

std::optional<isa::Instruction> Draft::convolve() {
    draw_windows(false);
    Streams streams{.elements = {}, .block_pixels = draw_block()};
    // The last block of a line, and the last line of blocks, may reach beyond the image.
    const auto pixels_of = [&](Register blocks, Register size) {
        return (wanted_[blocks] - 1) * wanted_[size] + choices_.from(1, wanted_[size]);
    };
    set(Register::BlockOutputWidth, pixels_of(Register::WindowOutputWidth, Register::BlockWidth));
    set(Register::BlockOutputHeight, pixels_of(Register::WindowOutputHeight, Register::BlockHeight));
    isa::Convolve convolve{.unified_buffer_row = buffer_row(),
                           .accumulator_row = accumulator_row(),
                           .first_line = choices_.number<std::uint16_t>(0, choices_.chance(50) ? 0 : 12),
                           .lines = choices_.number<std::uint16_t>(1, 7),
                           .flags = matrix_flags()};
    const std::uint64_t array_rows = program_.geometry.rows;
    const std::uint64_t window = isa::window_elements(wanted_);
    const std::uint64_t parts = divide_up(window, array_rows);
    const std::uint64_t first = choices_.chance(50) ? 0 : choices_.from(0, parts - 1);
    set(Register::WindowTile, first);
    if (!convolve.flags.keep_weights) {
        convolve.repeat = choices_.number<std::uint8_t>(0, std::min<std::uint64_t>(parts - first - 1, 4));
    }
    for (std::uint64_t part = first; part <= first + convolve.repeat; ++part) {
        streams.elements.push_back(
            static_cast<std::uint32_t>(std::min(array_rows, window - part * array_rows)));
    }
    if (!fits(convolve) || !draw_tiles(convolve.flags, streams)) return std::nullopt;
    return convolve;
}

bool Draft::serves(std::uint32_t first, const isa::MatrixFlags& flags, const Streams& streams) const {
    if (first + streams.elements.size() > program_.tiles.size()) return false;
    for (std::size_t i = 0; i < streams.elements.size(); ++i) {
        const isa::WeightTile& tile = program_.tiles[first + i];
        if (tile.type != flags.weights || tile.rows > streams.elements[i]) return false;
        // In a stream without blocks, a tile for blocks is like any other.
        if (streams.block_pixels > 1 && !tile.block_macs.empty() &&
            tile.block_macs.size() != streams.block_pixels) {
            return false;
        }
    }
    return true;
}

void Draft::draw_tile(const isa::MatrixFlags& flags, std::uint32_t rows, std::uint32_t block_pixels) {
    isa::WeightTile tile;
    tile.rows = choices_.chance(60) ? rows : choices_.number<std::uint32_t>(1, rows);
    tile.columns = choices_.chance(60) ? program_.geometry.columns
                                       : choices_.number<std::uint32_t>(1, program_.geometry.columns);
    tile.type = flags.weights;
    const std::uint32_t elements = tile.rows * tile.columns;
    tile.useful_macs = choices_.chance(70) ? elements : choices_.number<std::uint32_t>(0, elements);
    if (block_pixels > 1 && choices_.chance(80)) {
        tile.block_macs.resize(block_pixels);
        for (std::uint32_t left = tile.useful_macs; std::uint32_t & macs : tile.block_macs) {
            macs = choices_.number<std::uint32_t>(0, std::min(left, 2 * tile.useful_macs / block_pixels + 1));
            left -= macs;
        }
        tile.useful_macs = std::accumulate(tile.block_macs.begin(), tile.block_macs.end(), 0U);
    }
    tile.values = random_bytes(std::size_t{elements} * bytes_of(tile.type), bytes_of(tile.type), choices_);
    program_.tiles.push_back(std::move(tile));
}

bool Draft::draw_tiles(isa::MatrixFlags& flags, const Streams& streams) {
    if (flags.keep_weights) return in_array_ && serves(*in_array_, flags, streams);
    drawn_.count = static_cast<std::uint32_t>(streams.elements.size());
    if (!program_.tiles.empty() && choices_.chance(30)) {
        drawn_.first = choices_.number<std::uint32_t>(0, program_.tiles.size() - 1);
        if (serves(drawn_.first, flags, streams)) return true;
    }
    drawn_.first = static_cast<std::uint32_t>(program_.tiles.size());
    for (const std::uint32_t rows : streams.elements) draw_tile(flags, rows, streams.block_pixels);
    return true;
}

void Draft::draw_output_range() {
    const auto any = [&] { return choices_.from(0, UINT32_MAX); };
    if (choices_.chance(30))
        set(Register::OutputZeroPoint, choices_.chance(80) ? choices_.from(0, 255) : any());
    if (!choices_.chance(40)) return;
    const auto low = static_cast<std::int32_t>(choices_.chance(80) ? choices_.from(0, 120) : any());
    const auto high = static_cast<std::int32_t>(choices_.chance(80) ? choices_.from(100, 255) : any());
    set(Register::OutputMinimum, static_cast<std::uint32_t>(std::min(low, high)));
    set(Register::OutputMaximum, static_cast<std::uint32_t>(std::max(low, high)));
}

std::optional<isa::Instruction> Draft::activate() {
    const bool lookup = choices_.chance(30);
    isa::Activate activate{
        .accumulator_row = accumulator_row(),
        .unified_buffer_row = buffer_row(),
        .first_output = choices_.number<std::uint32_t>(0, choices_.chance(60) ? 0 : 30),
        .function = lookup ? isa::ActivationFunction::Lookup : isa::ActivationFunction::Identity,
        .load_parameters = choices_.chance(60),
        .multipliers = isa::multipliers_of(choices_.chance(25), choices_.chance(30)),
        .output = choices_.chance(30) ? DataType::Int16 : DataType::Uint8};
    // Without rows, it loads alone.
    const std::uint64_t fewest = activate.load_parameters && choices_.chance(10) ? 0 : 1;
    activate.length = choices_.number<std::uint16_t>(
        fewest, std::min<std::uint64_t>(machine_.accumulators.rows, choices_.chance(50) ? 6 : 60));
    const std::uint64_t block_pixels = draw_block();
    const std::uint64_t channels = choices_.from(1, program_.geometry.columns / block_pixels);
    const std::uint64_t columns = channels * block_pixels;
    const std::uint64_t offset = choices_.chance(60) ? 0 : choices_.from(0, 7);
    const std::uint64_t end = offset + channels * bytes_of(activate.output);
    set(Register::ActivationColumns, columns);
    set(Register::ActivationFirstColumn,
        choices_.chance(50) ? 0 : choices_.from(0, program_.geometry.columns - columns));
    set(Register::ActivationChannelOffset, offset);
    set(Register::ActivationPixelBytes, choices_.chance(50) ? end : choices_.from(end, end + 9));
    set(Register::ActivationImageRows, choices_.from(1, 9));
    if (block_pixels == 1) {
        set(Register::ActivationOutputsPerImage, choices_.from(1, choices_.chance(50) ? 5 : 60));
    } else {
        const std::uint64_t width = choices_.from(1, choices_.chance(50) ? 4 : 9);
        const std::uint64_t height = choices_.from(1, choices_.chance(50) ? 4 : 9);
        set(Register::BlockOutputWidth, width);
        set(Register::BlockOutputHeight, height);
        set(Register::ActivationOutputsPerImage,
            divide_up(width, std::uint64_t{wanted_[Register::BlockWidth]}) *
                divide_up(height, std::uint64_t{wanted_[Register::BlockHeight]}));
    }
    set(Register::ActivationParametersRow, buffer_row());
    set(Register::ActivationTableRow, buffer_row());
    draw_output_range();
    return activate;
}

std::optional<isa::Instruction> Draft::elementwise() {
    isa::Vector vector{.operation = static_cast<isa::VectorOperation>(choices_.from(0, 2)),
                       .destination_row = buffer_row(),
                       .source_row = buffer_row(),
                       .length = choices_.number<std::uint32_t>(1, choices_.chance(70) ? 5 : 30),
                       .elements = choices_.chance(40)   ? DataType::Int8
                                   : choices_.chance(60) ? DataType::Int16
                                                         : DataType::Uint8};
    // Some rows of each image, mostly so that images do not overlap.
    set(Register::VectorRowsPerImage, choices_.chance(50) ? 0 : choices_.from(1, 6));
    for (const Register reg : {Register::VectorDestinationImageRows, Register::VectorSourceImageRows,
                               Register::VectorOtherImageRows}) {
        set(reg, wanted_[Register::VectorRowsPerImage] + choices_.from(0, 4));
    }
    if (choices_.chance(50)) {
        set(Register::VectorSourceImageRows, wanted_[Register::VectorDestinationImageRows]);
    }
    if (vector.has_other()) {
        vector.other_row = choices_.chance(20) ? vector.source_row : buffer_row();
        vector.half_to_even = choices_.chance(30);
    }
    if (choices_.chance(20)) vector.destination_row = vector.source_row;
    set(Register::ActivationTableRow, buffer_row());
    draw_output_range();
    constexpr std::array<Register, 8> parameters{Register::VectorZeroPointA,  Register::VectorZeroPointB,
                                                 Register::VectorMultiplierA, Register::VectorMultiplierB,
                                                 Register::VectorShiftA,      Register::VectorShiftB,
                                                 Register::VectorMultiplier,  Register::VectorShift};
    for (const Register reg : parameters) {
        if (choices_.chance(25))
            set(reg, choices_.chance(60) ? choices_.from(0, 255) : choices_.from(0, UINT32_MAX));
    }
    return vector;
}

std::optional<isa::Instruction> Draft::pooling() {
    draw_windows(true);
    const std::uint64_t channels = wanted_[Register::WindowChannels];
    const bool packed = choices_.chance(50);
    const std::uint64_t offset = packed ? 0 : choices_.from(0, 7);
    set(Register::ActivationPixelBytes, packed ? 0 : choices_.from(offset + channels, offset + channels + 9));
    set(Register::ActivationChannelOffset, offset);
    set(Register::ActivationImageRows, choices_.from(1, 9));
    return isa::Vector{
        .operation = choices_.chance(50) ? isa::VectorOperation::MaxPool : isa::VectorOperation::AveragePool,
        .destination_row = buffer_row(),
        .source_row = buffer_row(),
        .length = choices_.number<std::uint32_t>(1, 7),
        .first_line = choices_.number<std::uint32_t>(0, choices_.chance(60) ? 0 : 9),
        .elements = choices_.chance(50) ? DataType::Int8 : DataType::Uint8,
        .count_padding = choices_.chance(40)};
}

std::optional<isa::Instruction> Draft::write_weights() {
    if (!machine_.weight_memory.writable || program_.tiles.empty()) return std::nullopt;
    isa::WriteWeights write{.tile = choices_.number<std::uint32_t>(0, program_.tiles.size() - 1),
                            .unified_buffer_row = buffer_row(),
                            .is_signed = choices_.chance(50),
                            .transposed = choices_.chance(50)};
    const isa::WeightTile& tile = program_.tiles[write.tile];
    const std::uint64_t end = isa::tile_ends(program_)[write.tile];
    if (tile.type != DataType::Int8 || machine_.weight_memory.refusal_of_write(end)) return std::nullopt;
    if (choices_.chance(50))
        write.blocks = choices_.number<std::uint16_t>(1, std::min(tile.rows, tile.columns));
    const std::uint32_t most_rows = (write.transposed ? tile.columns : tile.rows) / write.blocks;
    const std::uint32_t most_columns = (write.transposed ? tile.rows : tile.columns) / write.blocks;
    write.rows = choices_.number<std::uint16_t>(1, most_rows);
    write.columns = choices_.number<std::uint16_t>(1, most_columns);
    write.first_byte =
        choices_.number<std::uint16_t>(0, choices_.chance(50) ? 0 : 3 * program_.geometry.rows);
    // Rows apart, packed, with gaps, or over each other.
    const std::array<std::uint64_t, 4> strides{program_.geometry.rows, write.source_bytes(),
                                               choices_.from(0, 3 * write.source_bytes()), 0};
    write.stride = static_cast<std::uint32_t>(choices_.one_of(strides));
    const std::uint64_t zero_point = choices_.chance(40) ? choices_.from(0, UINT8_MAX) : 0;
    set(Register::MultiplyWeightZeroPoint,
        static_cast<std::uint32_t>(static_cast<std::int8_t>(machine_.matrix_unit.row_sums ? zero_point : 0)));
    return write;
}

std::optional<isa::Instruction> Draft::host_work() {
    if (program_.host_segments.empty()) return std::nullopt;
    const auto segment = choices_.number<std::uint16_t>(0, program_.host_segments.size() - 1);
    return isa::HostWork{.segment = segment,
                         .first_inference = choices_.number<std::uint32_t>(0, 9),
                         .images = choices_.number<std::uint32_t>(1, 6)};
}

}  // namespace systole::tests
