#pragma once

#include <string_view>
#include <vector>

#include "sim/study/validate/plots/svg.h"

namespace systole::validate {

/// About how wide a text is drawn, in pixels: fonts differ, so rather too much.
double text_width(std::string_view text);

/// Finds places for the names of dots where they cover neither dots nor lines nor each other.
class Labels {
public:
    /// Within these bounds.
    Labels(Position top_left, Position bottom_right) : top_left_(top_left), bottom_right_(bottom_right) {}

    void avoid_dot(Position centre);
    void avoid_line(Position from, Position to);

    struct Place {
        Position at;  ///< of the text's anchor
        Anchor anchor = Anchor::Start;
    };
    /// Beside the dot, where the least is in the way; the label is avoided by later ones.
    Place place(Position dot, std::string_view text);

private:
    struct Box {
        Position top_left;
        Position bottom_right;

        bool overlaps(const Box& other) const {
            return top_left.x < other.bottom_right.x && other.top_left.x < bottom_right.x &&
                   top_left.y < other.bottom_right.y && other.top_left.y < bottom_right.y;
        }
    };
    static Box box_of(const Place& place, double width);
    std::size_t in_the_way(const Box& box) const;

    Position top_left_;
    Position bottom_right_;
    std::vector<Box> taken_;
};

}  // namespace systole::validate
