#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/hlo/hlo_proto.h"

/// HLO modules: programs as a Cloud TPU's compiler is given them.
namespace systole::hlo {

/// The type of the elements of an array.
enum class ElementType : std::uint8_t { Pred, S8, S16, S32, S64, U8, U16, U32, U64, F16, Bf16, F32 };

inline constexpr std::size_t element_type_count = static_cast<std::size_t>(ElementType::F32) + 1;

struct ElementTypeTraits {
    std::string_view name;
    std::int32_t code = 0;  ///< in files
    std::uint8_t bytes = 0;
    bool is_integer = false;  ///< pred is none
    bool is_float = false;
    bool is_signed = false;  ///< integers below 0, and all floats
};

const ElementTypeTraits& traits_of(ElementType type);

/// A shape in the table of a module.
using ShapeId = std::uint32_t;

/// An array, or a tuple of shapes.
struct Shape {
    bool is_tuple = false;
    ElementType type = ElementType::Pred;    ///< of an array
    std::vector<std::int64_t> dimensions{};  ///< of an array; none: a single number
    std::uint64_t elements = 0;              ///< of an array
    std::vector<ShapeId> parts{};            ///< of a tuple

    std::size_t rank() const { return dimensions.size(); }
    /// Whether it is an array without dimensions.
    bool is_scalar() const { return !is_tuple && dimensions.empty(); }
    bool is_scalar(ElementType of_type) const { return is_scalar() && type == of_type; }
};

/// More dimensions than NumPy's arrays have at most are refused.
inline constexpr std::size_t most_dimensions = 64;

/// The shapes of a module, each once: equal shapes have equal numbers. Layouts are no part of them. Arrays
/// have at most `ir::maximum_elements` elements, also if dimensions of size 0 are left out.
class ShapeTable {
public:
    const Shape& operator[](ShapeId id) const { return shapes_.at(id); }
    std::size_t size() const { return shapes_.size(); }

    /// The number of a shape in a file. Throws ModelError for what the reader does not take.
    ShapeId add(const hlo_proto::ShapeProto& shape);
    ShapeId add_array(ElementType type, std::span<const std::int64_t> dimensions);
    ShapeId add_tuple(std::span<const ShapeId> parts);

    /// "f32[2,3]", "(f32[2,3], pred[])"; long tuples end with "...".
    std::string text_of(ShapeId id) const;

private:
    void append_text(ShapeId id, std::string& text) const;
    ShapeId intern(std::vector<std::int64_t> key, Shape shape);

    std::vector<Shape> shapes_;
    std::map<std::vector<std::int64_t>, ShapeId> ids_;
};

/// Numbers without spaces: "2,3".
template <typename List>
std::string listed(const List& numbers) {
    std::string text;
    for (const auto number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
    return text;
}

/// "f32[2,3]".
std::string array_text(ElementType type, std::span<const std::int64_t> dimensions);

}  // namespace systole::hlo
