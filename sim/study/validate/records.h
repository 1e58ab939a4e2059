#pragma once

#include <string_view>

#include "sim/run/record/record.h"
#include "sim/study/validate/published.h"

/// The quantities of run records that are compared with published ones.
namespace systole::validate {

double seconds(const run::RunRecord& record);
/// Without the cycles in which the chip only waits for its first input or only sends its last output.
double device_seconds(const run::RunRecord& record);
/// Cycles that `device_seconds` leaves out.
Cycle host_only_cycles(const run::RunRecord& record);
double inferences_per_second(const run::RunRecord& record);
/// 10^12 operations per second; a multiply-accumulate that the network asks for counts as two.
double tera_ops(const run::RunRecord& record);
/// Multiply-accumulates of the batch for each byte of the weight tiles' used cells; each tile counts once.
double macs_per_weight_byte(const run::RunRecord& record);
/// A counter of cycles as a share of the run's cycles.
double share_of_cycles(const run::RunRecord& record, std::string_view counter);
/// Row 2 of Table 3: useful multiply-accumulates, of all that the cells could do. A fraction. A 16-bit
/// multiply-accumulate takes several cell cycles and counts in each.
double useful_share(const run::RunRecord& record);
/// Row of Table 3 by index into table_3_rows: per cent of cycles, or 10^12 operations per second.
ByWorkload<double> table_3_values(std::size_t row, const ByWorkload<run::RunRecord>& records);

/// `quantity(record)` of each record.
template <class Quantity>
ByWorkload<double> of_each(const ByWorkload<run::RunRecord>& records, const Quantity& quantity) {
    return by_workload([&](std::size_t i) { return static_cast<double>(quantity(records[i])); });
}

/// Watts that grow evenly with the load.
struct Watts {
    double idle = 0.0;
    double busy = 0.0;

    double at(double load) const { return idle + load * (busy - idle); }
    double share_at(double load) const { return at(load) / busy; }
};
/// Watts of the die: static, and static with dynamic. 0 if the machine has no section `energy`.
Watts die_watts(const run::RunRecord& record);

}  // namespace systole::validate
