// Arrays as values of the graph: constants, and the nodes that compute and move elements.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/settled_word.h"
#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/frontend/hlo/to_graph/words.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

bool is_single(const ir::Shape& shape) {
    return shape.elements() == 1;
}

}  // namespace

Array GraphMaker::constant(ElementType type, const Numbers& dimensions, std::vector<std::uint32_t> words) {
    const DataType format = graph_type(type);
    if (is_float(type)) {
        for (std::uint32_t& word : words) word = settled_word(word);
    }
    Array array{.id = 0, .type = type, .dimensions = dimensions};
    const auto contents = [&](const std::vector<std::uint32_t>& elements) {
        if (format != DataType::Bfloat16) return ir::Constant::of(elements);
        std::vector<std::uint16_t> halves;
        halves.reserve(elements.size());
        for (const std::uint32_t word : elements) halves.push_back(static_cast<std::uint16_t>(word >> 16U));
        return ir::Constant::of(std::move(halves));
    };
    const bool is_number =
        std::ranges::all_of(words, [&](std::uint32_t word) { return word == words.front(); });
    if (!is_number) {
        count_constant(words.size());
        array.id = graph_.add_constant(layer_, graph_shape(dimensions), format, contents(words));
        return array;
    }
    static_cast<void>(graph_shape(dimensions));  // it must be possible
    const auto [found, is_new] = numbers_.try_emplace({format, words.front()}, ir::ValueId{});
    if (is_new) found->second = graph_.add_constant("number", {1}, format, contents({words.front()}));
    array.id = found->second;
    return array;
}

Array GraphMaker::constant_of(const Instruction& instruction, const std::function<Array()>& make) {
    const auto found = constants_.find(&instruction);
    return found != constants_.end() ? found->second : constants_.emplace(&instruction, make()).first->second;
}

std::optional<std::vector<std::uint32_t>> GraphMaker::words_of(const Array& array) const {
    const ir::Value& value = graph_.values[array.id];
    if (!value.constant || !value.constant->is_known()) return std::nullopt;
    std::vector<std::uint32_t> words;
    if (value.type == DataType::Bfloat16) {
        for (const std::uint16_t half : value.constant->values<std::uint16_t>())
            words.push_back(std::uint32_t{half} << 16U);
    } else {
        const auto bits = value.constant->bytes();
        words.resize(bits.size() / sizeof(std::uint32_t));
        std::ranges::copy(bits, reinterpret_cast<std::uint8_t*>(words.data()));
    }
    return words;
}

std::optional<std::uint32_t> GraphMaker::word_of(const Array& array) const {
    const ir::Value& value = graph_.values[array.id];
    if (!value.constant || !is_single(value.shape)) return std::nullopt;
    const auto words = words_of(array);
    return words ? std::optional(words->front()) : std::nullopt;
}

Array GraphMaker::chain(ElementType type, const Numbers& dimensions, const std::vector<Array>& operands,
                        const WordFormula& formula) {
    std::vector<ir::FormulaOperand> read;
    for (const Array& operand : operands) {
        read.push_back({.value = operand.id, .word = word_of(operand)});
        // One element may still have the axes of an array that it was taken from.
        if (graph_.values[operand.id].shape.rank() > dimensions.size() + 1)
            read.back().value = reshaped(operand.id, ir::Shape{1});
    }
    ir::FormulaChain made = ir::chain_of(read, formula);
    Array array{.id = 0, .type = type, .dimensions = dimensions};
    if (made.steps.empty()) {
        array.id = made.inputs[made.result];
        if (graph_.values[array.id].type == graph_type(type)) return array;
        made = ir::chain_of(read, [&](std::span<const ir::Word> in) { return same_bits(formula(in)); });
    }
    array.id =
        append("word_chain", {{"steps", std::move(made.steps)}}, std::move(made.inputs), graph_type(type));
    return array;
}

ir::ValueId GraphMaker::reshaped(ir::ValueId id, const ir::Shape& shape) {
    if (const auto found = reshapes_.find(id); found != reshapes_.end()) id = found->second;
    if (graph_.values[id].shape == shape) return id;
    const ir::ValueId made = append(
        "reshape", {{"shape", std::vector<std::int64_t>(shape.extents().begin(), shape.extents().end())}},
        {id}, graph_.values[id].type);
    if (!graph_.values[made].constant) reshapes_.emplace(made, id);
    return made;
}

