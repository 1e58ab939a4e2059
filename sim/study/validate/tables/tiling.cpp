#include <fmt/format.h>

#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

Table tiling_table(const Results& results) {
    const Tiling& published = results.published.tiling;
    Table table{.id = "tiling",
                .title = fmt::format("A {0} x {0} matrix of LSTM1 on two arrays", published.matrix),
                .columns = {"array", "tiles published", "ours", "us published", "ours"}};
    const std::array<std::array<double, 2>, 2> theirs{{{published.array_256_tiles, published.array_256_us},
                                                       {published.array_512_tiles, published.array_512_us}}};
    for (std::size_t i = 0; i < theirs.size(); ++i) {
        const Measurement& ours = results.tiling[i];
        table.rows.push_back(
            {.label = fmt::format("{0} x {0}", results.tiling_arrays[i]),
             .cells = {
                 Cell::number(theirs[i][0], 0), Cell::number(static_cast<double>(ours.tiles), 0),
                 Cell::number(theirs[i][1], 0),
                 Cell::number(1e6 * static_cast<double>(ours.weight_fetch_cycles) / ours.clock_hz, 1)}});
    }
    table.notes.emplace_back("The time is the one from the first byte of the weights to the last.");
    return table;
}

}  // namespace systole::validate
