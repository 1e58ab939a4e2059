#include "compiler/mapping/cost.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "compiler/mapping/unit_times.h"
#include "hw/base/arithmetic.h"
#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"
#include "hw/timing/activation_unit.h"
#include "hw/timing/matrix_unit.h"
#include "hw/timing/transfers.h"

namespace systole::mapping {
namespace {

using isa::Register;

/// Chunks of a column that are computed one by one. Of more, the last half of these repeats.
constexpr std::size_t most_chunks = 32;

isa::Registers window_registers(const MappedProduct& product, std::uint32_t element_tile) {
    isa::Registers registers;
    const ir::Window& window = *product.window;
    registers.set(Register::WindowInputHeight, product.input.height);
    registers.set(Register::WindowInputWidth, product.input.width);
    registers.set(Register::WindowChannels, product.input.channels);
    registers.set(Register::WindowKernelHeight, window.kernel_height);
    registers.set(Register::WindowKernelWidth, window.kernel_width);
    registers.set(Register::WindowStrideY, window.stride_y);
    registers.set(Register::WindowStrideX, window.stride_x);
    registers.set(Register::WindowPadTop, window.pad_top);
    registers.set(Register::WindowPadLeft, window.pad_left);
    registers.set(Register::WindowOutputHeight, product.grid.height);
    registers.set(Register::WindowOutputWidth, product.grid.width);
    registers.set(Register::WindowTile, element_tile);
    return registers;
}

/// The stream of one line against an element tile.
timing::StreamShape line_of(const MappedProduct& product, const machine::MachineConfig& machine,
                            std::uint32_t element_tile) {
    const isa::MatrixFlags flags{.activations = product.activations, .weights = product.weights};
    if (!product.window) {
        return timing::stream_cost(isa::MatrixMultiply{.length = 1, .flags = flags}, {}, 0, machine).shape;
    }
    return timing::stream_cost(isa::Convolve{.lines = 1, .flags = flags},
                               window_registers(product, element_tile), 0, machine)
        .shape;
}

}  // namespace

std::vector<TileCost> tile_costs(const MappedProduct& product, const ColumnTile& column,
                                 const machine::MachineConfig& machine) {
    // Many fetches, because one also pays the latency and takes whole cycles.
    constexpr std::size_t fetches = 64;
    const std::vector<isa::WeightTile> tiles(
        fetches, {.rows = machine.matrix_unit.rows, .columns = column.channels, .type = product.weights});
    const timing::TileFetchCost cost = timing::tile_fetch_cost(tiles, machine);
    const Cycle cycles = product.spilled ? timing::host_read_cycles(cost.bytes, machine) : cost.cycles;
    const double fetch = static_cast<double>(cycles) / fetches;
    const double latency = product.spilled ? static_cast<double>(machine.host_latency()) : 0.0;
    std::vector<TileCost> tiles_of_column;
    for (const TileRun& run : column.runs) {
        for (std::uint32_t t = 0; t < run.tiles; ++t) {
            tiles_of_column.push_back({.line = line_of(product, machine, run.first_element_tile + t),
                                       .fetch = fetch,
                                       .latency = latency});
        }
    }
    return tiles_of_column;
}

Cycle activation_cycles(const ActivatedColumns& columns, std::uint32_t rows, bool loads,
                        const machine::MachineConfig& machine) {
    isa::Registers registers;
    registers.set(Register::ActivationColumns, columns.columns);
    registers.set(Register::ActivationPixelBytes, columns.pixel_bytes);
    registers.set(Register::BlockWidth, columns.block.width);
    registers.set(Register::BlockHeight, columns.block.height);
    registers.set(Register::BlockOutputWidth, columns.pixels.width);
    registers.set(Register::BlockOutputHeight, columns.pixels.height);
    const isa::Activate activate{.length = static_cast<std::uint16_t>(rows),
                                 .function = columns.function,
                                 .load_parameters = loads,
                                 .multipliers = columns.multipliers,
                                 .output = columns.output};
    return timing::activation_cost(activate, registers, machine).cycles;
}

namespace {

/// The chunks of products, column tile after column tile.
class Recurrence {
public:
    explicit Recurrence(const machine::MachineConfig& machine)
        : machine_(machine), times_(machine), activated_(1, 0.0) {}

