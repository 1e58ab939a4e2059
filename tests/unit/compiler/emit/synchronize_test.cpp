#include "compiler/emit/synchronize.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

#include "hw/isa/footprint.h"
#include "hw/isa/registers.h"
#include "tests/support/random_runs.h"

namespace systole::emit {
namespace {

using isa::Instruction;
using isa::QueueId;

/// The array, and a segment of the host that reads one buffer and writes another, both of 8 bytes for each of
/// 8 inferences.
const isa::Program& context() {
    static const isa::Program program = [] {
        isa::Program result;
        result.geometry = {.rows = 8, .columns = 8};
        result.buffers = {{.name = "a", .kind = isa::BufferKind::Exchange, .address = 0, .bytes = 64},
                          {.name = "b", .kind = isa::BufferKind::Exchange, .address = 64, .bytes = 64}};
        result.host_segments = {
            {.name = "s", .reads = {{.buffer = 0, .bytes = 8}}, .writes = {{.buffer = 1, .bytes = 8}}}};
        return result;
    }();
    return program;
}

constexpr std::size_t most_instructions = 256;

bool is_sync(const Instruction& instruction) {
    return std::holds_alternative<isa::SyncWait>(instruction) ||
           std::holds_alternative<isa::SyncSignal>(instruction);
}

/// The instructions without sync.
std::vector<Instruction> bare(const std::vector<Instruction>& instructions) {
    std::vector<Instruction> result;
    std::copy_if(instructions.begin(), instructions.end(), std::back_inserter(result),
                 [](const Instruction& instruction) { return !is_sync(instruction); });
    return result;
}

/// A wait and its signal, as indices in a program.
struct Pair {
    std::size_t signal = 0;
    std::size_t wait = 0;
};

/// The k-th wait of each semaphore with its k-th signal. Checks that semaphores have one user on either
/// side and that none is left over.
std::vector<Pair> pair_up(const std::vector<Instruction>& program) {
    std::map<std::uint8_t, std::vector<std::size_t>> signals, waits;
    std::map<std::uint8_t, std::set<QueueId>> signallers, waiters;
    for (std::size_t i = 0; i < program.size(); ++i) {
        if (const auto* signal = std::get_if<isa::SyncSignal>(&program[i])) {
            signals[signal->semaphore].push_back(i);
            signallers[signal->semaphore].insert(signal->unit);
        }
        if (const auto* wait = std::get_if<isa::SyncWait>(&program[i])) {
            waits[wait->semaphore].push_back(i);
            waiters[wait->semaphore].insert(wait->unit);
        }
    }
    std::vector<Pair> pairs;
    for (const auto& [semaphore, at] : waits) {
        REQUIRE(signals[semaphore].size() == at.size());
        REQUIRE(signallers[semaphore].size() == 1);
        REQUIRE(waiters[semaphore].size() == 1);
        for (std::size_t k = 0; k < at.size(); ++k) pairs.push_back({signals[semaphore][k], at[k]});
    }
    REQUIRE(signals.size() == waits.size());
    return pairs;
}

/// For each instruction, those that have finished before it begins: queues in order, and each wait behind
/// its signal. Leaves out the pair `without`.
std::vector<std::bitset<most_instructions>> happens_before(const std::vector<Instruction>& program,
                                                           const std::vector<Pair>& pairs,
                                                           std::optional<std::size_t> without) {
    REQUIRE(program.size() <= most_instructions);
    std::vector<std::bitset<most_instructions>> before(program.size());
    std::array<std::optional<std::size_t>, isa::queue_count> last;
    for (std::size_t i = 0; i < program.size(); ++i) {
        const auto unit = isa::queue_of(program[i]);
        if (!unit) continue;
        auto& previous = last[static_cast<std::size_t>(*unit)];
        if (previous) before[i] = before[*previous] | std::bitset<most_instructions>().set(*previous);
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            if (p == without || pairs[p].wait != i) continue;
            REQUIRE(pairs[p].signal < i);
            before[i] |= before[pairs[p].signal];
        }
        previous = i;
    }
    return before;
}

bool meet(const isa::RowRange& one, const isa::RowRange& other) {
    for (std::uint64_t row = one.first; row < one.last; ++row) {
        if (row >= other.first && row < other.last) return true;
    }
    return false;
}

bool conflict(const isa::Footprint& a, const isa::Footprint& b) {
    for (const isa::MemoryRows& one : a) {
        for (const isa::MemoryRows& other : b) {
            if (one.memory != other.memory) continue;
            if (one.access == isa::Access::Read && other.access == isa::Access::Read) continue;
            if (meet(one.rows, other.rows)) return true;
        }
    }
    return false;
}

/// All pairs of instructions of different units that touch a row or host byte, one of them writing.
std::vector<std::pair<std::size_t, std::size_t>> conflicts(const std::vector<Instruction>& program) {
    std::vector<isa::Footprint> touched(program.size());
    isa::Registers registers;
    std::vector<std::pair<std::size_t, std::size_t>> result;
    for (std::size_t i = 0; i < program.size(); ++i) {
        if (const auto* config = std::get_if<isa::SetConfig>(&program[i])) {
            registers.set(config->reg, config->value);
        }
        if (!isa::queue_of(program[i])) continue;
        touched[i] = isa::footprint(program[i], registers, context());
        for (std::size_t j = 0; j < i; ++j) {
            const auto unit = isa::queue_of(program[j]);
            if (unit && unit != isa::queue_of(program[i]) && conflict(touched[j], touched[i])) {
                result.emplace_back(j, i);
            }
        }
    }
    return result;
}

/// The conflicts without a guaranteed order.
std::size_t unordered(const std::vector<std::pair<std::size_t, std::size_t>>& conflicting,
                      const std::vector<std::bitset<most_instructions>>& before) {
    return static_cast<std::size_t>(
        std::count_if(conflicting.begin(), conflicting.end(),
                      [&](const auto& pair) { return !before[pair.second][pair.first]; }));
}

class RandomInstructions {
public:
    explicit RandomInstructions(std::uint32_t seed) : random_(seed) {}

