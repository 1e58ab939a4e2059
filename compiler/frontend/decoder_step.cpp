#include "compiler/frontend/decoder_step.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace systole::frontend {
namespace {

bool has_word(std::string_view text, std::string_view word) {
    const auto is_same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    return std::ranges::search(text, word, is_same).begin() != text.end();
}

}  // namespace

std::uint32_t size_in(const DecoderStep& step, const OpenDimension& dimension) {
    constexpr std::size_t rank_of_tokens = 2;
    const std::uint32_t all = step.cached_tokens + step.new_tokens;
    const bool is_sum = has_word(dimension.name, "+") || has_word(dimension.name, "total");
    const bool is_past = has_word(dimension.name, "past") || has_word(dimension.name, "cache");
    const bool is_cache = has_word(dimension.input, "past") || has_word(dimension.input, "cache");
    if (dimension.rank > rank_of_tokens && is_cache) return step.cached_tokens;
    if (is_sum || has_word(dimension.input, "mask")) return all;
    return is_past ? step.cached_tokens : step.new_tokens;
}

}  // namespace systole::frontend
