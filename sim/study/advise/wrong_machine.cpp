#include "sim/study/advise/wrong_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/message_text.h"
#include "sim/study/advise/binding.h"
#include "sim/view/report/numbers.h"

namespace systole::advise {
namespace {

/// Whether a part beside array, weights, input and links has the most to do.
bool works_beside_array(const Point& point) {
    constexpr std::array<std::string_view, 4> others{"array", "weight_shift", "infeed", "link"};
    return !point.shares.empty() && std::ranges::find(others, point.shares.front().name) == others.end();
}

double quotient(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::vector<std::string> wrong_machine_sentences(const std::string& machine, const std::string& model,
                                                 const Point& best, const ir::Detours& detours) {
    std::vector<std::string> reasons;
    const bool is_beside = works_beside_array(best);
    const double array = share_named(best.shares, "array");
    if (is_beside && array < idle_array) {
        const Share& largest = best.shares.front();
        reasons.push_back(fmt::format(
            "its array, which has the machine's peak, works in {} of the cycles; {} in {} of them ({})",
            report::percent(array), largest.meaning, report::percent(largest.share),
            bound_word(largest.name)));
    }
    if (is_beside && detours.found > 0 && detours.compared >= many_comparisons * detours.found) {
        reasons.push_back(
            fmt::format("data say which places are read or written, and no memory is addressed by data: {} "
                        "elements are compared for {} that are found",
                        report::grouped(detours.compared), report::grouped(detours.found)));
    }
    if (best.passes >= many_passes) {
        reasons.push_back(fmt::format(
            "each of its products passes the array {:.1f} times for the precision of its numbers, so "
            "that {} of the peak is the most that it can have",
            best.passes, report::percent(1.0 / best.passes)));
    }
    const bool has_macs = detours.all.macs > 0;
    const double discarded = has_macs ? quotient(detours.discarded.macs, detours.all.macs)
                                      : quotient(detours.discarded.elements, detours.all.elements);
    if (discarded >= much_discarded) {
        reasons.push_back(
            fmt::format("{} among branches {} data, and no core branches by data: all sides are computed, "
                        "and {} of {} are "
                        "thrown away",
                        counted(detours.choices, "choice"), detours.choices == 1 ? "follows" : "follow",
                        report::percent(discarded), has_macs ? "the multiply-accumulates" : "all results"));
    }
    std::vector<std::string> sentences;
    sentences.reserve(reasons.size());
    for (const std::string& reason : reasons) {
        sentences.push_back(sentences.empty()
                                ? fmt::format("{} is the wrong machine for {}: {}.", machine, model, reason)
                                : fmt::format("Besides, {}.", reason));
    }
    return sentences;
}

}  // namespace systole::advise