    std::vector<Instruction> draw(std::uint32_t count, std::uint32_t rows) {
        std::vector<Instruction> list;
        // Activations of one row of one column, so that addresses alone decide what is touched.
        list.emplace_back(isa::SetConfig{.reg = isa::Register::ActivationColumns, .value = 1});
        list.emplace_back(isa::SetConfig{.reg = isa::Register::ActivationPixelBytes, .value = 8});
        list.emplace_back(isa::SetConfig{.reg = isa::Register::ActivationOutputsPerImage, .value = 1});
        for (std::uint32_t i = 0; i < count; ++i) list.push_back(instruction(rows));
        return list;
    }

private:
    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

    Instruction instruction(std::uint32_t rows) {
        const std::uint32_t row = below(rows);
        const auto accumulator_row = static_cast<std::uint16_t>(below(rows / 2));
        const auto length = static_cast<std::uint16_t>(below(3) + 1U);
        switch (below(10)) {
            case 0:
                return isa::ReadHostMemory{8 * below(13), row, 8, length};
            case 1:
                return isa::WriteHostMemory{8 * below(13), row, 8, length};
            case 9:
                return isa::HostWork{.segment = 0, .first_inference = below(6), .images = length};
            case 2:
                return isa::ReadWeights{0, 1};
            case 3:
            case 4:
                return isa::MatrixMultiply{row, accumulator_row, length, {}, 0};
            case 5:
            case 6:
                return isa::Activate{.accumulator_row = accumulator_row,
                                     .unified_buffer_row = row,
                                     .length = length,
                                     .load_parameters = below(2) == 0};
            case 7:
                return isa::SetConfig{.reg = isa::Register::ActivationParametersRow, .value = below(rows)};
            default:
                // In place of an operand: results may not overlap operands otherwise.
                return isa::Vector{.operation = isa::VectorOperation::Add,
                                   .destination_row = row,
                                   .source_row = row,
                                   .other_row = row + length + below(rows),
                                   .length = length};
        }
    }

    std::mt19937 random_;
};

}  // namespace

TEST_CASE("Sync orders every conflict, and no pair of sync can be left out",
          "[compiler][emit][synchronize]") {
    const std::uint32_t seed = 4711;
    INFO("first seed " << seed);
    std::size_t pairs_seen = 0, conflicts_seen = 0;
    for (std::uint32_t run = 0; run < tests::random_runs(150); ++run) {
        const std::uint32_t rows = run % 3 == 0 ? 6 : run % 3 == 1 ? 20 : 60;
        const std::vector<Instruction> instructions =
            RandomInstructions(seed + run).draw(10 + run % 50, rows);
        const std::vector<Instruction> program = synchronize(instructions, context());
        INFO("seed " << seed + run);
        REQUIRE(bare(program) == instructions);

        const std::vector<Pair> pairs = pair_up(program);
        const auto conflicting = conflicts(program);
        REQUIRE(unordered(conflicting, happens_before(program, pairs, std::nullopt)) == 0);
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            INFO("signal " << pairs[p].signal << ", wait " << pairs[p].wait);
            REQUIRE(unordered(conflicting, happens_before(program, pairs, p)) > 0);
        }
        pairs_seen += pairs.size();
        conflicts_seen += conflicting.size();
    }
    CHECK(pairs_seen >= tests::random_share(1001));
    CHECK(conflicts_seen > 2 * pairs_seen);
}

