// Random instructions of every kind, each alone on the chip of a random machine with either engine, take the
// cycles and the accesses that hw/timing says, and that walking through the rules of docs/timing.md gives.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/encoding.h"
#include "hw/isa/instruction.h"
#include "hw/machine/machine_config.h"
#include "hw/system/system.h"
#include "hw/timing/activation_unit.h"
#include "hw/timing/matrix_unit.h"
#include "hw/timing/transfers.h"
#include "tests/support/chip.h"
#include "tests/support/random_program/choices.h"
#include "tests/support/random_program/random_case.h"
#include "tests/support/random_runs.h"
#include "tests/unit/hw/timing/walked_costs.h"

using namespace systole;
using tests::Chip;
using tests::Choices;
namespace walked = tests::walked;

namespace {

/// A random machine on which all instructions have arrived before the second one is issued, and each is done
/// before the next one is issued.
machine::MachineConfig quiet_machine(Choices& choices, machine::Engine engine) {
    machine::MachineConfig machine = tests::random_machine(choices);
    machine.weight_memory.spill = false;  // tiles come from weight memory
    machine.weight_memory.bytes = machine::WeightMemoryConfig{}.bytes;
    machine.matrix_unit.engine = engine;
    machine.sequencer.issue_cycles = 100'000;
    machine.sequencer.instruction_buffer_bytes = 4096;
    return machine::read_machine(machine::to_json(machine), "quiet machine");
}

/// The cycle in which the instruction of this number is issued.
Cycle issue_of(std::size_t number, const isa::Program& program, const machine::MachineConfig& machine) {
    const std::uint64_t bytes = isa::encoded_size(program.instructions.front());
    const Cycle arrived = machine.host_read_rate().after({}, bytes).whole + machine.host_latency();
    return arrived + number * machine.sequencer.issue_cycles;
}

/// An instruction of a random program with the registers it is bound to.
struct Bound {
    const isa::Instruction& instruction;
    const isa::Registers& registers;
    std::vector<isa::Instruction> sets;  ///< make these registers
};

/// Runs `instructions` and `halt` with the data of `random`.
class Alone {
public:
    Alone(const machine::MachineConfig& machine, const isa::Program& random,
          std::vector<isa::Instruction> instructions, std::vector<isa::WeightTile> tiles = {})
        : machine_(machine),  // Sums, parameters and tables are not what is measured.
          chip_(machine, program(random, std::move(instructions), std::move(tiles)), {},
                hw::Values::TimingOnly) {
        chip_.run();
    }

    const Chip& chip() const { return chip_; }
    hw::InstructionTimes times(isa::QueueId unit) const {
        const auto all = chip_.times(unit);
        REQUIRE(all.size() == 1);
        return all.front();
    }
    std::uint64_t counted(std::string_view path) const { return (*chip_).counter(path).value(); }
    /// The end of the run: the last instruction is `halt`, which is complete with the previous instruction or
    /// when issued.
    void check_end(Cycle complete) const {
        const std::size_t halt = chip_.program().instructions.size() - 1;
        CHECK((*chip_).cycles() == std::max(complete, issue_of(halt, chip_.program(), machine_)));
    }

private:
    static isa::Program program(isa::Program random, std::vector<isa::Instruction> instructions,
                                std::vector<isa::WeightTile> tiles) {
        instructions.emplace_back(isa::Halt{});
        random.instructions = std::move(instructions);
        random.tiles = std::move(tiles);
        return random;
    }

    const machine::MachineConfig& machine_;
    Chip chip_;
};

std::vector<isa::Instruction> with(const Bound& bound) {
    std::vector<isa::Instruction> instructions = bound.sets;
    instructions.push_back(bound.instruction);
    return instructions;
}

isa::WeightTile random_tile(std::uint64_t most_rows, DataType type, const machine::MachineConfig& machine,
                            Choices& choices) {
    isa::WeightTile tile{.rows = choices.number<std::uint32_t>(1, most_rows),
                         .columns = choices.number<std::uint32_t>(1, machine.matrix_unit.columns),
                         .type = type};
    tile.useful_macs = tile.rows * tile.columns;
    tile.values.assign(std::size_t{tile.rows} * tile.columns * bytes_of(type), 1);
    return tile;
}

/// Compares a single instruction with its cost function; one overload for each kind.
class Check {
public:
    Check(const machine::MachineConfig& machine, const isa::Program& random, const Bound& bound,
          Choices& choices)
        : machine_(machine), random_(random), bound_(bound), choices_(choices) {}

