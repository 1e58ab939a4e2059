#include "sim/study/advise/speed_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/study/advise/binding.h"
#include "sim/view/report/numbers.h"

namespace systole::advise {
namespace {

constexpr double mark_radius = 5;  // in pixels

/// The mark of a part, by its number: colours repeat later than forms, so that no two parts look alike.
std::string mark(std::size_t part, double x, double y) {
    const std::string paint = fmt::format("fill=\"var(--part{})\"", part % part_colours);
    constexpr std::size_t forms = 4;
    constexpr double r = mark_radius;
    switch (part % forms) {
        case 0:
            return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" {}>", x, y, r, paint);
        case 1:
            return fmt::format("<path d=\"M{:.1f},{:.1f} h{} v{} h-{} z\" {}>", x - r, y - r, 2 * r, 2 * r,
                               2 * r, paint);
        case 2:
            return fmt::format("<path d=\"M{:.1f},{:.1f} l{} {} h-{} z\" {}>", x, y - r - 1, r + 1, 2 * r,
                               2 * r + 2, paint);
        default:
            return fmt::format("<path d=\"M{:.1f},{:.1f} l{} {} l-{} {} l-{} -{} z\" {}>", x, y - r - 1,
                               r + 1, r + 1, r + 1, r + 1, r + 1, r + 1, paint);
    }
}

std::string end_of_mark(std::size_t part) {
    return part % 4 == 0 ? "</circle>" : "</path>";
}

class SpeedPlot {
public:
    explicit SpeedPlot(const Advice& advice) : article_(article_images * advice.cores) {
        for (const Point& point : advice.points) {
            if (!point.error.empty() || point.shares.empty()) continue;
            points_.push_back(point);
            sizes_.insert(point.size);
            batches_.insert(point.batch);
            most_ = std::max(most_, point.inferences_per_second);
            const std::string& part = point.shares.front().name;
            if (std::ranges::find(parts_, part) == parts_.end()) parts_.push_back(part);
        }
        if (points_.empty()) return;
        // The axis ends at a whole number of steps of 1, 2 or 5 times a power of ten.
        const double power = std::pow(10.0, std::floor(std::log10(most_ / 2)));
        for (const double step : {1.0, 2.0, 5.0, 10.0}) {
            step_ = step * power / 2;
            if (most_ <= 6 * step_) break;
        }
        most_ = step_ * std::ceil(most_ / step_);
    }

    std::string svg() const {
        if (points_.empty()) return {};
        std::string text = fmt::format(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Speed over the batch\">\n", width, height);
        for (double rate = 0; rate <= most_ + step_ / 2; rate += step_) {
            text += fmt::format(
                "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
                "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
                left, width - right, y(rate), left - 8, y(rate) + 4,
                report::grouped(static_cast<std::uint64_t>(std::llround(rate))));
        }
        for (const std::uint32_t batch : batches_) {
            text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x(batch),
                                height - bottom + 20, report::grouped(batch));
        }
        text += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">batch</text>\n",
                            (left + width - right) / 2, height - 4);
        text += article_line() + legend();
        for (const std::uint32_t size : sizes_) text += line(size);
        return text + "</svg>\n";
    }

private:
    // In pixels.
    static constexpr double width = 720;
    static constexpr double height = 340;
    static constexpr double left = 84;
    static constexpr double top = 56;
    static constexpr double bottom = 40;
    static constexpr double right = 24;

    double x(double batch) const {
        const double first = std::log2(*batches_.begin());
        const double span = std::log2(*batches_.rbegin()) - first;
        return left + (span == 0 ? 0.5 : (std::log2(batch) - first) / span) * (width - left - right);
    }
    double y(double rate) const { return height - bottom - rate / most_ * (height - top - bottom); }
    std::size_t number_of(const std::string& part) const {
        return static_cast<std::size_t>(std::ranges::find(parts_, part) - parts_.begin());
    }

    /// Where 64 images are on each core, if the batches go so far.
    std::string article_line() const {
        const auto article = static_cast<double>(article_);
        if (article < *batches_.begin() || article > *batches_.rbegin()) return {};
        return fmt::format(
            "<line class=\"article\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>"
            "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4} x cores</text>\n",
            x(article), top - 6, height - bottom, top - 12, article_images);
    }

    std::string legend() const {
        std::string text;
        constexpr double column = 165;
        for (std::size_t part = 0; part < parts_.size(); ++part) {
            const double at = left + static_cast<double>(part) * column;
            text += mark(part, at + mark_radius, 14) + end_of_mark(part) +
                    fmt::format("<text x=\"{}\" y=\"18\">{}</text>\n", at + 4 * mark_radius,
                                bound_word(parts_[part]));
        }
        return text;
    }

    std::string line(std::uint32_t size) const {
        std::string path;
        std::string marks;
        for (const Point& point : points_) {
            if (point.size != size) continue;
            const double at_x = x(point.batch);
            const double at_y = y(point.inferences_per_second);
            path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : " L", at_x, at_y);
            const Share& largest = point.shares.front();
            const std::size_t part = number_of(largest.name);
            marks += mark(part, at_x, at_y) +
                     fmt::format("<title>{}batch {}: {} inferences/s; {} in {} of the cycles</title>",
                                 sizes_.size() > 1 ? fmt::format("images x {}, ", size) : "", point.batch,
                                 report::amount(point.inferences_per_second, ""), largest.meaning,
                                 report::percent(largest.share)) +
                     end_of_mark(part) + "\n";
        }
        std::string text = fmt::format("<path class=\"line\" stroke=\"var(--muted)\" d=\"{}\"/>\n", path);
        if (sizes_.size() > 1) {
            const auto last = std::ranges::find(points_.rbegin(), points_.rend(), size, &Point::size);
            text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">images x {}</text>\n",
                                x(last->batch), y(last->inferences_per_second) - 10, size);
        }
        return text + marks;
    }

    std::uint64_t article_;
    std::vector<Point> points_;
    std::vector<std::string> parts_;  ///< that bind somewhere, in the order of their first point
    std::set<std::uint32_t> sizes_;
    std::set<std::uint32_t> batches_;
    double most_ = 0.0;
    double step_ = 1.0;
};

}  // namespace

std::string speed_plot(const Advice& advice) {
    return SpeedPlot(advice).svg();
}

}  // namespace systole::advise
