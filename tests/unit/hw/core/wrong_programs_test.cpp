// Programs that are wrong stop with one line that says where, the same in every engine.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "hw/isa/assembly.h"
#include "hw/isa/fields.h"
#include "hw/isa/program_error.h"
#include "hw/system/system.h"
#include "sim/functional/executor.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_program/judge.h"
#include "tests/support/random_program/observe.h"
#include "tests/support/random_program/order_relation.h"
#include "tests/support/random_program/synchronize.h"
#include "tests/support/random_runs.h"
#include "tests/unit/hw/core/small_machine.h"

using namespace systole;
using Catch::Matchers::Contains;

namespace {

const std::string wrong_head =
    ".array 8 6\n.buffer in input 0x0 64\n.buffer out output 0x1000 64\n.tile 8 6 random 3\n.tile 8 6 random "
    "4\n";

const std::string stuck = "the program cannot finish: ";

/// The error message of all engines for a program; the test fails if they differ.
std::string error_of(const isa::Program& program, const machine::MachineConfig& machine) {
    std::optional<std::string> said;
    for (std::size_t i = 0; i < machine::engine_names.size(); ++i) {
        const std::string error = tests::observe(program, machine, static_cast<machine::Engine>(i)).error;
        CAPTURE(machine::engine_names.at(i));
        CHECK(error.find('\n') == std::string::npos);
        if (said) CHECK(error == *said);
        said = error;
    }
    return *said;
}

std::string error_of(const std::string& text,
                     const machine::MachineConfig& machine = tests::small_machine()) {
    return error_of(isa::assemble(wrong_head + text, "test"), machine);
}

/// Synchronization with one signaller and one waiter for each semaphore, and nothing redundant.
tests::Case plain_case(tests::Choices& choices) {
    tests::Case random = tests::random_case(choices);
    random.sync.extra_percent = 0;
    random.sync.implied = false;
    return random;
}

std::optional<isa::Program> without_sync(const isa::Program& program, std::size_t index) {
    const isa::Instruction& removed = program.instructions[index];
    if (!std::holds_alternative<isa::SyncWait>(removed) &&
        !std::holds_alternative<isa::SyncSignal>(removed)) {
        return std::nullopt;
    }
    isa::Program result = program;
    result.instructions.erase(result.instructions.begin() + static_cast<std::ptrdiff_t>(index));
    return result;
}

std::string instruction_text(const isa::Program& program, std::size_t number) {
    return fmt::format("instruction {} ({})", number, isa::to_string(program.instructions[number]));
}

std::string pair_text(const isa::Program& program, const tests::UnorderedPair& pair) {
    return fmt::format("{} is not ordered behind {}, and both touch ", instruction_text(program, pair.later),
                       instruction_text(program, pair.earlier));
}

/// Compares the engines' errors with the relation of queues, signals and waits.
void check_named(const isa::Program& program, const tests::OrderRelation& relation,
                 const std::string& error) {
    INFO("the engines say \"" << error << "\" of\n" << isa::disassemble(program));
    const bool names_pair =
        std::any_of(relation.unordered.begin(), relation.unordered.end(),
                    [&](const auto& pair) { return error.starts_with(pair_text(program, pair)); });
    if (relation.stuck.empty()) {
        CHECK(names_pair);
    } else if (!names_pair) {
        CHECK_THAT(error, Contains("the program cannot finish: "));
        CHECK_THAT(error, Contains(" waits in instruction "));
    }
}

/// Removes each sync from the program, one at a time, and checks those that are needed.
std::size_t check_missing_syncs(const isa::Program& program, const machine::MachineConfig& machine) {
    std::size_t necessary = 0;
    for (std::size_t index = 0; index < program.instructions.size(); ++index) {
        const auto wrong = without_sync(program, index);
        if (!wrong) continue;
        const tests::OrderRelation relation = tests::order_relation(*wrong);
        if (relation.unordered.empty() && relation.stuck.empty()) {
            INFO("sync " << index << " is not needed in\n" << isa::disassemble(program));
            CHECK(error_of(*wrong, machine).empty());
            continue;
        }
        ++necessary;
        check_named(*wrong, relation, error_of(*wrong, machine));
    }
    return necessary;
}

/// Increases the first field with this name in an instruction.
class FieldRaiser final : public isa::FieldVisitor {
public:
    FieldRaiser(std::string_view name, std::uint64_t by) : name_(name), by_(by) {}