    void operator()(const isa::Nop&) { check_issue(with(bound_)); }
    void operator()(const isa::DebugTag&) { check_issue(with(bound_)); }
    void operator()(const isa::SetConfig&) { check_issue(with(bound_)); }
    void operator()(const isa::Halt&) { check_issue({}); }
    void operator()(const isa::SyncSignal& signal) {
        check_issue({signal, isa::SyncWait{.unit = signal.unit, .semaphore = signal.semaphore}});
    }
    void operator()(const isa::SyncWait& wait) {
        check_issue({isa::SyncSignal{.unit = wait.unit, .semaphore = wait.semaphore}, wait});
    }
    void operator()(const isa::InterruptHost&) {
        const Alone alone(machine_, random_, with(bound_));
        const auto times = alone.times(isa::QueueId::HostWrite);
        CHECK(times.released == times.begun);
        CHECK(times.complete - times.released == machine_.host_latency());
        alone.check_end(times.complete);
    }
    void operator()(const isa::ReadHostMemory& read) {
        const timing::HostTransferCost cost = timing::host_transfer_cost(read, machine_);
        CHECK(cost == walked::host_transfer(read, machine_.host_read_rate(), machine_));
        check_transfer(isa::QueueId::HostRead, cost, "host_interface.read_bytes", "unified_buffer.writes");
    }
    void operator()(const isa::WriteHostMemory& write) {
        const timing::HostTransferCost cost = timing::host_transfer_cost(write, machine_);
        CHECK(cost == walked::host_transfer(write, machine_.host_write_rate(), machine_));
        check_transfer(isa::QueueId::HostWrite, cost, "host_interface.write_bytes", "unified_buffer.reads");
    }
    void operator()(const isa::HostWork& work) {
        const Cycle computes = tests::MixingHost::cycles_of(work);
        const timing::HostWorkCost cost = timing::host_work_cost(computes, machine_);
        CHECK(cost.busy == machine_.host_latency() + computes);
        CHECK(cost.complete == cost.busy + machine_.host_latency());
        const Alone alone(machine_, random_, with(bound_));
        const auto times = alone.times(isa::QueueId::Host);
        CHECK(times.released == times.begun + cost.busy);
        CHECK(times.complete == times.begun + cost.complete);
        CHECK(alone.counted("host.busy_cycles") == cost.busy);
        CHECK(alone.counted("host.segments") == 1);
        CHECK(alone.counted("host.images") == work.images);
        alone.check_end(times.complete);
    }
    void operator()(const isa::ReadWeights&) {
        const auto count = choices_.number<std::uint32_t>(1, machine_.weight_fifo.depth_tiles);
        std::vector<isa::WeightTile> tiles;
        for (std::uint32_t i = 0; i < count; ++i) {
            const DataType type = choices_.chance(40) ? DataType::Int16 : DataType::Int8;
            tiles.push_back(random_tile(machine_.matrix_unit.rows, type, machine_, choices_));
        }
        // A product takes one of them, so that it shifts in.
        const isa::MatrixMultiply multiply{
            .length = 1, .flags = {.activations = DataType::Uint8, .weights = tiles.front().type}};
        const isa::ReadWeights read{.first_tile = 0, .tiles = static_cast<std::uint16_t>(count)};
        const Alone alone(machine_, random_, {isa::Nop{}, read, multiply}, tiles);
        const auto times = alone.times(isa::QueueId::Weights);
        CHECK(times.released == times.begun);
        CHECK(times.complete == times.begun);
        const timing::TileFetchCost all = timing::tile_fetch_cost(tiles, machine_);
        CHECK(all == walked::tile_fetch(tiles, machine_));
        CHECK(alone.counted("weight_fifo.bytes") == all.bytes);
        CHECK(alone.counted("matrix_unit.weight_shift_cycles") == 0);
        check_tile(alone.chip().tiles().at(0), std::span(tiles).first(1), times.begun);
    }
    void operator()(const isa::WriteWeights& write) {
        const isa::WeightTile& tile = random_.tiles.at(write.tile);
        const Alone alone(machine_, random_, with(bound_), random_.tiles);
        const auto times = alone.times(isa::QueueId::WeightWrite);
        const timing::TileWriteCost cost = timing::tile_write_cost(write, tile, machine_);
        CHECK(cost == walked::tile_write(write, tile, machine_));
        CHECK(times.released == times.begun + cost.cycles);
        CHECK(times.complete == times.released);
        CHECK(alone.counted("weight_writer.busy_cycles") == cost.cycles);
        CHECK(alone.counted("weight_writer.bytes") == cost.bytes);
        CHECK(alone.counted("weight_writer.tiles") == 1);
        CHECK(alone.counted("unified_buffer.reads") == cost.buffer_accesses);
        alone.check_end(times.complete);
    }
    void operator()(const isa::MatrixMultiply& multiply) {
        isa::MatrixMultiply alone = multiply;
        alone.flags.keep_weights = false;
        check_streams(alone, alone.repeat + 1U, [&](std::uint32_t) { return machine_.matrix_unit.rows; });
    }
    void operator()(const isa::Convolve& convolve) {
        isa::Convolve alone = convolve;
        alone.flags.keep_weights = false;
        check_streams(alone, alone.repeat + 1U, [&](std::uint32_t repetition) {
            return timing::window_part(bound_.registers, repetition, machine_.matrix_unit.rows).elements;
        });
    }
    void operator()(const isa::Activate& activate) {
        const timing::ActivationCost cost = timing::activation_cost(activate, bound_.registers, machine_);
        CHECK(cost == walked::activation(activate, bound_.registers, machine_));
        check_activation(cost, cost.accumulator_reads, 0);
    }
    void operator()(const isa::Vector& vector) {
        const timing::ActivationCost cost = timing::activation_cost(vector, bound_.registers, machine_);
        CHECK(cost == walked::activation(vector, bound_.registers, machine_));
        check_activation(cost, 0, cost.buffer_writes);
    }

private:
    /// Instructions of the sequencer and sync cost the cycles of their issue.
    void check_issue(const std::vector<isa::Instruction>& instructions) const {
        Alone(machine_, random_, instructions).check_end(0);
    }

