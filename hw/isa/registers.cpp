#include "hw/isa/registers.h"

#include <algorithm>

namespace systole::isa {
namespace {

struct Entry {
    Register reg;
    std::string_view name;
    std::uint32_t initial = 0;
    bool is_signed = false;
};

constexpr std::array<Entry, register_count> entries = {{
    {.reg = Register::WindowInputHeight, .name = "window.input_height"},
    {.reg = Register::WindowInputWidth, .name = "window.input_width"},
    {.reg = Register::WindowChannels, .name = "window.channels"},
    {.reg = Register::WindowImageRows, .name = "window.image_rows", .initial = 1},
    {.reg = Register::WindowKernelHeight, .name = "window.kernel_height", .initial = 1},
    {.reg = Register::WindowKernelWidth, .name = "window.kernel_width", .initial = 1},
    {.reg = Register::WindowStrideY, .name = "window.stride_y", .initial = 1},
    {.reg = Register::WindowStrideX, .name = "window.stride_x", .initial = 1},
    {.reg = Register::WindowPadTop, .name = "window.pad_top", .is_signed = true},
    {.reg = Register::WindowPadLeft, .name = "window.pad_left", .is_signed = true},
    {.reg = Register::WindowOutputHeight, .name = "window.output_height"},
    {.reg = Register::WindowOutputWidth, .name = "window.output_width"},
    {.reg = Register::WindowPadValue, .name = "window.pad_value"},
    {.reg = Register::WindowTile, .name = "window.tile"},
    {.reg = Register::MultiplyRowStride, .name = "multiply.row_stride", .initial = 1},
    {.reg = Register::ActivationColumns, .name = "activation.columns"},
    {.reg = Register::ActivationPixelBytes, .name = "activation.pixel_bytes"},
    {.reg = Register::ActivationChannelOffset, .name = "activation.channel_offset"},
    {.reg = Register::ActivationImageRows, .name = "activation.image_rows", .initial = 1},
    {.reg = Register::ActivationOutputsPerImage, .name = "activation.outputs_per_image"},
    {.reg = Register::ActivationParametersRow, .name = "activation.parameters_row"},
    {.reg = Register::ActivationTableRow, .name = "activation.table_row"},
    {.reg = Register::OutputZeroPoint, .name = "output.zero_point", .is_signed = true},
    {.reg = Register::OutputMinimum, .name = "output.minimum", .is_signed = true},
    {.reg = Register::OutputMaximum, .name = "output.maximum", .initial = 255, .is_signed = true},
    {.reg = Register::VectorZeroPointA, .name = "vector.zero_point_a", .is_signed = true},
    {.reg = Register::VectorZeroPointB, .name = "vector.zero_point_b", .is_signed = true},
    {.reg = Register::VectorMultiplierA, .name = "vector.multiplier_a"},
    {.reg = Register::VectorMultiplierB, .name = "vector.multiplier_b"},
    {.reg = Register::VectorShiftA, .name = "vector.shift_a", .is_signed = true},
    {.reg = Register::VectorShiftB, .name = "vector.shift_b", .is_signed = true},
    {.reg = Register::VectorMultiplier, .name = "vector.multiplier"},
    {.reg = Register::VectorShift, .name = "vector.shift", .is_signed = true},
    {.reg = Register::VectorRowsPerImage, .name = "vector.rows_per_image"},
    {.reg = Register::VectorDestinationImageRows, .name = "vector.destination_image_rows"},
    {.reg = Register::VectorSourceImageRows, .name = "vector.source_image_rows"},
    {.reg = Register::VectorOtherImageRows, .name = "vector.other_image_rows"},
    {.reg = Register::HostBlockStride, .name = "host.block_stride"},
    {.reg = Register::HostBlockRows, .name = "host.block_rows"},
    {.reg = Register::ActivationFirstColumn, .name = "activation.first_column"},
    {.reg = Register::MultiplyWeightZeroPoint, .name = "multiply.weight_zero_point", .is_signed = true},
    {.reg = Register::BlockWidth, .name = "block.width", .initial = 1},
    {.reg = Register::BlockHeight, .name = "block.height", .initial = 1},
    {.reg = Register::BlockOutputWidth, .name = "block.output_width"},
    {.reg = Register::BlockOutputHeight, .name = "block.output_height"},
    {.reg = Register::SourceLines, .name = "source.lines"},
    {.reg = Register::SourceColumns, .name = "source.columns"},
    {.reg = Register::SourceChannels, .name = "source.channels"},
    {.reg = Register::SourcePixelBytes, .name = "source.pixel_bytes"},
    {.reg = Register::SourceTop, .name = "source.top", .is_signed = true},
    {.reg = Register::SourceBottom, .name = "source.bottom", .is_signed = true},
    {.reg = Register::SourceLeft, .name = "source.left", .is_signed = true},
    {.reg = Register::SourceRight, .name = "source.right", .is_signed = true},
    {.reg = Register::SourceZeroPoint, .name = "source.zero_point", .is_signed = true},
    {.reg = Register::OtherPixelBytes, .name = "other.pixel_bytes"},
    {.reg = Register::OtherTop, .name = "other.top", .is_signed = true},
    {.reg = Register::OtherBottom, .name = "other.bottom", .is_signed = true},
    {.reg = Register::OtherLeft, .name = "other.left", .is_signed = true},
    {.reg = Register::OtherRight, .name = "other.right", .is_signed = true},
    {.reg = Register::ResultLines, .name = "result.lines"},
    {.reg = Register::ResultColumns, .name = "result.columns"},
    {.reg = Register::ResultChannels, .name = "result.channels"},
    {.reg = Register::ResultPixelBytes, .name = "result.pixel_bytes"},
    {.reg = Register::ResultTop, .name = "result.top", .is_signed = true},
    {.reg = Register::ResultBottom, .name = "result.bottom", .is_signed = true},
    {.reg = Register::ResultLeft, .name = "result.left", .is_signed = true},
    {.reg = Register::ResultRight, .name = "result.right", .is_signed = true},
    {.reg = Register::WindowDilationY, .name = "window.dilation_y", .initial = 1},
    {.reg = Register::WindowDilationX, .name = "window.dilation_x", .initial = 1},
    {.reg = Register::SourcePanelRows, .name = "source.panel_rows"},
    {.reg = Register::OtherPanelRows, .name = "other.panel_rows"},
    {.reg = Register::ResultPanelRows, .name = "result.panel_rows"},
    {.reg = Register::WeightsPanelRows, .name = "weights.panel_rows"},
    {.reg = Register::ProductFirst, .name = "product.first"},
    {.reg = Register::WalkLines, .name = "walk.lines", .initial = 1},
    {.reg = Register::WalkColumns, .name = "walk.columns"},
    {.reg = Register::FromImageRows, .name = "from.image_rows"},
    {.reg = Register::FromLineRows, .name = "from.line_rows"},
    {.reg = Register::FromColumnRows, .name = "from.column_rows", .initial = 1},
    {.reg = Register::ToImageRows, .name = "to.image_rows"},
    {.reg = Register::ToLineRows, .name = "to.line_rows"},
    {.reg = Register::ToColumnRows, .name = "to.column_rows", .initial = 1},
    {.reg = Register::DmaHbmRows, .name = "dma.hbm_rows"},
    {.reg = Register::DmaMemoryRows, .name = "dma.memory_rows"},
    {.reg = Register::HostCoreBytes, .name = "host.core_bytes"},
}};

constexpr bool in_order() {
    for (std::size_t i = 0; i < register_count; ++i) {
        if (static_cast<std::size_t>(entries[i].reg) != i) return false;
    }
    return true;
}
static_assert(in_order());

constexpr std::array<std::string_view, register_count> names = [] {
    std::array<std::string_view, register_count> result;
    std::transform(entries.begin(), entries.end(), result.begin(),
                   [](const Entry& entry) { return entry.name; });
    return result;
}();

constexpr std::array<std::uint32_t, register_count> initial_values = [] {
    std::array<std::uint32_t, register_count> result{};
    std::transform(entries.begin(), entries.end(), result.begin(),
                   [](const Entry& entry) { return entry.initial; });
    return result;
}();

const Entry& entry_of(Register reg) {
    return entries.at(static_cast<std::size_t>(reg));
}

}  // namespace

std::string_view name(Register reg) {
    return entry_of(reg).name;
}

std::span<const std::string_view> register_names() {
    return names;
}

std::optional<Register> find_register(std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<Register>(found - names.begin());
}

bool is_signed(Register reg) {
    return entry_of(reg).is_signed;
}

std::uint32_t initial_value(Register reg) {
    return entry_of(reg).initial;
}

// A copy of a table: predictions of costs make registers by the million.
Registers::Registers(std::uint32_t core) : core_(core), values_(initial_values) {}

}  // namespace systole::isa
