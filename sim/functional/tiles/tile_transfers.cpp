#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "hw/isa/tile_layout.h"
#include "sim/functional/tiles/tile_instructions.h"

namespace systole::functional {
namespace {

/// Calls `work(pixel)` for all pixels of an image, line by line.
template <class Work>
void for_each_pixel(const TiledImage& image, Work work) {
    for (std::int64_t line = 0; line < image.lines(); ++line) {
        for (std::int64_t column = 0; column < image.columns(); ++column) {
            work(Pixel{.line = line, .column = column});
        }
    }
}

TiledImage source_image(const TileState& state, std::uint64_t address) {
    return TiledImage(isa::tile_layout(state.registers, isa::source_registers, state.grid, address));
}

/// All elements of an image in the order line, column, channel.
std::vector<std::uint8_t> packed(const TiledImage& image, TileState& state) {
    std::vector<std::uint8_t> elements;
    for_each_pixel(image, [&](const Pixel& pixel) {
        const std::uint64_t tile = image.owner(pixel);
        const std::uint64_t address = image.address(tile, pixel);
        for (std::int64_t channel = 0; channel < image.channels(); ++channel) {
            elements.push_back(state.narrow_byte(tile, address + static_cast<std::uint64_t>(channel)));
        }
    });
    return elements;
}

/// The elements of the vector over the tiles' lanes at an address.
std::vector<std::uint8_t> packed_vector(std::uint64_t address, TileState& state) {
    const std::uint64_t lanes = state.grid.lanes;
    const std::uint64_t tiles = state.grid.tiles();
    std::vector<std::uint8_t> elements(state.registers[isa::Register::SourceChannels]);
    for (std::uint64_t i = 0; i < elements.size(); ++i) {
        const std::uint64_t group = i / lanes;
        elements[i] = state.narrow_byte(group % tiles, address + group / tiles * lanes + i % lanes);
    }
    return elements;
}

std::vector<std::uint8_t> packed_source(bool over_lanes, std::uint64_t address, TileState& state) {
    return over_lanes ? packed_vector(address, state) : packed(source_image(state, address), state);
}

}  // namespace

void execute(const isa::ReadParameters& read, TileState& state) {
    const auto from = state.host.range(read.host_address, std::uint64_t{read.units} * isa::tile_unit_bytes);
    std::copy(from.begin(), from.end(), state.wide_memory.rows(read.unit, read.units).begin());
}

void execute(const isa::ReadTensor& read, TileState& state) {
    const isa::TileLayout layout =
        isa::tile_layout(state.registers, isa::result_registers, state.grid, read.address);
    const TiledImage image(layout);
    auto next = state.host.range(read.host_address, layout.lines * layout.columns * layout.channels).begin();
    for_each_pixel(image, [&](const Pixel& pixel) {
        const std::uint64_t tile = image.owner(pixel);
        const std::uint64_t address = image.address(tile, pixel);
        for (std::uint64_t channel = 0; channel < layout.channels; ++channel) {
            state.narrow_byte(tile, address + channel) = *next++;
        }
    });
}

void execute(const isa::WriteTensor& write, TileState& state) {
    const std::vector<std::uint8_t> elements = packed_source(write.over_lanes, write.address, state);
    std::copy(elements.begin(), elements.end(),
              state.host.range(write.host_address, elements.size()).begin());
}

void execute(const isa::StreamParameters& stream, TileState& state) {
    const std::uint64_t units = std::uint64_t{stream.rows} * stream.units * stream.groups;
    state.host.range(stream.host_address, units * isa::tile_unit_bytes);
    state.staged.send(
        {.streamed = true, .address = stream.host_address, .rows = stream.rows, .units = stream.units},
        stream.groups, stream.repeats);
}

void execute(const isa::Multicast& multicast, TileState& state) {
    const Block first{.streamed = multicast.streamed,
                      .address = multicast.parameters,
                      .rows = multicast.rows,
                      .units = multicast.units};
    if (multicast.streamed) {
        BlockQueue sent;
        sent.send(first, multicast.groups, multicast.repeats);
        for (std::optional<Block> block = sent.take(); block; block = sent.take()) {
            state.staged.take(*block, "in the staging buffer", "multicast");
        }
    }
    state.on_ring.send(first, multicast.groups, multicast.repeats);
}

void execute(const isa::Collect& collect, TileState& state) {
    const std::vector<std::uint8_t> elements = packed_source(collect.over_lanes, collect.source, state);
    for (std::uint64_t tile = 0; tile < state.grid.tiles(); ++tile) {
        std::copy(elements.begin(), elements.end(),
                  state.narrow_memory.rows(tile, 1).subspan(collect.destination).begin());
    }
}

void execute(const isa::Exchange& exchange, TileState& state) {
    const TiledImage image = source_image(state, exchange.address);
    const auto pad = static_cast<std::uint8_t>(state.registers[isa::Register::WindowPadValue]);
    for (std::uint64_t tile = 0; tile < state.grid.tiles(); ++tile) {
        const auto [first, behind] = image.stored(tile);
        for (Pixel pixel = first; pixel.line < behind.line; ++pixel.line) {
            for (pixel.column = first.column; pixel.column < behind.column; ++pixel.column) {
                const std::uint64_t to = image.address(tile, pixel);
                const bool is_inside = image.has(pixel);
                const std::uint64_t owner = is_inside ? image.owner(pixel) : tile;
                for (std::uint64_t channel = 0; channel < static_cast<std::uint64_t>(image.channels());
                     ++channel) {
                    state.narrow_byte(tile, to + channel) =
                        is_inside ? state.narrow_byte(owner, image.address(owner, pixel) + channel) : pad;
                }
            }
        }
    }
}

void execute(const isa::Move& move, TileState& state) {
    using enum isa::Register;
    const isa::Registers& registers = state.registers;
    const TiledImage source(isa::tile_layout(registers, isa::source_registers, state.grid, move.source));
    const TiledImage result(isa::tile_layout(registers, isa::result_registers, state.grid, move.result));
    const auto outside = static_cast<std::uint8_t>(registers[WindowPadValue]);
    // Minus 1, which lies outside, if there is no place.
    const auto place = [&](std::int64_t at, isa::Register stride, isa::Register pad, isa::Register dilation) {
        const std::int64_t moved = at * registers[stride] - registers.as_signed(pad);
        const std::int64_t divisor = registers[dilation];
        return moved < 0 || (!move.repeats && moved % divisor != 0) ? -1 : moved / divisor;
    };
    for_each_pixel(result, [&](const Pixel& pixel) {
        const Pixel from{.line = place(pixel.line, WindowStrideY, WindowPadTop, WindowDilationY),
                         .column = place(pixel.column, WindowStrideX, WindowPadLeft, WindowDilationX)};
        const bool comes = source.has(from);
        if (!comes && move.keeps) return;
        const std::uint64_t tile = result.owner(pixel);
        for (std::uint64_t channel = 0; channel < static_cast<std::uint64_t>(result.channels()); ++channel) {
            std::uint8_t& to = state.narrow_byte(tile, result.address(tile, pixel) + channel);
            if (!comes) {
                to = outside;
                continue;
            }
            const std::uint64_t owner = source.owner(from);
            to = state.narrow_byte(owner, source.address(owner, from) + channel);
        }
    });
}

void execute(const isa::Permute& permute, TileState& state) {
    const TiledImage source(
        isa::tile_layout(state.registers, isa::source_registers, state.grid, permute.source));
    const TiledImage result(
        isa::tile_layout(state.registers, isa::result_registers, state.grid, permute.result));
    const std::array<std::size_t, 3> axes = isa::source_axes(permute.order);
    for_each_pixel(result, [&](const Pixel& pixel) {
        for (std::int64_t channel = 0; channel < result.channels(); ++channel) {
            std::array<std::int64_t, 3> place{};  // line, column and channel of the source
            place.at(axes[0]) = pixel.line;
            place.at(axes[1]) = pixel.column;
            place.at(axes[2]) = channel;
            const Pixel from{.line = place[0], .column = place[1]};
            const std::uint64_t reader = source.owner(from);
            const std::uint64_t writer = result.owner(pixel);
            state.narrow_byte(writer, result.address(writer, pixel) + static_cast<std::uint64_t>(channel)) =
                state.narrow_byte(reader,
                                  source.address(reader, from) + static_cast<std::uint64_t>(place[2]));
        }
    });
}

}  // namespace systole::functional
