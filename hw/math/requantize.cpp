#include "hw/math/requantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "hw/math/short_copy.h"
#include "hw/math/target_clones.h"

static_assert(std::endian::native == std::endian::little, "results are stored as they lie in registers");

namespace systole::math {
namespace {

/// Elements per iteration: enough for the vector loops to pay off, few enough for the stack and the
/// first-level cache.
constexpr std::size_t chunk = 512;

/// Rows narrower than this are processed together, so that vector loops are long enough.
constexpr std::size_t short_row = 128;

/// The parameters of up to `chunk` consecutive elements, prepared for the vector loop.
struct Lanes {
    alignas(64) std::array<std::int32_t, chunk> bias;
    alignas(64) std::array<std::int32_t, chunk> multiplier;
    alignas(64) std::array<std::int32_t, chunk> left;
    alignas(64) std::array<std::int32_t, chunk> right;
    std::int32_t zero_point;
    std::int32_t minimum;
    std::int32_t maximum;
};

/// The same for sums that are rounded once, halves to the even number.
struct EvenLanes {
    alignas(64) std::array<std::int32_t, chunk> bias;
    alignas(64) std::array<std::int32_t, chunk> multiplier;
    alignas(64) std::array<std::int32_t, chunk> places;
    std::int32_t zero_point;
    std::int32_t minimum;
    std::int32_t maximum;
};

/// The same with multipliers of float64.
struct RealLanes {
    alignas(64) std::array<std::int32_t, chunk> bias;
    alignas(64) std::array<double, chunk> multiplier;
    std::int32_t zero_point;
    std::int32_t minimum;
    std::int32_t maximum;
};

/// The same for sums of which halves are rounded to the even number.
struct EvenRealLanes : RealLanes {};

/// The same with multipliers of float32, halves to the even number.
struct FloatLanes {
    alignas(64) std::array<std::int32_t, chunk> bias;
    alignas(64) std::array<float, chunk> multiplier;
    std::int32_t zero_point;
    std::int32_t minimum;
    std::int32_t maximum;
};

SYSTOLE_ALWAYS_INLINE std::int32_t scale_sum(std::int32_t sum, const Lanes& lanes, std::size_t i) {
    return scale(sum, lanes.multiplier[i], lanes.left[i], lanes.right[i]);
}

SYSTOLE_ALWAYS_INLINE std::int32_t scale_sum(std::int32_t sum, const EvenLanes& lanes, std::size_t i) {
    return scale_to_even(sum, lanes.multiplier[i], lanes.places[i]);
}

SYSTOLE_ALWAYS_INLINE std::int32_t scale_sum(std::int32_t sum, const RealLanes& lanes, std::size_t i) {
    return multiply_by_real(sum, lanes.multiplier[i]);
}

SYSTOLE_ALWAYS_INLINE std::int32_t scale_sum(std::int32_t sum, const EvenRealLanes& lanes, std::size_t i) {
    return multiply_by_real_to_even(sum, lanes.multiplier[i]);
}

SYSTOLE_ALWAYS_INLINE std::int32_t scale_sum(std::int32_t sum, const FloatLanes& lanes, std::size_t i) {
    return multiply_by_float_to_even(sum, lanes.multiplier[i]);
}

template <typename LanesOfKind>
SYSTOLE_ALWAYS_INLINE std::int32_t requantize(std::int32_t accumulator, const LanesOfKind& lanes,
                                              std::size_t i) {
    const std::int32_t scaled = scale_sum(wrapping_add(accumulator, lanes.bias[i]), lanes, i);
    return std::min(std::max(wrapping_add(scaled, lanes.zero_point), lanes.minimum), lanes.maximum);
}

template <typename LanesOfKind>
SYSTOLE_ALWAYS_INLINE void store_8_bits(const std::int32_t* __restrict accumulators, std::size_t count,
                                        const LanesOfKind& __restrict lanes, std::uint8_t* __restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<std::uint8_t>(requantize(accumulators[i], lanes, i));
    }
}

template <typename LanesOfKind>
SYSTOLE_ALWAYS_INLINE void store_16_bits(const std::int32_t* __restrict accumulators, std::size_t count,
                                         const LanesOfKind& __restrict lanes, std::uint8_t* __restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto result = static_cast<std::uint16_t>(requantize(accumulators[i], lanes, i));
        std::memcpy(out + i * sizeof(result), &result, sizeof(result));
    }
}

