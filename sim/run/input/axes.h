#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

/// The order of an array's axes. A permutation of axes lists, for each axis of the result, the axis that it
/// was before, as in numpy.transpose(array, axes). No axes at all mean that the order stays.
namespace systole::input {

/// The extents in their new order.
inline std::vector<std::uint32_t> permuted(std::span<const std::uint32_t> extents,
                                           std::span<const std::uint32_t> axes) {
    if (axes.empty()) return {extents.begin(), extents.end()};
    if (axes.size() != extents.size()) throw std::logic_error("a permutation of another number of axes");
    std::vector<std::uint32_t> result;
    for (const std::uint32_t axis : axes) result.push_back(extents[axis]);
    return result;
}

/// The permutation of the axes of one inference, from that of a whole tensor, whose first axis is the batch.
/// Throws std::logic_error if the batch is moved.
inline std::vector<std::uint32_t> axes_of_inference(std::span<const std::uint32_t> axes) {
    std::vector<std::uint32_t> result;
    if (axes.empty()) return result;
    if (axes.front() != 0) throw std::logic_error("a permutation that moves the batch");
    for (const std::uint32_t axis : axes.subspan(1)) result.push_back(axis - 1);
    return result;
}

/// The permutation that undoes `axes`.
inline std::vector<std::uint32_t> inverse(std::span<const std::uint32_t> axes) {
    std::vector<std::uint32_t> result(axes.size());
    for (std::uint32_t i = 0; i < axes.size(); ++i) result.at(axes[i]) = i;
    return result;
}

/// The values of `count` arrays, packed one after the other, each of these extents in row-major order, with
/// the axes of each array in their new order.
template <typename T>
std::vector<T> permuted(std::vector<T> values, std::uint64_t count, std::span<const std::uint32_t> extents,
                        std::span<const std::uint32_t> axes) {
    bool is_unchanged = true;
    for (std::size_t i = 0; i < axes.size(); ++i) is_unchanged &= axes[i] == i;
    if (is_unchanged) return values;
    const std::vector<std::uint32_t> result_extents = permuted(extents, axes);
    const std::size_t rank = extents.size();
    std::vector<std::size_t> strides(rank, 1);  // of the given order, by axis of the result
    std::vector<std::size_t> given(rank, 1);
    for (std::size_t i = rank - 1; i-- > 0;) given[i] = given[i + 1] * extents[i + 1];
    for (std::size_t i = 0; i < rank; ++i) strides[i] = given.at(axes[i]);
    const std::size_t size = given.front() * extents.front();
    if (values.size() != count * size)
        throw std::logic_error("arrays of another size than their extents say");
    std::vector<T> result;
    result.reserve(values.size());
    std::vector<std::uint32_t> index(rank);
    for (std::uint64_t array = 0; array < count; ++array) {
        std::size_t place = array * size;
        for (std::size_t i = 0; i < size; ++i) {
            result.push_back(values[place]);
            for (std::size_t axis = rank; axis-- > 0;) {  // to the next index, the last axis first
                place += strides[axis];
                if (++index[axis] < result_extents[axis]) break;
                place -= strides[axis] * result_extents[axis];
                index[axis] = 0;
            }
        }
    }
    return result;
}

/// The values of an array in column-major order, which is the row-major order of its axes reversed.
template <typename T>
std::vector<T> row_major(std::vector<T> values, std::span<const std::uint32_t> extents) {
    std::vector<std::uint32_t> reversed(extents.size());
    std::iota(reversed.rbegin(), reversed.rend(), 0U);
    return permuted(std::move(values), 1, permuted(extents, reversed), reversed);
}

}  // namespace systole::input
