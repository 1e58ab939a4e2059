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

TEST_CASE("Figures of a rough model have two digits", "[report]") {
    CHECK(rough(558.4, "inf/s") == "560 inf/s");
    CHECK(rough(1099.0, "inf/s") == "1,100 inf/s");
    CHECK(rough(123456789.0, "") == "120,000,000");
    CHECK(rough(0.7134, "inf/s") == "0.71 inf/s");
    CHECK(rough(0.996, "") == "1.0");
    CHECK(rough(0.0, "") == "0");
    CHECK(rough(std::nullopt, "inf/s") == "-");
    CHECK(rough_times(27.31) == "27x");
    CHECK(rough_times(6.249) == "6.2x");
    CHECK(rough_times(0.0987) == "0.099x");
    CHECK(rough_times(1234.5) == "1,200x");
    CHECK(rough_times(std::nullopt) == "-");
    CHECK(rough_si(0.00874, "s") == "8.7 ms");
    CHECK(rough_si(0.0999, "s") == "100 ms");
    CHECK(rough_si(0.999, "s") == "1.0 s");
    CHECK(rough_si(0.0, "s") == "0 s");
    CHECK(rough_si(0.713, "inf/s") == "0.71 inf/s");
    CHECK(rough_si(0.56e12, "OPS") == "560 GOPS");
    CHECK(rough_si(std::nullopt, "s") == "-");
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
