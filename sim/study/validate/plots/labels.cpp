#include "sim/study/validate/plots/labels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace systole::validate {
namespace {

constexpr double letter_height = 11.0;
constexpr double dot_radius = 4.0;

}  // namespace

double text_width(std::string_view text) {
    constexpr std::string_view narrow = " .,:;'|!()[]/ijlfrt";
    constexpr std::string_view wide = "mwMW%+";
    double width = 0.0;
    for (const char letter : text) {
        if (narrow.find(letter) != std::string_view::npos) {
            width += 4.6;
        } else {
            width += wide.find(letter) != std::string_view::npos ? 11.2 : 7.8;
        }
    }
    return width;
}

void Labels::avoid_dot(Position centre) {
    taken_.push_back(
        {{centre.x - dot_radius, centre.y - dot_radius}, {centre.x + dot_radius, centre.y + dot_radius}});
}

/// As small boxes along it.
void Labels::avoid_line(Position from, Position to) {
    constexpr double step = 4.0;
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    const auto pieces = static_cast<std::size_t>(length / step) + 1;
    for (std::size_t i = 0; i <= pieces; ++i) {
        const double part = static_cast<double>(i) / static_cast<double>(pieces);
        const double x = from.x + part * (to.x - from.x);
        const double y = from.y + part * (to.y - from.y);
        taken_.push_back({{x - 1.0, y - 1.0}, {x + 1.0, y + 1.0}});
    }
}

Labels::Box Labels::box_of(const Place& place, double width) {
    double left = place.at.x;
    if (place.anchor == Anchor::Middle) left -= width / 2.0;
    if (place.anchor == Anchor::End) left -= width;
    return {{left, place.at.y - letter_height}, {left + width, place.at.y}};
}

std::size_t Labels::in_the_way(const Box& box) const {
    const bool outside = box.top_left.x < top_left_.x || box.top_left.y < top_left_.y ||
                         box.bottom_right.x > bottom_right_.x || box.bottom_right.y > bottom_right_.y;
    if (outside) return std::numeric_limits<std::size_t>::max();
    return static_cast<std::size_t>(
        std::count_if(taken_.begin(), taken_.end(), [&](const Box& other) { return box.overlaps(other); }));
}

Labels::Place Labels::place(Position dot, std::string_view text) {
    constexpr double beside = dot_radius + 3.0;
    const std::array<Place, 8> candidates{
        {{{dot.x + beside, dot.y - beside}, Anchor::Start},
         {{dot.x + beside, dot.y + beside + letter_height - 2.0}, Anchor::Start},
         {{dot.x - beside, dot.y - beside}, Anchor::End},
         {{dot.x - beside, dot.y + beside + letter_height - 2.0}, Anchor::End},
         {{dot.x + beside, dot.y + letter_height / 2.0 - 1.0}, Anchor::Start},
         {{dot.x - beside, dot.y + letter_height / 2.0 - 1.0}, Anchor::End},
         {{dot.x, dot.y - beside - 1.0}, Anchor::Middle},
         {{dot.x, dot.y + beside + letter_height}, Anchor::Middle}}};
    const double width = text_width(text);
    const Place* best = &candidates.front();
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const Place& candidate : candidates) {
        const std::size_t count = in_the_way(box_of(candidate, width));
        if (count < least) {
            least = count;
            best = &candidate;
        }
    }
    taken_.push_back(box_of(*best, width));
    return *best;
}

}  // namespace systole::validate
