#include "hw/math/elementwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "hw/math/target_clones.h"

static_assert(std::endian::native == std::endian::little, "elements are moved as they lie in memory");

namespace systole::math {
namespace {

/// A FixedPoint prepared for vector loops.
struct Scale {
    std::int32_t multiplier;
    std::int32_t left;
    std::int32_t right;

    explicit Scale(const FixedPoint& fixed)
        : multiplier(fixed.multiplier), left(left_shift(fixed.shift)), right(right_shift(fixed.shift)) {}

    SYSTOLE_ALWAYS_INLINE std::int32_t operator()(std::int32_t x) const {
        return scale(x, multiplier, left, right);
    }
};

/// The same for numbers that are rounded once, halves to the even number.
struct EvenScale {
    std::int32_t multiplier;
    std::int32_t places;

    explicit EvenScale(const FixedPoint& fixed)
        : multiplier(fixed.multiplier), places(places_of(fixed.shift)) {}

    SYSTOLE_ALWAYS_INLINE std::int32_t operator()(std::int32_t x) const {
        return scale_to_even(x, multiplier, places);
    }
};

template <std::int32_t LeftShift, typename ScaleOfKind>
struct Addition {
    ScaleOfKind scale_a;
    ScaleOfKind scale_b;

    SYSTOLE_ALWAYS_INLINE std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        const auto lift = [](std::int32_t x) {
            return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << LeftShift);
        };
        return wrapping_add(scale_a(lift(a)), scale_b(lift(b)));
    }
};

struct Multiplication {
    SYSTOLE_ALWAYS_INLINE std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        return wrapping_multiply(a, b);
    }
};

/// Applies the operation to `count` elements at any alignment.
template <typename Element, typename ScaleOfKind, typename Operation>
SYSTOLE_ALWAYS_INLINE void run(const std::uint8_t* a, const std::uint8_t* b, std::size_t count,
                               const Operation& operation, const Elementwise& parameters, std::uint8_t* out) {
    const ScaleOfKind scale_result(parameters.scale);
    const auto element = [](const std::uint8_t* bytes, std::size_t i) {
        Element value;
        std::memcpy(&value, bytes + i * sizeof(Element), sizeof(Element));
        return value;
    };
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t x = wrapping_subtract(element(a, i), parameters.zero_point_a);
        const std::int32_t y = wrapping_subtract(element(b, i), parameters.zero_point_b);
        const std::int32_t result = wrapping_add(scale_result(operation(x, y)), parameters.zero_point);
        const auto stored =
            static_cast<Element>(std::min(std::max(result, parameters.minimum), parameters.maximum));
        std::memcpy(out + i * sizeof(Element), &stored, sizeof(Element));
    }
}

/// Applies an operation to 8-bit elements.
template <typename ScaleOfKind, typename Operation>
SYSTOLE_ALWAYS_INLINE void run_bytes(const std::uint8_t* a, const std::uint8_t* b, std::size_t count,
                                     const Operation& operation, const Elementwise& parameters,
                                     std::uint8_t* out) {
    if (is_signed(parameters.elements)) {
        run<std::int8_t, ScaleOfKind>(a, b, count, operation, parameters, out);
    } else {
        run<std::uint8_t, ScaleOfKind>(a, b, count, operation, parameters, out);
    }
}

template <std::int32_t LeftShift, typename ScaleOfKind>
SYSTOLE_ALWAYS_INLINE Addition<LeftShift, ScaleOfKind> addition_of(const Elementwise& parameters) {
    return {ScaleOfKind(parameters.scale_a), ScaleOfKind(parameters.scale_b)};
}

// Versions for several instruction sets cannot be templates.
SYSTOLE_TARGET_CLONES void add_bytes(const std::uint8_t* a, const std::uint8_t* b, std::size_t count,
                                     const Elementwise& parameters, std::uint8_t* out) {
    run_bytes<Scale>(a, b, count, addition_of<addition_left_shift_8_bit, Scale>(parameters), parameters, out);
}

