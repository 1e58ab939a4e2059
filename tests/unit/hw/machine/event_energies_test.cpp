#include "hw/machine/event_energies.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "hw/machine/published_energies.h"
#include "tests/support/chip.h"
#include "tests/support/source_dir.h"

using namespace systole;
using machine::EventEnergies;
using machine::MachineConfig;

namespace {

std::vector<double> all(const EventEnergies& e) {
    return {e.mac,         e.unused_mac,  e.buffer_row, e.sums_row, e.sums_add,
            e.fifo_byte,   e.weight_byte, e.host_byte,  e.lookup,   e.instruction_byte,
            e.requantized, e.operand,     e.pooled};
}

}  // namespace

TEST_CASE("The energy of TPU v1's events follows from the published table", "[energy]") {
    const EventEnergies events = machine::event_energies(tests::tpu_v1());
    constexpr double process = 28.0;
    constexpr double kibibyte = 1024.0;
    const double add = machine::int32_add.at(process);
    CHECK(events.mac == Approx(machine::int8_multiply.at(process) + add));
    CHECK(events.unused_mac == 0.0);
    // Slices of 64 bits: 24 MiB in 32, 4 MiB in 128, 256 KiB in 32.
    CHECK(events.buffer_row == Approx(32 * machine::sram_per_64_bits(768 * kibibyte, process)));
    CHECK(events.sums_row == Approx(128 * machine::sram_per_64_bits(32 * kibibyte, process)));
    CHECK(events.sums_add == Approx(256 * add));
    CHECK(events.fifo_byte == Approx(machine::sram_per_64_bits(8 * kibibyte, process) / 8));
    CHECK(events.weight_byte == Approx(1300.0 / 8));
    CHECK(events.host_byte == 15.44);
    CHECK(events.instruction_byte == Approx(2 * machine::sram_per_64_bits(32 * kibibyte, process) / 8));
    CHECK(events.requantized == Approx(machine::int32_multiply.at(process) + 2 * add));
    CHECK(events.operand == Approx(machine::int32_multiply.at(process) + add));
    CHECK(events.pooled == Approx(add));
}

TEST_CASE("The events of an array that is not square have its rows and its columns", "[energy]") {
    MachineConfig machine = tests::tpu_v1();
    machine.matrix_unit.rows = 128;
    machine.matrix_unit.columns = 512;
    machine.unified_buffer.rows = 64 * 1024;
    machine.accumulators.rows = 1024;
    machine.weight_fifo.depth_tiles = 2;
    const EventEnergies events = machine::event_energies(machine);
    constexpr double process = 28.0;
    constexpr double kibibyte = 1024.0;
    // Slices of 64 bits: 8 MiB in 16, 2 MiB in 256, 128 KiB in 64.
    CHECK(events.buffer_row == Approx(16 * machine::sram_per_64_bits(512 * kibibyte, process)));
    CHECK(events.sums_row == Approx(256 * machine::sram_per_64_bits(8 * kibibyte, process)));
    CHECK(events.sums_add == Approx(512 * machine::int32_add.at(process)));
    CHECK(events.fifo_byte == Approx(machine::sram_per_64_bits(2 * kibibyte, process) / 8));
}

TEST_CASE("A larger memory takes more energy, a smaller process less", "[energy]") {
    MachineConfig machine = tests::tpu_v1();
    const EventEnergies before = machine::event_energies(machine);
    machine.unified_buffer.rows *= 2;
    CHECK(machine::event_energies(machine).buffer_row > before.buffer_row);
    machine = tests::tpu_v1();
    machine.accumulators.rows *= 2;
    CHECK(machine::event_energies(machine).sums_row > before.sums_row);
    machine = tests::tpu_v1();
    machine.weight_fifo.depth_tiles *= 2;
    CHECK(machine::event_energies(machine).fifo_byte > before.fifo_byte);
    machine = tests::tpu_v1();
    machine.sequencer.instruction_buffer_bytes *= 2;
    CHECK(machine::event_energies(machine).instruction_byte > before.instruction_byte);
    machine = tests::tpu_v1();
    machine.energy->process_nm = 16;
    const EventEnergies after = machine::event_energies(machine);
    CHECK(after.mac < before.mac);
    CHECK(after.buffer_row < before.buffer_row);
    CHECK(after.weight_byte == before.weight_byte);  // the memory's, not the chip's
}

