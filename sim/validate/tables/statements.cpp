#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/validate/counters.h"
#include "sim/validate/tables/tables.h"

namespace systole::validate {
namespace {

/// How the article's words are read.
constexpr double about = 0.25;      ///< "about 3": within a quarter
constexpr double nothing = 1.15;    ///< "nothing", "almost nothing": less than this factor
constexpr double little = 1.5;      ///< "little": less than this factor
constexpr std::size_t doubled = 3;  ///< of `scales`
constexpr std::size_t fourfold = 4;

bool is_about(double value, double published) {
    return std::abs(value / published - 1.0) <= about;
}

}  // namespace

Table statements_table(const Results& results) {
    const Figure11Text& text = results.published.figure_11_text;
    const auto& curves = results.eight_bit_sensitivity.performance;
    Table table{.id = "statements",
                .title = "What the text says of Figure 11",
                .columns = {"statement", "ours", "holds"},
                .rows = {},
                .notes = {}};
    const auto add = [&](std::string statement, std::string ours, bool holds) {
        table.rows.push_back(
            {.label = std::move(statement), .cells = {Cell::words(std::move(ours)), Cell::yes(holds)}});
    };
    const auto factor = [](double value) { return Cell::number(value, 2).text(); };

    const ByWorkload<double>& memory = curves[Memory][fourfold];
    const double mean = weighted_mean(results.weights, memory);
    add(fmt::format("memory x4: about x{} on average", Cell::number(text.memory_4x_mean, 0).text()),
        factor(mean), is_about(mean, text.memory_4x_mean));
    const double mlp_lstm = (memory[MLP0] + memory[MLP1] + memory[LSTM0] + memory[LSTM1]) / 4.0;
    add(fmt::format("memory x4: MLPs and LSTMs about x{}", Cell::number(text.memory_4x_mlp_lstm, 0).text()),
        fmt::format("{} {} {} {}", factor(memory[MLP0]), factor(memory[MLP1]), factor(memory[LSTM0]),
                    factor(memory[LSTM1])),
        is_about(mlp_lstm, text.memory_4x_mlp_lstm));
    add("memory x4: CNNs gain little", fmt::format("{} {}", factor(memory[CNN0]), factor(memory[CNN1])),
        std::max(memory[CNN0], memory[CNN1]) < little);

    const ByWorkload<double>& clock = curves[ClockPlus][fourfold];
    add("clock x4: MLPs and LSTMs gain nothing",
        fmt::format("{} {} {} {}", factor(clock[MLP0]), factor(clock[MLP1]), factor(clock[LSTM0]),
                    factor(clock[LSTM1])),
        std::max({clock[MLP0], clock[MLP1], clock[LSTM0], clock[LSTM1]}) < nothing);
    add(fmt::format("clock+ x4: CNNs about x{}", Cell::number(text.clock_4x_cnn, 0).text()),
        fmt::format("{} {}", factor(clock[CNN0]), factor(clock[CNN1])),
        is_about((clock[CNN0] + clock[CNN1]) / 2.0, text.clock_4x_cnn));

    for (const Curve curve : {Matrix, MatrixPlus}) {
        const ByWorkload<double>& larger = curves[curve][doubled];
        std::string ours;
        for (const double each : larger) ours += (ours.empty() ? "" : " ") + factor(each);
        add(curve == Matrix ? "512x512 array: each slightly worse" : "  with accumulators", std::move(ours),
            *std::max_element(larger.begin(), larger.end()) < 1.0);
    }
    table.notes.emplace_back(
        "Speed-up by workload, in the order MLP0, MLP1, LSTM0, LSTM1, CNN0, CNN1, LSTMs with 8-bit "
        "activations. "
        "About: within a quarter, of the mean of those named; nothing: less than x1.15; little: less than "
        "x1.5.");
    return table;
}

}  // namespace systole::validate
