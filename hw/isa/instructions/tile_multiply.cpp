#include "hw/isa/instructions/tile_multiply.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/data_type.h"
#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/operands.h"
#include "hw/isa/program.h"
#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"
#include "hw/isa/tile_layout.h"
#include "hw/isa/tile_values.h"
#include "hw/isa/weight_blocks.h"

namespace systole::isa {
namespace {

constexpr std::array<std::string_view, 3> product_names = {"convolve", "depthwise", "dense"};

/// The bytes of narrow memory that are read and written.
std::vector<MemoryRows> narrow_ranges(const TileMultiply& multiply, const Registers& registers,
                                      const TileGrid& grid) {
    RowRange read, written;
    if (multiply.product == TileProduct::Dense) {
        read = vector_range(multiply.source, at_least_one(registers, Register::SourceChannels));
        written = range_of(LaneVector{.grid = grid,
                                      .address = multiply.result,
                                      .elements = at_least_one(registers, Register::ResultChannels)});
    } else {
        const TileLayout source = tile_layout(registers, source_registers, grid, multiply.source);
        const TileLayout result = tile_layout(registers, result_registers, grid, multiply.result);
        check_windows_are_stored(source, result,
                                 multiply.with_margins ? stored_area(result) : own_area(result),
                                 tile_window(registers));
        if (multiply.product == TileProduct::Depthwise && result.channels % source.channels != 0) {
            throw ProgramError(
                fmt::format("result.channels is {}; a depthwise product has a multiple of the "
                            "source's {}",
                            result.channels, source.channels));
        }
        read = source.range();
        written = result.range();
    }
    if (written.overlaps(read)) throw ProgramError("it may not write bytes that it reads");
    return {{.memory = MemoryId::NarrowMemory, .access = Access::Read, .rows = read},
            {.memory = MemoryId::NarrowMemory, .access = Access::Write, .rows = written}};
}

/// The units of wide memory in which the tiles have their blocks of a dense product.
void add_dense_units(const TileMultiply& multiply, const WeightBlocks& blocks, const TileGrid& grid,
                     std::vector<MemoryRows>& ranges) {
    const std::uint64_t end = saturating_sum(
        multiply.parameters, saturating_product(dense_passes(blocks, grid), blocks.block_units()));
    if (end > grid.units) {
        throw ProgramError(
            fmt::format("its blocks end before unit {} of a tile; a tile has {}", end, grid.units));
    }
    const std::uint64_t units = end - multiply.parameters;
    ranges.push_back({.memory = MemoryId::WideMemory,
                      .access = Access::Read,
                      .rows = wide_units(multiply.parameters * grid.tiles(), units * grid.tiles())});
}

}  // namespace

void TileMultiply::fields(FieldVisitor& visitor) {
    visitor.choice("product", product_names, product);
    visitor.choice("scaling", scaling_names, scaling);
    visitor.flags(
        std::array<FlagsPart, 5>{FlagField{.bit = 0, .word = "signed", .value = is_signed},
                                 FlagField{.bit = 1, .word = "signed_weights", .value = has_signed_weights},
                                 FlagField{.bit = 2, .word = "by_channel", .value = by_channel},
                                 FlagField{.bit = 3, .word = "streamed", .value = streamed},
                                 FlagField{.bit = 4, .word = "with_margins", .value = with_margins}});
    visitor.number({.name = "dst", .bytes = 3}, result);
    visitor.number({.name = "src", .bytes = 3}, source);
    if (streamed) {
        visitor.host_address(parameters);
    } else {
        visitor.number({.name = "unit", .bytes = host_address_bytes}, parameters);
    }
    visitor.rule(product != TileProduct::Dense || !streamed, "streamed is not for dense");
    visitor.rule(product != TileProduct::Dense || !with_margins, "with_margins is not for dense");
    visitor.rule(scaling != Scaling::Real || by_channel, "scaling real is for by_channel");
}

Footprint TileMultiply::footprint(const Registers& registers, const Geometry& geometry) const {
    const TileGrid& grid = geometry.tiles;
    check_result_range(registers, is_signed);
    check_zero_point(registers, Register::SourceZeroPoint, is_signed);
    check_zero_point(registers, Register::MultiplyWeightZeroPoint, has_signed_weights);
    const WeightBlocks blocks = weight_blocks(*this, registers, grid);
    std::vector<MemoryRows> ranges = narrow_ranges(*this, registers, grid);
    if (product == TileProduct::Dense) {
        add_dense_units(*this, blocks, grid, ranges);
    } else if (streamed) {
        ranges.push_back(
            {.memory = MemoryId::HostMemory,
             .access = Access::Read,
             .rows = packed_range(parameters, saturating_product(blocks.block_bytes(), blocks.groups))});
    } else {
        ranges.push_back(
            {.memory = MemoryId::WideMemory,
             .access = Access::Read,
             .rows = wide_units(parameters, saturating_product(blocks.block_units(), blocks.groups))});
    }
    return Footprint(std::move(ranges));
}

}  // namespace systole::isa
