#include "base/stored_integers.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace systole {
namespace {

/// Calls work(0) with a zero of the C++ type that stores the integers.
template <typename Work>
void with_integer_type(DataType type, const Work& work) {
    switch (type) {
        case DataType::Uint8:
            return work(std::uint8_t{0});
        case DataType::Int8:
            return work(std::int8_t{0});
        case DataType::Int16:
            return work(std::int16_t{0});
        case DataType::Uint16:
            return work(std::uint16_t{0});
        case DataType::Int32:
            return work(std::int32_t{0});
        case DataType::Bfloat16:
        case DataType::Float32:
        case DataType::Uint32:
        case DataType::Float16:
        case DataType::Bool:
            break;
    }
    throw std::logic_error(fmt::format("{} is no integer", name_of(type)));
}

}  // namespace

void widen(const void* stored, DataType type, std::span<std::int32_t> numbers) {
    with_integer_type(type, [&](auto zero) {
        const auto* const from = static_cast<const decltype(zero)*>(stored);
        std::copy_n(from, numbers.size(), numbers.begin());
    });
}

void narrow(std::span<const std::int32_t> numbers, DataType type, void* stored) {
    with_integer_type(type, [&](auto zero) {
        auto* const to = static_cast<decltype(zero)*>(stored);
        std::ranges::transform(numbers, to,
                               [](std::int32_t number) { return static_cast<decltype(zero)>(number); });
    });
}

}  // namespace systole
