#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

/// The typed graph of a network, which front ends build, passes rewrite and the lowering reads.
namespace systole::ir {

/// The product, or nullopt if it does not fit in 64 bits.
std::optional<std::uint64_t> checked_product(std::span<const std::uint64_t> factors);
std::optional<std::uint64_t> checked_product(std::initializer_list<std::uint64_t> factors);

/// The shape of a whole tensor as in the network file. The first extent of an activation is the batch, which
/// is 1. A shape without extents belongs to a single number.
class Shape {
public:
    static constexpr std::size_t most_extents = 6;

    Shape() = default;
    /// Throws ModelError if there are more than `most_extents`.
    Shape(std::initializer_list<std::uint32_t> extents);
    explicit Shape(std::span<const std::uint32_t> extents);

    std::size_t rank() const { return rank_; }
    std::uint32_t operator[](std::size_t axis) const { return extents_.at(axis); }
    std::span<const std::uint32_t> extents() const { return {extents_.data(), rank_}; }
    /// The number of elements, or nullopt if it does not fit in 64 bits.
    std::optional<std::uint64_t> checked_elements() const;
    /// The number of elements. Throws std::logic_error if it does not fit in 64 bits.
    std::uint64_t elements() const;

    bool operator==(const Shape&) const = default;

private:
    std::array<std::uint32_t, most_extents> extents_{};
    std::size_t rank_ = 0;
};

/// The axis along which the second shape is longer than the first; nullopt unless both are equal along all
/// others.
std::optional<std::size_t> longer_axis(const Shape& shape, const Shape& longer);

/// "1x28x28x1"; "scalar" without extents.
std::string to_text(const Shape& shape);

}  // namespace systole::ir
