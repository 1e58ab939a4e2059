#include <algorithm>
#include <utility>

#include "sim/view/occupancy/occupancy.h"

namespace systole::occupancy {
namespace {

/// The earliest and latest begin of several values, and the earliest and latest end.
struct Lives {
    Lives() = default;
    explicit Lives(const RowValue& value)
        : first_begin(value.begin), last_begin(value.begin), first_end(value.end), last_end(value.end) {}

    Lives with(const RowValue& value) const {
        Lives together = *this;
        together.first_begin = std::min(first_begin, value.begin);
        together.last_begin = std::max(last_begin, value.begin);
        together.first_end = std::min(first_end, value.end);
        together.last_end = std::max(last_end, value.end);
        return together;
    }
    Cycle spread() const { return std::max(last_begin - first_begin, last_end - first_end); }

    Cycle first_begin = 0;
    Cycle last_begin = 0;
    Cycle first_end = 0;
    Cycle last_end = 0;
};

/// Whether the value continues the shape after its last step.
bool belongs_to(const RowValue& value, const Shape& shape) {
    const RowValue& last = shape.back();
    return last.visit == value.visit && last.writer == value.writer && last.rows.last == value.rows.first &&
           last.begin < value.end && value.begin < last.end;
}

}  // namespace

void for_each_shape(std::span<const RowValue> values, Cycle tolerance,
                    const std::function<void(Shape&&)>& take) {
    Shape shape;
    Lives lives;
    for (const RowValue& value : values) {
        if (shape.empty() || !belongs_to(value, shape)) {
            if (!shape.empty()) take(std::move(shape));
            shape = {value};
            lives = Lives(value);
            continue;
        }
        const Lives together = lives.with(value);
        if (together.spread() <= tolerance) {
            RowValue& step = shape.back();
            step = {step.writer,
                    step.visit,
                    {step.rows.first, value.rows.last},
                    together.first_begin,
                    together.last_end};
            lives = together;
        } else {
            shape.push_back(value);
            lives = Lives(value);
        }
    }
    if (!shape.empty()) take(std::move(shape));
}

}  // namespace systole::occupancy
