#pragma once

#include <filesystem>
#include <string>

#include "sim/run/baselines/baseline.h"
#include "sim/run/record/record.h"
#include "sim/study/validate/published.h"
#include "sim/study/validate/target.h"

/// The files that the project ships, for tests of what follows from them.
namespace systole::validate {

inline const std::filesystem::path project = SYSTOLE_SOURCE_DIR;
/// What the project's facts were collected in; beside the project, where it is there.
inline const std::filesystem::path reference_file = project.parent_path() / "shared/reference/tpu_v1.json";

inline Published shipped_figures() {
    return read_published(project / "configs/published/tpu_v1.json");
}

inline Target shipped_target() {
    return read_target(project / "configs/validation/tpu_v1.json");
}

inline baselines::Baseline shipped_baseline(const std::string& name) {
    return baselines::read_baseline(project / "configs/baselines" / (name + ".json"));
}
inline baselines::Baseline shipped_cpu() {
    return shipped_baseline("haswell_e5_2699_v3");
}
inline baselines::Baseline shipped_gpu() {
    return shipped_baseline("k80");
}

/// A record of so many cycles on an array of `rows` x `columns` cells at 1 GHz. All other counters that are
/// compared are 0; the chip never waits for the host alone.
inline run::RunRecord made_record(Cycle cycles, std::uint64_t useful_macs, std::uint32_t rows = 1,
                                  std::uint32_t columns = 1) {
    run::RunRecord record;
    record.spec.machine.clock_mhz = 1000.0;
    record.spec.machine.matrix_unit.rows = rows;
    record.spec.machine.matrix_unit.columns = columns;
    record.cycles = cycles;
    for (const Table3Row& row : table_3_rows) {
        if (!row.counter.empty())
            record.counters.all.push_back(
                {.path = std::string(row.counter), .unit = {}, .meaning = {}, .total = 0, .by_tag = {}});
    }
    for (run::Counter& counter : record.counters.all) {
        if (counter.path == "matrix_unit.useful_macs") counter.total = useful_macs;
    }
    record.program.batch = 1;
    record.phases = run::Phases{.head = 0, .last_result = cycles, .first_fetch = {}, .last_tile = 0};
    return record;
}

}  // namespace systole::validate