// Versions for several instruction sets cannot be templates.
SYSTOLE_TARGET_CLONES void requantize_to_8_bits(const std::int32_t* __restrict accumulators,
                                                std::size_t count, const Lanes& __restrict lanes,
                                                std::uint8_t* __restrict out) {
    store_8_bits(accumulators, count, lanes, out);
}

SYSTOLE_TARGET_CLONES void requantize_to_16_bits(const std::int32_t* __restrict accumulators,
                                                 std::size_t count, const Lanes& __restrict lanes,
                                                 std::uint8_t* __restrict out) {
    store_16_bits(accumulators, count, lanes, out);
}

SYSTOLE_TARGET_CLONES void even_requantize_to_8_bits(const std::int32_t* __restrict accumulators,
                                                     std::size_t count, const EvenLanes& __restrict lanes,
                                                     std::uint8_t* __restrict out) {
    store_8_bits(accumulators, count, lanes, out);
}

SYSTOLE_TARGET_CLONES void even_requantize_to_16_bits(const std::int32_t* __restrict accumulators,
                                                      std::size_t count, const EvenLanes& __restrict lanes,
                                                      std::uint8_t* __restrict out) {
    store_16_bits(accumulators, count, lanes, out);
}

SYSTOLE_TARGET_CLONES void real_requantize_to_8_bits(const std::int32_t* __restrict accumulators,
                                                     std::size_t count, const RealLanes& __restrict lanes,
                                                     std::uint8_t* __restrict out) {
    store_8_bits(accumulators, count, lanes, out);
}

SYSTOLE_TARGET_CLONES void real_requantize_to_16_bits(const std::int32_t* __restrict accumulators,
                                                      std::size_t count, const RealLanes& __restrict lanes,
                                                      std::uint8_t* __restrict out) {
    store_16_bits(accumulators, count, lanes, out);
}

SYSTOLE_TARGET_CLONES void even_real_requantize_to_8_bits(const std::int32_t* __restrict accumulators,
                                                          std::size_t count,
                                                          const EvenRealLanes& __restrict lanes,
                                                          std::uint8_t* __restrict out) {
    store_8_bits(accumulators, count, lanes, out);
}

SYSTOLE_TARGET_CLONES void even_real_requantize_to_16_bits(const std::int32_t* __restrict accumulators,
                                                           std::size_t count,
                                                           const EvenRealLanes& __restrict lanes,
                                                           std::uint8_t* __restrict out) {
    store_16_bits(accumulators, count, lanes, out);
}

SYSTOLE_TARGET_CLONES void float_requantize_to_8_bits(const std::int32_t* __restrict accumulators,
                                                      std::size_t count, const FloatLanes& __restrict lanes,
                                                      std::uint8_t* __restrict out) {
    store_8_bits(accumulators, count, lanes, out);
}

SYSTOLE_TARGET_CLONES void float_requantize_to_16_bits(const std::int32_t* __restrict accumulators,
                                                       std::size_t count, const FloatLanes& __restrict lanes,
                                                       std::uint8_t* __restrict out) {
    store_16_bits(accumulators, count, lanes, out);
}

template <std::size_t ElementBytes>
void requantize_span(const std::int32_t* accumulators, std::size_t count, const FloatLanes& lanes,
                     std::uint8_t* out) {
    if constexpr (ElementBytes == 1) {
        float_requantize_to_8_bits(accumulators, count, lanes, out);
    } else {
        float_requantize_to_16_bits(accumulators, count, lanes, out);
    }
}

template <std::size_t ElementBytes>
void requantize_span(const std::int32_t* accumulators, std::size_t count, const Lanes& lanes,
                     std::uint8_t* out) {
    if constexpr (ElementBytes == 1) {
        requantize_to_8_bits(accumulators, count, lanes, out);
    } else {
        requantize_to_16_bits(accumulators, count, lanes, out);
    }
}

template <std::size_t ElementBytes>
void requantize_span(const std::int32_t* accumulators, std::size_t count, const EvenLanes& lanes,
                     std::uint8_t* out) {
    if constexpr (ElementBytes == 1) {
        even_requantize_to_8_bits(accumulators, count, lanes, out);
    } else {
        even_requantize_to_16_bits(accumulators, count, lanes, out);
    }
}

template <std::size_t ElementBytes>
void requantize_span(const std::int32_t* accumulators, std::size_t count, const RealLanes& lanes,
                     std::uint8_t* out) {
    if constexpr (ElementBytes == 1) {
        real_requantize_to_8_bits(accumulators, count, lanes, out);
    } else {
        real_requantize_to_16_bits(accumulators, count, lanes, out);
    }
}

