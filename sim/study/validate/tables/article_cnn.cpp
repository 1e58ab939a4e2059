#include <fmt/format.h>

#include "sim/study/validate/tables/tables.h"

namespace systole::validate {
namespace {

constexpr double filled = 0.5;  ///< of the peak: "begins to fill the array"

}  // namespace

Table article_cnn_table(const Results& results) {
    Table table{.id = "article_cnn",
                .title = "A small network does not fill the array: the digit CNN, % of cycles",
                .columns = {"size x", "width x", "batch", "useful", "active", "stall", "shift", "non-matrix",
                            "inf/s"}};
    for (const studies::FillRow& row : results.array_fill) {
        Row line{
            .label = fmt::format("{}", row.point.network.size_multiplier),
            .cells = {Cell::number(row.point.network.width_multiplier, 0), Cell::number(row.point.batch, 0)}};
        if (row.error.empty()) {
            for (const double share :
                 {row.useful, row.active, row.weight_stall, row.weight_shift, row.non_matrix}) {
                line.cells.push_back(Cell::percent(share));
            }
            line.cells.push_back(Cell::number(row.inferences_per_second, 0));
        }
        table.rows.push_back(std::move(line));
    }
    const auto first = studies::first_above(results.array_fill, filled);
    table.notes.emplace_back(
        "Size is the network's SIZE_MULTIPLIER, the sides of its input in 28 pixels; width multiplies its "
        "filters and units, which SIZE_MULTIPLIER leaves as they are. Useful: multiply-accumulates of all "
        "that the array could do. " +
        (first ? fmt::format("The first to use more than half of the array: size {}, width {}, batch {}.",
                             first->point.network.size_multiplier, first->point.network.width_multiplier,
                             first->point.batch)
               : std::string("None of them uses more than half of the array.")));
    return table;
}

}  // namespace systole::validate
