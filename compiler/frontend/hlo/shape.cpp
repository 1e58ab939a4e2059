#include "compiler/frontend/hlo/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

constexpr std::array<ElementTypeTraits, element_type_count> element_type_traits{{
    {"pred", 1, 1, false, false, false},
    {"s8", 2, 1, true, false, true},
    {"s16", 3, 2, true, false, true},
    {"s32", 4, 4, true, false, true},
    {"s64", 5, 8, true, false, true},
    {"u8", 6, 1, true, false, false},
    {"u16", 7, 2, true, false, false},
    {"u32", 8, 4, true, false, false},
    {"u64", 9, 8, true, false, false},
    {"f16", 10, 2, false, true, true},
    {"bf16", 16, 2, false, true, true},
    {"f32", 11, 4, false, true, true},
}};

constexpr std::int32_t tuple_code = 13;

/// The types of the format that no array here has.
struct RefusedType {
    std::int32_t code;
    std::string_view name;
};
constexpr std::array<RefusedType, 22> refused_types{{
    {12, "f64"},        {14, "opaque"},     {15, "c64"}, {17, "token"},    {18, "c128"},
    {19, "f8e5m2"},     {20, "f8e4m3fn"},   {21, "s4"},  {22, "u4"},       {23, "f8e4m3b11fnuz"},
    {24, "f8e5m2fnuz"}, {25, "f8e4m3fnuz"}, {26, "s2"},  {27, "u2"},       {28, "f8e4m3"},
    {29, "f8e3m4"},     {30, "s1"},         {31, "u1"},  {32, "f4e2m1fn"}, {33, "f8e8m0fnu"},
    {34, "buffer"},     {0, "invalid"},
}};

ElementType element_type_of(std::int32_t code) {
    for (std::size_t i = 0; i < element_type_count; ++i) {
        if (element_type_traits[i].code == code) return static_cast<ElementType>(i);
    }
    const auto* const refused = std::ranges::find(refused_types, code, &RefusedType::code);
    const std::string name =
        refused == refused_types.end() ? fmt::format("number {}", code) : std::string(refused->name);
    throw ModelError(fmt::format(
        "its type is {}; the supported ones are pred, s8 to s64, u8 to u64, bf16, f16 and f32", name));
}

/// The elements of an array; nullopt if there are too many. Dimensions of size 0 count as 1 for the limit, so
/// that any product of some dimensions keeps it, too.
std::optional<std::uint64_t> elements_of(std::span<const std::int64_t> dimensions) {
    std::uint64_t elements = 1;
    bool is_empty = false;
    for (const std::int64_t dimension : dimensions) {
        if (dimension == 0) {
            is_empty = true;
            continue;
        }
        const auto size = static_cast<std::uint64_t>(dimension);
        if (size > ir::maximum_elements || elements > ir::maximum_elements / size) return std::nullopt;
        elements *= size;
    }
    return is_empty ? 0 : elements;
}

}  // namespace

const ElementTypeTraits& traits_of(ElementType type) {
    return element_type_traits.at(static_cast<std::size_t>(type));
}

std::string array_text(ElementType type, std::span<const std::int64_t> dimensions) {
    return fmt::format("{}[{}]", traits_of(type).name, listed(dimensions));
}

ShapeId ShapeTable::intern(std::vector<std::int64_t> key, Shape shape) {
    const auto [place, is_new] = ids_.try_emplace(std::move(key), static_cast<ShapeId>(shapes_.size()));
    if (is_new) shapes_.push_back(std::move(shape));
    return place->second;
}

ShapeId ShapeTable::add_array(ElementType type, std::span<const std::int64_t> dimensions) {
    if (dimensions.size() > most_dimensions) {
        throw ModelError(fmt::format("it has {} dimensions; at most {} are supported", dimensions.size(),
                                     most_dimensions));
    }
    for (const std::int64_t dimension : dimensions) {
        if (dimension < 0) {
            throw ModelError(fmt::format("its shape is {}; dimensions must not be negative",
                                         array_text(type, dimensions)));
        }
    }
    const auto elements = elements_of(dimensions);
    if (!elements) {
        throw ModelError(fmt::format("its shape is {}; at most {} elements are supported",
                                     array_text(type, dimensions), ir::maximum_elements));
    }
    std::vector<std::int64_t> key{traits_of(type).code};
    key.insert(key.end(), dimensions.begin(), dimensions.end());
    return intern(
        std::move(key),
        {.type = type, .dimensions = {dimensions.begin(), dimensions.end()}, .elements = *elements});
}

ShapeId ShapeTable::add_tuple(std::span<const ShapeId> parts) {
    std::vector<std::int64_t> key{tuple_code};
    key.insert(key.end(), parts.begin(), parts.end());
    return intern(std::move(key), {.is_tuple = true, .parts = {parts.begin(), parts.end()}});
}

ShapeId ShapeTable::add(const hlo_proto::ShapeProto& shape) {
    if (std::ranges::any_of(shape.is_dynamic_dimension(), [](bool is_dynamic) { return is_dynamic; })) {
        throw ModelError("its shape has a dynamic dimension; only static ones are supported");
    }
    const bool is_tuple = shape.element_type() == tuple_code;
    if (is_tuple ? shape.dimensions_size() != 0 : shape.tuple_shapes_size() != 0) {
        throw ModelError(is_tuple ? "its shape is a tuple with dimensions; only arrays have them"
                                  : "its shape is an array with parts; only tuples have them");
    }
    if (!is_tuple) {
        return add_array(element_type_of(shape.element_type()),
                         {shape.dimensions().data(), static_cast<std::size_t>(shape.dimensions_size())});
    }
    // The parser has bounded how deep tuples are.
    std::vector<ShapeId> parts;
    parts.reserve(static_cast<std::size_t>(shape.tuple_shapes_size()));
    for (const hlo_proto::ShapeProto& part : shape.tuple_shapes()) parts.push_back(add(part));
    return add_tuple(parts);
}

std::string ShapeTable::text_of(ShapeId id) const {
    std::string text;
    append_text(id, text);
    return text;
}

void ShapeTable::append_text(ShapeId id, std::string& text) const {
    const Shape& shape = shapes_.at(id);
    if (!shape.is_tuple) {
        text += array_text(shape.type, shape.dimensions);
        return;
    }
    constexpr std::size_t longest = 4096;
    text += '(';
    for (std::size_t i = 0; i < shape.parts.size(); ++i) {
        if (i != 0) text += ", ";
        if (text.size() > longest) {
            text += "...";
            break;
        }
        append_text(shape.parts[i], text);
    }
    text += ')';
}

}  // namespace systole::hlo