template <std::size_t ElementBytes>
void requantize_span(const std::int32_t* accumulators, std::size_t count, const EvenRealLanes& lanes,
                     std::uint8_t* out) {
    if constexpr (ElementBytes == 1) {
        even_real_requantize_to_8_bits(accumulators, count, lanes, out);
    } else {
        even_real_requantize_to_16_bits(accumulators, count, lanes, out);
    }
}

/// Repeats the first `columns` parameters until there are `count`.
template <typename Value>
void repeat(std::array<Value, chunk>& values, std::size_t columns, std::size_t count) {
    for (std::size_t filled = columns; filled < count; filled *= 2) {
        std::copy_n(values.begin(), std::min(filled, count - filled),
                    values.begin() + static_cast<std::ptrdiff_t>(filled));
    }
}

/// Prepares the parameters of `columns` columns from `first` on, repeated for `rows` rows.
void prepare(const Requantization& parameters, std::size_t first, std::size_t columns, std::size_t rows,
             Lanes& lanes) {
    std::copy_n(parameters.bias.data() + first, columns, lanes.bias.begin());
    std::copy_n(parameters.multiplier.data() + first, columns, lanes.multiplier.begin());
    for (std::size_t i = 0; i < columns; ++i) {
        lanes.left[i] = left_shift(parameters.shift[first + i]);
        lanes.right[i] = right_shift(parameters.shift[first + i]);
    }
    for (auto* values : {&lanes.bias, &lanes.multiplier, &lanes.left, &lanes.right}) {
        repeat(*values, columns, rows * columns);
    }
    lanes.zero_point = parameters.zero_point;
    lanes.minimum = parameters.minimum;
    lanes.maximum = parameters.maximum;
}

void prepare(const Requantization& parameters, std::size_t first, std::size_t columns, std::size_t rows,
             EvenLanes& lanes) {
    std::copy_n(parameters.bias.data() + first, columns, lanes.bias.begin());
    std::copy_n(parameters.multiplier.data() + first, columns, lanes.multiplier.begin());
    std::transform(parameters.shift.data() + first, parameters.shift.data() + first + columns,
                   lanes.places.begin(), [](std::int32_t shift) { return places_of(shift); });
    for (auto* values : {&lanes.bias, &lanes.multiplier, &lanes.places}) {
        repeat(*values, columns, rows * columns);
    }
    lanes.zero_point = parameters.zero_point;
    lanes.minimum = parameters.minimum;
    lanes.maximum = parameters.maximum;
}

void prepare(const Requantization& parameters, std::size_t first, std::size_t columns, std::size_t rows,
             RealLanes& lanes) {
    std::copy_n(parameters.bias.data() + first, columns, lanes.bias.begin());
    std::copy_n(parameters.real_multiplier.data() + first, columns, lanes.multiplier.begin());
    repeat(lanes.bias, columns, rows * columns);
    repeat(lanes.multiplier, columns, rows * columns);
    lanes.zero_point = parameters.zero_point;
    lanes.minimum = parameters.minimum;
    lanes.maximum = parameters.maximum;
}

void prepare(const Requantization& parameters, std::size_t first, std::size_t columns, std::size_t rows,
             FloatLanes& lanes) {
    std::copy_n(parameters.bias.data() + first, columns, lanes.bias.begin());
    std::copy_n(parameters.float_multiplier.data() + first, columns, lanes.multiplier.begin());
    repeat(lanes.bias, columns, rows * columns);
    repeat(lanes.multiplier, columns, rows * columns);
    lanes.zero_point = parameters.zero_point;
    lanes.minimum = parameters.minimum;
    lanes.maximum = parameters.maximum;
}

/// Requantizes several rows as if they were one row, through buffers if they are not contiguous.
template <std::size_t ElementBytes, typename LanesOfKind>
void requantize_together(const std::int32_t* accumulators, std::size_t accumulator_stride, std::size_t rows,
                         std::size_t columns, const LanesOfKind& lanes, std::uint8_t* out,
                         std::size_t out_stride) {
    const std::size_t row_bytes = columns * ElementBytes;
    std::array<std::int32_t, chunk> packed;
    if (accumulator_stride != columns) {
        constexpr std::size_t element = sizeof(std::int32_t);
        copy_rows(reinterpret_cast<const std::uint8_t*>(accumulators), accumulator_stride * element,
                  columns * element, rows, reinterpret_cast<std::uint8_t*>(packed.data()), columns * element);
        accumulators = packed.data();
    }
    if (out_stride == row_bytes) {
        requantize_span<ElementBytes>(accumulators, rows * columns, lanes, out);
        return;
    }
    std::array<std::uint8_t, chunk * ElementBytes> results;
    requantize_span<ElementBytes>(accumulators, rows * columns, lanes, results.data());
    copy_rows(results.data(), row_bytes, row_bytes, rows, out, out_stride);
}

