#include "sim/run/execute/bounds.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/arithmetic.h"
#include "hw/timing/matrix_unit.h"

namespace systole::run {
namespace {

/// Cycles of a cell that the network needs under a tag: its multiply-accumulates, each with the passes of its
/// number formats. Work that the chip does twice counts once, and work that it does not do at all, such as
/// that of the host, does not count.
std::uint64_t cell_cycles(const RunRecord& record, Tag tag) {
    const std::uint64_t done = record.counters.at(record.main_unit().main->macs).value(tag);
    if (done == 0) return 0;
    const std::uint64_t needed = std::min(done, record.needed_macs(tag));
    return to_64_bits(
        multiply_divide_up(needed, record.counters.at(record.main_unit().main->useful_macs).value(tag), done),
        "multiply-accumulates of a layer take more than 64 bits of cycles");
}

}  // namespace

machine::Bound macs_bound(const RunRecord& record) {
    const machine::MainUnit& main = *record.main_unit().main;
    machine::Bound bound{
        .name = "macs", .part = main.full, .meaning = main.full_meaning, .run = 0, .by_tag = {}};
    std::uint64_t all = 0;
    const std::size_t tags = record.counters.at(record.main_unit().main->macs).by_tag.size();
    for (std::size_t tag = 0; tag < tags; ++tag) {
        const std::uint64_t needed = cell_cycles(record, static_cast<Tag>(tag));
        all += needed;
        bound.by_tag.push_back(timing::full_array_cycles(needed, record.spec.machine));
    }
    bound.run = timing::full_array_cycles(all, record.spec.machine);
    return bound;
}

}  // namespace systole::run
