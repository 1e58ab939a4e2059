#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "hw/isa/footprint.h"
#include "hw/isa/loaded_values.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "tests/support/random_program/choices.h"

namespace systole::tests {

/// Consecutive tiles that a matrix instruction takes from the FIFO, one for each repetition; none with
/// `keep`.
struct TileRun {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

struct DraftInstruction {
    isa::Instruction instruction;
    TileRun tiles = {};
};

/// A program under construction, still without `read_weights` and `sync`.
class Draft {
public:
    Draft(const machine::MachineConfig& machine, Choices& choices);

    /// Adds an instruction of some kind after the registers it needs.
    void add_any();
    void add(const isa::Instruction& instruction, TileRun tiles = {});

    std::vector<DraftInstruction>& instructions() { return instructions_; }
    isa::Program& program() { return program_; }

private:
    /// Fields and registers of an instruction, which may be invalid or not fit the machine.
    using Attempt = std::optional<isa::Instruction> (Draft::*)();
    void add_fitting(Attempt attempt);
    bool fits(const isa::Instruction& instruction) const;
    /// Whether the machine has all of the rows.
    bool is_there(const isa::MemoryRows& touched) const;
    /// Writes the registers that differ from those in force.
    void want_registers();

    std::optional<isa::Instruction> read_host();
    std::optional<isa::Instruction> write_host();
    std::optional<isa::Instruction> matmul();
    std::optional<isa::Instruction> convolve();
    std::optional<isa::Instruction> activate();
    std::optional<isa::Instruction> elementwise();
    std::optional<isa::Instruction> pooling();
    std::optional<isa::Instruction> host_work();
    std::optional<isa::Instruction> write_weights();

    /// Blocks of a buffer of the host, to or from the unified buffer.
    template <class Transfer>
    isa::Instruction transfer();
    void draw_buffers();
    void draw_segments();
    std::vector<std::uint8_t> random_sums(std::uint64_t bytes);
    void draw_initial_rows();
    void draw_windows(bool inside);
    /// Sets the pixels of a block, mostly one, at most as many as the array has columns. Returns their
    /// number.
    std::uint32_t draw_block();
    void draw_output_range();
    /// The streams of a matrix instruction: one for each of its tiles.
    struct Streams {
        std::vector<std::uint32_t> elements;  ///< of a row, by stream
        std::uint32_t block_pixels = 1;
    };
    /// Takes tiles for the streams; fails if no tiles fit.
    bool draw_tiles(isa::MatrixFlags& flags, const Streams& streams);
    bool serves(std::uint32_t first, const isa::MatrixFlags& flags, const Streams& streams) const;
    void draw_tile(const isa::MatrixFlags& flags, std::uint32_t rows, std::uint32_t block_pixels);
    isa::MatrixFlags matrix_flags();

    void set(isa::Register reg, std::uint64_t value) { wanted_.set(reg, static_cast<std::uint32_t>(value)); }
    /// Usually one of a few rows, so that instructions conflict.
    std::uint32_t buffer_row() {
        constexpr std::uint32_t few = 24;
        const std::uint32_t last = machine_.unified_buffer.rows - 1;
        return choices_.number<std::uint32_t>(0, choices_.chance(60) ? std::min(last, few) : last);
    }
    std::uint16_t accumulator_row() {
        return choices_.number<std::uint16_t>(0, machine_.accumulators.rows - 1);
    }

    const machine::MachineConfig& machine_;
    Choices& choices_;
    isa::Program program_;
    std::vector<DraftInstruction> instructions_;
    isa::Registers registers_;
    isa::Registers wanted_;
    std::optional<isa::LoadedValues> loaded_;
    TileRun drawn_;
    std::optional<std::uint32_t> in_array_;  ///< the tile used last
};

/// Inserts `read_weights` between the instructions: each tile is fetched before the instruction that takes
/// it, as far ahead as FIFO and queue allow. `tiles` is the number of the program's tiles.
std::vector<isa::Instruction> with_read_weights(const std::vector<DraftInstruction>& draft, std::size_t tiles,
                                                const machine::MachineConfig& machine, Choices& choices);

}  // namespace systole::tests
