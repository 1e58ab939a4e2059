#include "compiler/schedule/constants_layout.h"

#include <fmt/format.h>

#include "compiler/ir/model_error.h"
#include "hw/base/arithmetic.h"

namespace systole::schedule {

std::uint32_t lay_out_constants(const mapping::Network& network, const Target& target,
                                std::vector<LayerPlan>& plans) {
    const std::uint64_t row_bytes = target.geometry.rows;
    std::uint64_t next_row = 0;
    const auto take = [&](std::uint64_t bytes) {
        const std::uint64_t row = next_row;
        next_row += divide_up(bytes, row_bytes);
        if (next_row > target.unified_buffer_rows) {
            throw ModelError(
                fmt::format("{}: requantization parameters and tables take {} bytes and more; the unified "
                            "buffer has {}",
                            network.name, next_row * row_bytes, target.unified_buffer_rows * row_bytes));
        }
        return static_cast<std::uint32_t>(row);
    };
    for (std::size_t i = 0; i < plans.size(); ++i) {
        for (std::vector<Segment>& column_tile : plans[i].segments) {
            for (Segment& segment : column_tile) {
                segment.parameters_row = take(parameter_bytes * segment.channels);
            }
        }
        if (const auto* table = lookup_table(network.layers[i]))
            plans[i].table_row = take(table_bytes(*table).size());
    }
    return static_cast<std::uint32_t>(next_row);
}

}  // namespace systole::schedule