    void check_transfer(isa::QueueId unit, const timing::HostTransferCost& cost, std::string_view bytes,
                        std::string_view accesses) const {
        std::vector<isa::Instruction> instructions{isa::Nop{}};
        for (const isa::Instruction& each : with(bound_)) instructions.push_back(each);
        const Alone alone(machine_, random_, instructions);
        const auto times = alone.times(unit);
        CHECK(times.released - times.begun == cost.cycles);
        CHECK(times.complete - times.released == machine_.host_latency());
        CHECK(alone.counted(bytes) == cost.bytes);
        CHECK(alone.counted(accesses) == cost.buffer_accesses);
        alone.check_end(times.complete);
    }

    void check_tile(const hw::TileTimes& tile, std::span<const isa::WeightTile> fetched, Cycle begun) const {
        const timing::TileFetchCost cost = timing::tile_fetch_cost(fetched, machine_);
        CHECK(cost == walked::tile_fetch(fetched, machine_));
        CHECK(tile.fetched == begun);
        CHECK(tile.bytes == cost.bytes);
        if (machine_.weight_memory.model == machine::WeightMemoryModel::Bandwidth) {
            CHECK(tile.whole - tile.fetched == cost.cycles);
        } else {
            CHECK(tile.whole - tile.fetched >= cost.cycles);
        }
        CHECK(tile.shifted - tile.whole == machine_.matrix_unit.rows);
        CHECK(tile.shifted - tile.shifting == timing::shift_cycles(machine_));
    }

    template <class MostRows>
    void check_streams(const isa::Instruction& instruction, std::uint32_t repetitions, MostRows most_rows) {
        const isa::MatrixFlags& flags = *isa::matrix_flags(instruction);
        std::vector<isa::WeightTile> tiles;
        for (std::uint32_t repetition = 0; repetition < repetitions; ++repetition) {
            tiles.push_back(random_tile(most_rows(repetition), flags.weights, machine_, choices_));
        }
        std::vector<isa::Instruction> instructions = bound_.sets;
        instructions.emplace_back(
            isa::ReadWeights{.first_tile = 0, .tiles = static_cast<std::uint16_t>(repetitions)});
        instructions.push_back(instruction);
        const Alone alone(machine_, random_, instructions, tiles);
        const auto streams = alone.chip().times(isa::QueueId::Matrix);
        REQUIRE(streams.size() == repetitions);
        Cycle active = 0;
        std::uint64_t fetches = 0;
        for (std::uint32_t repetition = 0; repetition < repetitions; ++repetition) {
            CAPTURE(repetition);
            const timing::StreamCost cost =
                timing::stream_cost(instruction, bound_.registers, repetition, machine_);
            const walked::Stream expected =
                walked::stream(instruction, bound_.registers, repetition, machine_);
            const hw::InstructionTimes& stream = streams[repetition];
            CHECK(stream.released - stream.begun == expected.span);
            CHECK(stream.complete - stream.begun == expected.complete);
            CHECK(cost.shape.active_cycles() == expected.input_cycles);
            CHECK(cost.fetches() == expected.fetches);
            CHECK(stream.released - stream.begun == cost.shape.span());
            CHECK(stream.complete - stream.begun ==
                  timing::stream_completion(cost.shape, timing::matrix_latency(machine_)));
            const hw::TileTimes& tile = alone.chip().tiles().at(repetition);
            CHECK(tile.shifted - tile.shifting == timing::shift_cycles(machine_));
            CHECK(tile.bytes == timing::tile_fetch_cost({&tiles[repetition], 1}, machine_).bytes);
            active += cost.shape.active_cycles();
            fetches += cost.fetches();
        }
        CHECK(alone.counted("matrix_unit.active_cycles") == active);
        CHECK(alone.counted("systolic_data_setup.fetches") == fetches);
        CHECK(alone.counted("unified_buffer.reads") == fetches);
        alone.check_end(streams.back().complete);
    }