Array GraphMaker::whole(const Array& array) {
    const ir::Shape shape = graph_shape(array.dimensions);
    const ir::Value& value = graph_.values[array.id];
    if (value.shape.elements() == shape.elements()) return array;
    Array result = array;
    // One element may still have the axes of an array that it was taken from.
    if (value.shape.rank() > shape.rank()) result.id = reshaped(array.id, ir::Shape{1});
    result.id = append("expand",
                       {{"shape", std::vector<std::int64_t>(shape.extents().begin(), shape.extents().end())}},
                       {result.id}, graph_.values[array.id].type);
    return result;
}

ir::ValueId GraphMaker::value_of(const Array& array) {
    return reshaped(whole(array).id, graph_shape(array.dimensions));
}

Array GraphMaker::reshape(const Array& array, const Numbers& dimensions) {
    Array result = array;
    result.dimensions = dimensions;
    static_cast<void>(graph_shape(dimensions));  // it must be possible
    const ir::Shape& extents = graph_.values[array.id].shape;
    if (is_single(extents)) return result;
    if (extents.elements() == graph_shape(array.dimensions).elements()) {
        result.id = reshaped(array.id, graph_shape(dimensions));
        return result;
    }
    // Where only axes of size 1 come and go, broadcast axes stay as they are.
    std::vector<std::uint32_t> kept;
    Numbers old;
    for (std::size_t axis = 0; axis < array.dimensions.size(); ++axis) {
        if (array.dimensions[axis] == 1) continue;
        old.push_back(array.dimensions[axis]);
        kept.push_back(extents[axis + 1]);
    }
    std::vector<std::uint32_t> wanted{1};
    Numbers fresh;
    for (const std::int64_t dimension : dimensions) {
        if (dimension != 1) fresh.push_back(dimension);
        wanted.push_back(dimension == 1 || fresh.size() > kept.size() ? 1 : kept[fresh.size() - 1]);
    }
    if (old == fresh) {
        result.id = reshaped(array.id, ir::Shape(wanted));
        return result;
    }
    result.id = reshaped(whole(array).id, graph_shape(dimensions));
    return result;
}

Array GraphMaker::transpose(const Array& array, const Numbers& axes) {
    Array result = array;
    for (std::size_t i = 0; i < axes.size(); ++i)
        result.dimensions[i] = array.dimensions[static_cast<std::size_t>(axes[i])];
    const ir::Shape extents = graph_.values[array.id].shape;
    if (is_single(extents)) return result;
    std::vector<std::int64_t> permutation{0};
    std::vector<std::uint32_t> moved{1};
    std::int64_t last = -1;
    bool keeps_order = true;  // of the axes that have more than one element
    for (const std::int64_t axis : axes) {
        permutation.push_back(axis + 1);
        moved.push_back(extents[static_cast<std::size_t>(axis) + 1]);
        if (moved.back() == 1) continue;
        keeps_order &= axis > last;
        last = axis;
    }
    result.id = keeps_order ? reshaped(array.id, ir::Shape(moved))
                            : append("transpose", {{"permutation", std::move(permutation)}}, {array.id},
                                     graph_.values[array.id].type);
    return result;
}

Array GraphMaker::transpose_back(const Array& array, const Numbers& axes, const Numbers& dimensions) {
    Numbers moved;
    Numbers back(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
        moved.push_back(dimensions[place(axes[i])]);
        back[place(axes[i])] = static_cast<std::int64_t>(i);
    }
    return transpose(reshape(array, moved), back);
}

