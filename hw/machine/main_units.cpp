#include "hw/machine/main_units.h"

#include <algorithm>
#include <stdexcept>

namespace systole::machine {
namespace {

/// The reasons for cycles in which the array has no rows.
std::vector<CyclePart> reasons_of_array() {
    std::vector<CyclePart> parts{{"raw", "RAW", "rows were still being activated"},
                                 {"input", "input", "rows were still coming from the host"},
                                 {"accumulators", "accumulators", "sums there were still being read"},
                                 {"output_buffer", "output buffer", "results there were not fetched yet"},
                                 {"input_buffer", "input buffer", "rows for the host's data were in use"},
                                 {"vector_work", "vector work", "pooling or element-wise work"},
                                 {"setup", "data setup", "a line of windows was being read"},
                                 {"port", "port", "a memory port was taken"},
                                 {"not_arrived", "not arrived", "an instruction was still on its way"},
                                 {"queue_full", "queue full", "an instruction's queue was full"},
                                 {"issue", "issue", "earlier instructions went before it"},
                                 {"sync", "sync", "a semaphore came later than the rows"},
                                 {"program_begin", "program begin", "before the first matrix instruction"},
                                 {"program_end", "program end", "after the last rows had entered"},
                                 {"host", "host", "the host computed, or its data moved"},
                                 {"collective", "collective", "cores exchanged rows"}};
    for (CyclePart& part : parts) {
        part.counter = "matrix_unit.non_matrix_reasons." + part.counter + "_cycles";
    }
    return parts;
}

MainUnit array() {
    return {.words = "the matrix unit",
            .classes = {{"matrix_unit.active_cycles", "array active", "active", "a row entered the array"},
                        {"matrix_unit.weight_stall_cycles", "weight stall", "stall",
                         "rows waited for a weight tile that was not whole in the FIFO", true},
                        {"matrix_unit.weight_shift_cycles", "weight shift", "shift",
                         "rows waited for a weight tile that was shifting in", true},
                        {"matrix_unit.non_matrix_cycles", "non-matrix", "other",
                         "the array had no instruction, or its rows were not there"}},
            .products = "matrix_unit.active_cycles",
            .macs = "matrix_unit.multiply_accumulates",
            .useful_macs = "matrix_unit.useful_macs",
            .unused_macs = "matrix_unit.unused_macs",
            .weights = {"weight_fifo.bytes", "weight_fifo.spilled_bytes"},
            .works = {"matrix_unit.active_cycles", "activation_unit.busy_cycles"},
            .groups = {"matrix_unit.non_matrix_reasons"},
            .divided = "matrix_unit.non_matrix_cycles",
            .parts_words = "reasons for non-matrix",
            .parts = reasons_of_array(),
            .cells = "of the cells in active cycles",
            .full = "full array",
            .full_meaning = "with every cell useful in every cycle",
            .fill_meaning = "full array over the array's passes",
            .energy_of = "chip and weight memory"};
}

MainUnit tiles() {
    return {.words = "the tiles",
            .classes = {{"tile_array.busy_cycles", "tiles busy", "busy",
                         "the tiles multiplied, or did vector work"},
                        {"tile_array.ring_stall_cycles", "ring stall", "ring",
                         "the tiles waited for weights from the ring", true},
                        {"tile_array.sync_cycles", "sync", "sync", "the tiles waited for another unit"},
                        {"tile_array.idle_cycles", "idle", "idle", "the tiles had no instruction"}},
            .products = "tile_array.work.multiply_cycles",
            .macs = "tile_array.work.useful_macs",
            .useful_macs = "tile_array.work.useful_macs",
            .unused_macs = "tile_array.work.unused_macs",
            .weights = {"ring.parameter_bytes", "tile_array.work.dense_bytes"},
            .works = {"tile_array.busy_cycles"},
            .groups = {"tile_array.work"},
            .divided = "tile_array.busy_cycles",
            .parts_words = "parts of tiles busy",
            .cells = "of the lanes in cycles that multiply",
            .full = "all lanes",
            .full_meaning = "with every lane useful in every cycle",
            .fill_meaning = "all lanes over the cycles that multiply",
            .energy_of = "chip, link, host and board"};
}

}  // namespace

const std::vector<NamedMainUnit>& main_units() {
    static const std::vector<NamedMainUnit> units{{"matrix_unit", array()}, {"tile_array", tiles()}};
    return units;
}

const MainUnit& main_unit_named(std::string_view name) {
    const auto found = std::ranges::find(main_units(), name, &NamedMainUnit::name);
    if (found == main_units().end()) throw std::logic_error("there is no main unit " + std::string(name));
    return found->unit;
}

}  // namespace systole::machine
