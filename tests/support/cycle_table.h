#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hw/isa/instruction.h"
#include "hw/isa/operands.h"
#include "hw/isa/registers.h"
#include "hw/machine/machine_config.h"
#include "hw/timing/matrix_unit.h"
#include "hw/timing/tensor.h"
#include "hw/timing/tiles.h"
#include "hw/timing/transfers.h"
#include "tests/support/chip.h"

namespace systole::tests {

/// A run of a program, drawn like the examples of docs/timing.md: a line for each instruction or other item,
/// a letter for each cycle. The comment after an instruction is its name.
///
/// | line      | letters                                                                            |
/// |-----------|------------------------------------------------------------------------------------|
/// | NAME      | an instruction, NAME/1 its repetition 1: `q` issued and waiting, `=` rows or bytes |
/// |           | go in, `-` on the way, `r` results arrive, `#` both, `*` complete; with one part   |
/// |           | of a block of parameters: `w` waits for it, or for the buffer that it goes into;   |
/// |           | of a tensor core: for the shadow plane, or for high-bandwidth memory               |
/// | tile NAME | the tile of a `read_weights`: `f` fetched, `w` whole in the FIFO, `s` shifting in, |
/// |           | `h` held in the shadow plane, `c` computing                                        |
/// | fifo      | slots taken                                                                        |
/// | class     | of the matrix unit's cycle: `A`ctive, `N`on-matrix, `W`eight stall, weight `S`hift |
class CycleTable {
public:
    CycleTable(const machine::MachineConfig& machine, const std::string& program)
        : machine_(machine), names_(names_of(program)), chip_(machine, program) {
        if (names_.size() != chip_.program().instructions.size()) {
            throw std::logic_error("an example has one instruction a line");
        }
        chip_.run();
    }

    /// The machine of an example: defaults except for the keys of the JSON text.
    static machine::MachineConfig machine_of(const std::string& keys) {
        nlohmann::json object{{"schema", "sim.machine/1"}};
        object.merge_patch(nlohmann::json::parse(keys));
        return machine::read_machine(object, "docs/timing.md");
    }
    /// The same with each engine of its family; the first is the one that takes closed forms.
    static std::vector<machine::MachineConfig> machines_of(const std::string& keys) {
        std::vector<machine::MachineConfig> machines(2, machine_of(keys));
        if (machines.front().family == machine::Family::EdgeTpu) {
            machines[0].tile_array.engine = machine::TileEngine::ClosedForm;
            machines[1].tile_array.engine = machine::TileEngine::Lane;
        } else {
            machines[0].matrix_unit.engine = machine::Engine::Wavefront;
            machines[1].matrix_unit.engine = machine::Engine::Pe;
        }
        return machines;
    }

    /// The table of this run with the cycles and lines of another table.
    std::string like(const std::string& table) const {
        std::istringstream lines(table);
        std::string tens;
        std::string units;
        std::getline(lines, tens);
        std::getline(lines, units);
        const std::size_t margin = units.find_first_not_of(' ');
        if (!tens.starts_with("cycle ") || margin == std::string::npos || tens.size() <= margin ||
            std::isdigit(static_cast<unsigned char>(tens[margin])) == 0) {
            throw std::logic_error("a table begins with its cycles, the first one a multiple of ten");
        }
        const Cycle first = std::stoull(tens.substr(margin));
        const Cycle end = first + (units.size() - margin);
        std::string drawn = heading(margin, first, end);
        for (std::string line; std::getline(lines, line);) {
            std::string label = line.substr(0, margin);
            label.erase(label.find_last_not_of(' ') + 1);
            std::string cells;
            for (Cycle cycle = first; cycle < end; ++cycle) cells += ' ';
            draw(label, first, cells);
            drawn += without_trailing_blanks(label + std::string(margin - label.size(), ' ') + cells);
        }
        return drawn;
    }

