#include "sim/study/decode/sampled_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace systole::decode {
namespace {

struct Range {
    std::size_t first = 0;
    std::size_t last = 0;

    std::size_t middle() const { return first + (last - first) / 2; }
};

/// What the straight line between two steps has at a third one.
Figures on_line(const SampledSteps& known, const Range& ends, std::size_t step) {
    const Figures& first = known.steps[ends.first];
    const Figures& last = known.steps[ends.last];
    const double share = static_cast<double>(step - ends.first) / static_cast<double>(ends.last - ends.first);
    Figures figures;
    for (std::size_t i = 0; i < first.size(); ++i) figures.push_back(first[i] + share * (last[i] - first[i]));
    return figures;
}

class Sampling {
public:
    Sampling(std::size_t count, const Simulate& simulate) : simulate_(simulate) {
        sampled_.steps.resize(count);
        sampled_.simulated.assign(count, false);
    }

    void add(const std::vector<std::size_t>& steps) {
        std::vector<Figures> figures = simulate_(steps);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            sampled_.steps[steps[i]] = std::move(figures[i]);
            sampled_.simulated[steps[i]] = true;
        }
    }

    /// Round by round, so that the middles of a round are simulated side by side.
    void halve(std::vector<Range> open, double tolerance) {
        while (!open.empty()) {
            std::erase_if(open, [](const Range& range) { return range.last - range.first < 2; });
            std::vector<std::size_t> middles;
            middles.reserve(open.size());
            for (const Range& range : open) middles.push_back(range.middle());
            if (middles.empty()) return;
            add(middles);
            std::vector<Range> next;
            for (const Range& range : open) {
                const std::size_t middle = range.middle();
                const double there = sampled_.steps[middle].front();
                const double line = on_line(sampled_, range, middle).front();
                const double difference = std::abs(line - there) / std::abs(there);
                const Range before{range.first, middle};
                const Range behind{middle, range.last};
                if (difference <= tolerance) {
                    sampled_.largest_difference = std::max(sampled_.largest_difference, difference);
                    fill(before);
                    fill(behind);
                } else {
                    next.insert(next.end(), {before, behind});
                }
            }
            open = std::move(next);
        }
    }

    SampledSteps take() && { return std::move(sampled_); }

private:
    void fill(const Range& range) {
        for (std::size_t step = range.first + 1; step < range.last; ++step)
            sampled_.steps[step] = on_line(sampled_, range, step);
    }

    const Simulate& simulate_;
    SampledSteps sampled_;
};

}  // namespace

SampledSteps sample_steps(const Lines& lines, const Simulate& simulate) {
    Sampling sampling(lines.count, simulate);
    if (lines.tolerance < 0) {
        std::vector<std::size_t> all(lines.count);
        std::iota(all.begin(), all.end(), std::size_t{0});
        sampling.add(all);
        return std::move(sampling).take();
    }
    std::vector<Range> open;
    std::vector<std::size_t> ends;
    std::size_t first = 0;
    const auto add_line = [&](std::size_t end) {
        open.push_back({.first = first, .last = end - 1});
        ends.push_back(first);
        if (end - 1 > first) ends.push_back(end - 1);
        first = end;
    };
    for (const std::size_t next : lines.breaks) {
        if (next < lines.count) add_line(next);
    }
    add_line(lines.count);
    sampling.add(ends);
    sampling.halve(std::move(open), lines.tolerance);
    return std::move(sampling).take();
}

}  // namespace systole::decode
