#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hw/matrix_unit/cells.h"
#include "hw/matrix_unit/ring.h"

namespace systole::hw {

/// The size of an array, and the cycles that values take through it.
struct ArrayShape {
    std::size_t rows = 1;
    std::size_t columns = 1;
    std::size_t mac_latency = 1;    ///< m, at least 1
    std::size_t stage = 1;          ///< g, the cells between two registers; divides rows and columns
    std::size_t weight_switch = 1;  ///< cycles from a switch to the next tile's first word: 0 or 1
    std::size_t setup = 0;          ///< cycles in front of cell (0, 0)
    std::size_t write = 0;          ///< cycles from a column's last cell to its accumulator
    std::uint32_t sum_bits = 32;    ///< of the accumulators; integer sums wrap around
};

/// The registers of the systolic array, advanced one cycle at a time, without SystemC and instructions. Rows
/// of activations and rows of weights enter; the registers decide where and when sums come out.
///
/// Cell (r, c) has four kinds of registers. In every cycle the *activation* moves in from the left and the
/// *partial sum* from above; a sum takes m cycles through the cell, the latency of the multiply-accumulate. A
/// row of activations is fed skewed: element r reaches cell (r, 0) `setup` + r * m cycles after the row
/// entered and meets the row's partial sum there. The sums leave one column after another, one cycle apart.
///
/// With g cells a stage, activations and sums have registers only behind every g-th cell: an activation
/// reaches g columns in one cycle, a sum takes m cycles through g rows, and all of this holds for stages of
/// g rows and g columns instead of rows and columns. Weights have a register in every cell.
///
/// *Weight* and *shadow weight* are the two planes. A tile shifts into the shadow plane from the top, last
/// row first, one row per cycle, skewed like the activations. A word pushes the word before it down to the
/// next cell, where it arrives one cycle after it came here, and m cycles if that is the next stage's; words
/// of an earlier tile are overwritten and not pushed. So the shadow weights change along a wavefront that
/// moves down and right and is never ahead of the activations. A cell that switches takes its shadow weight
/// at the end of the cycle, so that a tile may begin to shift one cycle after the row that switched to the
/// tile before; if `weight_switch` is 0, at the beginning, and the tile may shift in with the row.
///
/// Where the cells multiply bytes, the *row-sum column* stands in front of column 0. Its cell r takes the
/// element that cell (r, 0) takes, in the same cycle, and adds it, times the pass's zero point of the
/// weights, to the sum from above, in m cycles. So the row's sum leaves it together with the sum of column 0.
/// It then moves along the accumulators, one column a cycle, and each accumulator subtracts it from the
/// column's sum.
template <class Cells>
class PeArray {
public:
    using Element = typename Cells::Element;
    using Weight = typename Cells::Weight;
    using Sum = typename Cells::Sum;
    using Shape = ArrayShape;

    /// One pass of a row of activations through the array, and what to do with its sums.
    struct ArrayPass {
        bool valid = false;
        bool switches = false;  ///< cells take their shadow weight as they meet this row
        bool add = false;       ///< to the accumulators; otherwise overwrite them
        bool last = false;      ///< the last pass of its stream: `step` reports when its sums are written
        typename Cells::Pass cells = {};
        std::size_t columns = 0;       ///< number of columns, from column 0, whose sums are written
        std::int32_t* sums = nullptr;  ///< the accumulator row; null: nothing is written
    };

    explicit PeArray(const Shape& shape);

    /// Lets a row enter in the next cycle: an element for each array row; of integers, one of 8 bits, signed
    /// or unsigned.
    void enter(std::span<const Element> elements, const ArrayPass& pass);
    /// Lets a row of weights enter in the next cycle: a word for each array column.
    void shift_in(std::span<const Weight> words);
    /// Advances one cycle. Returns true if the last sum of a `last` pass is in its accumulator from the next
    /// cycle on.
    bool step();
    /// Whether any value is on its way. If not, `step` does not change the registers.
    bool moving() const { return now_ < still_at_; }

    const Shape& shape() const { return shape_; }
    // The registers after the last step, row by row.
    std::span<const Element> activations() const { return activations_; }
    std::span<const Weight> weights() const { return weights_; }
    std::span<const Weight> shadow_weights() const { return shadow_; }
    /// The results of the cells' last multiply-accumulates: the first of a sum's m registers.
    std::span<const Sum> partial_sums() const;
    /// The same of the row-sum column, an entry for each array row; none if there is no such column.
    std::span<const Sum> row_sums() const;

private:
    using Mask = typename Cells::Mask;
    using Time = std::uint64_t;  // number of steps made

    void move_weights();
    void switch_weights();
    void switch_stage(std::size_t row_stage, std::size_t column_stage);
    void move_activations();
    template <class Work>
    void for_rows_upwards(Work work) const;
    void multiply_accumulate();
    void add_row_sums();
    bool write_sums();
    std::size_t plane(Time time) const { return time % shape_.mac_latency * cells_; }
    std::size_t row_sum_plane(Time time) const { return time % shape_.mac_latency * shape_.rows; }
    /// Whether a register stands behind the cell, in a row or in a column.
    bool ends_stage(std::size_t cell) const { return (cell + 1) % shape_.stage == 0; }

    const Shape shape_;
    const std::size_t cells_;
    const std::size_t row_stages_;
    const std::size_t column_stages_;
    const Time depth_;  ///< from a row's entry to its sum below column 0
    Time now_ = 0;
    Time still_at_ = 0;           ///< nothing moves from then on
    Time words_gone_at_ = 0;      ///< no word is on its way to its cell
    Time parts_gone_at_ = 0;      ///< no pass with a part of the weights is in the array
    std::vector<Time> switches_;  ///< entry times of the rows under way that switch planes

    // On their way to the array, by time of entry.
    Ring<Element> rows_;
    Ring<ArrayPass> passes_;
    Ring<Weight> words_;
    Ring<std::uint8_t> words_valid_;

    // The cells, row by row. Masks are all ones or zeros.
    std::vector<Element> activations_;
    std::vector<Weight> weights_;
    std::vector<Weight> shadow_;
    std::vector<Mask> fresh_;     ///< the shadow weight belongs to the tile that shifts in
    std::vector<Sum> sums_;       ///< m planes, each written every m-th cycle
    const std::vector<Sum> top_;  ///< zeros: the sums above the first array row
    Ring<Sum> leaving_;           ///< sums on their way to the accumulators

    // Words between a cell and the next one, in m - 1 planes; and words that arrive at the current row.
    std::vector<Weight> falling_;
    std::vector<Mask> falling_valid_;
    std::vector<Weight> arriving_;
    std::vector<Mask> arriving_valid_;

    // Of cells that multiply bytes. The masks travel with the activation: one selects the weight's bits
    // unshifted, one the weight's high byte.
    std::vector<std::int16_t> low_mask_;
    std::vector<std::int16_t> high_mask_;
    std::vector<Sum> row_sums_;   ///< of the row-sum column, in m planes
    Ring<Sum> leaving_row_sums_;  ///< row sums on their way along all accumulators
};

}  // namespace systole::hw
