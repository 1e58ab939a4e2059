#include <fmt/format.h>

#include "sim/study/validate/counters.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

Table figure_11(const Results& results) {
    Table table{.id = "figure_11",
                .title = "Figure 11: weighted mean of performance against the machine as it is",
                .columns = {"scale"}};
    table.columns.insert(table.columns.end(), scale_names.begin(), scale_names.end());
    table.columns.emplace_back("largest error %");
    const SensitivityErrors errors = sensitivity_errors(results, results.eight_bit_sensitivity);
    const SensitivityErrors half_rate = sensitivity_errors(results, results.sensitivity);
    for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
        const auto row = [&](std::string label, const auto& value, const auto* error) {
            Row result{.label = std::move(label), .cells = {}};
            double most = 0.0;
            for (std::size_t i = 0; i < scales.size(); ++i) {
                result.cells.push_back(Cell::number(value(i), 2));
                if (error != nullptr && std::abs((*error)[i]) > std::abs(most)) most = (*error)[i];
            }
            if (error != nullptr) result.cells.push_back(Cell::difference(100.0 * most, 0));
            table.rows.push_back(std::move(result));
        };
        const auto* const none = static_cast<const std::array<double, scales.size()>*>(nullptr);
        row(
            fmt::format("{}, published", curve_names[curve]),
            [&](std::size_t i) { return results.published.figure_11.curves[curve][i]; }, none);
        row(
            "  ours, LSTMs 8-bit",
            [&](std::size_t i) {
                return weighted_mean(results.weights, results.eight_bit_sensitivity.performance[curve][i]);
            },
            &errors[curve]);
        row(
            "  ours, LSTMs 16-bit",
            [&](std::size_t i) {
                return weighted_mean(results.weights, results.sensitivity.performance[curve][i]);
            },
            &half_rate[curve]);
    }
    table.notes.emplace_back(
        "Without the host's time: cycles in which the chip only waits for its first input, or only sends "
        "its last output, are taken off. Scaling the clock leaves all times in seconds as they are; "
        "scaling the array leaves the bytes of the unified buffer; + scales the rows of accumulators too.");
    table.notes.emplace_back(
        "The article contradicts itself here: by its counters (Table 3, rows 2 and 9) the LSTMs run at "
        "half rate, as 16-bit activations do; but an array of a quarter of the size would then lose more "
        "than Figure 11 says. Its model has them at full rate. So the figure is compared with LSTMs of "
        "8-bit activations, and both are shown.");
    return table;
}

}  // namespace systole::validate