TEST_CASE("A wait stands before the instruction that needs it, its signal after the one it reports",
          "[compiler][emit][synchronize]") {
    const std::vector<Instruction> program =
        synchronize({isa::ReadHostMemory{0, 0, 8, 4}, isa::ReadHostMemory{0, 10, 8, 1},
                     isa::ReadWeights{0, 1}, isa::MatrixMultiply{3, 0, 1, {}, 0}},
                    context());
    const std::uint8_t semaphore = semaphore_of(QueueId::HostRead, QueueId::Matrix);
    CHECK(program == std::vector<Instruction>{
                         isa::ReadHostMemory{0, 0, 8, 4}, isa::SyncSignal{QueueId::HostRead, semaphore},
                         isa::ReadHostMemory{0, 10, 8, 1}, isa::ReadWeights{0, 1},
                         isa::SyncWait{QueueId::Matrix, semaphore}, isa::MatrixMultiply{3, 0, 1, {}, 0}});
}

TEST_CASE("Rows that only touch need no sync, one row in common does", "[compiler][emit][synchronize]") {
    const std::uint32_t row = GENERATE(3U, 4U);
    const std::vector<Instruction> instructions = {isa::ReadHostMemory{0, 0, 8, 4},
                                                   isa::MatrixMultiply{row, 0, 1, {}, 0}};
    const std::size_t sync = row == 3 ? 2 : 0;
    CHECK(synchronize(instructions, context()).size() == instructions.size() + sync);
}

TEST_CASE("Two readers of a row need no sync", "[compiler][emit][synchronize]") {
    const std::vector<Instruction> instructions = {isa::WriteHostMemory{0, 0, 8, 4},
                                                   isa::MatrixMultiply{0, 0, 1, {}, 0}};
    CHECK(synchronize(instructions, context()) == instructions);
}

TEST_CASE("No sync is inserted for an order that already holds through a third unit",
          "[compiler][emit][synchronize]") {
    // host read -> matrix -> activation; the activation overwrites what the host brought.
    const std::vector<Instruction> instructions = {
        isa::SetConfig{.reg = isa::Register::ActivationColumns, .value = 8},
        isa::SetConfig{.reg = isa::Register::ActivationPixelBytes, .value = 8},
        isa::SetConfig{.reg = isa::Register::ActivationOutputsPerImage, .value = 1},
        isa::ReadHostMemory{0, 0, 8, 1},
        isa::MatrixMultiply{0, 0, 1, {}, 0},
        isa::Activate{.accumulator_row = 0, .unified_buffer_row = 0, .length = 1}};
    const std::vector<Instruction> program = synchronize(instructions, context());
    CHECK(program.size() == instructions.size() + 4);
    CHECK(pair_up(program).size() == 2);
}

TEST_CASE("Registers decide which rows conflict", "[compiler][emit][synchronize]") {
    const std::uint32_t stride = GENERATE(1U, 4U);
    const std::vector<Instruction> instructions = {
        isa::SetConfig{.reg = isa::Register::MultiplyRowStride, .value = stride},
        isa::ReadHostMemory{0, 4, 8, 1}, isa::MatrixMultiply{0, 0, 2, {}, 0}};
    CHECK(pair_up(synchronize(instructions, context())).size() == (stride == 4 ? 1 : 0));
}

TEST_CASE("Instructions that have sync already are refused", "[compiler][emit][synchronize]") {
    CHECK_THROWS_AS(synchronize({isa::SyncSignal{QueueId::Matrix, 0}}, context()), std::logic_error);
    CHECK_THROWS_AS(synchronize({isa::SyncWait{QueueId::Matrix, 0}}, context()), std::logic_error);
}

TEST_CASE("Each ordered pair of queues of a machine has a semaphore of its own",
          "[compiler][emit][synchronize]") {
    using enum QueueId;
    const std::vector<std::vector<QueueId>> machines{
        {HostRead, HostWrite, Weights, Matrix, Activation, Host},
        {HostRead, HostWrite, Host, Ring, Mesh, Tiles},
        {HostRead, HostWrite, Weights, Matrix, Host, DmaIn, DmaOut, Vector, CrossLane, Collective}};
    for (const std::vector<QueueId>& queues : machines) {
        std::set<std::uint8_t> semaphores;
        for (const QueueId signaller : queues) {
            for (const QueueId waiter : queues) semaphores.insert(semaphore_of(signaller, waiter));
        }
        CHECK(semaphores.size() == queues.size() * queues.size());
        // The last semaphore of a core is that of the Edge TPU's calls.
        CHECK(*semaphores.rbegin() < isa::first_shared_semaphore - 1);
    }
    // Programs of before have these.
    CHECK(semaphore_of(QueueId::Activation, QueueId::HostWrite) == 21);
    CHECK(semaphore_of(QueueId::Host, QueueId::HostRead) == 25);
    CHECK(semaphore_of(QueueId::HostWrite, QueueId::Host) == 32);
}

