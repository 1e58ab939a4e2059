#include "base/name_pattern.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <string_view>

using namespace systole;

TEST_CASE("A star in a pattern stands for any text, also none", "[name_pattern]") {
    CHECK(fits_pattern("", ""));
    CHECK_FALSE(fits_pattern("a", ""));
    CHECK_FALSE(fits_pattern("", "a"));
    CHECK(fits_pattern("kernel", "kernel"));
    CHECK_FALSE(fits_pattern("kernels", "kernel"));
    CHECK_FALSE(fits_pattern("kerne", "kernel"));
    CHECK_FALSE(fits_pattern("my kernel", "kernel"));
    CHECK(fits_pattern("", "*"));
    CHECK(fits_pattern("anything", "*"));
    CHECK(fits_pattern("anything", "**"));
    CHECK(fits_pattern("dense/kernel", "*kernel"));
    CHECK(fits_pattern("kernel", "*kernel"));
    CHECK_FALSE(fits_pattern("kernel/m", "*kernel"));
    CHECK(fits_pattern("kernel/m", "kernel*"));
    CHECK(fits_pattern("variables['adam/dense_kernel_momentum']", "*adam/*momentum*"));
    CHECK_FALSE(fits_pattern("variables['adam/dense_kernel_momentum']", "*adam/*velocity*"));
    // A star may have to take more than the least.
    CHECK(fits_pattern("aab", "*ab"));
    CHECK(fits_pattern("ababc", "*ab*abc"));
    CHECK_FALSE(fits_pattern("abc", "*ab*abc"));
    CHECK_FALSE(fits_pattern("abab", "ab*bab"));
    CHECK(fits_pattern("abbab", "ab*bab"));
    // Other signs stand for themselves.
    CHECK_FALSE(fits_pattern("abc", "a?c"));
    CHECK_FALSE(fits_pattern("abc", "a.c"));
}

TEST_CASE("A pattern of many stars is told at once not to fit", "[name_pattern]") {
    std::string pattern;
    for (int i = 0; i < 40; ++i) pattern += "*a";
    CHECK_FALSE(fits_pattern(std::string(5000, 'a'), pattern + "b"));
    CHECK(fits_pattern(std::string(5000, 'a') + "b", pattern + "b"));
}

TEST_CASE("The text of the only star of a pattern is known", "[name_pattern]") {
    using Text = std::optional<std::string_view>;
    CHECK(text_of_star("past.3.key", "past.*") == Text("3.key"));
    CHECK(text_of_star("past.3.key", "past.*.key") == Text("3"));
    CHECK(text_of_star("past.", "past.*") == Text(""));
    CHECK(text_of_star("past_0", "*") == Text("past_0"));
    CHECK(text_of_star("a", "a*a") == Text());  // its two ends would be the same letter
    CHECK(text_of_star("present.3.key", "past.*") == Text());
    CHECK(text_of_star("past", "past") == Text());
    CHECK(text_of_star("past.3.key", "past.*.*") == Text());
    CHECK(with_star("present.*.key", "3") == "present.3.key");
    CHECK(with_star("*", "") == "");
}
