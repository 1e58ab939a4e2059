#include "sim/study/advise/advice_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "sim/study/advise/binding.h"
#include "sim/study/advise/speed_plot.h"
#include "sim/view/report/numbers.h"

namespace systole::advise {
namespace {

// The plot, in pixels.
constexpr double width = 720;
constexpr double height = 320;
constexpr double left = 64;
constexpr double top = 40;
constexpr double bottom = 40;
constexpr double right = 24;

constexpr std::string_view style = R"css(
:root { color-scheme: light dark; --text: #1c2733; --muted: #5b6875; --grid: #d7dde3; --page: #ffffff;
        --size0: #1f6fb2; --size1: #c2571a; --size2: #2f8f5b; --size3: #8a4fb0;
        --part0: #1f6fb2; --part1: #c2571a; --part2: #2f8f5b; --part3: #8a4fb0; --part4: #b03a63; --part5: #7a6a1a; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6ebf0; --muted: #9aa7b4; --grid: #38434e; --page: #161b21;
          --size0: #6db3ee; --size1: #f09a63; --size2: #6fcf97; --size3: #c79be8;
          --part0: #6db3ee; --part1: #f09a63; --part2: #6fcf97; --part3: #c79be8; --part4: #f08fb0; --part5: #d5c46a; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
       max-width: 760px; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.5rem; font-size: 14px; text-align: right; border-bottom: 1px solid var(--grid); }
svg { width: 100%; height: auto; } svg text { fill: var(--muted); font-size: 13px; }
.grid { stroke: var(--grid); } .article { stroke: var(--muted); stroke-dasharray: 5 4; } .line { fill: none; stroke-width: 2; }
)css";
constexpr std::array<std::string_view, 4> colours{"var(--size0)", "var(--size1)", "var(--size2)",
                                                  "var(--size3)"};

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += c;
        }
    }
    return result;
}

/// The share of the peak over the batch, whose axis is logarithmic.
class Plot {
public:
    explicit Plot(const Advice& advice) : advice_(advice) {
        for (const Point& point : advice.points) {
            if (!point.error.empty()) continue;
            sizes_.insert(point.size);
            batches_.insert(point.batch);
            most_ = std::max(most_, point.peak_share.value_or(0.0));
        }
        scale_axis();
    }

    std::string svg() const {
        std::string text = fmt::format(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Share of the peak over the batch\">\n",
            width, height);
        for (double share = 0; share <= most_ + step_ / 2; share += step_) {
            text += fmt::format(
                "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
                "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.0f} %</text>\n",
                left, width - right, y(share), left - 8, y(share) + 4, 100 * share);
        }
        for (const std::uint32_t batch : batches_) {
            text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x(batch),
                                height - bottom + 20, batch);
        }
        text += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">batch</text>\n",
                            (left + width - right) / 2, height - 4);
        std::size_t colour = 0;
        for (const std::uint32_t size : sizes_) {
            const double at = left + static_cast<double>(colour) * 110;
            const std::string_view paint = colours.at(colour++ % colours.size());
            text += fmt::format(
                "<circle cx=\"{}\" cy=\"14\" r=\"5\" fill=\"{}\"/><text x=\"{}\" "
                "y=\"18\">images x {}</text>\n",
                at + 5, paint, at + 16, size);
            text += line(size, paint);
        }
        return text + "</svg>\n";
    }

