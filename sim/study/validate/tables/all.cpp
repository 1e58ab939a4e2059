#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

std::vector<Table> all_tables(const Results& results) {
    std::vector<Table> tables;
    for (const auto make : {summary,
                            cycles_table,
                            fit_table,
                            structure_table,
                            table_3,
                            table_3_differences,
                            table_8,
                            roofline_table,
                            throughput_table,
                            table_4,
                            table_5,
                            table_6,
                            baselines_table,
                            figure_9,
                            figure_10,
                            figure_10_text,
                            figure_11,
                            statements_table,
                            prime_table,
                            tiling_table,
                            claim_table,
                            article_cnn_table,
                            contradictions_table}) {
        tables.push_back(make(results));
    }
    return tables;
}

}  // namespace systole::validate