Array GraphMaker::slice(const Array& array, const Numbers& first, const Numbers& step, const Numbers& count) {
    Array result = array;
    result.dimensions = count;
    static_cast<void>(graph_shape(count));  // it must be possible
    const ir::Shape extents = graph_.values[array.id].shape;
    if (is_single(extents)) return result;
    std::vector<std::int64_t> from{0};
    std::vector<std::int64_t> steps{1};
    std::vector<std::int64_t> counts{1};
    bool is_same = true;
    for (std::size_t axis = 0; axis < count.size(); ++axis) {
        const bool is_broadcast = extents[axis + 1] == 1;
        from.push_back(is_broadcast ? 0 : first[axis]);
        steps.push_back(is_broadcast || count[axis] == 1 ? 1 : step[axis]);
        counts.push_back(is_broadcast ? 1 : count[axis]);
        is_same &= from.back() == 0 && steps.back() == 1 && counts.back() == extents[axis + 1];
    }
    if (is_same) return result;
    result.id = append("strided_slice",
                       {{"first", std::move(from)}, {"step", std::move(steps)}, {"count", std::move(counts)}},
                       {array.id}, graph_.values[array.id].type);
    return result;
}

Array GraphMaker::part(const Array& array, std::size_t axis, std::int64_t first, std::int64_t count) {
    Numbers from(array.dimensions.size(), 0);
    from[axis] = first;
    Numbers counts = array.dimensions;
    counts[axis] = count;
    return slice(array, from, Numbers(from.size(), 1), counts);
}

Array GraphMaker::reduce(std::string_view reduction, const Array& array, const Numbers& axes) {
    Array result = array;
    Numbers reduced;  // as axes of the value
    for (const std::int64_t axis : axes) {
        if (array.dimensions[place(axis)] == 1) continue;
        reduced.push_back(axis + 1);
        result.dimensions[place(axis)] = 1;
    }
    if (reduced.empty()) return array;
    std::ranges::sort(reduced);
    result.id = value_of(array);
    const auto reduce_along = [&](Numbers some, DataType type) {
        result.id = append("word_reduce",
                           {{"reduction", std::string(reduction)},
                            {"axes", std::move(some)},
                            {"keep", std::int64_t{1}},
                            {"sum_tile", std::int64_t{0}}},
                           {result.id}, type);
    };
    const DataType type = graph_type(array.type);
    const auto last = static_cast<std::int64_t>(array.dimensions.size());
    if (reduced.size() > 1 && reduced.back() == last) {
        // Each line of the last axis by itself, as it lies in the lanes: so its numbers stay where they are.
        reduced.pop_back();
        reduce_along({last}, type == DataType::Bfloat16 ? DataType::Float32 : type);
    }
    reduce_along(std::move(reduced), type);
    return result;
}

Array GraphMaker::select(const Array& truth, const Array& yes, const Array& no) {
    return chain(yes.type, yes.dimensions, {truth, yes, no}, [](std::span<const ir::Word> in) {
        return ir::apply(WordOperation::Select, {in[0], in[1], in[2]});
    });
}

Array GraphMaker::concatenate(const std::vector<Array>& arrays, std::size_t axis) {
    Array result = arrays.front();
    std::vector<ir::ValueId> parts;
    std::int64_t extent = 0;
    for (const Array& array : arrays) {
        parts.push_back(value_of(array));
        extent += array.dimensions[axis];
    }
    result.dimensions[axis] = extent;
    if (parts.size() == 1) return result;
    result.id = append("concat", {{"axis", static_cast<std::int64_t>(axis + 1)}}, std::move(parts),
                       graph_type(result.type));
    return result;
}

Array GraphMaker::iota(ElementType type, const Numbers& dimensions, std::size_t axis) {
    constexpr std::uint32_t most_numbers = std::uint32_t{1} << 24U;
    static_cast<void>(graph_shape(dimensions));  // it must be possible
    const auto count = static_cast<std::uint32_t>(dimensions[axis]);
    if (count > most_numbers) {
        throw ModelError(fmt::format("it counts to {}; programs are compiled that count to at most {}", count,
                                     most_numbers));
    }
    const auto [found, is_new] = ranges_.try_emplace({count, dimensions.size(), axis});
    if (is_new) {
        std::vector<std::uint32_t> words(count);
        std::iota(words.begin(), words.end(), 0U);
        Numbers ones(dimensions.size(), 1);
        ones[axis] = dimensions[axis];
        found->second = constant(ElementType::S32, ones, std::move(words));
    }
    Array numbers = found->second;
    numbers.dimensions = dimensions;
    return numbers.type == type ? numbers : converted(*this, numbers, type);
}