namespace {

/// Two layers of one tile each: input of the second is not what the first writes.
std::vector<Instruction> two_layers() {
    const auto layer = [](std::uint16_t tag, std::uint32_t input, std::uint16_t sums, std::uint32_t output) {
        isa::MatrixMultiply multiply;
        multiply.unified_buffer_row = input;
        multiply.accumulator_row = sums;
        multiply.length = 4;
        isa::Activate activate;
        activate.accumulator_row = sums;
        activate.unified_buffer_row = output;
        activate.length = 4;
        return std::vector<Instruction>{isa::DebugTag{.tag = tag},
                                        isa::ReadWeights{.first_tile = tag, .tiles = 1}, multiply, activate};
    };
    std::vector<Instruction> program{
        isa::SetConfig{.reg = isa::Register::ActivationColumns, .value = 8},
        isa::SetConfig{.reg = isa::Register::ActivationPixelBytes, .value = 8},
        isa::SetConfig{.reg = isa::Register::ActivationOutputsPerImage, .value = 1},
        isa::SetConfig{.reg = isa::Register::ActivationImageRows, .value = 1}};
    for (const auto& part : {layer(1, 0, 0, 100), layer(2, 50, 8, 200)}) {
        program.insert(program.end(), part.begin(), part.end());
    }
    return program;
}

/// The units that wait for the activation unit anywhere in the program.
std::set<QueueId> waiters_for_activation(machine::LayerOrder order) {
    std::set<QueueId> waiters;
    for (const Instruction& instruction : synchronize(two_layers(), context(), order)) {
        const auto* wait = std::get_if<isa::SyncWait>(&instruction);
        if (wait != nullptr && wait->semaphore == semaphore_of(QueueId::Activation, wait->unit)) {
            waiters.insert(wait->unit);
        }
    }
    return waiters;
}

}  // namespace

TEST_CASE("Layers in order: matrix work, or also its weights, waits for the activations before it",
          "[compiler][emit][sync]") {
    CHECK(waiters_for_activation(machine::LayerOrder::Rows).empty());
    CHECK(waiters_for_activation(machine::LayerOrder::Layer) == std::set<QueueId>{QueueId::Matrix});
    CHECK(waiters_for_activation(machine::LayerOrder::LayerAndWeights) ==
          std::set<QueueId>{QueueId::Matrix, QueueId::Weights});
    // Work of the same layer, before and after a transfer (tag 0), is not ordered further.
    std::vector<Instruction> program = two_layers();
    for (Instruction& instruction : program) {
        if (auto* tag = std::get_if<isa::DebugTag>(&instruction)) tag->tag = 1;
    }
    CHECK(synchronize(program, context(), machine::LayerOrder::LayerAndWeights) ==
          synchronize(program, context(), machine::LayerOrder::Rows));
}

TEST_CASE("One by one: each instruction waits for the one before it", "[compiler][emit][sync]") {
    const std::vector<Instruction> program = two_layers();
    std::optional<QueueId> before;
    std::size_t changes = 0;
    for (const Instruction& instruction : program) {
        const std::optional<QueueId> unit = isa::queue_of(instruction);
        if (!unit) continue;
        changes += before && *before != *unit ? 1 : 0;
        before = unit;
    }
    REQUIRE(changes > 2);
    std::size_t waits = 0;
    std::optional<QueueId> last;
    bool has_waited = false;
    for (const Instruction& instruction : synchronize(program, context(), machine::LayerOrder::Rows, true)) {
        if (const auto* const wait = std::get_if<isa::SyncWait>(&instruction)) {
            ++waits;
            has_waited = true;
            CHECK(wait->semaphore == semaphore_of(*last, wait->unit));
            continue;
        }
        const std::optional<QueueId> unit = isa::queue_of(instruction);
        if (!unit || std::holds_alternative<isa::SyncSignal>(instruction)) continue;
        CHECK((!last || *last == *unit || has_waited));
        has_waited = false;
        last = unit;
    }
    CHECK(waits == changes);
}

}  // namespace systole::emit
