#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace systole::frontend {

/// The TensorFlow release whose reference kernels define what a TFLite file computes. The file does not say
/// which it was made for.
enum class TfliteRuntime : std::uint8_t { V2_19, V2_21 };
constexpr std::array<std::string_view, 2> names_of(TfliteRuntime) {
    return {"2.19", "2.21"};
}
inline constexpr TfliteRuntime newest_tflite_runtime = TfliteRuntime::V2_21;

}  // namespace systole::frontend