    /// The class of each cycle of the run.
    std::string classes() const {
        std::string all(chip_cycles(), 'N');
        for (const hw::MatrixIdleTimes& stream : chip_.matrix_idle()) {
            const hw::IdleCycles& idle = stream.idle;
            const Cycle stalling = stream.begin + idle.without_rows;
            const Cycle shifting = stalling + idle.without_tile;
            fill(all, stalling, shifting, 'W');
            fill(all, shifting, shifting + idle.shifting, 'S');
        }
        for (const hw::InstructionTimes& stream : streams()) {
            const timing::StreamShape shape = shape_of(stream);
            for (std::uint64_t line = 0; line < shape.lines; ++line) {
                const Cycle begin = stream.begun + line * shape.line_cycles;
                fill(all, begin, begin + shape.line_input_cycles(), 'A');
            }
        }
        return all;
    }

    const TimedChip& chip() const { return chip_; }

private:
    /// The name of each instruction, in order; empty if it has no comment.
    static std::vector<std::string> names_of(const std::string& program) {
        const auto trimmed = [](const std::string& text) {
            const std::size_t begin = text.find_first_not_of(' ');
            return begin == std::string::npos ? std::string()
                                              : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
        };
        std::vector<std::string> names;
        std::istringstream lines(program);
        for (std::string line; std::getline(lines, line);) {
            const std::size_t comment = line.find('#');
            const std::string statement = trimmed(line.substr(0, comment));
            if (statement.empty() || statement.starts_with('.')) continue;
            names.push_back(comment == std::string::npos ? "" : trimmed(line.substr(comment + 1)));
        }
        return names;
    }

    static std::string without_trailing_blanks(std::string line) {
        line.erase(line.find_last_not_of(' ') + 1);
        return line + "\n";
    }

    static std::string heading(std::size_t margin, Cycle first, Cycle end) {
        std::string tens = "cycle" + std::string(margin - 5, ' ');
        std::string units(margin, ' ');
        for (Cycle cycle = first; cycle < end; ++cycle) {
            if (cycle % 10 == 0) {
                tens.resize(margin + (cycle - first), ' ');
                tens += std::to_string(cycle);
            }
            units += static_cast<char>('0' + cycle % 10);
        }
        return without_trailing_blanks(tens) + units + "\n";
    }

    static void fill(std::string& all, Cycle from, Cycle until, char letter) {
        for (Cycle cycle = from; cycle < until; ++cycle) all.at(cycle) = letter;
    }

    void draw(const std::string& label, Cycle first, std::string& cells) const {
        const auto each = [&](const auto& letter) {
            for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = letter(first + i);
        };
        if (label.empty()) return;
        if (label == "class") {
            const std::string all = classes();
            return each([&](Cycle cycle) { return cycle < all.size() ? all[cycle] : ' '; });
        }
        if (label == "fifo") {
            return each([&](Cycle cycle) {
                const auto slots = std::count_if(
                    chip_.tiles().begin(), chip_.tiles().end(),
                    [&](const hw::TileTimes& tile) { return tile.fetched <= cycle && cycle < tile.shifted; });
                return static_cast<char>('0' + slots);
            });
        }
        if (label.starts_with("tile ")) {
            const auto [tile, order] = tile_of(number_of(label.substr(5)));
            const auto [computes, replaced] = plane_of(order);
            return each([&, &t = tile, &from = computes, &until = replaced](Cycle cycle) {
                return tile_letter(t, from, until, cycle);
            });
        }
        const std::size_t slash = label.find('/');
        const std::size_t repetition = slash == std::string::npos ? 0 : std::stoul(label.substr(slash + 1));
        const hw::InstructionNumber number = number_of(label.substr(0, slash));
        if (std::holds_alternative<isa::Halt>(chip_.program().instructions[number])) {
            return each([&](Cycle cycle) { return cycle == chip_cycles() ? '*' : '.'; });
        }
        const hw::InstructionTimes times = times_of(number, repetition);
        const Cycle waits = waits_for_part(times);
        each([&](Cycle cycle) {
            const bool is_waiting = cycle >= times.begun && cycle < times.begun + waits;
            return is_waiting ? 'w' : letter(times, cycle);
        });
    }

    template <class Dma>
    Cycle hbm_cycles(const Dma& dma) const {
        return timing::hbm_cycles(std::uint64_t{dma.rows} * dma.blocks * machine_.vector_row_bytes(),
                                  machine_);
    }

