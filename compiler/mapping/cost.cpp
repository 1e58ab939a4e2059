#include "compiler/mapping/cost.h"

#include <algorithm>
#include <cmath>
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
    Recurrence(const MappedProduct& product, const machine::MachineConfig& machine)
        : product_(product),
          machine_(machine),
          latency_(static_cast<double>(timing::matrix_latency(machine))),
          shift_(static_cast<double>(timing::shift_cycles(machine))),
          activated_(product.cut.parts, 0.0) {}

    Cycle cycles() {
        for (const ColumnTile& column : product_.tiling.columns) add(column);
        return static_cast<Cycle>(std::llround(std::max(matrix_, activation_) + activation_latency()));
    }

private:
    double activation_latency() const { return static_cast<double>(machine_.activation_latency()); }

    void add(const ColumnTile& column) {
        const std::vector<Step> steps = steps_of(product_, column, machine_);
        const std::vector<Chunk>& chunks = product_.cut.chunks;
        const std::size_t computed = std::min(chunks.size(), most_chunks);
        const std::size_t middle = computed / 2;
        const std::size_t behind = computed - middle;
        loads_ = true;
        double half = 0;
        for (std::size_t c = 0; c < computed; ++c) {
            if (c == middle) half = std::max(matrix_, activation_);
            // Tiles of a column with several are fetched for each chunk.
            add_chunk(steps, chunks[c], c == 0 || steps.size() > 1);
        }
        if (computed == chunks.size()) return;
        const double each = (std::max(matrix_, activation_) - half) / static_cast<double>(behind);
        advance(each * static_cast<double>(chunks.size() - computed));
    }

    void add_chunk(const std::vector<Step>& steps, const Chunk& chunk, bool fetches) {
        double sums = 0;  // when the last of them are complete
        double& activated = activated_[part_++ % activated_.size()];
        for (std::size_t s = 0; s < steps.size(); ++s) {
            timing::StreamShape stream = steps[s].line;
            stream.lines = chunk.lines;
            double begin = matrix_;
            if (fetches) begin = std::max(begin, tile_in_array(steps[s].fetch));
            if (s == 0) begin = std::max(begin, activated);
            if (fetches) shadow_free_ = begin + 1;
            matrix_ = begin + static_cast<double>(stream.span());
            sums =
                begin + static_cast<double>(timing::stream_completion(stream, static_cast<Cycle>(latency_)));
        }
        activation_ = std::max(activation_, sums) + activation_cycles(chunk);
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

    double activation_cycles(const Chunk& chunk) {
        isa::Registers registers;
        const std::uint32_t columns = product_.grid.channels;
        registers.set(Register::ActivationColumns, std::min(columns, machine_.matrix_unit.columns));
        registers.set(Register::ActivationPixelBytes, product_.pixel_bytes);
        registers.set(Register::BlockWidth, product_.block.width);
        registers.set(Register::BlockHeight, product_.block.height);
        registers.set(Register::BlockOutputWidth, product_.pixels.width);
        registers.set(Register::BlockOutputHeight, product_.pixels.height);
        const isa::Activate activate{.length = static_cast<std::uint16_t>(chunk.lines * product_.grid.width),
                                     .function = product_.function,
                                     .load_parameters = loads_,
                                     .output = product_.output};
        loads_ = false;
        return static_cast<double>(timing::activation_cost(activate, registers, machine_).cycles);
    }

    /// Lets all units work on for some cycles.
    void advance(double cycles) {
        for (double* time : {&matrix_, &activation_, &memory_, &shadow_free_}) *time += cycles;
        for (auto* times : {&shifted_, &activated_}) {
            for (double& time : *times) time += cycles;
        }
    }

    const MappedProduct& product_;
    const machine::MachineConfig& machine_;
    const double latency_;
    const double shift_;
    double matrix_ = 0;              ///< the next stream may enter
    double activation_ = 0;          ///< the next chunk may be activated
    double memory_ = 0;              ///< the next fetch may begin
    double shadow_free_ = 0;         ///< the shadow plane takes a tile
    std::vector<double> activated_;  ///< by part of the accumulators: its rows are free
    std::vector<double> shifted_;    ///< by tile: it has left the FIFO
    std::size_t part_ = 0;
    bool loads_ = true;  ///< the next activation loads parameters
};

}  // namespace

Cycle predicted_cycles(const MappedProduct& product, const machine::MachineConfig& machine) {
    return Recurrence(product, machine).cycles();
}

}  // namespace systole::mapping
