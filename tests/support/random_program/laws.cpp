// What must hold of every run, whatever it computes.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string_view>

#include "hw/isa/footprint.h"
#include "tests/support/random_program/observe.h"

namespace systole::tests {
namespace {

/// Sums of an observation's counters over the tags.
class Totals {
public:
    explicit Totals(const Observation& run) : run_(run) {}

    std::uint64_t of(std::string_view name) const {
        std::uint64_t sum = 0;
        bool found = false;
        for (const CounterReading& reading : run_.counters) {
            if (reading.name != name) continue;
            sum += reading.value;
            found = true;
        }
        if (!found) throw std::logic_error(fmt::format("there is no counter {}", name));
        return sum;
    }
    /// All cycles a unit accounts for, those of its groups below left out.
    std::uint64_t cycles_of(std::string_view unit) const {
        std::uint64_t sum = 0;
        for (const CounterReading& reading : run_.counters) {
            const std::string_view name = reading.name;
            const std::size_t dot = name.rfind('.');
            if (name.substr(0, dot) == unit && name.ends_with("_cycles")) sum += reading.value;
        }
        return sum;
    }

private:
    const Observation& run_;
};

/// Every non-matrix cycle has one reason, under each tag.
std::optional<std::string> broken_reasons(const Observation& run) {
    constexpr std::string_view reasons = "matrix_unit.non_matrix_reasons.";
    std::map<hw::Tag, std::uint64_t> cycles;
    std::map<hw::Tag, std::uint64_t> explained;
    for (const CounterReading& reading : run.counters) {
        if (reading.value == 0) continue;
        if (reading.name == "matrix_unit.non_matrix_cycles") cycles[reading.tag] += reading.value;
        if (reading.name.starts_with(reasons)) explained[reading.tag] += reading.value;
    }
    if (cycles != explained) return "the reasons for non-matrix cycles do not sum to these";
    const Totals totals(run);
    const auto of = [&](std::string_view reason) { return totals.of(fmt::format("{}{}", reasons, reason)); };
    if (of("raw_cycles") > totals.of("matrix_unit.raw_stall_cycles")) {
        return "more cycles have RAW as their reason than are RAW stalls";
    }
    if (of("setup_cycles") != totals.of("matrix_unit.setup_stall_cycles")) {
        return "other cycles have the data setup as their reason than are setup stalls";
    }
    return std::nullopt;
}

std::optional<std::string> broken_partition(const Observation& run, const machine::MachineConfig& machine) {
    const Totals totals(run);
    for (const std::string_view unit :
         {"sequencer", "host_read", "host_write", "weight_fifo", "systolic_data_setup", "activation_unit"}) {
        if (totals.cycles_of(unit) != run.cycles) {
            return fmt::format("the cycles of {} sum to {} of {}", unit, totals.cycles_of(unit), run.cycles);
        }
    }
    if (machine.weight_memory.writable && totals.cycles_of("weight_writer") != run.cycles) {
        return fmt::format("the cycles of weight_writer sum to {} of {}", totals.cycles_of("weight_writer"),
                           run.cycles);
    }
    const bool has_host = totals.cycles_of("host") > 0;
    if (has_host && totals.cycles_of("host") != run.cycles) {
        return fmt::format("the cycles of host sum to {} of {}", totals.cycles_of("host"), run.cycles);
    }
    const std::uint64_t active = totals.of("matrix_unit.active_cycles");
    const std::uint64_t fetching = totals.of("systolic_data_setup.lines.fetch_cycles");
    if (fetching > active + totals.of("matrix_unit.setup_stall_cycles")) {
        return fmt::format("the data setup fetches for {} cycles, longer than its streams", fetching);
    }
    const std::uint64_t classes = active + totals.of("matrix_unit.weight_stall_cycles") +
                                  totals.of("matrix_unit.weight_shift_cycles") +
                                  totals.of("matrix_unit.non_matrix_cycles");
    if (classes != run.cycles) {
        return fmt::format("the four classes of the matrix unit sum to {} of {} cycles", classes, run.cycles);
    }
    if (auto broken = broken_reasons(run)) return broken;
    const std::uint64_t cells = totals.of("matrix_unit.useful_macs") + totals.of("matrix_unit.unused_macs");
    if (cells != active * machine.tile_bytes()) {
        return fmt::format("useful and unused MACs sum to {}; {} active cycles have {}", cells, active,
                           active * machine.tile_bytes());
    }
    return std::nullopt;
}

/// What the trace should hold: instructions by unit, repetitions each, and what was moved.
struct Asked {
    std::array<std::size_t, isa::queue_count> passed{};
    std::uint64_t tiles = 0;
    std::uint64_t instructions = 0;
};

Asked asked_of(const isa::Program& program) {
    Asked asked;
    for (const isa::Instruction& instruction : program.instructions) {
        ++asked.instructions;
        if (std::holds_alternative<isa::Halt>(instruction)) break;
        if (std::holds_alternative<isa::SyncWait>(instruction) ||
            std::holds_alternative<isa::SyncSignal>(instruction)) {
            continue;  // of the queue, not of the unit
        }
        if (const auto unit = isa::queue_of(instruction)) ++asked.passed[static_cast<std::size_t>(*unit)];
        auto& streams = asked.passed[static_cast<std::size_t>(isa::QueueId::Matrix)];
        if (const auto* multiply = std::get_if<isa::MatrixMultiply>(&instruction))
            streams += multiply->repeat;
        if (const auto* convolve = std::get_if<isa::Convolve>(&instruction)) streams += convolve->repeat;
        if (const auto* weights = std::get_if<isa::ReadWeights>(&instruction)) asked.tiles += weights->tiles;
    }
    return asked;
}

std::optional<std::string> broken_count(const Observation& run, const isa::Program& program) {
    const Asked asked = asked_of(program);
    const Totals totals(run);
    if (totals.of("sequencer.instructions") != asked.instructions) return "not every instruction was issued";
    if (totals.of("weight_fifo.tiles") != asked.tiles) return "not every tile was fetched";
    for (std::size_t unit = 0; unit < isa::queue_count; ++unit) {
        if (run.times[unit].size() == asked.passed[unit]) continue;
        return fmt::format("{}: times of {} instructions; the program has {}",
                           isa::name(static_cast<isa::QueueId>(unit)), run.times[unit].size(),
                           asked.passed[unit]);
    }
    return std::nullopt;
}

/// The multiply-accumulates of the program's products: of each streamed row those of its tile or, with a tile
/// for blocks, of each pixel of its block that lies inside the image.
std::uint64_t needed_macs(const isa::Program& program) {
    using isa::Register;
    std::deque<const isa::WeightTile*> fetched;
    const isa::WeightTile* tile = nullptr;
    isa::Registers registers;
    std::uint64_t macs = 0;
    const auto block_macs = [&](const isa::Convolve& convolve) {
        const std::uint64_t width = registers[Register::BlockWidth];
        const std::uint64_t height = registers[Register::BlockHeight];
        const std::uint64_t across = registers[Register::WindowOutputWidth];
        for (std::uint64_t row = 0; row < convolve.lines * across; ++row) {
            const std::uint64_t line = convolve.first_line + row / across;
            for (std::uint64_t part = 0; part < tile->block_macs.size(); ++part) {
                const std::uint64_t x = row % across * width + part % width;
                const std::uint64_t y =
                    line % registers[Register::WindowOutputHeight] * height + part / width;
                const bool is_inside =
                    x < registers[Register::BlockOutputWidth] && y < registers[Register::BlockOutputHeight];
                if (is_inside) macs += tile->block_macs[part];
            }
        }
    };
    for (const isa::Instruction& instruction : program.instructions) {
        if (std::holds_alternative<isa::Halt>(instruction)) break;
        if (const auto* set = std::get_if<isa::SetConfig>(&instruction)) registers.set(set->reg, set->value);
        if (const auto* read = std::get_if<isa::ReadWeights>(&instruction)) {
            for (std::uint32_t i = 0; i < read->tiles; ++i) {
                fetched.push_back(&program.tiles.at(read->first_tile + i));
            }
        }
        const auto* multiply = std::get_if<isa::MatrixMultiply>(&instruction);
        const auto* convolve = std::get_if<isa::Convolve>(&instruction);
        if (multiply == nullptr && convolve == nullptr) continue;
        const isa::MatrixFlags& flags = multiply != nullptr ? multiply->flags : convolve->flags;
        const std::uint32_t repeat = multiply != nullptr ? multiply->repeat : convolve->repeat;
        const bool has_blocks = registers[Register::BlockWidth] * registers[Register::BlockHeight] > 1;
        for (std::uint32_t repetition = 0; repetition <= repeat; ++repetition) {
            if (!flags.keep_weights) {
                tile = fetched.front();
                fetched.pop_front();
            }
            if (convolve != nullptr && has_blocks && !tile->block_macs.empty()) {
                block_macs(*convolve);
                continue;
            }
            macs += tile->useful_macs * (multiply != nullptr ? multiply->length
                                                             : std::uint64_t{convolve->lines} *
                                                                   registers[Register::WindowOutputWidth]);
        }
    }
    return macs;
}

std::optional<std::string> broken_macs(const Observation& run, const isa::Program& program) {
    const std::uint64_t counted = Totals(run).of("matrix_unit.multiply_accumulates");
    const std::uint64_t needed = needed_macs(program);
    if (counted == needed) return std::nullopt;
    return fmt::format("{} multiply-accumulates were counted; the program needs {}", counted, needed);
}

/// What energy is counted from: every access of a memory is some unit's.
std::optional<std::string> broken_access(const Observation& run, const machine::MachineConfig& machine) {
    const Totals totals(run);
    const std::uint64_t reads =
        totals.of("systolic_data_setup.fetches") + totals.of("activation_unit.buffer_reads") +
        totals.of("host_interface.buffer_reads") +
        (machine.weight_memory.writable ? totals.of("weight_writer.buffer_reads") : 0);
    if (totals.of("unified_buffer.reads") != reads) return "unified-buffer reads are not the units'";
    const std::uint64_t writes =
        totals.of("activation_unit.buffer_writes") + totals.of("host_interface.buffer_writes");
    if (totals.of("unified_buffer.writes") != writes) return "unified-buffer writes are not the units'";
    if (totals.of("accumulators.pass_writes") != totals.of("matrix_unit.active_cycles")) {
        return "the array's passes do not each write a row of accumulators";
    }
    if (totals.of("accumulators.additions") > totals.of("accumulators.pass_writes")) {
        return "more rows of accumulators were added to than written";
    }
    const std::uint64_t fetched = totals.of("weight_fifo.bytes") + totals.of("weight_fifo.spilled_bytes");
    if (totals.of("weight_fifo.shifted_bytes") > fetched) {
        return "more bytes left the weight FIFO than were fetched";
    }
    return std::nullopt;
}

std::optional<std::string> broken_time(const Observation& run) {
    for (const auto& times : run.times) {
        Cycle free = 0;
        for (const hw::InstructionTimes& each : times) {
            const bool ordered = each.issued <= each.begun && free <= each.begun &&
                                 each.begun <= each.released && each.begun <= each.complete &&
                                 each.released <= run.cycles && each.complete <= run.cycles;
            if (!ordered) return fmt::format("instruction {}: its times are in no order", each.number);
            free = each.released;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> broken_law(const Observation& run, const isa::Program& program,
                                      const machine::MachineConfig& machine) {
    if (auto broken = broken_partition(run, machine)) return broken;
    if (auto broken = broken_count(run, program)) return broken;
    if (auto broken = broken_access(run, machine)) return broken;
    if (auto broken = broken_macs(run, program)) return broken;
    return broken_time(run);
}

}  // namespace systole::tests
