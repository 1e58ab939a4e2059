#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/window.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "tests/support/mapping_layers.h"

namespace systole::tests {

/// Builds a network of the chip's work layer by layer, over an input, tensor 0. Tensors are "t0", "t1" and so
/// on; the layer that makes tensor n is "ln", and the network's output is what the last one makes.
class NetworkBuilder {
public:
    using TensorId = tpu_v1::TensorId;

    explicit NetworkBuilder(const ir::FeatureMap& input, DataType type = DataType::Uint8) : type_(type) {
        network_.name = "made";
        add_tensor(input);
    }

    /// Another input.
    TensorId input(const ir::FeatureMap& shape) {
        network_.inputs.push_back(add_tensor(shape));
        return network_.inputs.back();
    }
    TensorId convolution(TensorId from, std::uint32_t filters, const ir::Window& window = {},
                         std::uint32_t groups = 1) {
        tpu_v1::MatrixProduct work;
        work.window = window;
        work.groups = groups;
        const std::uint64_t window_elements = window.kernel_elements() * (shape(from).channels / groups);
        work.weights = ones(window_elements * filters);
        work.requantization = requantization(filters);
        const ir::FeatureMap output = ir::window_output(shape(from), window, filters);
        return add({from}, output, work, output.elements() * window_elements);
    }
    TensorId depthwise(TensorId from, const ir::Window& window = {}) {
        return convolution(from, shape(from).channels, window, shape(from).channels);
    }
    TensorId dense(const std::vector<TensorId>& from, std::uint32_t units) {
        std::uint64_t elements = 0;
        for (const TensorId id : from) elements += shape(id).elements();
        tpu_v1::MatrixProduct work;
        work.weights = ones(elements * units);
        work.requantization = requantization(units);
        return add(from, {1, 1, units}, work, elements * units);
    }
    TensorId dense(TensorId from, std::uint32_t units) { return dense(std::vector{from}, units); }
    TensorId pool(TensorId from, const ir::Window& window = {}) {
        tpu_v1::Pooling work;
        work.window = window;
        return add({from}, ir::window_output(shape(from), window, shape(from).channels), work);
    }
    TensorId lookup(TensorId from) { return add({from}, shape(from), tests::lookup()); }
    TensorId sum(TensorId a, TensorId b) { return add({a, b}, shape(a), addition()); }
    TensorId concat(const std::vector<TensorId>& from) {
        ir::FeatureMap output = shape(from.front());
        output.channels = 0;
        for (const TensorId id : from) output.channels += shape(id).channels;
        return add(from, output, tpu_v1::Concatenation{});
    }
    TensorId concat_lines(const std::vector<TensorId>& from) {
        ir::FeatureMap output = shape(from.front());
        output.height = 0;
        for (const TensorId id : from) output.height += shape(id).height;
        return add(from, output, tpu_v1::Concatenation{.axis = tpu_v1::Concatenation::Axis::Lines});
    }
    TensorId slice(TensorId from, std::uint64_t first_element, const ir::FeatureMap& output) {
        return add({from}, output, tpu_v1::Slice{.first_element = first_element});
    }
    /// A segment of the host with one output.
    TensorId host(const std::vector<TensorId>& from, const ir::FeatureMap& output) {
        const TensorId to = add(from, output, tpu_v1::HostSegment{.layers = {"h"}, .graph = {}});
        network_.layers.back().outputs = {to};
        return to;
    }

    const ir::FeatureMap& shape(TensorId id) const { return network_.tensors[id].shape; }
    tpu_v1::Network& network() { return network_; }

private:
    TensorId add_tensor(const ir::FeatureMap& shape) {
        const auto id = static_cast<TensorId>(network_.tensors.size());
        network_.tensors.push_back({.name = "t" + std::to_string(id), .shape = shape, .type = type_});
        return id;
    }
    TensorId add(std::vector<TensorId> from, const ir::FeatureMap& shape, tpu_v1::Work work,
                 std::uint64_t macs = 0) {
        const TensorId to = add_tensor(shape);
        network_.layers.push_back({.name = "l" + std::to_string(to),
                                   .inputs = std::move(from),
                                   .output = to,
                                   .work = std::move(work),
                                   .macs = macs});
        network_.outputs = {to};
        return to;
    }

    DataType type_;
    tpu_v1::Network network_;
};

}  // namespace systole::tests
