#include "sim/study/advise/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/view/report/numbers.h"

namespace systole::advise {
namespace {

/// Neighbouring batches at which the same part binds.
struct Segment {
    const Point* first = nullptr;
    const Point* last = nullptr;
    double least = 0.0;
    double most = 0.0;
};

std::vector<Segment> segments_of(std::span<const Point> batches) {
    std::vector<Segment> segments;
    for (const Point& point : batches) {
        const Share& largest = point.shares.front();
        if (segments.empty() || segments.back().last->shares.front().name != largest.name) {
            segments.push_back({&point, &point, largest.share, largest.share});
            continue;
        }
        Segment& segment = segments.back();
        segment.last = &point;
        segment.least = std::min(segment.least, largest.share);
        segment.most = std::max(segment.most, largest.share);
    }
    return segments;
}

/// "1 to 4 images a core", "batch 8".
std::string where(const Segment& segment) {
    const bool is_known = segment.first->images_of_core > 0;
    const auto number = [&](const Point& point) {
        return report::grouped(is_known ? point.images_of_core : point.batch);
    };
    const std::string range = segment.first == segment.last
                                  ? number(*segment.first)
                                  : fmt::format("{} to {}", number(*segment.first), number(*segment.last));
    if (!is_known) return "batch " + range;
    return fmt::format("{} {} a core", range, range == "1" ? "image" : "images");
}

std::string share_range(const Segment& segment) {
    const std::string least = report::percent(segment.least);
    const std::string most = report::percent(segment.most);
    return least == most ? least : fmt::format("{} to {}", least, most);
}

std::string binding_text(std::span<const Segment> segments) {
    std::string text;
    for (const Segment& segment : segments) {
        const Share& part = segment.first->shares.front();
        const bool binds = segment.most >= binding_share;
        text += fmt::format("{}At {} it is {}{}: {} in {} of the cycles.", text.empty() ? "" : " ",
                            where(segment), binds ? "" : "nearest to ", bound_word(part.name), part.meaning,
                            share_range(segment));
    }
    return text;
}

/// What the article's number of images a core gives of the best speed; absent where the images of a core are
/// not known.
std::optional<std::string> article_text(std::span<const Point> batches) {
    if (batches.front().images_of_core == 0) return std::nullopt;
    const auto with = [&](std::uint64_t images) {
        return std::ranges::find(batches, images, &Point::images_of_core);
    };
    const auto rule = with(article_images);
    if (rule == batches.end()) {
        return fmt::format("The article's rule, batch = {} x cores, is not among these batches.",
                           article_images);
    }
    if (batches.size() == 1) {
        return fmt::format("It is the article's rule, batch = {} x cores.", article_images);
    }
    const Point& best = *std::ranges::max_element(batches, {}, &Point::inferences_per_second);
    const auto of_best = [&](const Point& point) {
        return report::percent(point.inferences_per_second / best.inferences_per_second);
    };
    std::string text =
        fmt::format("The article's rule, batch = {} x cores, is batch {} here: ", article_images,
                    report::grouped(rule->batch));
    text += rule->batch == best.batch ? std::string("the best speed")
                                      : fmt::format("{} of the best speed, which batch {} has",
                                                    of_best(*rule), report::grouped(best.batch));
    std::string others;
    for (const auto& [images, words] : {std::pair(article_images / 2, "half as many images"),
                                        std::pair(2 * article_images, "twice as many")}) {
        const auto other = with(images);
        if (other == batches.end()) continue;
        others += fmt::format("{}{} give {}", others.empty() ? "; " : ", ", words, of_best(*other));
    }
    return text + others + ".";
}

}  // namespace

std::vector<Share> shares_of(const run::RunRecord& record) {
    const std::vector<machine::Bound>& bounds = record.step ? record.step->bounds : record.bounds;
    const Cycle cycles = record.step ? record.step->cycles : record.cycles;
    std::vector<Share> shares;
    for (const machine::Bound& bound : bounds) {
        if (bound.name == "macs" || cycles == 0) continue;
        shares.push_back({.name = bound.name,
                          .meaning = bound.meaning,
                          .share = static_cast<double>(bound.value()) / static_cast<double>(cycles)});
    }
    std::ranges::stable_sort(shares, std::ranges::greater(), &Share::share);
    return shares;
}

std::string bound_word(std::string_view name) {
    std::string word(name == "hbm" ? "HBM" : name);
    std::ranges::replace(word, '_', '-');
    return word + "-bound";
}

double share_named(std::span<const Share> shares, std::string_view name) {
    const auto found = std::ranges::find(shares, name, &Share::name);
    return found == shares.end() ? 0.0 : found->share;
}

std::vector<std::string> binding_sentences(std::span<const Point> batches) {
    if (batches.empty() || batches.front().shares.empty()) return {};
    std::vector<std::string> sentences{binding_text(segments_of(batches))};
    if (auto text = article_text(batches)) sentences.push_back(*std::move(text));
    return sentences;
}

}  // namespace systole::advise
