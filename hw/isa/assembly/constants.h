#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace systole::isa {

/// A whole number as it is written in assembly: a sign and 64 bits.
struct WholeNumber {
    bool is_negative = false;
    std::uint64_t magnitude = 0;
};

/// The named numbers of a text, and the notation of numbers: decimal, hexadecimal after 0x, the name of a
/// constant, or such a name with `+number`.
class Constants {
public:
    /// Whether there is a constant of this name.
    bool has(std::string_view name) const { return numbers_.contains(name); }
    /// The name is new.
    void add(std::string_view name, const WholeNumber& number) { numbers_.emplace(name, number); }

    /// The number that a text stands for; nullopt if it stands for none.
    std::optional<WholeNumber> number(std::string_view text) const;

private:
    std::map<std::string, WholeNumber, std::less<>> numbers_;
};

}  // namespace systole::isa
