#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Numbers as text for people. An absent number is "-".
namespace systole::report {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);

/// Absent if the whole is 0.
std::optional<double> share_of(std::uint64_t part, std::uint64_t whole);

/// A share as percent with one digit, "12.3 %"; a share above 0 is never shown as 0.
std::string percent(std::optional<double> share);

/// A ratio with up to three digits: "27.3x".
std::string times(std::optional<double> factor);

/// A factor that is nearer to 1 is no change worth a word: `times` prints it as "1.00x".
inline constexpr double noticeable_change = 0.005;

// Numbers that a rough model gives have two significant digits.

/// A count or a rate: "1,100 inf/s", "0.71".
std::string rough(std::optional<double> value, std::string_view unit);
/// A ratio: "27x", "6.2x".
std::string rough_times(std::optional<double> factor);
/// With an SI prefix, as `si` has it: "8.7 ms".
std::string rough_si(std::optional<double> value, std::string_view unit);

/// Three or four significant digits and an SI prefix: 0.00123 s is "1.23 ms", 2.5e9 of "" is "2.5 G". Only
/// s, J and W have prefixes for parts: 0.975 of "" is "0.975".
std::string si(std::optional<double> value, std::string_view unit);

/// A count or a rate: a whole number from 100 on, three significant digits below: "395,740 inf/s", "0.713".
std::string amount(std::optional<double> value, std::string_view unit);

/// "395,740 inf/s".
std::string inference_rate(std::optional<double> rate);

/// The difference of two numbers in percent, with its sign: "-1.3 %"; "same" if they are equal. Absent if one
/// is absent or the reference is 0.
std::optional<std::string> difference(std::optional<double> value, std::optional<double> reference);

/// The difference of two shares in percentage points, with its sign: "+32.2 points"; "same" if they are
/// equal. Absent if one is absent.
std::optional<std::string> difference_of_shares(std::optional<double> share, std::optional<double> reference);

/// Bytes with a binary prefix: "24.0 MiB".
std::string bytes(std::uint64_t value);

/// A bar of `width` characters for a share from 0 to 1.
std::string bar(std::optional<double> share, std::size_t width);

/// Whether a title is in capitals: "DMA".
bool is_abbreviation(std::string_view title);

}  // namespace systole::report
