// Why the array is idle, in the words of what is around it in each family.
#include "hw/matrix_unit/causes.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace systole::hw {
namespace {

using enum machine::CauseForm;

machine::CycleCause issue() {
    return {"issue",
            Share,
            {counter_of_reason("not_arrived"), counter_of_reason("queue_full"), counter_of_reason("issue")},
            "Issue-bound",
            "the array waits for an instruction that has not been issued",
            {"queues", "host_bandwidth"}};
}

/// Appends what is alike in both families: collectives, the host, begin and end, and the cells.
void add_common(std::vector<machine::CycleCause>& all, PossibleWaits waits,
                std::vector<std::string> at_begin_and_end) {
    if (waits.collectives) {
        all.push_back({"collective",
                       Share,
                       {counter_of_reason("collective")},
                       "Bound by the links",
                       "the array waits until the cores have exchanged rows",
                       {"links"}});
    }
    if (waits.host) {
        all.push_back({"host",
                       Share,
                       {counter_of_reason("host")},
                       "Host-bound",
                       "the array waits for layers that the host computes",
                       {"host_bandwidth"}});
    }
    all.push_back({"begin_and_end",
                   Whole,
                   {counter_of_reason("program_begin"), counter_of_reason("program_end")},
                   "",
                   "are before the first or after the last rows of the program",
                   std::move(at_begin_and_end)});
    all.push_back({"unused_cells",
                   UnusedCells,
                   {},
                   "Underfills the array",
                   "{} of the cells work in an average active cycle",
                   {"smaller_array"}});
    all.push_back({"useful_cells",
                   UsefulCells,
                   {},
                   "Compute-bound",
                   "the array is active in {} of its cycles, with {} of the cells at work",
                   {"clock"}});
}

std::vector<machine::CycleCause> causes_of_unified_buffer(PossibleWaits waits) {
    std::vector<machine::CycleCause> all{
        {"weight_stall",
         PerTile,
         {"matrix_unit.weight_stall_cycles"},
         "Weight-bound",
         "weight memory",
         {"weight_bandwidth"}},
        {"weight_shift",
         PerTile,
         {"matrix_unit.weight_shift_cycles"},
         "Shift-bound",
         "the tile to shift in",
         {"batch"}},
        {"activations",
         Share,
         {counter_of_reason("raw")},
         "Activation-bound",
         "the array waits for rows that the activation unit still writes",
         {"activation_latency", "host_bandwidth", "clock"}},
        {"input",
         Share,
         {counter_of_reason("input"), counter_of_reason("input_buffer")},
         "Host-bound",
         "the array waits for rows from the host",
         {"host_bandwidth"}},
        {"accumulators",
         Share,
         {counter_of_reason("accumulators")},
         "Accumulator-bound",
         "the array waits for accumulators that the activation unit still reads",
         {"activation_latency", "accumulators"}},
        {"output_buffer",
         Share,
         {counter_of_reason("output_buffer")},
         "Host-bound",
         "the array waits until the host has fetched results from the unified buffer",
         {"host_bandwidth", "buffer"}},
        {"vector_work",
         Share,
         {counter_of_reason("vector_work")},
         "Bound by the activation unit",
         "the array waits for its pooling or element-wise work",
         {"activation_latency", "clock"}},
        {"setup",
         Share,
         {counter_of_reason("setup")},
         "Setup-bound",
         "the data setup still collects a line of windows",
         {"fetches"}},
        {"ports",
         Share,
         {counter_of_reason("port")},
         "Port-bound",
         "the array waits for a memory port",
         {"ports"}},
        issue(),
        {"sync",
         Share,
         {counter_of_reason("sync")},
         "Bound by synchronization",
         "the array waits for a semaphore for longer than its rows take",
         {"activation_latency", "host_bandwidth", "queues"}}};
    add_common(all, waits, {"host_bandwidth", "activation_latency"});
    return all;
}

std::vector<machine::CycleCause> causes_of_vector_memory(PossibleWaits waits) {
    std::vector<machine::CycleCause> all{
        {"weight_stall",
         Share,
         {"matrix_unit.weight_stall_cycles"},
         "Weight-bound",
         "the array waits for weights that are not in vector memory, or not asked for",
         {"hbm_bandwidth"}},
        {"weight_shift",
         Share,
         {"matrix_unit.weight_shift_cycles"},
         "Shift-bound",
         "the array waits for weights that shift in",
         {"batch"}},
        {"rows",
         Share,
         {counter_of_reason("raw"), counter_of_reason("accumulators"), counter_of_reason("vector_work")},
         "Bound by the vector unit",
         "the array waits for work of the vector unit or the cross-lane unit, or for sums on their "
         "way",
         {"vector_operations", "vector_loads", "cross_lane", "clock"}},
        {"input",
         Share,
         {counter_of_reason("input_buffer"), counter_of_reason("input")},
         "Memory-bound",
         "the array waits for rows from high-bandwidth memory",
         {"hbm_bandwidth", "host_bandwidth"}},
        {"output",
         Share,
         {counter_of_reason("output_buffer")},
         "Memory-bound",
         "the array waits until results have gone to high-bandwidth memory",
         {"hbm_bandwidth", "host_bandwidth"}},
        {"setup",
         Share,
         {counter_of_reason("setup"), counter_of_reason("port")},
         "Setup-bound",
         "the product setup still reads rows of vector memory",
         {}},
        issue(),
        {"sync",
         Share,
         {counter_of_reason("sync")},
         "Bound by synchronization",
         "the array waits for a semaphore, although its rows are ready",
         {"vector_operations", "hbm_bandwidth", "queues"}}};
    add_common(all, waits, {"hbm_bandwidth", "host_bandwidth", "vector_operations"});
    return all;
}

}  // namespace

std::string counter_of_reason(std::string_view name) {
    return fmt::format("matrix_unit.non_matrix_reasons.{}_cycles", name);
}

std::vector<machine::CycleCause> idle_causes(machine::Family family, PossibleWaits waits) {
    return family == machine::Family::TensorCore ? causes_of_vector_memory(waits)
                                                 : causes_of_unified_buffer(waits);
}

}  // namespace systole::hw