SYSTOLE_TARGET_CLONES void even_add_bytes(const std::uint8_t* a, const std::uint8_t* b, std::size_t count,
                                          const Elementwise& parameters, std::uint8_t* out) {
    run_bytes<EvenScale>(a, b, count, addition_of<addition_left_shift_8_bit, EvenScale>(parameters),
                         parameters, out);
}

SYSTOLE_TARGET_CLONES void add_int16(const std::uint8_t* a, const std::uint8_t* b, std::size_t count,
                                     const Elementwise& parameters, std::uint8_t* out) {
    run<std::int16_t, Scale>(a, b, count, addition_of<addition_left_shift_16_bit, Scale>(parameters),
                             parameters, out);
}

SYSTOLE_TARGET_CLONES void even_add_int16(const std::uint8_t* a, const std::uint8_t* b, std::size_t count,
                                          const Elementwise& parameters, std::uint8_t* out) {
    run<std::int16_t, EvenScale>(a, b, count, addition_of<addition_left_shift_16_bit, EvenScale>(parameters),
                                 parameters, out);
}

SYSTOLE_TARGET_CLONES void multiply_bytes(const std::uint8_t* a, const std::uint8_t* b, std::size_t count,
                                          const Elementwise& parameters, std::uint8_t* out) {
    run_bytes<Scale>(a, b, count, Multiplication{}, parameters, out);
}

SYSTOLE_TARGET_CLONES void even_multiply_bytes(const std::uint8_t* a, const std::uint8_t* b,
                                               std::size_t count, const Elementwise& parameters,
                                               std::uint8_t* out) {
    run_bytes<EvenScale>(a, b, count, Multiplication{}, parameters, out);
}

SYSTOLE_TARGET_CLONES void multiply_int16(const std::uint8_t* a, const std::uint8_t* b, std::size_t count,
                                          const Elementwise& parameters, std::uint8_t* out) {
    run<std::int16_t, Scale>(a, b, count, Multiplication{}, parameters, out);
}

SYSTOLE_TARGET_CLONES void even_multiply_int16(const std::uint8_t* a, const std::uint8_t* b,
                                               std::size_t count, const Elementwise& parameters,
                                               std::uint8_t* out) {
    run<std::int16_t, EvenScale>(a, b, count, Multiplication{}, parameters, out);
}

using ElementFunction = void (*)(const std::uint8_t*, const std::uint8_t*, std::size_t, const Elementwise&,
                                 std::uint8_t*);

void run_on(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, const Elementwise& parameters,
            std::span<std::uint8_t> out, ElementFunction of_bytes, ElementFunction of_int16) {
    if (a.size() != out.size() || b.size() != out.size()) {
        throw std::logic_error(fmt::format("element-wise operation: {} and {} operands, {} results", a.size(),
                                           b.size(), out.size()));
    }
    const Elementwise copy = parameters;  // a local copy, which the byte pointer `out` cannot alias
    switch (parameters.elements) {
        case DataType::Uint8:
        case DataType::Int8:
            return of_bytes(a.data(), b.data(), out.size(), copy, out.data());
        case DataType::Int16:
            return of_int16(a.data(), b.data(), out.size() / sizeof(std::int16_t), copy, out.data());
        case DataType::Uint16:
        case DataType::Int32:
        case DataType::Bfloat16:
        case DataType::Float32:
        case DataType::Uint32:
        case DataType::Float16:
        case DataType::Bool:
            break;
    }
    throw std::logic_error(
        fmt::format("element-wise operation: there is none on elements of {}", name_of(parameters.elements)));
}

}  // namespace

void add(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, const Elementwise& parameters,
         std::span<std::uint8_t> out) {
    const bool to_even = parameters.half_to_even;
    run_on(a, b, parameters, out, to_even ? even_add_bytes : add_bytes, to_even ? even_add_int16 : add_int16);
}

void multiply(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, const Elementwise& parameters,
              std::span<std::uint8_t> out) {
    const bool to_even = parameters.half_to_even;
    run_on(a, b, parameters, out, to_even ? even_multiply_bytes : multiply_bytes,
           to_even ? even_multiply_int16 : multiply_int16);
}

}  // namespace systole::math
