#pragma once

#include <vector>

#include "sim/study/validate/table.h"
#include "sim/study/validate/validate.h"

/// The tables of the article, and our own.
namespace systole::validate {

/// The score, total cycles, the fits, the workloads, and the counters of Tables 3 and 8.
std::vector<Table> counter_tables(const Results& results);
/// Roofline, throughput, latency, and performance against CPU and GPU.
std::vector<Table> performance_tables(const Results& results);
/// Performance per watt, and watts against load.
std::vector<Table> efficiency_tables(const Results& results);
/// Other machines and networks, the abstract's claim, and contradictions of the article.
std::vector<Table> study_tables(const Results& results);

// The tables that tests read by themselves.
Table baselines_table(const Results& results);
Table figure_10_table(const Results& results);
Table figure_10_text_table(const Results& results);
Table statements_table(const Results& results);

}  // namespace systole::validate
