// Reductions: along whole axes, in windows, and the gradient of the largest of a window.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compiler/frontend/hlo/axes.h"
#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/frontend/hlo/to_graph/words.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"

namespace systole::hlo {
namespace {

/// The most elements of a window. The machine's own reductions are one node; all others are nodes for each
/// element.
constexpr std::int64_t most_elements = std::int64_t{1} << 24;
constexpr std::int64_t most_taps = 1024;

/// With +0, a sum is what it is without, but for the sign of a zero.
bool is_neutral(const std::optional<std::uint32_t>& word, const MachineReduction& reduction) {
    if (!word) return false;
    return *word == reduction.neutral || (reduction.name == "sum" && *word == 0);
}

Array combine(GraphMaker& maker, Opcode opcode, const Array& a, const Array& b) {
    return maker.chain(a.type, a.dimensions, {a, b},
                       [&](std::span<const ir::Word> in) { return combined(opcode, a.type, in[0], in[1]); });
}

/// The results of a computation of single numbers on arrays: first all of `left`, then all of `right`.
std::vector<Array> apply_computation(GraphMaker& maker, ComputationId computation,
                                     const std::vector<Array>& left, const std::vector<Array>& right) {
    std::vector<SharedArrays> arguments;
    for (const std::vector<Array>* side : {&left, &right}) {
        for (const Array& array : *side) arguments.push_back(std::make_shared<const Arrays>(Arrays{array}));
    }
    const Numbers dimensions = left.front().dimensions;
    return *maker.evaluate(computation, std::move(arguments), &dimensions);
}

std::vector<Array> parts_of(GraphMaker& maker, const std::vector<Array>& arrays, std::size_t axis,
                            std::int64_t first, std::int64_t count) {
    std::vector<Array> parts;
    parts.reserve(arrays.size());
    for (const Array& array : arrays) parts.push_back(maker.part(array, axis, first, count));
    return parts;
}

/// Any computation along an axis, by halves: with h the least power of two that is not less than half of the
/// elements, element i takes element i + h.
std::vector<Array> reduced_by_halves(GraphMaker& maker, ComputationId computation, std::vector<Array> arrays,
                                     std::size_t axis) {
    while (arrays.front().dimensions[axis] > 1) {
        const std::int64_t count = arrays.front().dimensions[axis];
        const auto half =
            static_cast<std::int64_t>(std::bit_ceil((static_cast<std::uint64_t>(count) + 1) / 2));
        const std::int64_t pairs = count - half;
        std::vector<Array> taken =
            apply_computation(maker, computation, parts_of(maker, arrays, axis, 0, pairs),
                              parts_of(maker, arrays, axis, half, pairs));
        if (pairs < half) {
            const std::vector<Array> rest = parts_of(maker, arrays, axis, pairs, half - pairs);
            for (std::size_t i = 0; i < taken.size(); ++i)
                taken[i] = maker.concatenate({taken[i], rest[i]}, axis);
        }
        arrays = std::move(taken);
    }
    return arrays;
}

// Windows.

bool moves(const WindowDimension& window) {
    return window.size != 1 || window.stride != 1 || window.padding_low != 0 || window.padding_high != 0;
}

/// Arrays whose windows move along two axes, as images: the other axes before them and behind them.
class WindowedAxes {
public:
    /// At most two of the dimensions move.
    explicit WindowedAxes(std::span<const WindowDimension> window) {
        std::int64_t last = -1;
        for (std::size_t axis = 0; axis < window.size(); ++axis) {
            if (!moves(window[axis])) continue;
            moved_.push_back(static_cast<std::int64_t>(axis));
            last = static_cast<std::int64_t>(axis);
        }
        for (std::size_t axis = 0; axis < window.size(); ++axis) {
            const auto number = static_cast<std::int64_t>(axis);
            if (std::ranges::find(moved_, number) != moved_.end()) continue;
            (number < last ? outer_ : inner_).push_back(number);
        }
        order_ = outer_;
        order_.insert(order_.end(), moved_.begin(), moved_.end());
        order_.insert(order_.end(), inner_.begin(), inner_.end());
    }

