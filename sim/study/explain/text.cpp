#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "sim/study/explain/cause.h"
#include "sim/view/report/numbers.h"

namespace systole::explain {
namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
}

std::string share(std::uint64_t part, std::uint64_t whole) {
    return report::percent(report::share_of(part, whole));
}

/// The wait in cycles per tile. A layer without tiles of its own, which uses those fetched for a layer joined
/// with it, has the share of its cycles instead.
std::string waits_for_tiles(const Facts& facts, std::uint64_t waited, std::string_view what) {
    if (facts.fetched.tiles == 0) {
        return fmt::format("{} of its cycles wait for {}", share(waited, facts.cycles()), what);
    }
    const auto per_tile = [&](std::uint64_t cycles) {
        return report::grouped(static_cast<std::uint64_t>(std::llround(ratio(cycles, facts.fetched.tiles))));
    };
    return fmt::format("{} of {} cycles per tile wait for {} (its rows take {})", per_tile(waited),
                       per_tile(facts.cycles()), what, per_tile(facts.active_cycles));
}

/// "12 of 256 columns": the mean of all tiles.
std::string used(std::uint64_t sum, std::uint64_t tiles, std::uint32_t all, std::string_view what) {
    const double mean = ratio(sum, tiles);
    const double rounded = std::round(mean * 10.0) / 10.0;
    return fmt::format("{:g} of {} {}", rounded, all, what);
}

/// Why columns are left over. Empty if a tile uses all columns, because the layer then has more of them in
/// other tiles.
std::string outputs(const Facts& facts, const Subject& subject, const machine::MatrixUnitConfig& array) {
    if (subject.kind.empty() || facts.fetched.widest_columns >= array.columns) return {};
    const bool filters = subject.kind == "convolution" || subject.kind == "depthwise_convolution";
    return filters ? ", all that its filters need" : ", all that its outputs need";
}

std::string underfills(const Facts& facts, Cause cause, const Subject& subject,
                       const machine::MatrixUnitConfig& array) {
    const std::string cells = share(facts.useful_macs, facts.useful_macs + facts.unused_macs);
    std::string text = fmt::format("{}: {}", cause->head, fmt::format(fmt::runtime(cause->words), cells));
    if (facts.fetched.tiles == 0) return text;
    if (2 * facts.fetched.weights < facts.fetched.cells) {
        return fmt::format("{}, and {} of a tile's cells hold a weight, as {}", text,
                           share(facts.fetched.weights, facts.fetched.cells),
                           subject.kind == "depthwise_convolution"
                               ? "each channel has its own filter"
                               : "the windows of several pixels lie side by side");
    }
    return fmt::format("{}, and an average tile fills {} and {}{}", text,
                       used(facts.fetched.rows, facts.fetched.tiles, array.rows, "rows"),
                       used(facts.fetched.columns, facts.fetched.tiles, array.columns, "columns"),
                       outputs(facts, subject, array));
}

}  // namespace

std::string sentence(const Facts& facts, Cause cause, const Subject& subject,
                     const machine::MatrixUnitConfig& array) {
    const auto of_cycles = [&] { return share(cycles_of(cause, facts), facts.cycles()); };
    switch (cause->form) {
        case machine::CauseForm::Share:
            return fmt::format("{}: in {} of its cycles {}", cause->head, of_cycles(), cause->words);
        case machine::CauseForm::PerTile:
            return fmt::format("{}: {}", cause->head,
                               waits_for_tiles(facts, cycles_of(cause, facts), cause->words));
        case machine::CauseForm::Whole:
            return fmt::format("{} of its cycles {}", of_cycles(), cause->words);
        case machine::CauseForm::UnusedCells:
            return underfills(facts, cause, subject, array);
        case machine::CauseForm::UsefulCells:
            return fmt::format(
                "{}: {}", cause->head,
                fmt::format(fmt::runtime(cause->words), share(facts.active_cycles, facts.cycles()),
                            share(facts.useful_macs, facts.useful_macs + facts.unused_macs)));
    }
    throw std::logic_error("a cause without a sentence");
}

std::string consequence(std::string_view change, std::optional<double> speedup, std::optional<double> run) {
    const auto is_slower = [](std::optional<double> factor) {
        return factor && *factor <= 1.0 - report::noticeable_change;
    };
    const std::string of_run =
        run ? fmt::format(" (the run {}at {})", is_slower(run) ? "slower, " : "", report::times(run))
            : std::string();
    if (!speedup) return fmt::format("{} would leave nothing of it{}", change, of_run);
    if (std::abs(*speedup - 1.0) < report::noticeable_change)
        return fmt::format("{} would leave it as it is{}", change, of_run);
    return fmt::format("{} would {} {} the speed{}", change,
                       is_slower(speedup) ? "make it slower, at" : "run it at", report::times(speedup),
                       of_run);
}

}  // namespace systole::explain
