#include "hw/math/lookup_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace {

using namespace systole::math;

double at(FunctionKind kind, double x, double alpha = 1.0, double beta = 0.0) {
    return evaluate({kind, alpha, beta}, x);
}

/// Published or hand-computed values to this many digits.
Approx about(double value) {
    return Approx(value).margin(1e-6).epsilon(0.0);
}

}  // namespace

TEST_CASE("Functions have their known values", "[hw][math][lookup_table]") {
    CHECK(at(FunctionKind::Linear, 3.0, 2.0, -1.0) == 5.0);
    CHECK(at(FunctionKind::Relu, -2.0) == 0.0);
    CHECK(at(FunctionKind::Relu, 2.0) == 2.0);
    CHECK(at(FunctionKind::Relu6, -1.0) == 0.0);
    CHECK(at(FunctionKind::Relu6, 5.5) == 5.5);
    CHECK(at(FunctionKind::Relu6, 7.0) == 6.0);
    CHECK(at(FunctionKind::LeakyRelu, -2.0, 0.3) == -0.6);
    CHECK(at(FunctionKind::LeakyRelu, 2.0, 0.3) == 2.0);
    CHECK(at(FunctionKind::Elu, -1.0, 2.0) == about(-1.2642411));
    CHECK(at(FunctionKind::Elu, 1.5, 2.0) == 1.5);
    CHECK(at(FunctionKind::Selu, -1.0) == about(-1.1113307));
    CHECK(at(FunctionKind::Selu, 1.0) == about(1.0507010));
    CHECK(at(FunctionKind::Sigmoid, 0.0) == 0.5);
    CHECK(at(FunctionKind::Sigmoid, 1.0) == about(0.7310586));
    CHECK(at(FunctionKind::Sigmoid, -1000.0) == 0.0);
    CHECK(at(FunctionKind::HardSigmoid, 1.0, 0.2, 0.5) == about(0.7));
    CHECK(at(FunctionKind::HardSigmoid, -3.0, 0.2, 0.5) == 0.0);
    CHECK(at(FunctionKind::HardSigmoid, 3.0, 0.2, 0.5) == 1.0);
    CHECK(at(FunctionKind::Tanh, 1.0) == about(0.7615942));
    CHECK(at(FunctionKind::Exponential, 1.0) == about(2.7182818));
    CHECK(at(FunctionKind::Softplus, 0.0) == about(0.6931472));
    CHECK(at(FunctionKind::Softplus, 1000.0) == 1000.0);
    CHECK(at(FunctionKind::Softplus, -1.0) == about(0.3132617));
    CHECK(at(FunctionKind::Softsign, -3.0) == -0.75);
    CHECK(at(FunctionKind::Swish, 1.0) == about(0.7310586));
    CHECK(at(FunctionKind::Swish, -2.0) == about(-0.2384058));
    CHECK(at(FunctionKind::HardSwish, 1.0) == about(0.6666667));
    CHECK(at(FunctionKind::HardSwish, -4.0) == 0.0);
    CHECK(at(FunctionKind::HardSwish, 4.0) == 4.0);
    CHECK(at(FunctionKind::Gelu, 1.0) == about(0.8413447));
    CHECK(at(FunctionKind::Gelu, -1.0) == about(-0.1586553));
    CHECK(at(FunctionKind::GeluTanh, 1.0) == about(0.8411920));
}

TEST_CASE("An unknown function kind is a logic_error", "[hw][math][lookup_table]") {
    CHECK_THROWS_AS(at(static_cast<FunctionKind>(200), 0.0), std::logic_error);
}

TEST_CASE("Tables are indexed by stored bytes and give stored bytes", "[hw][math][lookup_table]") {
    const auto same = [](double x) { return x; };
    SECTION("the identity between equal quantizations changes nothing") {
        for (const bool is_signed : {false, true}) {
            const ByteQuantization quantization{0.37, is_signed ? -3 : 99, is_signed};
            const LookupTable table = make_table(same, quantization, quantization);
            for (std::size_t i = 0; i < table.size(); ++i) CHECK(table[i] == i);
        }
    }
    SECTION("from unsigned to signed of half the scale, it doubles, moves and saturates") {
        const LookupTable table = make_table(same, {1.0, 128, false}, {0.5, -1, true});
        CHECK(table[128] == 0xFF);
        CHECK(table[130] == 3);
        CHECK(table[127] == 0xFD);
        CHECK(table[191] == 125);
        CHECK(table[192] == 127);
        CHECK(table[193] == 127);
        CHECK(table[0] == 0x80);
    }
    SECTION("halves are rounded away from zero before the zero point is added") {
        const LookupTable table = make_table(same, {0.5, 0, true}, {1.0, 10, false});
        CHECK(table[1] == 11);
        CHECK(table[3] == 12);
        CHECK(table[0xFF] == 9);
        CHECK(table[0xFD] == 8);
    }
    SECTION("infinities saturate") {
        const auto pole = [](double x) { return 1.0 / x; };
        const LookupTable table = make_table(pole, {1.0, 0, true}, {0.01, 0, true});
        CHECK(table[0] == 127);
        CHECK(table[0xFF] == static_cast<std::uint8_t>(-100));
    }
}

TEST_CASE("A sigmoid's table has TFLite's fixed output quantization", "[hw][math][lookup_table]") {
    const auto sigmoid = [](double x) { return evaluate({FunctionKind::Sigmoid}, x); };
    const LookupTable table = make_table(sigmoid, {0.1, 0, true}, {1.0 / 256, -128, true});
    CHECK(table[0] == 0);      // 0.5
    CHECK(table[10] == 59);    // 0.7310586 * 256 - 128 = 59.15
    CHECK(table[127] == 127);  // saturated
    CHECK(table[0x80] == static_cast<std::uint8_t>(-128));
}

TEST_CASE("Scales must be finite and positive, and results numbers", "[hw][math][lookup_table]") {
    const auto same = [](double x) { return x; };
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double scale : {0.0, -1.0, infinity, std::nan("")}) {
        CHECK_THROWS_AS(make_table(same, {scale, 0, false}, {1.0, 0, false}), std::domain_error);
        CHECK_THROWS_AS(make_table(same, {1.0, 0, false}, {scale, 0, false}), std::domain_error);
    }
    CHECK_THROWS_AS(make_table([](double x) { return std::sqrt(x); }, {1.0, 1, false}, {1.0, 0, false}),
                    std::domain_error);
}

TEST_CASE("A lookup replaces each byte", "[hw][math][lookup_table]") {
    LookupTable table{};
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint8_t>(255 - i);
    std::vector<std::uint8_t> bytes(256);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    std::vector<std::uint8_t> out(256);
    lookup(bytes, out, table);
    CHECK(std::equal(out.begin(), out.end(), table.begin()));
    lookup(bytes, bytes, table);
    CHECK(bytes == out);
    std::vector<std::uint8_t> short_out(255);
    CHECK_THROWS_AS(lookup(bytes, short_out, table), std::logic_error);
}
