#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>

#include "compiler/ir/window.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "hw/machine/machine_config.h"
#include "tests/support/mapping_layers.h"

/// Random machines, and networks of one layer whose mapping has many alternatives.
namespace systole::tests {

template <typename Number>
Number one_of(std::mt19937& random, std::initializer_list<Number> numbers) {
    return *(numbers.begin() + random() % numbers.size());
}

inline std::uint32_t between(std::mt19937& random, std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
}

inline machine::MachineConfig random_machine(std::mt19937& random) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = one_of(random, {256U, 128U, 64U});
    machine.matrix_unit.columns = one_of(random, {256U, 128U, 32U});
    machine.systolic_data_setup.fetches_per_cycle = one_of(random, {1U, 1U, 2U, 4U});
    machine.weight_memory.bandwidth_gb_per_s = one_of(random, {10.0, 34.0, 34.0, 300.0});
    machine.activation_unit.latency_cycles = one_of(random, {1U, 40U, 1000U, 3000U});
    machine.accumulators.rows = one_of(random, {4096U, 1024U});
    machine.weight_fifo.depth_tiles = between(random, 2, 6);
    machine.sequencer.queue_depth = 64;
    // While the image arrives, there is time to fill the weight FIFO.
    machine.host_interface.latency_cycles = 100'000;
    return machine;
}

/// A network of one convolution with few filters.
inline tpu_v1::Network random_convolution(std::mt19937& random) {
    const std::uint32_t kernel = between(random, 1, 7);
    const std::uint32_t stride = between(random, 1, 2);
    const std::uint32_t size = one_of(random, {7U, 8U, 12U, 14U, 24U, 28U, 32U, 56U});
    const std::uint32_t channels = one_of(random, {1U, 3U, 8U, 12U, 24U, 32U, 64U});
    const bool depthwise = between(random, 0, 3) == 0;
    const std::uint32_t filters = depthwise ? channels : between(random, 1, 100);
    const ir::FeatureMap input{size, size, channels};
    const ir::Window window = ir::same_window(input, {kernel, kernel}, {stride, stride});
    const ir::FeatureMap output = ir::window_output(input, window, filters);
    tpu_v1::MatrixProduct product;
    product.window = window;
    if (depthwise) product.groups = channels;
    product.requantization = requantization(filters);
    tpu_v1::Network network;
    network.name = "convolution";
    network.has_weights = false;
    network.tensors = {{.name = "image", .shape = input}, {.name = "result", .shape = output}};
    network.outputs = {1};
    network.layers.push_back({.name = "layer", .inputs = {0}, .output = 1, .work = product, .macs = 1});
    return network;
}

}  // namespace systole::tests
