#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

/// The network as one typed graph: what front ends make, passes rewrite, and the schedule reads.
namespace systole::ir {

/// The product, or nothing where it does not fit.
std::optional<std::uint64_t> checked_product(std::span<const std::uint64_t> factors);
std::optional<std::uint64_t> checked_product(std::initializer_list<std::uint64_t> factors);

/// The shape of a whole tensor as the network file has it: the batch, of extent 1, leads the shape of an
/// activation. A shape without extents is that of a single number.
class Shape {
public:
    static constexpr std::size_t most_extents = 6;

    Shape() = default;
    /// Throws ModelError where there are more than `most_extents`.
    Shape(std::initializer_list<std::uint32_t> extents);
    explicit Shape(std::span<const std::uint32_t> extents);

    std::size_t rank() const { return rank_; }
    std::uint32_t operator[](std::size_t axis) const { return extents_.at(axis); }
    std::span<const std::uint32_t> extents() const { return {extents_.data(), rank_}; }
    /// Nothing where the number does not fit.
    std::optional<std::uint64_t> checked_elements() const;
    /// Throws std::logic_error where the number does not fit.
    std::uint64_t elements() const;

    bool operator==(const Shape&) const = default;

private:
    std::array<std::uint32_t, most_extents> extents_{};
    std::size_t rank_ = 0;
};

/// "1x28x28x1"; "scalar" without extents.
std::string to_text(const Shape& shape);

}  // namespace systole::ir
