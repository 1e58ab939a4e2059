#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Numbers as text for people. An absent number is "-".
namespace systole::report {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);

/// A share as percent with one digit, "12.3 %"; a share above 0 is never shown as 0.
std::string percent(std::optional<double> share);

/// A ratio with up to three digits: "27.3x".
std::string times(std::optional<double> factor);

/// Three or four significant digits and an SI prefix: 0.00123 s is "1.23 ms", 2.5e9 of "" is "2.5 G".
std::string si(std::optional<double> value, std::string_view unit);

/// Bytes with a binary prefix: "24.0 MiB".
std::string bytes(std::uint64_t value);

/// A bar of `width` characters for a share from 0 to 1.
std::string bar(std::optional<double> share, std::size_t width);

}  // namespace systole::report