    /// Cycles in which an instruction with a single part of a block has begun and waits for it, or for its
    /// buffer; of a tensor core, weights wait for the shadow plane and transfers for HBM. 0 of other
    /// instructions.
    Cycle waits_for_part(const hw::InstructionTimes& times) const {
        const isa::Instruction& instruction = chip_.program().instructions[times.number];
        const auto is_part = [&](std::uint64_t rows, std::uint64_t blocks) {
            return blocks == 1 && timing::block_parts(rows, machine_).count() == 1;
        };
        Cycle moves = times.released - times.begun;
        const Cycle all = moves;
        if (const auto* sent = std::get_if<isa::Multicast>(&instruction)) {
            const std::uint64_t bytes = std::uint64_t{sent->rows} * sent->units * isa::tile_unit_bytes;
            if (is_part(sent->rows, std::uint64_t{sent->groups} * sent->repeats)) {
                moves = timing::ring_cycles(bytes, machine_);
            }
        } else if (const auto* stream = std::get_if<isa::StreamParameters>(&instruction)) {
            if (is_part(stream->rows, std::uint64_t{stream->groups} * stream->repeats)) {
                moves = timing::host_read_cycles(stream->group_bytes(), machine_);
            }
        } else if (const auto* multiply = std::get_if<isa::TileMultiply>(&instruction)) {
            const timing::ProductCost cost =
                timing::product_cost(*multiply, registers_at(times.number), machine_);
            if (is_part(cost.blocks.rows(), cost.blocks.groups * cost.repeats())) moves = cost.cycles();
        } else if (std::holds_alternative<isa::LoadWeights>(instruction)) {
            moves = timing::shift_cycles(machine_);
        } else if (const auto* in = std::get_if<isa::DmaIn>(&instruction)) {
            moves = hbm_cycles(*in);
        } else if (const auto* out = std::get_if<isa::DmaOut>(&instruction)) {
            moves = hbm_cycles(*out);
        } else if (const auto* gather = std::get_if<isa::GatherRows>(&instruction)) {
            moves = hbm_cycles(*gather);
        }
        return moves < all ? all - moves : 0;
    }

    char letter(const hw::InstructionTimes& times, Cycle cycle) const {
        if (cycle < times.issued || cycle > times.complete) return '.';
        if (cycle == times.complete) return '*';
        if (cycle < times.begun) return 'q';
        const bool enters = cycle < times.released;
        const bool arrives = cycle >= times.begun + latency(times);
        return enters ? (arrives ? '#' : '=') : (arrives ? 'r' : '-');
    }

    /// Cycles from the entry of a row or byte to its result, without the cycles before the first.
    Cycle latency(const hw::InstructionTimes& times) const {
        switch (static_cast<isa::QueueId>(times.unit)) {
            case isa::QueueId::Matrix:
                return timing::matrix_latency(machine_);
            case isa::QueueId::Weights:
            case isa::QueueId::Host:
            case isa::QueueId::Tiles:
            case isa::QueueId::WeightWrite:
                return times.complete - times.begun;
            case isa::QueueId::HostRead:
            case isa::QueueId::HostWrite:
            case isa::QueueId::Ring:
            case isa::QueueId::Mesh:
            case isa::QueueId::DmaIn:
            case isa::QueueId::DmaOut:
            case isa::QueueId::Vector:
            case isa::QueueId::CrossLane:
            case isa::QueueId::Collective:
                return times.complete - times.released;
            case isa::QueueId::Activation:
                return loads(times) + times.complete - times.released;
        }
        throw std::logic_error("an instruction of no unit");
    }

    /// Cycles in which parameters and table are loaded.
    Cycle loads(const hw::InstructionTimes& times) const {
        const Cycle cycles = times.released - times.begun;
        const isa::Instruction& instruction = chip_.program().instructions[times.number];
        if (const auto* vector = std::get_if<isa::Vector>(&instruction)) {
            return vector->operation == isa::VectorOperation::Lookup ? cycles - vector->length : 0;
        }
        const auto& activate = std::get<isa::Activate>(instruction);
        const std::uint64_t bytes =
            std::uint64_t{registers_at(times.number)[isa::Register::ActivationColumns]} *
            bytes_of(activate.output);
        return cycles - activate.length * divide_up(bytes, machine_.matrix_unit.rows);
    }