private:
    /// The axis ends at a whole number of steps.
    void scale_axis() {
        for (const double step : {0.01, 0.05, 0.1, 0.2}) {
            step_ = step;
            if (most_ <= 6 * step) break;
        }
        most_ = step_ * std::ceil(most_ / step_);
    }
    double x(std::uint32_t batch) const {
        const double first = std::log2(*batches_.begin());
        const double span = std::log2(*batches_.rbegin()) - first;
        return left + (span == 0 ? 0.5 : (std::log2(batch) - first) / span) * (width - left - right);
    }
    double y(double share) const { return height - bottom - share / most_ * (height - top - bottom); }

    std::string line(std::uint32_t size, std::string_view colour) const {
        std::string path;
        std::string dots;
        bool is_open = false;
        for (const Point& point : advice_.points) {
            if (point.size != size || !point.error.empty()) continue;
            if (!point.peak_share) {  // a gap: the line begins anew behind it
                is_open = false;
                continue;
            }
            const double at_x = x(point.batch);
            const double at_y = y(*point.peak_share);
            path += fmt::format("{}{:.1f},{:.1f}", is_open ? " L" : " M", at_x, at_y);
            is_open = true;
            dots += fmt::format(
                "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"><title>batch {}: {}, {} "
                "inferences/s, {}</title></circle>",
                at_x, at_y, colour, point.batch, report::percent(point.peak_share),
                report::amount(point.inferences_per_second, ""), point.limit);
        }
        return fmt::format("<path class=\"line\" stroke=\"{}\" d=\"{}\"/>{}\n", colour, path, dots);
    }

    const Advice& advice_;
    std::set<std::uint32_t> sizes_;
    std::set<std::uint32_t> batches_;
    double most_ = 0.01;
    double step_ = 0.01;
};

std::string table(const Advice& advice) {
    const bool has_shares =
        std::ranges::any_of(advice.points, [](const Point& point) { return !point.shares.empty(); });
    std::string text = fmt::format(
        "<table>\n<tr><th>images</th><th>batch</th>{}<th>latency, ms</th><th>interval, "
        "ms</th><th>inferences/s</th><th>of the peak</th>{}<th>times the CPU</th></tr>\n",
        has_shares ? "<th>a core</th>" : "",
        has_shares ? "<th>bound by</th><th>of the cycles</th>" : "<th>limit</th>");
    for (const Point& point : advice.points) {
        text += fmt::format("<tr><td>x {}</td><td>{}</td>", point.size, point.batch);
        if (!point.error.empty()) {
            text +=
                fmt::format("<td colspan=\"{}\">{}</td></tr>\n", has_shares ? 8 : 6, escaped(point.error));
            continue;
        }
        if (has_shares) {
            text += fmt::format("<td>{}</td>",
                                point.images_of_core > 0 ? report::grouped(point.images_of_core) : "-");
        }
        text +=
            fmt::format("<td>{:.3f}</td><td>{:.3f}</td><td>{}</td><td>{}</td>", 1e3 * point.latency_seconds,
                        1e3 * point.interval_seconds, report::amount(point.inferences_per_second, ""),
                        report::percent(point.peak_share));
        text += has_shares ? fmt::format("<td>{}</td><td>{}</td>", point.shares.front().name,
                                         report::percent(point.shares.front().share))
                           : fmt::format("<td>{}</td>", point.limit);
        text +=
            fmt::format("<td>{}</td></tr>\n", point.speedup ? fmt::format("{:.1f}", *point.speedup) : "-");
    }
    return text + "</table>\n";
}

}  // namespace

std::string to_html(const Advice& advice) {
    const std::string title = escaped(fmt::format("{} on {}", advice.model, advice.machine));
    std::string text = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\" data-drawn=\"all\">\n<head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\"><title>{0}</title><style>{1}</style></head>\n"
        "<body>\n<h1>{0}</h1>\n",
        title, style);
    for (const std::string& sentence : advice.sentences)
        text += fmt::format("<p>{}</p>\n", escaped(sentence));
    const std::string speed = speed_plot(advice);
    if (!speed.empty()) {
        text +=
            "<section id=\"speed\">\n<h2>Speed, and the part that binds</h2>\n" + speed +
            "<p>Inferences a second. The part that binds is that whose work, if it never waits, takes the "
            "largest share of the cycles.</p>\n</section>\n";
    }
    text += "<h2>Share of the array's peak</h2>\n" + Plot(advice).svg() + table(advice);
    return text + fmt::format(
                      "<p>Simulated without values; the speed of {} is that of its model.</p>\n</body>\n"
                      "</html>\n",
                      escaped(advice.cpu));
}

}  // namespace systole::advise
