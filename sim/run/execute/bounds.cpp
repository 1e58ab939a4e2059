#include "sim/run/execute/bounds.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/arithmetic.h"
#include "hw/machine/machine_config.h"
#include "hw/timing/matrix_unit.h"
#include "hw/timing/transfers.h"

namespace systole::run {
namespace {

/// A counter's total, or its part of one tag.
std::uint64_t counter_sum(const RunRecord& record, std::string_view path, std::optional<Tag> tag) {
    const Counter& counter = record.counters.at(path);
    return tag ? counter.value(*tag) : counter.value();
}

/// Cycles of a cell that the network needs under a tag: its multiply-accumulates, each with the passes of its
/// number formats. Work that the chip does twice counts once, and work that it does not do at all, such as
/// that of the host, does not count.
std::uint64_t cell_cycles(const RunRecord& record, Tag tag) {
    const std::uint64_t done = counter_sum(record, "matrix_unit.multiply_accumulates", tag);
    if (done == 0) return 0;
    const std::uint64_t needed = std::min(done, record.needed_macs(tag));
    return to_64_bits(multiply_divide_up(needed, counter_sum(record, "matrix_unit.useful_macs", tag), done),
                      "multiply-accumulates of a layer take more than 64 bits of cycles");
}

/// Bytes of data over the link to the host.
struct HostData {
    std::uint64_t read = 0;
    std::uint64_t written = 0;
};

HostData host_data(const RunRecord& record, std::optional<Tag> tag) {
    return {.read = counter_sum(record, "host_interface.read_bytes", tag) +
                    counter_sum(record, "host_interface.weight_bytes", tag),
            .written = counter_sum(record, "host_interface.write_bytes", tag)};
}

Cycle weight_cycles(const RunRecord& record, std::optional<Tag> tag) {
    const machine::MachineConfig& machine = record.spec.machine;
    if (machine.weight_memory.model == machine::WeightMemoryModel::Bandwidth) {
        // A tile that never reaches the array may not have arrived when the run ends.
        const std::uint64_t shifted = counter_sum(record, "weight_fifo.shifted_bytes", tag);
        const std::uint64_t spilled = counter_sum(record, "weight_fifo.spilled_bytes", tag);
        return timing::weight_read_cycles(shifted - std::min(shifted, spilled), machine);
    }
    constexpr std::array<std::string_view, 4> busy{"weight_memory.data_clocks", "weight_memory.row_clocks",
                                                   "weight_memory.refresh_clocks",
                                                   "weight_memory.gap_clocks"};
    std::uint64_t clocks = 0;
    for (const std::string_view counter : busy) clocks += counter_sum(record, counter, tag);
    return timing::dram_cycles(clocks, machine);
}

Bounds bounds_of(const RunRecord& record, std::uint64_t cell_cycles, const HostData& data,
                 std::optional<Tag> tag) {
    const machine::MachineConfig& machine = record.spec.machine;
    const std::uint64_t inbound = data.read + counter_sum(record, "host_interface.instruction_bytes", tag);
    return {.macs = timing::full_array_cycles(cell_cycles, machine),
            .array = counter_sum(record, "matrix_unit.active_cycles", tag),
            .data_setup = counter_sum(record, "systolic_data_setup.lines.fetch_cycles", tag),
            .weight_memory = weight_cycles(record, tag),
            .host_link = std::max(timing::host_read_cycles(inbound, machine),
                                  timing::host_write_cycles(data.written, machine)),
            .activation = counter_sum(record, "activation_unit.busy_cycles", tag)};
}

bool is_worked_on(const RunRecord& record, Tag tag) {
    return counter_sum(record, "matrix_unit.active_cycles", tag) > 0 ||
           counter_sum(record, "activation_unit.busy_cycles", tag) > 0;
}

/// The first and the last layer of the network that the chip works on; 0 if there is none.
struct Ends {
    Tag first = 0;
    Tag last = 0;
};

Ends ends_of(const RunRecord& record) {
    Ends ends;
    for (std::size_t number = 1; number <= record.program.layers.size(); ++number) {
        const auto tag = static_cast<Tag>(number);
        if (!is_worked_on(record, tag)) continue;
        if (ends.first == 0) ends.first = tag;
        ends.last = tag;
    }
    return ends;
}

std::size_t tags_of(const RunRecord& record) {
    std::size_t tags = record.program.layers.size() + 1;
    for (const Counter& counter : record.counters.all) {
        tags = std::max<std::size_t>(tags, counter.last_tag() + 1U);
    }
    return tags;
}

}  // namespace

RunBounds bounds_of(const RunRecord& record) {
    RunBounds bounds;
    const Ends ends = ends_of(record);
    const HostData outside = host_data(record, Tag{0});
    std::uint64_t all_cell_cycles = 0;
    const std::size_t tags = tags_of(record);
    for (std::size_t number = 0; number < tags; ++number) {
        const auto tag = static_cast<Tag>(number);
        HostData data = host_data(record, tag);
        if (tag == 0) data = {};
        if (tag == ends.first) data.read += outside.read;
        if (tag == ends.last) data.written += outside.written;
        const std::uint64_t needed = cell_cycles(record, tag);
        all_cell_cycles += needed;
        bounds.by_tag.push_back(bounds_of(record, needed, data, tag));
    }
    bounds.run = bounds_of(record, all_cell_cycles, host_data(record, std::nullopt), std::nullopt);
    return bounds;
}

}  // namespace systole::run
