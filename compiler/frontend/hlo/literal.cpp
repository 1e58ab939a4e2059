// Elements of constants.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/message_text.h"
#include "compiler/frontend/hlo/attributes.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

static_assert(std::endian::native == std::endian::little, "literals are copied as they stand in memory");

using Bytes = std::vector<std::uint8_t>;
using LiteralProto = hlo_proto::LiteralProto;

void check_count(std::size_t found, std::size_t needed) {
    if (found == needed) return;
    throw ModelError(fmt::format("its literal has {}; it must have {}", counted(found, "element"), needed));
}

template <typename Numbers>
Bytes bytes_of_numbers(const Numbers& numbers, std::size_t elements) {
    check_count(static_cast<std::size_t>(numbers.size()), elements);
    Bytes bytes(elements * sizeof(*numbers.data()));
    if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

Bytes bytes_of_text(const std::string& text, std::size_t elements, std::size_t bytes_each) {
    if (text.size() != elements * bytes_each) {
        throw ModelError(fmt::format("its literal has {}; it must have {}", counted(text.size(), "byte"),
                                     elements * bytes_each));
    }
    return {text.begin(), text.end()};
}

/// The elements in the order of the file.
Bytes stored_bytes(const LiteralProto& literal, const Shape& shape) {
    const std::size_t elements = shape.elements;
    switch (shape.type) {
        case ElementType::Pred: {
            check_count(static_cast<std::size_t>(literal.preds_size()), elements);
            return {literal.preds().begin(), literal.preds().end()};
        }
        case ElementType::S8:
            return bytes_of_text(literal.s8s(), elements, 1);
        case ElementType::U8:
            return bytes_of_text(literal.u8s(), elements, 1);
        case ElementType::S16:
            return bytes_of_text(literal.s16s(), elements, 2);
        case ElementType::U16:
            return bytes_of_text(literal.u16s(), elements, 2);
        case ElementType::F16:
            return bytes_of_text(literal.f16s(), elements, 2);
        case ElementType::Bf16:
            return bytes_of_text(literal.bf16s(), elements, 2);
        case ElementType::S32:
            return bytes_of_numbers(literal.s32s(), elements);
        case ElementType::S64:
            return bytes_of_numbers(literal.s64s(), elements);
        case ElementType::U32:
            return bytes_of_numbers(literal.u32s(), elements);
        case ElementType::U64:
            return bytes_of_numbers(literal.u64s(), elements);
        case ElementType::F32:
            return bytes_of_numbers(literal.f32s(), elements);
    }
    throw std::logic_error("a literal has an unknown type");
}

/// The number of fields with elements.
int stored_lists(const LiteralProto& literal) {
    return int{literal.preds_size() != 0} + int{!literal.s8s().empty()} + int{!literal.u8s().empty()} +
           int{!literal.s16s().empty()} + int{!literal.u16s().empty()} + int{!literal.f16s().empty()} +
           int{!literal.bf16s().empty()} + int{literal.s32s_size() != 0} + int{literal.s64s_size() != 0} +
           int{literal.u32s_size() != 0} + int{literal.u64s_size() != 0} + int{literal.f32s_size() != 0};
}

/// The axes of a layout from the fastest to the slowest; nullopt if it is no order of the axes.
std::optional<std::vector<std::size_t>> order_of_axes(const hlo_proto::ShapeProto& shape) {
    const auto& axes = shape.layout().minor_to_major();
    const auto rank = static_cast<std::size_t>(shape.dimensions_size());
    std::vector<std::size_t> order;
    // One order is possible without a layout.
    if (axes.empty() && rank == 1) order.push_back(0);
    std::vector<bool> is_used(rank, false);
    for (const std::int64_t axis : axes) {
        if (axis < 0 || static_cast<std::size_t>(axis) >= rank || is_used[static_cast<std::size_t>(axis)]) {
            return std::nullopt;
        }
        is_used[static_cast<std::size_t>(axis)] = true;
        order.push_back(static_cast<std::size_t>(axis));
    }
    if (order.size() != rank) return std::nullopt;
    return order;
}

/// An axis in row-major order.
struct Axis {
    std::size_t size = 0;
    std::size_t stride = 0;  ///< in stored elements
};

/// The axes with more than one element, and their strides in a layout.
std::vector<Axis> strided_axes(const Shape& shape, const std::vector<std::size_t>& order) {
    std::vector<std::size_t> strides(shape.rank());
    std::size_t stride = 1;
    for (const std::size_t axis : order) {
        strides[axis] = stride;
        stride *= static_cast<std::size_t>(shape.dimensions[axis]);
    }
    std::vector<Axis> axes;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        if (shape.dimensions[axis] == 1) continue;
        axes.push_back({static_cast<std::size_t>(shape.dimensions[axis]), strides[axis]});
    }
    return axes;
}

Bytes row_major(const Bytes& stored, const std::vector<Axis>& axes, std::size_t bytes_each) {
    Bytes bytes(stored.size());
    std::vector<std::size_t> index(axes.size(), 0);
    std::size_t from = 0;
    for (std::size_t to = 0; to < bytes.size(); to += bytes_each) {
        std::memcpy(&bytes[to], &stored[from * bytes_each], bytes_each);
        for (std::size_t i = axes.size(); i-- > 0;) {
            from += axes[i].stride;
            if (++index[i] < axes[i].size) break;
            from -= axes[i].size * axes[i].stride;
            index[i] = 0;
        }
    }
    return bytes;
}

}  // namespace

std::vector<std::uint8_t> literal_bytes(const LiteralProto& literal, ShapeId shape, ShapeTable& shapes) {
    const ShapeId own = shapes.add(literal.shape());
    if (own != shape) {
        throw ModelError(fmt::format("its literal is {}; it must be {}, as its result", shapes.text_of(own),
                                     shapes.text_of(shape)));
    }
    const Shape& array = shapes[shape];
    if (array.is_tuple) {
        throw ModelError(fmt::format("its result is {}; it must be an array", shapes.text_of(shape)));
    }
    Bytes stored = stored_bytes(literal, array);
    if (stored_lists(literal) > (stored.empty() ? 0 : 1)) {
        throw ModelError("its literal has elements of several types; it must have those of its own");
    }
    const auto order = order_of_axes(literal.shape());
    if (!order) {
        throw ModelError(fmt::format("the layout of its literal is {{{}}}; it must name each of {} once",
                                     joined(literal.shape().layout().minor_to_major()),
                                     counted(array.rank(), "dimension")));
    }
    const std::vector<Axis> axes = strided_axes(array, *order);
    bool is_row_major = true;
    for (std::size_t i = 1; i < axes.size(); ++i) is_row_major &= axes[i].stride < axes[i - 1].stride;
    if (is_row_major || stored.empty()) return stored;
    return row_major(stored, axes, traits_of(array.type).bytes);
}

}  // namespace systole::hlo
