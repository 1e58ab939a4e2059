#pragma once

#include <vector>

#include "sim/study/validate/results.h"
#include "sim/study/validate/table.h"

/// One table of the article, or of ours, a function and a file each.
namespace systole::validate {

Table summary(const Results& results);
Table cycles_table(const Results& results);
Table fit_table(const Results& results);
Table structure_table(const Results& results);
Table table_3(const Results& results);
Table table_3_differences(const Results& results);
Table table_4(const Results& results);
Table table_5(const Results& results);
Table table_6(const Results& results);
Table baselines_table(const Results& results);
Table table_8(const Results& results);
Table roofline_table(const Results& results);
Table throughput_table(const Results& results);
Table figure_9(const Results& results);
Table figure_10(const Results& results);
Table figure_10_text(const Results& results);
Table figure_11(const Results& results);
Table statements_table(const Results& results);
Table prime_table(const Results& results);
Table tiling_table(const Results& results);
Table claim_table(const Results& results);
Table article_cnn_table(const Results& results);
Table contradictions_table(const Results& results);

/// All of them, in the order in which they are read.
std::vector<Table> all_tables(const Results& results);

}  // namespace systole::validate