    void flags(std::span<const isa::FlagsPart> /*parts*/) override {}
    void host_address(std::uint64_t& address) override {
        if (name_ == "host") raise(address, isa::host_address_bytes);
    }
    void rule(bool /*holds*/, std::string_view /*rule*/) override {}
    bool raised() const { return raised_; }

protected:
    void visit_number(const isa::NumberField& field, std::uint64_t& value) override {
        if (field.name == name_) raise(value, field.bytes);
    }
    void visit_choice(std::string_view /*name*/, std::span<const std::string_view> /*words*/,
                      std::size_t& /*index*/) override {}

private:
    void raise(std::uint64_t& value, std::uint8_t bytes) {
        if (raised_ || value + by_ > isa::largest_of(bytes)) return;
        value += by_;
        raised_ = true;
    }

    std::string_view name_;
    std::uint64_t by_;
    bool raised_ = false;
};

/// The error message of sim/functional for a program.
std::string functional_error(const isa::Program& program, const machine::MachineConfig& machine) {
    try {
        tests::execute(program, machine);
    } catch (const isa::ProgramError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("A program may begin with values in the last row of each memory, and in none behind it",
          "[hw][core]") {
    const machine::MachineConfig machine = tests::small_machine();
    const auto with_rows = [&](bool accumulators, std::uint64_t first, std::size_t rows) {
        isa::Program program = isa::assemble(wrong_head + "halt\n", "test");
        const std::size_t row_bytes =
            accumulators ? machine.matrix_unit.columns * sizeof(std::int32_t) : machine.matrix_unit.rows;
        isa::InitialRows initial{.first_row = static_cast<std::uint32_t>(first), .values = {}};
        initial.values.assign(rows * row_bytes, 1);
        program.initial[accumulators ? isa::MemoryId::Accumulators : isa::MemoryId::UnifiedBuffer].push_back(
            initial);
        return error_of(program, machine);
    };
    for (const bool accumulators : {false, true}) {
        const std::uint64_t rows = accumulators ? machine.accumulators.rows : machine.unified_buffer.rows;
        CAPTURE(accumulators);
        CHECK(with_rows(accumulators, rows - 2, 2).empty());
        CHECK(with_rows(accumulators, rows - 1, 2) ==
              fmt::format("the program begins with values in {} rows {} to {}; the machine has {} rows",
                          accumulators ? "accumulator" : "unified-buffer", rows - 1, rows, rows));
    }
}

TEST_CASE("Each sync that a random program needs is missed, both instructions named, by every engine",
          "[equality][order]") {
    constexpr std::uint64_t first_seed = 300000;
    constexpr std::uint64_t programs = 60;
    std::size_t necessary = 0;
    for (std::uint64_t seed = first_seed; seed < first_seed + tests::random_runs(programs); ++seed) {
        CAPTURE(seed);
        tests::Choices choices(seed);
        const tests::Case random = plain_case(choices);
        necessary += check_missing_syncs(tests::synchronized(random), random.machine);
    }
    CHECK(necessary >= tests::random_share(programs + 1));
}

TEST_CASE("The order relation accepts a correct program and rejects one without sync", "[equality][order]") {
    std::size_t wrong = 0;
    constexpr std::uint64_t programs = 100;
    for (std::uint64_t seed = 310000; seed < 310000 + tests::random_runs(programs); ++seed) {
        CAPTURE(seed);
        tests::Choices choices(seed);
        const tests::Case random = plain_case(choices);
        const tests::OrderRelation relation = tests::order_relation(tests::synchronized(random));
        CHECK(relation.unordered.empty());
        CHECK(relation.stuck.empty());
        wrong += tests::order_relation(random.program).unordered.empty() ? 0 : 1;
    }
    CHECK(wrong >= tests::random_share(programs / 2 + 1));
}

TEST_CASE("Engines agree on a random program without any one of its instructions", "[equality][order]") {
    constexpr std::uint64_t first_seed = 320000;
    std::size_t wrong = 0;
    for (std::uint64_t seed = first_seed; seed < first_seed + tests::random_runs(150); ++seed) {
        CAPTURE(seed);
        tests::Choices choices(seed);
        const tests::Case random = tests::random_case(choices);
        isa::Program program = tests::synchronized(random);
        for (std::uint64_t taken = choices.from(1, 3); taken > 0 && !program.instructions.empty(); --taken) {
            program.instructions.erase(
                program.instructions.begin() +
                static_cast<std::ptrdiff_t>(choices.from(0, program.instructions.size() - 1)));
        }
        const tests::Observation first = tests::observe(program, random.machine, machine::Engine{});
        wrong += first.error.empty() ? 0 : 1;
        for (std::size_t i = 1; i < machine::engine_names.size(); ++i) {
            const auto other = tests::observe(program, random.machine, static_cast<machine::Engine>(i));
            if (const auto differs = tests::difference(first, other)) {
                FAIL_CHECK(*differs << "\n"
                                    << machine::to_json(random.machine).dump(1) << "\n"
                                    << isa::disassemble(program));
            }
        }
    }
    CHECK(wrong >= tests::random_share(51));
}

TEST_CASE("An address outside a memory is refused with the instruction's number, by every engine",
          "[equality][order]") {
    // A field, and how far beyond the memory's end it must reach.
    const std::array<std::string_view, 6> fields{"ub", "acc", "host", "tile", "dst", "src"};
    std::size_t refused = 0;
    for (std::uint64_t seed = 330000; seed < 330000 + tests::random_runs(150); ++seed) {
        tests::Choices choices(seed);
        const tests::Case random = tests::random_case(choices);
        const auto name = choices.one_of(fields);
        const std::uint64_t beyond = name == "acc"    ? random.machine.accumulators.rows
                                     : name == "host" ? std::uint64_t{1} << 30U
                                     : name == "tile" ? random.program.tiles.size()
                                                      : random.machine.unified_buffer.rows;
        isa::Program program = tests::synchronized(random);
        FieldRaiser raiser(name, beyond);
        std::size_t number = 0;
        for (; number < program.instructions.size() && !raiser.raised(); ++number) {
            // Without rows, the rows' addresses have no meaning.
            const auto* activate = std::get_if<isa::Activate>(&program.instructions[number]);
            if (activate != nullptr && activate->length == 0) continue;
            std::visit([&](auto& each) { each.fields(raiser); }, program.instructions[number]);
        }
        if (!raiser.raised()) continue;
        ++refused;
        const std::string named = fmt::format("instruction {}", number - 1);
        CAPTURE(seed, name);
        CHECK_THAT(error_of(program, random.machine), Contains(named));
        CHECK_THAT(functional_error(program, random.machine), Contains(named));
    }
    CHECK(refused >= tests::random_share(81));
}

// The cause is named first, then all others that wait; the text's first line is line 6.
TEST_CASE("A wait without a signal ends the run with this wait as the cause", "[order]") {
    CHECK(error_of("sync.wait matrix sem=7\nhalt\n") ==
          stuck +
              "matrix waits in instruction 0 (sync.wait matrix sem=7) for semaphore 7, which no instruction "
              "signals any more; sequencer waits in instruction 1 (line 7: halt) for all units to finish");
    // A wait behind a wait: the second would be over if the first were.
    CHECK(error_of("sync.wait activation sem=1\nsync.wait matrix sem=7\nsync.signal matrix sem=1\nhalt\n") ==
          stuck +
              "matrix waits in instruction 1 (sync.wait matrix sem=7) for semaphore 7, which no instruction "
              "signals any more; activation waits in instruction 0 (line 6: sync.wait activation sem=1) for "
              "semaphore 1, which instruction 2 signals; sequencer waits in instruction 3 (line 9: halt) for "
              "all units to finish");
    // What stands behind halt is never issued.
    CHECK_THAT(error_of("sync.wait matrix sem=7\nhalt\nsync.signal activation sem=7\n"),
               Contains("which no instruction signals any more"));
}

TEST_CASE("Units that wait for each other end the run with all of the circle", "[order]") {
    CHECK(error_of("sync.wait matrix sem=1\nsync.signal matrix sem=2\nsync.wait activation "
                   "sem=2\nsync.signal activation sem=1\nhalt\n") ==
          stuck +
              "matrix waits in instruction 0 (sync.wait matrix sem=1) for semaphore 1, which instruction 3 "
              "signals; activation waits in instruction 2 (line 8: sync.wait activation sem=2) for semaphore "
              "2, which instruction 1 signals; sequencer waits in instruction 4 (line 10: halt) for all "
              "units to finish");
    CHECK_THAT(error_of("sync.wait matrix sem=1\nsync.signal matrix sem=1\nhalt\n"),
               Contains("matrix waits in instruction 0 (sync.wait matrix sem=1) for semaphore 1, which "
                        "instruction 1 signals"));
}

TEST_CASE("A product whose tile is never fetched ends the run with what it waits for", "[order]") {
    CHECK(
        error_of("read_weights tile=0\nmatmul ub=0 acc=0 rows=3 repeat=1\nhalt\n") ==
        stuck +
            "matrix waits in instruction 1 (matmul ub=0 acc=0 rows=3 repeat=1) for a weight tile, which no "
            "read_weights fetches; sequencer waits in instruction 2 (line 8: halt) for all units to finish");
    CHECK_THAT(
        error_of("sync.wait weights sem=3\nread_weights tile=0\nmatmul ub=0 acc=0 rows=3\nhalt\n"),
        Contains(stuck +
                 "weights waits in instruction 0 (sync.wait weights sem=3) for semaphore 3, which no") &&
            Contains("rows=3) for a weight tile, which instruction 1 fetches"));
}

TEST_CASE("Tiles that nobody takes and a full FIFO cannot hold end the run with the waiting units",
          "[order]") {
    machine::MachineConfig machine = tests::small_machine();
    machine.weight_fifo.depth_tiles = 1;
    const std::string fits = "read_weights tile=0 count=2\nhalt\n";
    CHECK(error_of(fits, machine).empty());  // one in the FIFO, one in the shadow plane
    CHECK(error_of("read_weights tile=0\n" + fits, machine) ==
          stuck +
              "weights waits in instruction 1 (read_weights tile=0 count=2) for a free slot of the weight "
              "FIFO, whose tiles no instruction takes; sequencer waits in instruction 2 (line 8: halt) for "
              "all units to finish");
    CHECK_THAT(error_of("sync.wait matrix sem=0\nread_weights tile=0\nread_weights tile=0 count=2\nmatmul "
                        "ub=0 acc=0 rows=1 repeat=2\nhalt\n",
                        machine),
               Contains(stuck + "matrix waits in instruction 0") &&
                   Contains("weights waits in instruction 2") && Contains("whose tiles instruction 3 takes"));
}

TEST_CASE("A full queue before the instruction that would free it ends the run with the waiting units",
          "[order]") {
    machine::MachineConfig machine = tests::small_machine();
    machine.sequencer.queue_depth = 2;
    const std::string text =
        "sync.wait host_read sem=1\nread_host in ub=0 block=8\nread_host in ub=8 block=8\nsync.signal "
        "host_write sem=1\nhalt\n";
    // The wait and one read lie in the queue; the second read has no place, and the signal is behind it.
    CHECK(error_of(text, machine) ==
          stuck +
              "host_read waits in instruction 0 (sync.wait host_read sem=1) for semaphore 1, which "
              "instruction 3 (not issued yet) signals; sequencer waits in instruction 2 (line 8: read_host "
              "0x0 ub=8 block=8) for a place in the queue of host_read");
    machine.sequencer.queue_depth = 3;
    CHECK(error_of(text, machine).empty());
}

TEST_CASE("Errors of a program with a text have the line of the instruction", "[order]") {
    const auto line_of_error = [](const std::string& text) -> std::size_t {
        const isa::Program program = isa::assemble(wrong_head + text, "test");
        const tests::FreshSimulation simulation;
        hw::System system("system", tests::small_machine(), program, {.test_delta_delay = {}});
        try {
            system.run();
        } catch (const isa::ProgramErrorAtLine& error) {
            return error.line;
        }
        return 0;
    };
    CHECK(line_of_error("nop; nop\nsync.wait matrix sem=7\nhalt\n") == 7);
    CHECK(line_of_error("nop\nmatmul ub=0 acc=0 rows=33 keep\nhalt\n") == 7);
    CHECK(line_of_error("nop\n\nmatmul ub=0 acc=0 rows=3 keep\nhalt\n") == 8);
    CHECK(line_of_error("read_host 5000 ub=0 block=8\nhalt\n") == 6);
    CHECK(line_of_error("read_host in ub=0 block=8\nwrite_host out ub=0 block=8\nhalt\n") == 7);
    CHECK(line_of_error("sync.signal matrix sem=1\nsync.signal activation sem=1\nhalt\n") == 7);
    CHECK(line_of_error("nop\nnop\n") == 7);  // the last, without halt
    CHECK(line_of_error("activate acc=0 ub=0 rows=1\nhalt\n") == 6);
}

TEST_CASE("What nothing has written cannot be activated, with every engine as without time", "[order]") {
    const std::string settings =
        "set activation.columns 2; set activation.pixel_bytes 2; set activation.outputs_per_image 8\n"
        "read_weights tile=0; matmul ub=8 acc=4 rows=2; sync.signal matrix sem=0; sync.wait activation "
        "sem=0\n";
    const auto check_refused = [](const std::string& text, const std::string& rule) {
        CAPTURE(text);
        const isa::Program program = isa::assemble(wrong_head + text, "test");
        CHECK_THAT(error_of(program, tests::small_machine()), Catch::EndsWith(rule));
        CHECK_THAT(functional_error(program, tests::small_machine()), Catch::EndsWith(rule));
    };
    check_refused(settings + "activate acc=3 ub=0 rows=2 load; halt\n",
                  "nothing has written accumulator row 3; a product or .accumulators must come before");
    check_refused(settings + "activate acc=4 ub=0 rows=2; halt\n",
                  "there are no parameters in the activation unit; load must be given first");
    CHECK(error_of(".accumulators 2 2 fill 9\n" + settings + "activate acc=2 ub=0 rows=4 load; halt\n")
              .empty());
    CHECK(error_of(settings + "activate acc=0 ub=0 rows=0 load; activate acc=4 ub=0 rows=2; halt\n").empty());
}

TEST_CASE("A zero point of weights needs a machine with row sums", "[order]") {
    machine::MachineConfig machine = tests::small_machine();
    machine.matrix_unit.row_sums = false;
    const isa::Program program = isa::assemble(
        wrong_head +
            "set multiply.weight_zero_point -5\nread_weights tile=0\nmatmul ub=0 acc=0 rows=1\nhalt\n",
        "test");
    for (const std::string& error : {error_of(program, machine), functional_error(program, machine)}) {
        CHECK_THAT(error, Contains("instruction 2") && Contains("matmul ub=0 acc=0 rows=1") &&
                              Catch::EndsWith("multiply.weight_zero_point is -5; it must be 0 on a machine "
                                              "whose matrix_unit.row_sums is false"));
    }
    CHECK(error_of(program, tests::small_machine()).empty());
    // Set back before the product, it does no harm.
    CHECK(error_of(isa::assemble(wrong_head + "set multiply.weight_zero_point -5\n"
                                              "set multiply.weight_zero_point 0\n"
                                              "read_weights tile=0\nmatmul ub=0 acc=0 rows=1\nhalt\n",
                                 "test"),
                   machine)
              .empty());
}

TEST_CASE("A program without weights can be timed but not computed", "[order]") {
    const isa::Program full = isa::assemble(
        wrong_head + "read_weights tile=0 count=2\nmatmul ub=0 acc=0 rows=3 repeat=1\nhalt\n", "test");
    isa::Program timed = full;
    for (isa::WeightTile& tile : timed.tiles) tile.values.clear();
    CHECK(error_of(timed, tests::small_machine()) ==
          "tile 0 has no values; such a program can only be timed");
    CHECK(functional_error(timed, tests::small_machine()) ==
          "tile 0: it has no values; such a program can only be timed");
    const auto cycles = [](const isa::Program& program, hw::Values values) {
        tests::FreshSimulation simulation;
        hw::System system("system", tests::small_machine(), program,
                          {.values = values, .test_delta_delay = {}});
        system.run();
        return system.cycles();
    };
    CHECK(cycles(timed, hw::Values::TimingOnly) == cycles(full, hw::Values::Computed));
}
