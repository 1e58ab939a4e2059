#include "sim/view/report/numbers.h"

#include <catch2/catch.hpp>

using namespace systole::report;

TEST_CASE("Whole numbers are grouped by thousands", "[report]") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1000) == "1,000");
    CHECK(grouped(1234567) == "1,234,567");
    CHECK(grouped(18446744073709551615U) == "18,446,744,073,709,551,615");
}

TEST_CASE("Shares are printed as percent, small ones not as 0, absent ones as a dash", "[report]") {
    CHECK(percent(std::nullopt) == "-");
    CHECK(percent(0.0) == "0.0 %");
    CHECK(percent(0.0004) == "<0.1 %");
    CHECK(percent(0.0005) == "0.1 %");
    CHECK(percent(0.1234) == "12.3 %");
    CHECK(percent(1.0) == "100.0 %");
}

TEST_CASE("Quantities have three digits and a prefix", "[report]") {
    CHECK(si(std::nullopt, "s") == "-");
    CHECK(si(0.0, "s") == "0.00 s");
    CHECK(si(0.00123, "s") == "1.23 ms");
    CHECK(si(0.0123, "s") == "12.3 ms");
    CHECK(si(0.99951, "s") == "1.00 s");
    CHECK(si(1.0, "s") == "1.00 s");
    CHECK(si(91.75e12, "OPS") == "91.8 TOPS");
    CHECK(si(2.5e9, "") == "2.50 G");
    CHECK(si(226.0, "") == "226");
    CHECK(si(1e-12, "s") == "0.00 ns");
}

TEST_CASE("What is counted has no prefix for parts", "[report]") {
    CHECK(si(0.975, "") == "0.975");
    CHECK(si(0.0123, "") == "0.0123");
    CHECK(si(0.713, "inf/s") == "0.713 inf/s");
    CHECK(amount(0.713, "inf/s") == "0.713 inf/s");
    CHECK(amount(0.2, "") == "0.200");
    CHECK(amount(12.34, "inf/s") == "12.3 inf/s");
    CHECK(amount(1406.4, "") == "1,406");
    CHECK(amount(395740.2, "inf/s") == "395,740 inf/s");
    CHECK(amount(std::nullopt, "") == "-");
}

TEST_CASE("A difference has a sign, and is absent where there is none", "[report]") {
    CHECK(difference(110.0, 100.0) == "+10 %");
    CHECK(difference(98.7, 100.0) == "-1.3 %");
    CHECK(difference(7.0, 7.0) == "same");
    CHECK_FALSE(difference(7.0, 0.0));
    CHECK_FALSE(difference(std::nullopt, 1.0));
    CHECK_FALSE(difference(1.0, std::nullopt));
}

TEST_CASE("Bytes have binary prefixes", "[report]") {
    CHECK(bytes(0) == "0 B");
    CHECK(bytes(1023) == "1023 B");
    CHECK(bytes(1024) == "1.0 KiB");
    CHECK(bytes(25165824) == "24.0 MiB");
    CHECK(bytes(std::uint64_t{8} << 30U) == "8.0 GiB");
}

TEST_CASE("A bar is as long as its share", "[report]") {
    CHECK(bar(0.5, 10) == "#####");
    CHECK(bar(1.5, 10) == "##########");
    CHECK(bar(0.0, 10).empty());
    CHECK(bar(std::nullopt, 10).empty());
}
