#include "compiler/ir/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "compiler/ir/model_error.h"

namespace systole::ir {

std::optional<std::uint64_t> checked_product(std::span<const std::uint64_t> factors) {
    std::uint64_t product = 1;
    for (const std::uint64_t factor : factors) {
        if (__builtin_mul_overflow(product, factor, &product)) return std::nullopt;
    }
    return product;
}

std::optional<std::uint64_t> checked_product(std::initializer_list<std::uint64_t> factors) {
    return checked_product(std::span(factors.begin(), factors.size()));
}

Shape::Shape(std::initializer_list<std::uint32_t> extents)
    : Shape(std::span(extents.begin(), extents.size())) {}

Shape::Shape(std::span<const std::uint32_t> extents) : rank_(extents.size()) {
    if (rank_ > most_extents) {
        throw ModelError(fmt::format("a shape has {} extents; it may have at most {}", rank_, most_extents));
    }
    std::ranges::copy(extents, extents_.begin());
}

std::optional<std::uint64_t> Shape::checked_elements() const {
    const std::vector<std::uint64_t> factors(extents_.begin(), extents_.begin() + static_cast<int>(rank_));
    return checked_product(factors);
}

std::uint64_t Shape::elements() const {
    const auto elements = checked_elements();
    if (!elements) throw std::logic_error("the elements of a shape do not fit 64 bits: " + to_text(*this));
    return *elements;
}

std::optional<std::size_t> longer_axis(const Shape& shape, const Shape& longer) {
    if (shape.rank() != longer.rank()) return std::nullopt;
    std::optional<std::size_t> found;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        if (shape[axis] == longer[axis]) continue;
        if (found || shape[axis] > longer[axis]) return std::nullopt;
        found = axis;
    }
    return found;
}

std::string to_text(const Shape& shape) {
    if (shape.rank() == 0) return "scalar";
    std::string text;
    for (const std::uint32_t extent : shape.extents()) {
        text += fmt::format("{}{}", text.empty() ? "" : "x", extent);
    }
    return text;
}

}  // namespace systole::ir
