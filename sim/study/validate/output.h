#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/validate/validate.h"
#include "sim/view/table/table.h"

/// The output of a validation: text, JSON, and the page of documentation.
namespace systole::validate {

// The tables of the article and our own, in the order in which they are read.

/// The score, total cycles, the fits, the workloads, and the counters of Tables 3 and 8.
std::vector<Table> counter_tables(const Results& results);
/// Roofline, throughput, latency, performance against CPU and GPU, also per watt, and watts against load.
std::vector<Table> performance_tables(const Results& results);
/// Results without a fit beside null models, and the error of every published figure.
std::vector<Table> score_tables(const Results& results);
/// Other machines and networks, the abstract's claim, and contradictions of the article.
std::vector<Table> study_tables(const Results& results);

// Tables that tests read by themselves.
Table baselines_table(const Results& results);
Table figure_10_table(const Results& results);
Table figure_10_text_table(const Results& results);
Table statements_table(const Results& results);

/// All tables, one after the other.
std::string to_text(const Results& results, const terminal::Look& look = {});

/// All tables by id, and values for other programs: "total_cycles_error" by workload, "mean" and
/// "others_mean", in fractions; "fit" with its parameters; "peak_tera_ops" of the machine, for the figures.
nlohmann::ordered_json to_json(const Results& results);

/// The page: the template with our tables (sim/view/table/page.h). Throws ConfigError, led by `file`.
std::string to_page(const Results& results, std::string_view page_template, const std::string& file);

}  // namespace systole::validate
