#include "compiler/frontend/decoder_step.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace systole::frontend {
namespace {

/// What is not counted in tokens of the decoder.
constexpr std::array<std::string_view, 6> other_words{"batch", "head", "encoder", "image", "pixel", "vision"};

bool has_word(std::string_view text, std::string_view word) {
    const auto is_same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    return std::search(text.begin(), text.end(), word.begin(), word.end(), is_same) != text.end();
}

}  // namespace

std::optional<std::uint32_t> size_in(const DecoderStep& step, const OpenDimension& dimension) {
    constexpr std::size_t rank_of_tokens = 2;
    const auto is_other = [&](std::string_view word) {
        return has_word(dimension.name, word) || has_word(dimension.input, word);
    };
    if (std::ranges::any_of(other_words, is_other)) return std::nullopt;
    const std::uint32_t all = step.cached_tokens + step.new_tokens;
    const bool is_sum = has_word(dimension.name, "+") || has_word(dimension.name, "total");
    const bool is_past = has_word(dimension.name, "past") || has_word(dimension.name, "cache");
    const bool is_cache = has_word(dimension.input, "past") || has_word(dimension.input, "cache");
    if (dimension.rank > rank_of_tokens && is_cache) return step.cached_tokens;
    if (is_sum || has_word(dimension.input, "mask")) return all;
    return is_past ? step.cached_tokens : step.new_tokens;
}

}  // namespace systole::frontend
