// Every unit accounts for every cycle of a run, once.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "tests/support/chip.h"

using namespace systole;
using tests::TimedChip;

namespace {

/// A program that reads, multiplies, activates, pools and writes, twice, with waits of every kind.
std::string program() {
    std::string text =
        ".array 8 6\n.buffer in input 0x0 64\n.buffer out output 0x1000 96\n.tile 8 6 random 3\n"
        ".tile 8 6 random 4\n.tile 8 6 random 5\n"
        "set activation.columns 6\nset activation.pixel_bytes 6\nset activation.image_rows 1\n"
        "set activation.outputs_per_image 1\n";
    for (int i = 0; i < 2; ++i) {
        text +=
            "read_host in ub=0 block=8 count=8\nsync.signal host_read sem=1\nread_weights tile=0 count=3\n"
            "sync.wait matrix sem=1\nmatmul ub=0 acc=0 rows=8 repeat=2\n"
            "sync.signal matrix sem=2\nsync.wait activation sem=2\nactivate acc=0 ub=16 rows=8 first=0 "
            "identity\n"
            "vector multiply dst=32 src=16 other=16 rows=8\n"
            "sync.signal activation sem=3\nsync.wait host_write sem=3\nwrite_host out+" +
            std::to_string(48 * i) +
            " ub=32 block=6 count=8\nsync.signal host_write sem=4\nsync.wait host_read sem=4\n"
            "sync.signal matrix sem=5\nsync.wait host_read sem=5\n";
    }
    return text + "interrupt\nhalt\n";
}

}  // namespace

TEST_CASE("The cycles of each unit sum to those of the run, in total and over the tags", "[timing]") {
    const auto ports = GENERATE(1U, 2U, 3U);
    const auto depth = GENERATE(1U, 2U, 4U);
    CAPTURE(ports, depth);
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 8;
    machine.matrix_unit.columns = 6;
    machine.unified_buffer.rows = 64;
    machine.unified_buffer.read_ports = ports;
    machine.unified_buffer.write_ports = std::min(ports, 2U);
    machine.accumulators.rows = 32;
    machine.accumulators.ports = std::min(ports, 2U);
    machine.weight_fifo.depth_tiles = depth;
    machine.activation_unit.latency_cycles = 17;
    machine.host_interface.read_gb_per_s = machine.host_interface.write_gb_per_s = 1.9;
    machine.host_interface.latency_cycles = 31;
    machine.sequencer.queue_depth = depth;
    machine.sequencer.instruction_buffer_bytes = 64;
    TimedChip chip(machine, program());
    chip.run();

    constexpr std::array<std::string_view, 6> units{"sequencer",   "host_read",           "host_write",
                                                    "weight_fifo", "systolic_data_setup", "activation_unit"};
    std::size_t found = 0;
    for (const auto& [path, group] : chip->counters()) {
        if (std::find(units.begin(), units.end(), path) == units.end()) continue;
        ++found;
        std::uint64_t cycles = 0;
        for (const hw::Counter& counter : *group) {
            if (counter.unit() == hw::CounterUnit::Cycles) cycles += counter.value();
        }
        CAPTURE(path);
        CHECK(cycles == chip->cycles());
    }
    CHECK(found == units.size());
}