    /// The registers that are bound to an instruction.
    isa::Registers registers_at(hw::InstructionNumber number) const {
        isa::Registers registers;
        for (hw::InstructionNumber before = 0; before < number; ++before) {
            const auto* set = std::get_if<isa::SetConfig>(&chip_.program().instructions[before]);
            if (set != nullptr) registers.set(set->reg, set->value);
        }
        return registers;
    }

    timing::StreamShape shape_of(const hw::InstructionTimes& stream) const {
        const isa::Instruction& instruction = chip_.program().instructions[stream.number];
        const Cycle span = stream.released - stream.begun;
        if (const auto* multiply = std::get_if<isa::MatrixMultiply>(&instruction)) {
            return {.lines = 1,
                    .line_rows = multiply->length,
                    .passes = span / multiply->length,
                    .line_cycles = span};
        }
        if (const auto* product = std::get_if<isa::Product>(&instruction)) {
            return timing::streamed_product(*product, registers_at(stream.number), machine_).shape;
        }
        const auto& convolve = std::get<isa::Convolve>(instruction);
        return {.lines = convolve.lines,
                .line_rows = registers_at(stream.number)[isa::Register::WindowOutputWidth],
                .passes = timing::array_passes(convolve.flags, machine_.matrix_unit),
                .line_cycles = span / convolve.lines};
    }

    char tile_letter(const hw::TileTimes& tile, Cycle computes, Cycle replaced, Cycle cycle) const {
        if (cycle < tile.fetched || cycle >= replaced) return '.';
        if (cycle >= computes) return 'c';
        if (cycle >= tile.shifted) return 'h';
        if (cycle >= tile.shifting) return 's';
        return cycle >= tile.whole ? 'w' : 'f';
    }

    hw::InstructionNumber number_of(const std::string& name) const {
        const auto found = std::find(names_.begin(), names_.end(), name);
        if (found == names_.end() || std::find(found + 1, names_.end(), name) != names_.end()) {
            throw std::logic_error("no instruction, or more than one, is called " + name);
        }
        return static_cast<hw::InstructionNumber>(found - names_.begin());
    }

    hw::InstructionTimes times_of(hw::InstructionNumber number, std::size_t repetition) const {
        for (std::size_t unit = 0; unit < isa::queue_count; ++unit) {
            for (const hw::InstructionTimes& times : chip_.times(static_cast<isa::QueueId>(unit))) {
                if (times.number == number && repetition-- == 0) return times;
            }
        }
        throw std::logic_error("a line of a table is of no instruction with times");
    }

    /// The tile that an instruction fetched, and the number of tiles that left the FIFO before it.
    std::pair<hw::TileTimes, std::size_t> tile_of(hw::InstructionNumber number) const {
        for (std::size_t i = 0; i < chip_.tiles().size(); ++i) {
            if (chip_.tiles()[i].number == number) return {chip_.tiles()[i], i};
        }
        throw std::logic_error("a tile never left the weight FIFO");
    }

    /// The cycles in which the n-th tile of the array computes.
    std::pair<Cycle, Cycle> plane_of(std::size_t n) const {
        std::vector<Cycle> switches;
        for (const hw::InstructionTimes& stream : streams()) {
            if (!keeps(stream)) switches.push_back(stream.begun);
        }
        switches.resize(std::max(switches.size(), n + 2), chip_cycles());
        return {switches[n], switches[n + 1]};
    }

    bool keeps(const hw::InstructionTimes& stream) const {
        const isa::Instruction& instruction = chip_.program().instructions[stream.number];
        if (const auto* product = std::get_if<isa::Product>(&instruction)) return product->keep_weights;
        const auto* multiply = std::get_if<isa::MatrixMultiply>(&instruction);
        return multiply != nullptr ? multiply->flags.keep_weights
                                   : std::get<isa::Convolve>(instruction).flags.keep_weights;
    }

    std::vector<hw::InstructionTimes> streams() const { return chip_.times(isa::QueueId::Matrix); }
    Cycle chip_cycles() const { return chip_->cycles(); }

    const machine::MachineConfig machine_;
    const std::vector<std::string> names_;
    TimedChip chip_;
};

}  // namespace systole::tests
