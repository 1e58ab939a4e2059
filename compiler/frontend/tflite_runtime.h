#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace systole::frontend {

/// The TensorFlow release whose reference kernels define what a TFLite file computes. The file does not say
/// which it was made for.
enum class TfliteRuntime : std::uint8_t { V2_19, V2_21 };
constexpr std::array<std::string_view, 2> names_of(TfliteRuntime) {
    return {"2.19", "2.21"};
}
inline constexpr TfliteRuntime newest_tflite_runtime = TfliteRuntime::V2_21;

/// Whether the release multiplies the sums of fully connected operators on integers in float64. Releases
/// before 2.20 have the fixed-point rule.
constexpr bool has_real_multiplier(TfliteRuntime runtime) {
    switch (runtime) {
        case TfliteRuntime::V2_19:
            return false;
        case TfliteRuntime::V2_21:
            return true;
    }
    throw std::logic_error("a TFLite runtime that does not exist");
}

}  // namespace systole::frontend