TEST_CASE("An energy of the machine file replaces its entry of the table, and no other", "[energy]") {
    using Config = machine::EnergyConfig;
    struct Case {
        std::function<void(Config&)> give;
        std::function<double(const EventEnergies&)> event;
        double expected = 0.0;
        std::size_t changed = 1;  ///< events
    };
    const std::vector<Case> cases{
        {.give = [](Config& c) { c.mac_pj = 5; },
         .event = [](const EventEnergies& e) { return e.mac; },
         .expected = 5},
        {.give = [](Config& c) { c.unused_mac_fraction = 0.5; },
         .event = [](const EventEnergies& e) { return e.unused_mac / e.mac; },
         .expected = 0.5},
        {.give = [](Config& c) { c.unified_buffer_pj_per_byte = 2; },
         .event = [](const EventEnergies& e) { return e.buffer_row; },
         .expected = 512},
        {.give = [](Config& c) { c.accumulators_pj_per_byte = 2; },
         .event = [](const EventEnergies& e) { return e.sums_row; },
         .expected = 2048},
        {.give = [](Config& c) { c.weight_fifo_pj_per_byte = 3; },
         .event = [](const EventEnergies& e) { return e.fifo_byte; },
         .expected = 3},
        {.give = [](Config& c) { c.weight_memory_pj_per_byte = 50; },
         .event = [](const EventEnergies& e) { return e.weight_byte; },
         .expected = 50},
        {.give = [](Config& c) { c.host_link_pj_per_byte = 7; },
         .event = [](const EventEnergies& e) { return e.host_byte; },
         .expected = 7},
        {.give = [](Config& c) { c.instruction_buffer_pj_per_byte = 4; },
         .event = [](const EventEnergies& e) { return e.instruction_byte; },
         .expected = 8},
        {.give = [](Config& c) { c.int32_multiply_pj = 0; },
         .event = [](const EventEnergies& e) { return e.operand; },
         .expected = machine::int32_add.at(28.0),
         .changed = 2},  // requantization, too
        {.give = [](Config& c) { c.int32_add_pj = 1; },
         .event = [](const EventEnergies& e) { return e.sums_add; },
         .expected = 256,
         .changed = 5},  // the cell's addition, and all of the activation unit's
    };
    const std::vector<double> before = all(machine::event_energies(tests::tpu_v1()));
    for (std::size_t i = 0; i < cases.size(); ++i) {
        CAPTURE(i);
        MachineConfig machine = tests::tpu_v1();
        cases[i].give(*machine.energy);
        const EventEnergies events = machine::event_energies(machine);
        CHECK(cases[i].event(events) == Approx(cases[i].expected));
        const std::vector<double> after = all(events);
        std::size_t changed = 0;
        for (std::size_t e = 0; e < after.size(); ++e) changed += after[e] != before[e] ? 1 : 0;
        CHECK(changed == cases[i].changed);
    }
}

TEST_CASE("docs/energy.md has the energies of TPU v1's events", "[energy]") {
    std::ifstream file(std::string(tests::source_dir()) + "/docs/energy.md");
    const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const EventEnergies events = machine::event_energies(tests::tpu_v1());
    for (const std::string& told :
         {fmt::format("useful cell of an active cycle | {:.3f} pJ", events.mac),
          fmt::format("row written, or read | {:.1f} pJ a 64-bit word", events.sums_row / 128),
          fmt::format("by any unit | {:.1f} pJ a 64-bit word", events.buffer_row / 32),
          fmt::format("byte in, byte out | {:.2f} pJ each", events.fifo_byte),
          fmt::format("sum requantized | {:.2f} pJ", events.requantized),
          fmt::format("operand of `add`, `multiply` | {:.2f} pJ", events.operand),
          fmt::format("element of a pooling window | {:.3f} pJ", events.pooled),
          fmt::format("table look-up | {:.2f} pJ", events.lookup),
          fmt::format("instructions included | {:.1f} pJ", events.host_byte),
          fmt::format("byte of an instruction | {:.2f} pJ", events.instruction_byte),
          fmt::format("| byte | {:.1f} pJ", events.weight_byte)}) {
        INFO(told);
        CHECK(page.find(told) != std::string::npos);
    }
}
