#include "compiler/graph/quantized_text.h"

#include <catch2/catch.hpp>

using namespace systole;
using quantized::Network;

namespace {

Network small_network() {
    Network network;
    network.name = "small";
    network.tensors = {{"in", {2, 2, 1}, 0.5, 0, DataType::Uint8},
                       {"out", {1, 1, 2}, 0.25, 7, DataType::Uint8}};
    quantized::Dense dense;
    dense.weights = {1, 2, 3, 4, 5, 6, 7, 8};
    dense.requantization.bias = {10, 20};
    dense.requantization.multiplier = {1 << 30, 1 << 30};
    dense.requantization.shift = {-3, -4};
    network.layers = {{"dense", {0}, 1, dense}};
    network.input = 0;
    network.output = 1;
    network.host_operations = {{"softmax", "top"}};
    return network;
}

}  // namespace

TEST_CASE("A quantized network prints its tensors, layers and host work", "[compiler][graph]") {
    const std::string text = quantized::to_text(small_network());
    CHECK_THAT(text, Catch::StartsWith("network \"small\": input %0, output %1\n"
                                       "%0: 2x2x1 uint8 \"in\", scale 0.5, zero point 0\n"
                                       "%1: 1x1x2 uint8 \"out\", scale 0.25, zero point 7\n"
                                       "%1 = \"dense\"(%0) dense: weights 8 values #"));
    CHECK_THAT(text, Catch::EndsWith("\nhost: softmax \"top\"\n"));
}

TEST_CASE("Every number of a layer shows in the text", "[compiler][graph]") {
    const std::string text = quantized::to_text(small_network());
    CHECK(quantized::to_text(small_network()) == text);
    const auto changed = [&](auto change) {
        Network network = small_network();
        change(std::get<quantized::Dense>(network.layers[0].operation));
        return quantized::to_text(network) != text;
    };
    CHECK(changed([](auto& dense) { dense.weights[5] = -6; }));
    CHECK(changed([](auto& dense) { std::swap(dense.weights[0], dense.weights[1]); }));
    CHECK(changed([](auto& dense) { dense.requantization.bias[1] = 21; }));
    CHECK(changed([](auto& dense) { dense.requantization.multiplier[0] += 1; }));
    CHECK(changed([](auto& dense) { dense.requantization.shift[1] = -5; }));
    CHECK(changed([](auto& dense) { dense.requantization.zero_point = 1; }));
    CHECK(changed([](auto& dense) { dense.requantization.minimum = 1; }));
    CHECK(changed([](auto& dense) { dense.requantization.maximum = 254; }));
    CHECK(changed([](auto& dense) { dense.requantization.table.emplace(); }));
}