    void add(const MappedProduct& product) {
        divide_accumulators(product.cut.parts);
        for (std::size_t j = 0; j < product.tiling.columns.size(); ++j) add_column(product, j);
    }

    Cycle cycles() const { return static_cast<Cycle>(std::llround(times_.end())); }

private:
    double done() const { return std::max(times_.matrix(), times_.activation()); }

    /// The next chunks use as many parts of the accumulators. Each is free when all its rows are.
    void divide_accumulators(std::size_t parts) {
        const std::size_t before = activated_.size();
        if (parts == before) return;
        std::vector<double> activated(parts, 0.0);
        for (std::size_t i = 0; i < parts; ++i) {
            for (std::size_t j = 0; j < before; ++j) {
                const bool overlap = i * before < (j + 1) * parts && j * parts < (i + 1) * before;
                if (overlap) activated[i] = std::max(activated[i], activated_[j]);
            }
        }
        part_ = part_ == 0 ? 0 : divide_up(((part_ - 1) % before + 1) * parts, before);
        activated_ = std::move(activated);
    }

    void add_column(const MappedProduct& product, std::size_t column) {
        const std::vector<TileCost> tiles = tile_costs(product, product.tiling.columns[column], machine_);
        const std::vector<Chunk>& chunks = product.cut.chunks;
        const std::size_t computed = std::min(chunks.size(), most_chunks);
        const std::size_t middle = computed / 2;
        const std::size_t behind = computed - middle;
        const std::vector<ActivatedColumns>& segments = product.activated[column];
        double half = 0;
        for (std::size_t c = 0; c < computed; ++c) {
            if (c == middle) half = done();
            Cycle activation = 0;
            for (const ActivatedColumns& segment : segments) {
                // Several segments load their parameters for each chunk.
                activation += activation_cycles(segment, chunks[c].lines * product.grid.width,
                                                c == 0 || segments.size() > 1, machine_);
            }
            // Tiles of a column with several are fetched for each chunk.
            add_chunk(tiles, chunks[c].lines, static_cast<double>(activation), c == 0 || tiles.size() > 1);
        }
        if (computed == chunks.size()) return;
        const double each = (done() - half) / static_cast<double>(behind);
        const double rest = each * static_cast<double>(chunks.size() - computed);
        times_.advance(rest);
        for (double& time : activated_) time += rest;
    }

    void add_chunk(const std::vector<TileCost>& tiles, std::uint32_t lines, double activation, bool fetches) {
        double& activated = activated_[part_++ % activated_.size()];
        double sums = 0;  // when the last of them are complete
        for (const TileCost& tile : tiles) {
            timing::StreamShape stream = tile.line;
            stream.lines = lines;
            // The first stream overwrites the rows of sums.
            const double ready = &tile == tiles.data() ? activated : 0.0;
            const UnitTimes::Fetch fetch{.cycles = tile.fetch, .latency = tile.latency};
            sums = times_.add_stream(stream, ready, fetches ? std::optional(fetch) : std::nullopt);
        }
        activated = times_.add_activation(sums, activation);
    }

    const machine::MachineConfig& machine_;
    UnitTimes times_;
    std::vector<double> activated_;  ///< by part of the accumulators: its rows are free
    std::size_t part_ = 0;           ///< that the next chunk takes, modulo their number
};

}  // namespace

Cycle predicted_cycles(const MappedProduct& product, const machine::MachineConfig& machine) {
    return predicted_cycles(std::span(&product, 1), machine);
}

Cycle predicted_cycles(std::span<const MappedProduct> products, const machine::MachineConfig& machine) {
    Recurrence recurrence(machine);
    for (const MappedProduct& product : products) recurrence.add(product);
    return recurrence.cycles();
}

Cycle predicted_cycles(std::span<const MappedProduct* const> products,
                       const machine::MachineConfig& machine) {
    Recurrence recurrence(machine);
    for (const MappedProduct* product : products) recurrence.add(*product);
    return recurrence.cycles();
}

}  // namespace systole::mapping