    /// [images, lines, columns, channels].
    Array image(GraphMaker& maker, const Array& array) const {
        const auto elements = [&](const Numbers& axes) {
            std::int64_t product = 1;
            for (const std::int64_t axis : axes) product *= array.dimensions[place(axis)];
            return product;
        };
        Numbers dimensions{elements(outer_)};
        for (const std::int64_t axis : moved_) dimensions.push_back(array.dimensions[place(axis)]);
        // One line for each element where only one axis moves: neighbours are columns.
        while (dimensions.size() < 3) dimensions.insert(dimensions.begin() + 1, 1);
        dimensions.push_back(elements(inner_));
        return maker.reshape(maker.transpose(array, order_), dimensions);
    }
    /// Back to an array of these dimensions.
    Array array(GraphMaker& maker, const Array& image, const Numbers& dimensions) const {
        return maker.transpose_back(image, order_, dimensions);
    }
    ir::Window window(std::span<const WindowDimension> dimensions) const {
        std::vector<WindowDimension> both;
        for (const std::int64_t axis : moved_) both.push_back(dimensions[place(axis)]);
        while (both.size() < 2) both.insert(both.begin(), WindowDimension{});
        const auto number = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
        return {.kernel_height = number(both[0].size),
                .kernel_width = number(both[1].size),
                .stride_y = number(both[0].stride),
                .stride_x = number(both[1].stride),
                .pad_top = number(both[0].padding_low),
                .pad_left = number(both[1].padding_low),
                .pad_bottom = number(both[0].padding_high),
                .pad_right = number(both[1].padding_high),
                .dilation_y = number(both[0].window_dilation),
                .dilation_x = number(both[1].window_dilation)};
    }
    std::size_t count() const { return moved_.size(); }

private:
    Numbers moved_;
    Numbers outer_;
    Numbers inner_;
    Numbers order_;
};

/// Whether a window may lie outside of the array, or has holes that hide it.
bool misses_elements(std::span<const WindowDimension> window, const Numbers& dimensions) {
    for (std::size_t axis = 0; axis < window.size(); ++axis) {
        const WindowDimension& each = window[axis];
        const std::int64_t extent = dimensions[axis];
        const std::int64_t covered = (each.size - 1) * each.window_dilation + 1;
        const std::int64_t padded = extent + each.padding_low + each.padding_high;
        const std::int64_t last = (padded - covered) / each.stride * each.stride - each.padding_low;
        // A window that begins inside of the array has its first element there.
        if (last >= extent) return true;
        // Of those that begin before it, the first one has to reach farthest; its elements must not step over
        // the whole array.
        const std::int64_t steps = (each.padding_low + each.window_dilation - 1) / each.window_dilation;
        if (each.padding_low > 0 && (steps >= each.size || each.window_dilation > extent)) return true;
    }
    return false;
}

void check_taps(std::span<const WindowDimension> window, std::int64_t most) {
    std::int64_t taps = 1;
    for (const WindowDimension& each : window) taps = std::min(taps * each.size, most + 1);
    if (taps <= most) return;
    throw ModelError(fmt::format(
        "its windows have more than {} elements; windows of this kind are compiled with at most as many",
        most));
}

/// The elements at one place of all windows.
Array tap_of(GraphMaker& maker, const Array& array, std::span<const WindowDimension> window,
             const Numbers& results, const Numbers& tap) {
    Numbers first;
    Numbers step;
    for (std::size_t axis = 0; axis < window.size(); ++axis) {
        first.push_back(tap[axis] * window[axis].window_dilation);
        step.push_back(window[axis].stride);
    }
    return maker.slice(array, first, step, results);
}

/// Whether a node has the padding: it cuts nothing off, and no zeros are between elements.
bool has_plain_padding(std::span<const WindowDimension> window) {
    return std::ranges::all_of(window, [](const WindowDimension& each) {
        return each.padding_low >= 0 && each.padding_high >= 0 && each.base_dilation == 1;
    });
}

/// The window with its padding, and zeros between elements, made by `pad`.
void pad_explicitly(GraphMaker& maker, Array& array, std::vector<WindowDimension>& window,
                    const Array& number) {
    std::vector<PaddingDimension> padding;
    bool adds = false;
    for (WindowDimension& each : window) {
        padding.push_back({each.padding_low, each.padding_high, each.base_dilation - 1});
        adds |= each.padding_low != 0 || each.padding_high != 0 || each.base_dilation != 1;
        each.padding_low = each.padding_high = 0;
        each.base_dilation = 1;
    }
    if (adds) array = maker.pad(array, padding, number);
}

}  // namespace

std::optional<Opcode> only_operation(const Computation& computation) {
    const Instruction& root = computation.instructions[computation.root];
    if (computation.parameters.size() != 2 || root.operands.size() != 2) return std::nullopt;
    const bool in_order = root.operands == computation.parameters;
    const bool backwards =
        root.operands[0] == computation.parameters[1] && root.operands[1] == computation.parameters[0];
    if (!in_order && !backwards) return std::nullopt;
    return root.opcode;
}

std::optional<MachineReduction> machine_reduction(Opcode opcode, ElementType type) {
    const bool is_pred = type == ElementType::Pred;
    switch (opcode) {
        case Opcode::Add:
            if (is_pred) return MachineReduction{"or", 0};
            // Beside +0, -0 stays -0.
            return is_float(type) ? MachineReduction{"sum", sign_bit} : MachineReduction{"sum_int", 0};
        case Opcode::Multiply:
            if (is_pred) return MachineReduction{"and", 1};
            if (is_float(type)) return MachineReduction{"product", std::bit_cast<std::uint32_t>(1.0F)};
            return MachineReduction{"product_int", 1};
        case Opcode::Maximum:
            return MachineReduction{is_float(type)    ? "maximum"
                                    : is_signed(type) ? "maximum_int"
                                                      : "maximum_uint",
                                    lowest_word(type)};
        case Opcode::Minimum:
            return MachineReduction{is_float(type)    ? "minimum"
                                    : is_signed(type) ? "minimum_int"
                                                      : "minimum_uint",
                                    highest_word(type)};
        case Opcode::And:
            return MachineReduction{"and", is_pred ? 1 : ~std::uint32_t{0}};
        case Opcode::Or:
            return MachineReduction{"or", 0};
        case Opcode::Xor:
            return MachineReduction{"xor", 0};
        default:
            return std::nullopt;
    }
}

void require_32_bits(const Array& array) {
    if (!has_64_bits(array.type)) return;
    throw ModelError(fmt::format("it reduces {}; programs are compiled with reductions of 32 bits",
                                 traits_of(array.type).name));
}

Array fitted_result(GraphMaker& maker, const Array& array) {
    if (graph_type(array.type) == DataType::Bfloat16) return array;  // rounded by the reduction
    if (array.type != ElementType::F16 && word_bits(array.type) == 32) return array;
    return maker.chain(array.type, array.dimensions, {array},
                       [&](std::span<const ir::Word> in) { return fitted(array.type, in[0]); });
}

Arrays map_reduce(GraphMaker& maker, const Operation& operation) {
    const std::size_t count = operation.operands.size() / 2;
    const Numbers& axes = operation.attributes<Dimensions>().dimensions;
    const ComputationId computation = operation.instruction.called.front();
    std::vector<Array> arrays;
    std::vector<Array> initial;
    for (std::size_t i = 0; i < count; ++i) {
        arrays.push_back(operation.operand(i));
        initial.push_back(operation.operand(count + i));
        require_32_bits(arrays.back());
    }
    const Numbers kept = other_extents(arrays.front().dimensions, axes);
    const auto opcode = only_operation(maker.module().computations.at(computation));
    const auto reduction =
        opcode && count == 1 ? machine_reduction(*opcode, arrays.front().type) : std::nullopt;
    if (!reduction) {
        for (const std::int64_t axis : axes)
            arrays = reduced_by_halves(maker, computation, std::move(arrays), place(axis));
        for (Array& array : arrays) array = maker.reshape(array, kept);
        for (Array& number : initial) number.dimensions = kept;
        return apply_computation(maker, computation, initial, arrays);
    }
    const Array& array = arrays.front();
    Array result = maker.reduce(reduction->name, array, axes);
    if (result.id != array.id) result = fitted_result(maker, result);
    result = maker.reshape(result, kept);
    if (is_neutral(maker.word_of(initial.front()), *reduction)) return {result};
    Array number = initial.front();
    number.dimensions = kept;
    return {combine(maker, *opcode, number, result)};
}

Arrays map_reduce_window(GraphMaker& maker, const Operation& operation) {
    const std::size_t count = operation.operands.size() / 2;
    const ComputationId computation = operation.instruction.called.front();
    std::vector<WindowDimension> window = operation.attributes<Window>().dimensions;
    const Shape& result = maker.result_of(operation);
    const Shape& first_result = result.is_tuple ? maker.module().shapes[result.parts.front()] : result;
    const auto opcode = only_operation(maker.module().computations.at(computation));
    const auto reduction =
        opcode && count == 1 ? machine_reduction(*opcode, operation.operand(0).type) : std::nullopt;
    const WindowedAxes moved(window);
    for (std::size_t i = 0; i < count; ++i) require_32_bits(operation.operand(i));
    Array array = operation.operand(0);
    if (reduction && moved.count() <= 2 && is_neutral(maker.word_of(operation.operand(1)), *reduction)) {
        check_taps(window, most_elements);
        if (!has_plain_padding(window) || misses_elements(window, array.dimensions))
            pad_explicitly(maker, array, window, operation.operand(1));
        if (moved.count() == 0) return {array};
        const Array image = moved.image(maker, array);
        std::vector<ir::NamedAttribute> attributes = ir::attributes_of(moved.window(window));
        attributes.emplace_back("reduction", std::string(reduction->name));
        Array windows{.id = maker.append("word_windows", std::move(attributes), {maker.value_of(image)},
                                         graph_type(array.type)),
                      .type = array.type};
        const ir::Shape& shape = maker.value(windows.id).shape;
        for (std::size_t axis = 1; axis < shape.rank(); ++axis) windows.dimensions.push_back(shape[axis]);
        return {moved.array(maker, fitted_result(maker, windows), first_result.dimensions)};
    }
    // Element by element of the window, beginning with the initial numbers.
    check_taps(window, most_taps);
    std::int64_t taps = 1;
    for (const WindowDimension& each : window) taps *= each.size;
    std::vector<Array> arrays;
    std::vector<Array> results;
    std::vector<WindowDimension> padded;
    for (std::size_t i = 0; i < count; ++i) {
        padded = window;
        arrays.push_back(operation.operand(i));
        results.push_back(operation.operand(count + i));
        pad_explicitly(maker, arrays.back(), padded, results.back());
        results.back().dimensions = first_result.dimensions;
    }
    Numbers tap(window.size(), 0);
    for (std::int64_t number = 0; number < taps; ++number) {
        std::vector<Array> elements;
        elements.reserve(arrays.size());
        for (const Array& each : arrays)
            elements.push_back(tap_of(maker, each, padded, first_result.dimensions, tap));
        results = apply_computation(maker, computation, results, elements);
        for (std::size_t axis = tap.size(); axis-- > 0;) {
            if (++tap[axis] < window[axis].size) break;
            tap[axis] = 0;
        }
    }
    return results;
}

Arrays map_select_and_scatter(GraphMaker& maker, const Operation& operation) {
    const std::vector<WindowDimension>& window = operation.attributes<Window>().dimensions;
    const Array& array = operation.operand(0);
    const Array& source = operation.operand(1);
    const Computation& select = maker.module().computations.at(operation.instruction.called.at(0));
    const auto scatter = only_operation(maker.module().computations.at(operation.instruction.called.at(1)));
    const Instruction& root = select.instructions[select.root];
    const bool is_in_order = root.operands.size() == 2 && root.operands == select.parameters;
    std::optional<Direction> direction;
    if (root.opcode == Opcode::Compare && is_in_order &&
        attributes_of<Compare>(root).type != ComparisonType::TotalOrder)
        direction = attributes_of<Compare>(root).direction;
    if (direction != Direction::Ge && direction != Direction::Le) {
        throw ModelError(
            "it selects by another computation than greater-or-equal or less-or-equal of its two "
            "parameters, which is not compiled");
    }
    if (scatter != Opcode::Add || maker.word_of(operation.operand(2)).value_or(1) != 0 ||
        !is_float(array.type)) {
        throw ModelError("it does not add floats to 0, which alone is compiled");
    }
    const WindowedAxes moved(window);
    if (moved.count() > 2)
        throw ModelError(fmt::format("its windows move along {} axes; they may move along 2", moved.count()));
    if (!has_plain_padding(window))
        throw ModelError("its windows have negative padding or a dilated base, which is not compiled");
    check_taps(window, most_elements);
    std::vector<ir::NamedAttribute> attributes = ir::attributes_of(moved.window(window));
    attributes.emplace_back("select", std::string(direction == Direction::Ge ? "greatest" : "least"));
    const Array image = moved.image(maker, array);
    const Array gradient = moved.image(maker, source);
    Array result{
        .id = maker.append("word_select_and_scatter", std::move(attributes),
                           {maker.value_of(image), maker.value_of(gradient)}, graph_type(array.type)),
        .type = array.type,
        .dimensions = image.dimensions};
    return {moved.array(maker, fitted_result(maker, result), array.dimensions)};
}

}  // namespace systole::hlo