template <std::size_t ElementBytes, typename LanesOfKind>
void requantize_with(const std::int32_t* accumulators, std::size_t accumulator_stride, std::size_t rows,
                     std::size_t columns, const Requantization& parameters, std::uint8_t* out,
                     std::size_t out_stride) {
    LanesOfKind lanes;
    if (columns < short_row) {
        const std::size_t together = std::min(rows, chunk / columns);
        prepare(parameters, 0, columns, together, lanes);
        for (std::size_t row = 0; row < rows; row += together) {
            requantize_together<ElementBytes>(accumulators + row * accumulator_stride, accumulator_stride,
                                              std::min(together, rows - row), columns, lanes,
                                              out + row * out_stride, out_stride);
        }
        return;
    }
    for (std::size_t first = 0; first < columns; first += chunk) {
        const std::size_t count = std::min(chunk, columns - first);
        prepare(parameters, first, count, 1, lanes);
        for (std::size_t row = 0; row < rows; ++row) {
            requantize_span<ElementBytes>(accumulators + row * accumulator_stride + first, count, lanes,
                                          out + row * out_stride + first * ElementBytes);
        }
    }
}

void check_parameters(const Requantization& parameters, std::size_t columns) {
    const std::size_t biases = parameters.bias.size();
    if (!parameters.float_multiplier.empty()) {
        if (std::min(biases, parameters.float_multiplier.size()) >= columns) return;
        throw std::logic_error(fmt::format("requantize_rows: {} columns, parameters of {} and {}", columns,
                                           biases, parameters.float_multiplier.size()));
    }
    const bool is_real = !parameters.real_multiplier.empty();
    if (is_real && std::min(biases, parameters.real_multiplier.size()) < columns) {
        throw std::logic_error(fmt::format("requantize_rows: {} columns, parameters of {} and {}", columns,
                                           biases, parameters.real_multiplier.size()));
    }
    if (!is_real && std::min({biases, parameters.multiplier.size(), parameters.shift.size()}) < columns) {
        throw std::logic_error(fmt::format("requantize_rows: {} columns, parameters of {}, {} and {}",
                                           columns, biases, parameters.multiplier.size(),
                                           parameters.shift.size()));
    }
}

template <std::size_t ElementBytes>
void requantize_all(const std::int32_t* accumulators, std::size_t accumulator_stride, std::size_t rows,
                    std::size_t columns, const Requantization& parameters, std::uint8_t* out,
                    std::size_t out_stride) {
    check_parameters(parameters, columns);
    if (rows == 0 || columns == 0) return;
    const auto rule = [&] {
        if (!parameters.float_multiplier.empty()) return requantize_with<ElementBytes, FloatLanes>;
        if (!parameters.real_multiplier.empty()) {
            return parameters.half_to_even ? requantize_with<ElementBytes, EvenRealLanes>
                                           : requantize_with<ElementBytes, RealLanes>;
        }
        return parameters.half_to_even ? requantize_with<ElementBytes, EvenLanes>
                                       : requantize_with<ElementBytes, Lanes>;
    };
    const auto requantize = rule();
    requantize(accumulators, accumulator_stride, rows, columns, parameters, out, out_stride);
}

}  // namespace

void requantize_rows(const std::int32_t* accumulators, std::size_t accumulator_stride, std::size_t rows,
                     std::size_t columns, const Requantization& parameters, DataType type, std::uint8_t* out,
                     std::size_t out_stride) {
    if (is_integer(type) && bytes_of(type) == 1) {
        requantize_all<1>(accumulators, accumulator_stride, rows, columns, parameters, out, out_stride);
    } else if (is_integer(type) && bytes_of(type) == 2) {
        requantize_all<2>(accumulators, accumulator_stride, rows, columns, parameters, out, out_stride);
    } else {
        throw std::logic_error(fmt::format("requantize_rows: results of {}", name_of(type)));
    }
}

}  // namespace systole::math