    void check_activation(const timing::ActivationCost& cost, std::uint64_t rows,
                          std::uint64_t vector_rows) const {
        const Alone alone(machine_, random_, with(bound_));
        const auto times = alone.times(isa::QueueId::Activation);
        CHECK(times.released - times.begun == cost.cycles);
        CHECK(times.loaded - times.begun == cost.loads);
        CHECK(times.complete - times.released == machine_.activation_latency());
        CHECK(alone.counted("activation_unit.rows") == rows);
        CHECK(alone.counted("activation_unit.vector_rows") == vector_rows);
        CHECK(alone.counted("activation_unit.elements") == cost.elements);
        CHECK(alone.counted("activation_unit.lookups") == cost.lookups);
        CHECK(alone.counted("activation_unit.operand_elements") == cost.operand_elements);
        CHECK(alone.counted("activation_unit.pooled_elements") == cost.pooled_elements);
        CHECK(alone.counted("accumulators.reads") == cost.accumulator_reads);
        CHECK(alone.counted("unified_buffer.reads") == cost.buffer_reads);
        CHECK(alone.counted("unified_buffer.writes") == cost.buffer_writes);
        alone.check_end(times.complete);
    }

    const machine::MachineConfig& machine_;
    const isa::Program& random_;
    const Bound& bound_;
    Choices& choices_;
};

/// The kinds of instructions of machines with a unified buffer.
std::size_t kinds_for_the_array() {
    std::size_t count = 0;
    isa::for_each_kind([&](const auto& kind) {
        using Kind = std::remove_cvref_t<decltype(kind)>;
        if (!isa::is_for_tiles<Kind> && !isa::is_for_tensor_core<Kind>) ++count;
    });
    return count;
}

/// Checks each instruction of a random program with the registers it is bound to. Returns the kinds of
/// instructions.
std::set<std::size_t> check_program(const machine::MachineConfig& machine, Choices& choices) {
    const isa::Program program = tests::random_program(machine, choices);
    isa::Registers registers;
    std::vector<isa::Instruction> sets{isa::Nop{}};
    std::set<std::size_t> kinds;
    const auto check = [&](const isa::Instruction& instruction) {
        INFO(isa::to_string(instruction));
        kinds.insert(instruction.index());
        const Bound bound{.instruction = instruction, .registers = registers, .sets = sets};
        std::visit(
            [&]<class Each>(const Each& each) {
                if constexpr (isa::is_for_tiles<Each> || isa::is_for_tensor_core<Each>) {
                    FAIL("an instruction of another machine in a program for a unified buffer");
                } else {
                    Check(machine, program, bound, choices)(each);
                }
            },
            instruction);
    };
    for (const isa::Instruction& instruction : program.instructions) {
        check(instruction);
        if (const auto* set = std::get_if<isa::SetConfig>(&instruction)) {
            registers.set(set->reg, set->value);
            sets.push_back(instruction);
        }
        if (std::holds_alternative<isa::Halt>(instruction)) break;
    }
    // Random programs are without sync.
    const auto unit =
        static_cast<isa::QueueId>(choices.from(0, static_cast<std::size_t>(isa::QueueId::Host)));
    check(isa::SyncSignal{.unit = unit, .semaphore = choices.number<std::uint8_t>(0, 3)});
    check(isa::SyncWait{.unit = unit, .semaphore = choices.number<std::uint8_t>(0, 3)});
    return kinds;
}

}  // namespace

TEST_CASE("Each instruction alone on the chip takes what its function says", "[timing][costs]") {
    const auto engine = GENERATE(machine::Engine::Wavefront, machine::Engine::Pe);
    constexpr unsigned machines = 30;
    std::set<std::size_t> kinds;
    for (unsigned seed = 1; seed <= tests::random_runs(machines); ++seed) {
        Choices choices(seed);
        const machine::MachineConfig machine = quiet_machine(choices, engine);
        INFO("seed " << seed << ", machine " << machine::to_json(machine).dump());
        kinds.merge(check_program(machine, choices));
    }
    // A tenth of the machines does not meet every kind.
    CHECK((kinds.size() == kinds_for_the_array() || tests::random_share(1) == 0));
}