Array GraphMaker::pad(const Array& array, std::span<const PaddingDimension> padding, const Array& word) {
    Array result = padded(array, padding, word);
    result.range = united(array.range, word.range);
    return result;
}

Array GraphMaker::padded(const Array& array, std::span<const PaddingDimension> padding, const Array& word) {
    Array result = array;
    const std::size_t rank = array.dimensions.size();
    const auto number = word_of(word);
    const bool is_nan =
        number && is_float(array.type) && std::isnan(std::bit_cast<float>(*number));  // no node pads with it
    if (!number || is_nan) {
        // A mask of constants says where the number goes.
        Array mask = constant(ElementType::Pred, array.dimensions, 0);
        const Array one = constant(ElementType::Pred, {}, 1);
        mask = pad(whole(mask), padding, one);
        const Array zero = constant(array.type, {}, 0);
        const Array beside = pad(array, padding, zero);
        Array number_around = word;
        number_around.dimensions = beside.dimensions;
        return select(mask, number_around, beside);
    }
    if (graph_.values[result.id].shape.elements() == 1 && word_of(array) == number) {
        for (std::size_t axis = 0; axis < rank; ++axis) {
            const PaddingDimension& each = padding[axis];
            const std::int64_t extent = result.dimensions[axis];
            result.dimensions[axis] = extent + (extent - 1) * each.interior + each.low + each.high;
        }
        static_cast<void>(graph_shape(result.dimensions));  // it must be possible
        return result;
    }
    result = whole(result);
    result.id = reshaped(result.id, graph_shape(result.dimensions));
    const auto append_pad = [&](Array& inner, const Numbers& before, const Numbers& after) {
        const DataType type = graph_.values[inner.id].type;
        const double value = type == DataType::Int32 ? static_cast<double>(static_cast<std::int32_t>(*number))
                                                     : static_cast<double>(std::bit_cast<float>(*number));
        std::vector<std::int64_t> sides_before{0};
        std::vector<std::int64_t> sides_after{0};
        for (std::size_t axis = 0; axis < before.size(); ++axis) {
            sides_before.push_back(before[axis]);
            sides_after.push_back(after[axis]);
            inner.dimensions[axis] += before[axis] + after[axis];
        }
        static_cast<void>(graph_shape(inner.dimensions));  // it must be possible
        inner.id = append(
            "pad", {{"before", std::move(sides_before)}, {"after", std::move(sides_after)}, {"value", value}},
            {inner.id}, type);
    };
    // Between elements: behind each one, as many, but for the last.
    for (std::size_t axis = 0; axis < rank; ++axis) {
        const std::int64_t between = padding[axis].interior;
        const std::int64_t extent = result.dimensions[axis];
        if (between == 0 || extent <= 1) continue;
        const Numbers dimensions = result.dimensions;
        std::int64_t before = 1;
        std::int64_t behind = 1;
        for (std::size_t i = 0; i < axis; ++i) before *= dimensions[i];
        for (std::size_t i = axis + 1; i < rank; ++i) behind *= dimensions[i];
        Array spread = reshape(result, {before, extent, 1, behind});
        append_pad(spread, {0, 0, 0, 0}, {0, 0, between, 0});
        spread = reshape(spread, {before, extent * (between + 1), behind});
        spread = slice(spread, {0, 0, 0}, {1, 1, 1}, {before, extent * (between + 1) - between, behind});
        Numbers wanted = dimensions;
        wanted[axis] = extent * (between + 1) - between;
        result = reshape(spread, wanted);
    }
    Numbers before(rank, 0);
    Numbers after(rank, 0);
    Numbers first(rank, 0);
    Numbers count = result.dimensions;
    bool adds = false;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        before[axis] = std::max<std::int64_t>(padding[axis].low, 0);
        after[axis] = std::max<std::int64_t>(padding[axis].high, 0);
        adds |= before[axis] > 0 || after[axis] > 0;
    }
    if (adds) append_pad(result, before, after);
    count = result.dimensions;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        first[axis] = std::max<std::int64_t>(-padding[axis].low, 0);
        count[axis] -= first[axis] + std::max<std::int64_t>(-padding[axis].high, 0);
    }
    return slice(result, first, Numbers(rank, 1), count);
}

}  // namespace systole::hlo
