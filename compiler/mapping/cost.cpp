#include "compiler/mapping/cost.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

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

/// A weight tile of a column, with the stream of one line against it.
struct Step {
    timing::StreamShape line;
    double fetch = 0;  ///< cycles of weight memory
};

std::vector<Step> steps_of(const MappedProduct& product, const ColumnTile& column,
                           const machine::MachineConfig& machine) {
    // Many fetches, because one also pays the latency and takes whole cycles.
    constexpr std::size_t fetches = 64;
    const std::vector<isa::WeightTile> tiles(
        fetches, {.rows = machine.matrix_unit.rows, .columns = column.channels, .type = product.weights});
    const double fetch = static_cast<double>(timing::tile_fetch_cost(tiles, machine).cycles) / fetches;
    std::vector<Step> steps;
    for (const TileRun& run : column.runs) {
        for (std::uint32_t t = 0; t < run.tiles; ++t) {
            steps.push_back({.line = line_of(product, machine, run.first_element_tile + t), .fetch = fetch});
        }
    }
    return steps;
}

/// The times of the units, in cycles from the first row of array input.
class Recurrence {
public:
    explicit Recurrence(const machine::MachineConfig& machine)
        : machine_(machine),
          latency_(static_cast<double>(timing::matrix_latency(machine))),
          shift_(static_cast<double>(timing::shift_cycles(machine))),
          activated_(1, 0.0) {}

    void add(const MappedProduct& product) {
        divide_accumulators(product.cut.parts);
        for (std::size_t j = 0; j < product.tiling.columns.size(); ++j) add_column(product, j);
    }

    Cycle cycles() const {
        return static_cast<Cycle>(std::llround(std::max(matrix_, activation_) + activation_latency()));
    }

private:
    double activation_latency() const { return static_cast<double>(machine_.activation_latency()); }

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
        const std::vector<Step> steps = steps_of(product, product.tiling.columns[column], machine_);
        const std::vector<Chunk>& chunks = product.cut.chunks;
        const std::size_t computed = std::min(chunks.size(), most_chunks);
        const std::size_t middle = computed / 2;
        const std::size_t behind = computed - middle;
        const std::vector<ActivatedColumns>& segments = product.activated[column];
        double half = 0;
        for (std::size_t c = 0; c < computed; ++c) {
            if (c == middle) half = std::max(matrix_, activation_);
            const double activation =
                activation_cycles(segments, chunks[c].lines * product.grid.width, c == 0);
            // Tiles of a column with several are fetched for each chunk.
            add_chunk(steps, chunks[c].lines, activation, c == 0 || steps.size() > 1);
        }
        if (computed == chunks.size()) return;
        const double each = (std::max(matrix_, activation_) - half) / static_cast<double>(behind);
        advance(each * static_cast<double>(chunks.size() - computed));
    }

    void add_chunk(const std::vector<Step>& steps, std::uint32_t lines, double activation, bool fetches) {
        double sums = 0;  // when the last of them are complete
        double& activated = activated_[part_++ % activated_.size()];
        for (std::size_t s = 0; s < steps.size(); ++s) {
            timing::StreamShape stream = steps[s].line;
            stream.lines = lines;
            double begin = matrix_;
            if (fetches) begin = std::max(begin, tile_in_array(steps[s].fetch));
            if (s == 0) begin = std::max(begin, activated);
            if (fetches) shadow_free_ = begin + 1;
            matrix_ = begin + static_cast<double>(stream.span());
            sums =
                begin + static_cast<double>(timing::stream_completion(stream, static_cast<Cycle>(latency_)));
        }
        activation_ = std::max(activation_, sums) + activation;
        activated = activation_ + activation_latency();
    }

    /// When the next tile has been shifted into the array's shadow plane. The first is there when the first
    /// row enters, and behind it the FIFO is full.
    double tile_in_array(double fetch) {
        const std::size_t depth = machine_.weight_fifo.depth_tiles;
        const std::size_t number = shifted_.size();
        double arrived = 0;
        if (number > depth) {
            memory_ = std::max(memory_, shifted_[number - depth]) + fetch;
            arrived = memory_;
        }
        shifted_.push_back(number == 0 ? 0 : std::max(arrived, shadow_free_) + shift_);
        return shifted_.back();
    }

    /// Of rows of sums; several segments load their parameters for each chunk.
    double activation_cycles(const std::vector<ActivatedColumns>& segments, std::uint32_t rows,
                             bool is_first_chunk) const {
        Cycle cycles = 0;
        for (const ActivatedColumns& segment : segments) {
            isa::Registers registers;
            registers.set(Register::ActivationColumns, segment.columns);
            registers.set(Register::ActivationPixelBytes, segment.pixel_bytes);
            registers.set(Register::BlockWidth, segment.block.width);
            registers.set(Register::BlockHeight, segment.block.height);
            registers.set(Register::BlockOutputWidth, segment.pixels.width);
            registers.set(Register::BlockOutputHeight, segment.pixels.height);
            const isa::Activate activate{.length = static_cast<std::uint16_t>(rows),
                                         .function = segment.function,
                                         .load_parameters = is_first_chunk || segments.size() > 1,
                                         .output = segment.output};
            cycles += timing::activation_cost(activate, registers, machine_).cycles;
        }
        return static_cast<double>(cycles);
    }

    /// Lets all units work on for some cycles.
    void advance(double cycles) {
        for (double* time : {&matrix_, &activation_, &memory_, &shadow_free_}) *time += cycles;
        for (auto* times : {&shifted_, &activated_}) {
            for (double& time : *times) time += cycles;
        }
    }

    const machine::MachineConfig& machine_;
    const double latency_;
    const double shift_;
    double matrix_ = 0;              ///< the next stream may enter
    double activation_ = 0;          ///< the next chunk may be activated
    double memory_ = 0;              ///< the next fetch may begin
    double shadow_free_ = 0;         ///< the shadow plane takes a tile
    std::vector<double> activated_;  ///< by part of the accumulators: its rows are free
    std::vector<double> shifted_;    ///< by tile: it has left the FIFO
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
