#include "sim/run/record/record.h"

#include <algorithm>
#include <stdexcept>

#include "sim/run/record/bytes.h"

namespace systole::run {

const Counter& Counters::at(std::string_view path) const {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Counter& each) { return each.path == path; });
    if (found == all.end()) throw std::logic_error("there is no counter " + std::string(path));
    return *found;
}

std::span<const Counter> Counters::of(std::string_view group) const {
    const auto is_in = [&](const Counter& each) { return each.group() == group; };
    const auto first = std::find_if(all.begin(), all.end(), is_in);
    const auto last = std::find_if_not(first, all.end(), is_in);
    return {first, last};
}

TileUse& TileUse::operator+=(const TileUse& other) {
    tiles += other.tiles;
    rows += other.rows;
    columns += other.columns;
    cells += other.cells;
    weights += other.weights;
    widest_columns = std::max(widest_columns, other.widest_columns);
    return *this;
}

std::uint64_t ProgramFacts::macs() const {
    std::uint64_t sum = 0;
    for (const LayerFacts& layer : layers) sum += layer.macs;
    return sum;
}

std::uint64_t NetworkWork::macs() const {
    std::uint64_t sum = 0;
    for (const LayerWork& layer : layers) sum += layer.macs;
    return sum;
}

std::uint64_t NetworkWork::weights() const {
    std::uint64_t sum = 0;
    for (const LayerWork& layer : layers) sum += layer.weights;
    return sum;
}

const std::vector<RowValue>& MemoryValues::in(std::string_view unit) const {
    const auto found =
        std::ranges::find_if(memories, [&](const ValuesOfMemory& each) { return each.unit == unit; });
    if (found == memories.end()) throw std::logic_error("no values of memory " + std::string(unit));
    return found->values;
}

const std::optional<Occupancy>& occupancy_of(const RunRecord& record, std::uint32_t core) {
    for (const CoresAlike& group : record.cores_alike) {
        if (group.cores.front() == 0) continue;
        if (std::ranges::find(group.cores, core) != group.cores.end()) return group.occupancy;
    }
    return record.occupancy;
}

const machine::Occupied& occupied(const RunRecord& record, std::string_view unit) {
    for (const machine::UnitDescription& each : record.units) {
        if (each.name == unit && each.occupied) return *each.occupied;
    }
    throw std::logic_error("no unit " + std::string(unit) + " with an occupancy");
}

std::uint64_t RunRecord::needed_macs() const {
    const std::uint64_t macs = program.macs() * program.inferences;
    return macs > 0 ? macs : counters.at(main_unit().main->macs).value();
}

std::uint64_t RunRecord::needed_macs(Tag tag) const {
    const bool is_layer = tag > 0 && tag <= program.layers.size();
    const std::uint64_t stated = is_layer ? program.layers[tag - 1U].macs * program.inferences : 0;
    const std::uint64_t done = counters.at(main_unit().main->macs).value(tag);
    // A report asks for each tag, so the sum over all layers is left out where it decides nothing.
    if (stated > 0 || done == 0) return stated;
    return program.macs() * program.inferences == 0 ? done : 0;
}

double RunRecord::seconds() const {
    return static_cast<double>(cycles) / static_cast<double>(spec.machine.clock_hz());
}

Cycle RunRecord::cycles_under(Tag tag) const {
    Cycle of_arrays = 0;
    if (parts.empty()) {
        for (const machine::CycleClass& each : main_unit().main->classes) {
            of_arrays += counters.at(each.counter).value(tag);
        }
    } else {
        // Absent cycles are less than all others.
        const auto last = std::ranges::max_element(parts, {}, &MachinePart::cycles);
        if (tag < last->by_tag.size()) of_arrays = last->by_tag[tag];
    }
    return of_arrays / spec.machine.matrix_unit.arrays;
}

double RunRecord::share_of_cycles(std::string_view counter) const {
    return static_cast<double>(counters.at(counter).value()) /
           static_cast<double>(cycles * spec.machine.arrays());
}

double RunRecord::share_of_cells(std::string_view counter) const {
    return share_of_cycles(counter) / static_cast<double>(spec.machine.tile_bytes());
}

RunRecord read_record(std::string_view bytes) {
    auto record = from_bytes<RunRecord>(bytes);
    if (record.schema != RunRecord::current_schema) throw RecordError("schema: it is " + record.schema);
    return record;
}

}  // namespace systole::run
